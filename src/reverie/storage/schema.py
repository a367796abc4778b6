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


def _owned(name: str, *items: SchemaItem, **options: Any) -> Table:
    """A table of rows that belong to someone."""
    whose = Column("workspace", Text, primary_key=True), Column("user", Text, primary_key=True)
    return Table(name, metadata, *whose, *items, **options)


sessions = _owned(
    "sessions",
    Column("id", Text, primary_key=True),
    Column("harness", Text, nullable=False),
    Column("agent", Text),
    Column("title", Text),
    Column("started_at", Moment),
    Column("ended_at", Moment),
    Column("parent", Text),
    Column("outcome", Double),
    Column("facts", Text),
    Column("project", Text),
    Column("project_path", Text),
    Column("source", Text),
    Column("revision", Integer, nullable=False),
    Column("turns", Integer, nullable=False),
    Column("added_at", Moment, nullable=False),
    Column("removed_at", Moment),
    # The place of the latest write in the order of commits of this workspace; an index follows it.
    Column("changed", BigInteger, nullable=False),
    Index("sessions_in_order_of_change", "workspace", "changed"),
)

turns = _owned(
    "turns",
    Column("session_id", Text, primary_key=True),
    Column("revision", Integer, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("role", Text, nullable=False),
    Column("origin", Text, nullable=False),
    Column("name", Text),
    Column("at", Moment),
    Column("noise", Text),
    Column("detail", Text),
    Column("text", Text, nullable=False),
    # The key is most of a row's overhead; without a rowid SQLite keeps it once instead of twice.
    sqlite_with_rowid=False,
)

sources = _owned(
    "sources",
    Column("path", Text, primary_key=True),
    Column("reader", Text),
    Column("added_at", Moment, nullable=False),
)

files = _owned(
    "files",
    Column("path", Text, primary_key=True),
    Column("fingerprint", Text, nullable=False),
    Column("read_at", Moment, nullable=False),
)

# Files that could not be read: tried again when their fingerprint changes.
quarantine = _owned(
    "quarantine",
    Column("path", Text, primary_key=True),
    Column("reader", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
    Column("why", Text, nullable=False),
    Column("since", Moment, nullable=False),
    Column("tried_at", Moment, nullable=False),
)

# Long transcripts are stored in several transactions. Until the last one, this says which turns are not yet part of
# their session, so that those of a write that was killed can be taken out.
arrivals = _owned(
    "arrivals",
    Column("session_id", Text, primary_key=True),
    Column("revision", Integer, nullable=False),
    Column("kept", Integer, nullable=False),
    Column("begun_at", Moment, nullable=False),
)

counters = Table(
    "counters",
    metadata,
    Column("workspace", Text, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("value", BigInteger, nullable=False),
)

# ---- history: why memory and skills say what they say ----------------------------------------------------------------

blobs = _owned(
    "blobs",
    Column("sha256", Text, primary_key=True),
    Column("content", LargeBinary, nullable=False),
)

_ONE_LIVE_CHANGE = text("proposal is not null and standing <> 'conflicted'")

changes = _owned(
    "changes",
    Column("id", Text, primary_key=True),
    Column("target", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("standing", Text, nullable=False),
    Column("number", BigInteger),
    Column("via", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("proposal", Text),
    Column("dream", Text),
    Column("undoes", Text),
    Column("details", Text, nullable=False),
    # Salts the digests in the ledger; erasing it makes them unguessable.
    Column("salt", Text, nullable=False),
    Column("intended_at", Moment, nullable=False),
    Column("settled_at", Moment),
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
    "edits",
    Column("change_id", Text, primary_key=True),
    Column("document", Text, primary_key=True),
    Column("place", Integer, nullable=False),
    Column("before", Text),
    Column("after", Text),
)

documents = _owned(
    "documents",
    Column("target", Text, primary_key=True),
    Column("document", Text, primary_key=True),
    Column("sha256", Text),
    Column("number", BigInteger, nullable=False),
)

entries = _owned(
    "entries",
    Column("id", Text, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("target", Text, nullable=False),
    Column("document", Text, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("since", Moment),
    Column("seen", Moment, nullable=False),
    Column("critical", Boolean, nullable=False),
    Column("change_id", Text, nullable=False),
    # The numbers of the Changes that brought this wording and took it away again.
    Column("came", BigInteger, nullable=False),
    Column("went", BigInteger),
    Column("said", Moment),
    Index("entries_of_a_document", "workspace", "user", "target", "document", "went"),
)

ledger = Table(
    "ledger",
    metadata,
    Column("workspace", Text, primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("at", Moment, nullable=False),
    Column("kind", Text, nullable=False),
    Column("user", Text, nullable=False),
    Column("body", Text, nullable=False),
    Column("previous", Text, nullable=False),
    Column("hash", Text, nullable=False),
    # What can be erased is hashed by itself: `details` is the digest of user and body with this salt.
    Column("salt", Text),
    Column("details", Text),
)

proposals = _owned(
    "proposals",
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("proposer", Text, nullable=False),
    Column("dream", Text),
    Column("hash", Text, nullable=False),
    Column("details", Text, nullable=False),
    Column("made_at", Moment, nullable=False),
    Column("expires_at", Moment, nullable=False),
    Column("decided_at", Moment),
    # The order in which people are asked, the lowest first; until when a person put it off; where it was said.
    Column("rank", Double, nullable=False, server_default=text("0")),
    Column("snoozed_until", Moment),
    Column("project", Text, nullable=False, server_default=text("''")),
    Index("proposals_by_status", "workspace", "user", "status", "made_at"),
)

contexts = _owned(
    "contexts",
    Column("id", Text, primary_key=True),
    Column("number", BigInteger, nullable=False),
    Column("session", Text),
    Column("at", Moment, nullable=False),
    Column("asked", Text, nullable=False),
    Column("sha256", Text, nullable=False),
    Index("contexts_in_order", "workspace", "user", "at"),
)

# ---- dreams: which sessions were read, what was noticed, what became of it -------------------------------------------

dreams = _owned(
    "dreams",
    Column("id", Text, primary_key=True),
    Column("number", BigInteger, nullable=False),
    Column("target", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("started_at", Moment, nullable=False),
    Column("ended_at", Moment),
    Column("details", Text, nullable=False),
    Index("dreams_in_order", "workspace", "user", "number"),
)

dreamt = _owned(
    "dreamt",
    Column("target", Text, primary_key=True),
    # Whose session it was: a target may be dreamt over the sessions of several people.
    Column("session_user", Text, primary_key=True),
    Column("session_id", Text, primary_key=True),
    Column("revision", Integer, nullable=False),
    Column("turns", Integer, nullable=False),
    Column("dream", Text, nullable=False),
)

candidates = _owned(
    "candidates",
    Column("id", Text, primary_key=True),
    Column("target", Text, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("staged", Boolean, nullable=False),
    Column("said_at", Moment),
    Column("dream", Text, nullable=False),
    Column("details", Text, nullable=False),
    Index("candidates_staged", "workspace", "user", "target", "staged"),
)

# ---- memory stores and the keys of who may write them ----------------------------------------------------------------

api_keys = _owned(
    "api_keys",
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("permissions", Text, nullable=False),
    Column("prefix", Text, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("made_at", Moment, nullable=False),
    Column("expires_at", Moment),
    Column("revoked_at", Moment),
    Index("api_keys_by_prefix", "prefix"),
)

memory_stores = _owned(
    "memory_stores",
    Column("id", Text, primary_key=True),
    # Name, description and metadata as JSON: people may put characters there that no database takes as text.
    Column("details", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("archived_at", Moment),
    Column("held", Integer, nullable=False),
    Column("written", BigInteger, nullable=False),
    Index("memory_stores_of_a_workspace", "workspace", "id"),
)

memories = _owned(
    "memories",
    Column("store", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    # In the order of bytes on both dialects: pages of a listing depend on it.
    Column("path", Text().with_variant(Text(collation="C"), "postgresql"), nullable=False),
    Column("sha256", Text, nullable=False),
    Column("size", Integer, nullable=False),
    Column("version", Text, nullable=False),
    Column("flags", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    # How old its statements are, as JSON, once a dream has written to it.
    Column("dates", Text),
    Index("memories_by_path", "workspace", "user", "store", "path", unique=True),
)

memory_versions = _owned(
    "memory_versions",
    Column("store", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("number", BigInteger, nullable=False),
    Column("memory", Text, nullable=False),
    Column("operation", Text, nullable=False),
    Column("path", Text),
    Column("sha256", Text),
    Column("size", Integer),
    Column("flags", Text, nullable=False),
    Column("hand", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("change_id", Text),
    Column("redacted_at", Moment),
    Column("redacted_hand", Text),
    Column("redacted_by", Text),
    Index("memory_versions_in_order", "workspace", "user", "store", "number", unique=True),
    Index("memory_versions_of_a_memory", "workspace", "user", "store", "memory", "number"),
)

# ---- a night under way: its rows go when it ends ---------------------------------------------------------------------

nights = _owned(
    "nights",
    Column("dream", Text, primary_key=True),
    Column("asked", Text, nullable=False),
    Column("queued", Boolean, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("landing", Boolean, nullable=False),
    Column("thought", Text),
)

# Whoever has the newest token of a target may write its night. The row stays, so that no token is given twice.
leases = _owned(
    "leases",
    Column("target", Text, primary_key=True),
    Column("holder", Text, nullable=False),
    Column("dream", Text, nullable=False),
    Column("token", BigInteger, nullable=False),
    Column("until", Moment, nullable=False),
)

chosen = _owned(
    "chosen",
    Column("dream", Text, primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("session_user", Text, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("turns", Integer, nullable=False),
    Column("noticed", Integer),
    Column("told", Text),
)

noticed = _owned(
    "noticed",
    Column("dream", Text, primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("id", Text, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("said_at", Moment),
    Column("details", Text, nullable=False),
)

planned = _owned(
    "planned",
    Column("dream", Text, primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("details", Text, nullable=False),
    Column("became", Text),
)

# What models were asked. The calls stay, without a word of anyone's; the answers go when the night ends.
calls = _owned(
    "calls",
    Column("dream", Text, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("phase", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("prompt", Text, nullable=False),
    Column("prompt_sha256", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("tokens_in", BigInteger, nullable=False),
    Column("tokens_out", BigInteger, nullable=False),
    Column("cached", BigInteger, nullable=False),
    Column("reported", Boolean, nullable=False),
    # Billionths of a dollar; none where the price is not known.
    Column("cost", BigInteger),
    Column("seconds", Double, nullable=False),
    Column("sent", BigInteger, nullable=False),
    Column("whole", BigInteger, nullable=False),
    Column("at", Moment, nullable=False),
    Column("exceeded", Text),
    # The run that the dream belongs to; none in rows from before that was kept.
    Column("run", Text),
    Index("calls_of_a_day", "workspace", "at"),
    Index("calls_of_a_run", "workspace", "user", "run"),
)

answers = _owned(
    "answers",
    Column("dream", Text, primary_key=True),
    Column("phase", Text, primary_key=True),
    Column("question", Text, primary_key=True),
    Column("value", Text, nullable=False),
)

# ---- sessions recorded over the API, and what they are made from -----------------------------------------------------

definitions = _owned(
    "definitions",
    Column("kind", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("version", Integer, nullable=False),
    Column("details", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("archived_at", Moment),
    Index("definitions_of_a_workspace", "workspace", "kind", "id"),
)

definition_versions = _owned(
    "definition_versions",
    Column("kind", Text, primary_key=True),
    Column("id", Text, primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("details", Text, nullable=False),
    Column("updated_at", Moment, nullable=False),
)

recorded = _owned(
    "recorded",
    Column("id", Text, primary_key=True),
    Column("agent", Text, nullable=False),
    Column("agent_version", Integer, nullable=False),
    Column("environment", Text, nullable=False),
    Column("status", Text, nullable=False),
    # The memory stores it was given, each between spaces.
    Column("stores", Text, nullable=False),
    Column("details", Text, nullable=False),
    Column("events", Integer, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("updated_at", Moment, nullable=False),
    Column("archived_at", Moment),
    Index("recorded_of_a_workspace", "workspace", "id"),
)

recorded_events = _owned(
    "recorded_events",
    Column("session", Text, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("id", Text, nullable=False),
    Column("type", Text, nullable=False),
    Column("at", Moment, nullable=False),
    Column("details", Text, nullable=False),
)

# ---- dreams over memory stores: what was asked for over the API; the night itself is in `dreams` ---------------------

store_dreams = _owned(
    "store_dreams",
    Column("id", Text, primary_key=True),
    Column("store", Text, nullable=False),
    Column("output", Text, nullable=False),
    Column("session", Text, nullable=False),
    Column("in_place", Boolean, nullable=False),
    Column("asked", Text, nullable=False),
    Column("cloned", Boolean, nullable=False),
    Column("told", Text, nullable=False),
    Column("created_at", Moment, nullable=False),
    Column("archived_at", Moment),
    Index("store_dreams_of_a_workspace", "workspace", "id"),
)

# ---- erasure: what is under way, what must not come back, and where copies were written -----------------------------

# A row is written before anything is erased, and says what; when all of it is gone the row has counts and no words.
erasures = _owned(
    "erasures",
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("step", Text, nullable=False),
    Column("wanted", Text, nullable=False),
    Column("report", Text, nullable=False),
    Column("begun_at", Moment, nullable=False),
    Column("ended_at", Moment),
)

# Keyed hashes only. `words` is how many words a hashed text has, 0 for everything else.
tombstones = Table(
    "tombstones",
    metadata,
    Column("workspace", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("hash", Text, primary_key=True),
    Column("words", Integer, nullable=False),
    Column("erasure", Text, nullable=False),
)

tombstone_keys = Table(
    "tombstone_keys",
    metadata,
    Column("workspace", Text, primary_key=True),
    Column("key", Text, nullable=False),
)

# Every file `reverie backup` wrote from this database. The workspace is the Home's.
backups = Table(
    "backups",
    metadata,
    Column("workspace", Text, primary_key=True),
    Column("path", Text, primary_key=True),
    Column("made_at", Moment, nullable=False),
)
