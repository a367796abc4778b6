"""Changes, the ledger, entries with their ids, proposals and what sessions were given.

Revision ID: 0002
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

_ONE_LIVE_CHANGE = sa.text("proposal is not null and standing <> 'conflicted'")


def upgrade() -> None:
    _content()
    _chain()
    _review()


def _owned() -> list[sa.Column[str]]:
    return [sa.Column("workspace", sa.Text, primary_key=True), sa.Column("user", sa.Text, primary_key=True)]


def _content() -> None:
    op.create_table(
        "blobs",
        *_owned(),
        sa.Column("sha256", sa.Text, primary_key=True),
        sa.Column("content", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "changes",
        *_owned(),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("shelf", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("standing", sa.Text, nullable=False),
        sa.Column("number", sa.BigInteger),
        sa.Column("via", sa.Text, nullable=False),
        sa.Column("actor", sa.Text, nullable=False),
        sa.Column("proposal", sa.Text),
        sa.Column("dream", sa.Text),
        sa.Column("undoes", sa.Text),
        sa.Column("details", sa.Text, nullable=False),
        sa.Column("salt", sa.Text, nullable=False),
        sa.Column("intended_at", sa.BigInteger, nullable=False),
        sa.Column("settled_at", sa.BigInteger),
    )
    op.create_index("changes_in_order", "changes", ["workspace", "number"])
    op.create_index("changes_of_a_subject", "changes", ["workspace", "user", "shelf", "subject", "number"])
    op.create_index(
        "one_live_change_for_a_proposal",
        "changes",
        ["workspace", "user", "proposal"],
        unique=True,
        sqlite_where=_ONE_LIVE_CHANGE,
        postgresql_where=_ONE_LIVE_CHANGE,
    )
    op.create_table(
        "edits",
        *_owned(),
        sa.Column("change_id", sa.Text, primary_key=True),
        sa.Column("document", sa.Text, primary_key=True),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("before", sa.Text),
        sa.Column("after", sa.Text),
    )
    op.create_table(
        "documents",
        *_owned(),
        sa.Column("shelf", sa.Text, primary_key=True),
        sa.Column("document", sa.Text, primary_key=True),
        sa.Column("sha256", sa.Text),
        sa.Column("number", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "entries",
        *_owned(),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("version", sa.Integer, primary_key=True),
        sa.Column("shelf", sa.Text, nullable=False),
        sa.Column("document", sa.Text, nullable=False),
        sa.Column("sha256", sa.Text, nullable=False),
        sa.Column("since", sa.BigInteger),
        sa.Column("seen", sa.BigInteger, nullable=False),
        sa.Column("critical", sa.Boolean, nullable=False),
        sa.Column("change_id", sa.Text, nullable=False),
        sa.Column("came", sa.BigInteger, nullable=False),
        sa.Column("went", sa.BigInteger),
    )
    op.create_index("entries_of_a_document", "entries", ["workspace", "user", "shelf", "document", "went"])


def _chain() -> None:
    op.create_table(
        "ledger",
        sa.Column("workspace", sa.Text, primary_key=True),
        sa.Column("number", sa.BigInteger, primary_key=True),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("user", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("previous", sa.Text, nullable=False),
        sa.Column("hash", sa.Text, nullable=False),
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            "create function ledger_is_append_only() returns trigger language plpgsql as "
            "$$ begin raise exception 'the ledger is append-only'; end $$"
        )
        op.execute(
            "create trigger ledger_append_only before update or delete on ledger "
            "for each row execute function ledger_is_append_only()"
        )
        return
    for verb in ("update", "delete"):
        op.execute(
            f"create trigger ledger_no_{verb} before {verb} on ledger "
            "begin select raise(abort, 'the ledger is append-only'); end"
        )


def _review() -> None:
    op.create_table(
        "proposals",
        *_owned(),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("shelf", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("proposer", sa.Text, nullable=False),
        sa.Column("dream", sa.Text),
        sa.Column("hash", sa.Text, nullable=False),
        sa.Column("details", sa.Text, nullable=False),
        sa.Column("made_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger, nullable=False),
        sa.Column("decided_at", sa.BigInteger),
    )
    op.create_index("proposals_by_status", "proposals", ["workspace", "user", "status", "made_at"])
    op.create_table(
        "contexts",
        *_owned(),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("session", sa.Text),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("asked", sa.Text, nullable=False),
        sa.Column("sha256", sa.Text, nullable=False),
    )
    op.create_index("contexts_in_order", "contexts", ["workspace", "user", "at"])
