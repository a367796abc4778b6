"""The tables. A row that belongs to someone begins (workspace, user, …) in its primary key.

Migrations are what makes them (`migrations/versions`); a test compares the two.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, Double, Index, Integer, LargeBinary, MetaData, Table, Text, text
from sqlalchemy.schema import SchemaItem
from sqlalchemy.types import TypeDecorator

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def microseconds(at: datetime) -> int:
    return (at - _EPOCH) // timedelta(microseconds=1)


class Moment(TypeDecorator[datetime]):
    """Aware UTC as microseconds since 1970: exact, compact and ordered on both dialects."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Any) -> int | None:
        return None if value is None else microseconds(value)

    def process_result_value(self, value: int | None, dialect: Any) -> datetime | None:
        return None if value is None else _EPOCH + timedelta(microseconds=value)


metadata = MetaData()


def _keys(kind: Any, *names: str) -> list[Column[Any]]:
    return [Column(name, kind, primary_key=True) for name in names]


def _needed(kind: Any, *names: str) -> list[Column[Any]]:
    return [Column(name, kind, nullable=False) for name in names]


def _optional(kind: Any, *names: str) -> list[Column[Any]]:
    return [Column(name, kind) for name in names]


def _owned(name: str, *items: SchemaItem, **options: Any) -> Table:
    """A table of rows that belong to someone."""
    whose = Column("workspace", Text, primary_key=True), Column("user", Text, primary_key=True)
    return Table(name, metadata, *whose, *items, **options)


sessions = _owned(
    "sessions",
    *_keys(Text, "id"),
    *_needed(Text, "harness"),
    *_optional(Text, "agent", "title", "parent", "facts", "project", "project_path", "source"),
    *_optional(Moment, "started_at", "ended_at", "removed_at"),
    *_optional(Double, "outcome"),
    *_needed(Integer, "revision", "turns"),
    *_needed(Moment, "added_at"),
    # The place of the latest write in the order of commits of this workspace; an index follows it.
    Column("changed", BigInteger, nullable=False),
    Index("sessions_in_order_of_change", "workspace", "changed"),
)

turns = _owned(
    "turns",
    *_keys(Text, "session_id"),
    *_keys(Integer, "revision", "number"),
    *_needed(Text, "role", "origin", "text"),
    *_optional(Text, "name", "noise", "detail"),
    *_optional(Moment, "at"),
    # The key is most of a row's overhead; without a rowid SQLite keeps it once instead of twice.
    sqlite_with_rowid=False,
)

sources = _owned("sources", *_keys(Text, "path"), *_optional(Text, "reader"), *_needed(Moment, "added_at"))

files = _owned("files", *_keys(Text, "path"), *_needed(Text, "fingerprint"), *_needed(Moment, "read_at"))

# Files that could not be read: tried again when their fingerprint changes.
quarantine = _owned(
    "quarantine",
    *_keys(Text, "path"),
    *_needed(Text, "reader", "fingerprint", "why"),
    *_needed(Moment, "since", "tried_at"),
)

# Long transcripts are stored in several transactions. Until the last one, this says which turns are not yet part of
# their session, so that those of a write that was killed can be taken out.
arrivals = _owned(
    "arrivals", *_keys(Text, "session_id"), *_needed(Integer, "revision", "kept"), *_needed(Moment, "begun_at")
)

counters = Table("counters", metadata, *_keys(Text, "workspace", "name"), *_needed(BigInteger, "value"))

# ---- history: why memory and skills say what they say ----------------------------------------------------------------

blobs = _owned("blobs", *_keys(Text, "sha256"), *_needed(LargeBinary, "content"))

_ONE_LIVE_CHANGE = text("proposal is not null and standing <> 'conflicted'")

changes = _owned(
    "changes",
    *_keys(Text, "id"),
    *_needed(Text, "target", "subject", "standing", "via", "actor", "details"),
    *_optional(BigInteger, "number"),
    *_optional(Text, "proposal", "dream", "undoes"),
    # Salts the digests in the ledger; erasing it makes them unguessable.
    Column("salt", Text, nullable=False),
    *_needed(Moment, "intended_at"),
    *_optional(Moment, "settled_at"),
    Index("changes_in_order", "workspace", "number"),
    Index("changes_of_a_subject", "workspace", "user", "target", "subject", "number"),
    Index(
        "one_live_change_for_a_proposal",
        "workspace",
        "user",
        "proposal",
        unique=True,
        sqlite_where=_ONE_LIVE_CHANGE,
        postgresql_where=_ONE_LIVE_CHANGE,
    ),
)

edits = _owned(
    "edits", *_keys(Text, "change_id", "document"), *_needed(Integer, "place"), *_optional(Text, "before", "after")
)

documents = _owned(
    "documents", *_keys(Text, "target", "document"), *_optional(Text, "sha256"), *_needed(BigInteger, "number")
)

entries = _owned(
    "entries",
    *_keys(Text, "id"),
    *_keys(Integer, "version"),
    *_needed(Text, "target", "document", "sha256", "change_id"),
    *_optional(Moment, "since", "said"),
    *_needed(Moment, "seen"),
    *_needed(Boolean, "critical"),
    # The numbers of the Changes that brought this wording and took it away again.
    Column("came", BigInteger, nullable=False),
    *_optional(BigInteger, "went"),
    Index("entries_of_a_document", "workspace", "user", "target", "document", "went"),
)

ledger = Table(
    "ledger",
    metadata,
    *_keys(Text, "workspace"),
    *_keys(BigInteger, "number"),
    *_needed(Moment, "at"),
    *_needed(Text, "kind", "user", "body", "previous", "hash"),
    # What can be erased is hashed by itself: `details` is the digest of user and body with this salt.
    Column("salt", Text),
    *_optional(Text, "details"),
)

proposals = _owned(
    "proposals",
    *_keys(Text, "id"),
    *_needed(Text, "kind", "target", "subject", "status", "proposer", "hash", "details"),
    *_optional(Text, "dream"),
    *_needed(Moment, "made_at", "expires_at"),
    *_optional(Moment, "decided_at", "snoozed_until"),
    # The order in which people are asked, the lowest first; until when a person put it off; where it was said.
    Column("rank", Double, nullable=False, server_default=text("0")),
    Column("project", Text, nullable=False, server_default=text("''")),
    Index("proposals_by_status", "workspace", "user", "status", "made_at"),
)

contexts = _owned(
    "contexts",
    *_keys(Text, "id"),
    *_needed(BigInteger, "number"),
    *_optional(Text, "session"),
    *_needed(Moment, "at"),
    *_needed(Text, "asked", "sha256"),
    Index("contexts_in_order", "workspace", "user", "at"),
)

# ---- dreams: which sessions were read, what was noticed, what became of it -------------------------------------------

dreams = _owned(
    "dreams",
    *_keys(Text, "id"),
    *_needed(BigInteger, "number"),
    *_needed(Text, "target", "status", "details"),
    *_needed(Moment, "started_at"),
    *_optional(Moment, "ended_at"),
    Index("dreams_in_order", "workspace", "user", "number"),
)

dreamt = _owned(
    "dreamt",
    # `session_user`: a target may be dreamt over the sessions of several people.
    *_keys(Text, "target", "session_user", "session_id"),
    *_needed(Integer, "revision", "turns"),
    *_needed(Text, "dream"),
)

candidates = _owned(
    "candidates",
    *_keys(Text, "id"),
    *_needed(Text, "target", "session_id", "dream", "details"),
    *_needed(Boolean, "staged"),
    *_optional(Moment, "said_at"),
    Index("candidates_staged", "workspace", "user", "target", "staged"),
)

# ---- memory stores and the keys of who may write them ----------------------------------------------------------------

api_keys = _owned(
    "api_keys",
    *_keys(Text, "id"),
    *_needed(Text, "name", "permissions", "prefix", "sha256"),
    *_needed(Moment, "made_at"),
    *_optional(Moment, "expires_at", "revoked_at"),
    Index("api_keys_by_prefix", "prefix"),
)

memory_stores = _owned(
    "memory_stores",
    *_keys(Text, "id"),
    # Name, description and metadata as JSON: people may put characters there that no database takes as text.
    Column("details", Text, nullable=False),
    *_needed(Moment, "created_at", "updated_at"),
    *_optional(Moment, "archived_at"),
    *_needed(Integer, "held"),
    *_needed(BigInteger, "written"),
    Index("memory_stores_of_a_workspace", "workspace", "id"),
)

memories = _owned(
    "memories",
    *_keys(Text, "store", "id"),
    # In the order of bytes on both dialects: pages of a listing depend on it.
    Column("path", Text().with_variant(Text(collation="C"), "postgresql"), nullable=False),
    *_needed(Text, "sha256", "version", "flags"),
    *_needed(Integer, "size"),
    *_needed(Moment, "created_at", "updated_at"),
    # How old its statements are, as JSON, once a dream has written to it.
    Column("dates", Text),
    Index("memories_by_path", "workspace", "user", "store", "path", unique=True),
)

memory_versions = _owned(
    "memory_versions",
    *_keys(Text, "store", "id"),
    *_needed(BigInteger, "number"),
    *_needed(Text, "memory", "operation", "flags", "hand", "author"),
    *_optional(Text, "path", "sha256", "change_id", "redacted_hand", "redacted_by"),
    *_optional(Integer, "size"),
    *_needed(Moment, "created_at"),
    *_optional(Moment, "redacted_at"),
    Index("memory_versions_in_order", "workspace", "user", "store", "number", unique=True),
    Index("memory_versions_of_a_memory", "workspace", "user", "store", "memory", "number"),
)

# ---- a night under way: its rows go when it ends ---------------------------------------------------------------------

nights = _owned(
    "nights",
    *_keys(Text, "dream"),
    *_needed(Text, "asked"),
    *_needed(Boolean, "queued", "landing"),
    *_needed(Integer, "attempts"),
    *_optional(Text, "thought"),
)

# Whoever has the newest token of a target may write its night. The row stays, so that no token is given twice.
leases = _owned(
    "leases",
    *_keys(Text, "target"),
    *_needed(Text, "holder", "dream"),
    *_needed(BigInteger, "token"),
    *_needed(Moment, "until"),
)

chosen = _owned(
    "chosen",
    *_keys(Text, "dream"),
    *_keys(Integer, "place"),
    *_needed(Text, "session_user", "session_id"),
    *_needed(Integer, "revision", "turns"),
    *_optional(Integer, "noticed"),
    *_optional(Text, "told"),
)

noticed = _owned(
    "noticed",
    *_keys(Text, "dream"),
    *_keys(Integer, "place", "number"),
    *_needed(Text, "id", "session_id", "details"),
    *_optional(Moment, "said_at"),
)

planned = _owned(
    "planned", *_keys(Text, "dream"), *_keys(Integer, "place"), *_needed(Text, "details"), *_optional(Text, "became")
)

# What models were asked. The calls stay, without a word of anyone's; the answers go when the night ends.
calls = _owned(
    "calls",
    *_keys(Text, "dream"),
    *_keys(Integer, "number"),
    *_needed(Text, "phase", "model", "prompt", "prompt_sha256", "question", "outcome"),
    *_needed(BigInteger, "tokens_in", "tokens_out", "cached", "sent", "whole"),
    *_needed(Boolean, "reported"),
    # Billionths of a dollar; none where the price is not known.
    Column("cost", BigInteger),
    *_needed(Double, "seconds"),
    *_needed(Moment, "at"),
    *_optional(Text, "exceeded"),
    # The run that the dream belongs to; none in rows from before that was kept.
    Column("run", Text),
    Index("calls_of_a_day", "workspace", "at"),
    Index("calls_of_a_run", "workspace", "user", "run"),
)

answers = _owned("answers", *_keys(Text, "dream", "phase", "question"), *_needed(Text, "value"))

# ---- sessions recorded over the API, and what they are made from -----------------------------------------------------

definitions = _owned(
    "definitions",
    *_keys(Text, "kind", "id"),
    *_needed(Integer, "version"),
    *_needed(Text, "details"),
    *_needed(Moment, "created_at", "updated_at"),
    *_optional(Moment, "archived_at"),
    Index("definitions_of_a_workspace", "workspace", "kind", "id"),
)

definition_versions = _owned(
    "definition_versions",
    *_keys(Text, "kind", "id"),
    *_keys(Integer, "version"),
    *_needed(Text, "details"),
    *_needed(Moment, "updated_at"),
)

recorded = _owned(
    "recorded",
    *_keys(Text, "id"),
    *_needed(Text, "agent", "environment", "status", "details"),
    *_needed(Integer, "agent_version", "events"),
    # The memory stores it was given, each between spaces.
    Column("stores", Text, nullable=False),
    *_needed(Moment, "created_at", "updated_at"),
    *_optional(Moment, "archived_at"),
    Index("recorded_of_a_workspace", "workspace", "id"),
)

recorded_events = _owned(
    "recorded_events",
    *_keys(Text, "session"),
    *_keys(Integer, "number"),
    *_needed(Text, "id", "type", "details"),
    *_needed(Moment, "at"),
)

# ---- dreams over memory stores: what was asked for over the API; the night itself is in `dreams` ---------------------

store_dreams = _owned(
    "store_dreams",
    *_keys(Text, "id"),
    *_needed(Text, "store", "output", "session", "asked", "told"),
    *_needed(Boolean, "in_place", "cloned"),
    *_needed(Moment, "created_at"),
    *_optional(Moment, "archived_at"),
    Index("store_dreams_of_a_workspace", "workspace", "id"),
)

# ---- erasure: what is under way, what must not come back, and where copies were written -----------------------------

# A row is written before anything is erased, and says what; when all of it is gone the row has counts and no words.
erasures = _owned(
    "erasures",
    *_keys(Text, "id"),
    *_needed(Text, "kind", "step", "wanted", "report"),
    *_needed(Moment, "begun_at"),
    *_optional(Moment, "ended_at"),
)

# Keyed hashes only. `words` is how many words a hashed text has, 0 for everything else.
tombstones = Table(
    "tombstones",
    metadata,
    *_keys(Text, "workspace", "kind", "hash"),
    *_needed(Integer, "words"),
    *_needed(Text, "erasure"),
)

tombstone_keys = Table("tombstone_keys", metadata, *_keys(Text, "workspace"), *_needed(Text, "key"))

# Every file `reverie backup` wrote from this database. The workspace is the Home's.
backups = Table("backups", metadata, *_keys(Text, "workspace", "path"), *_needed(Moment, "made_at"))
