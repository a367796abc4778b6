"""Erasure: the ledger's details are hashed by themselves, so that they can be erased; plans, tombstones and backups.

Rows that are there keep their hash: whoever holds one of them as an anchor can still check against it.

Revision ID: 0011
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.add_column("ledger", sa.Column("salt", sa.Text))
    op.add_column("ledger", sa.Column("details", sa.Text))
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
    op.create_table(
        "backups", _key("workspace"), _key("path"), sa.Column("made_at", sa.BigInteger, nullable=False)
    )


def _key(name: str) -> sa.Column[Any]:
    return sa.Column(name, sa.Text, primary_key=True)
