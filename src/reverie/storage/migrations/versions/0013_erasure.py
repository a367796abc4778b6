"""Erasure: the ledger's details are hashed by themselves, so that they can be erased; plans, tombstones and backups.

Rows that are there keep their hash: whoever holds one of them as an anchor can still check against it.

Revision ID: 0013
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"

_FIXED = ("workspace", "number", "at", "kind", "previous", "hash", "details")
_EMPTIED = "new.body = '' and new.\"user\" = '' and new.salt is null"


def upgrade() -> None:
    op.add_column("ledger", sa.Column("salt", sa.Text))
    op.add_column("ledger", sa.Column("details", sa.Text))
    _let_rows_be_emptied()
    op.create_table(
        "erasures",
        _key("workspace"),
        _key("user"),
        _key("id"),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("step", sa.Text, nullable=False),
        sa.Column("wanted", sa.Text, nullable=False),
        sa.Column("report", sa.Text, nullable=False),
        sa.Column("begun_at", sa.BigInteger, nullable=False),
        sa.Column("ended_at", sa.BigInteger),
    )
    op.create_table(
        "tombstones",
        _key("workspace"),
        _key("kind"),
        _key("hash"),
        sa.Column("words", sa.Integer, nullable=False),
        sa.Column("erasure", sa.Text, nullable=False),
    )
    op.create_table("tombstone_keys", _key("workspace"), sa.Column("key", sa.Text, nullable=False))
    op.create_table("backups", _key("workspace"), _key("path"), sa.Column("made_at", sa.BigInteger, nullable=False))


def _let_rows_be_emptied() -> None:
    """A row is never changed otherwise: what it was is still in its hash, and a later row has to name it."""
    if op.get_bind().dialect.name == "postgresql":
        same = " and ".join(f'new."{name}" is not distinct from old."{name}"' for name in _FIXED)
        op.execute(
            "create or replace function ledger_is_append_only() returns trigger language plpgsql as $$ begin "
            f"if tg_op = 'UPDATE' then if {_EMPTIED} and {same} then return new; end if; end if; "
            "raise exception 'the ledger is append-only'; end $$"
        )
        return
    same = " and ".join(f'new."{name}" is old."{name}"' for name in _FIXED)
    op.execute("drop trigger ledger_no_update")
    op.execute(
        f"create trigger ledger_no_update before update on ledger when not ({_EMPTIED} and {same}) "
        "begin select raise(abort, 'the ledger is append-only'); end"
    )


def _key(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.Text, primary_key=True)
