"""Sessions, their turns, where they came from.

Revision ID: 0001
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "sessions",
        sa.Column("workspace", sa.Text, primary_key=True),
        sa.Column("user", sa.Text, primary_key=True),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("harness", sa.Text, nullable=False),
        sa.Column("agent", sa.Text),
        sa.Column("title", sa.Text),
        sa.Column("started_at", sa.BigInteger),
        sa.Column("ended_at", sa.BigInteger),
        sa.Column("parent", sa.Text),
        sa.Column("outcome", sa.Double),
        sa.Column("facts", sa.Text),
        sa.Column("source", sa.Text),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("turns", sa.Integer, nullable=False),
        sa.Column("added_at", sa.BigInteger, nullable=False),
        sa.Column("removed_at", sa.BigInteger),
        sa.Column("changed", sa.BigInteger, nullable=False),
    )
    op.create_index("sessions_in_order_of_change", "sessions", ["workspace", "changed"])
    op.create_table(
        "turns",
        sa.Column("workspace", sa.Text, primary_key=True),
        sa.Column("user", sa.Text, primary_key=True),
        sa.Column("session_id", sa.Text, primary_key=True),
        sa.Column("revision", sa.Integer, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("name", sa.Text),
        sa.Column("at", sa.BigInteger),
        sa.Column("noise", sa.Text),
        sa.Column("detail", sa.Text),
        sa.Column("text", sa.Text, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "sources",
        sa.Column("workspace", sa.Text, primary_key=True),
        sa.Column("user", sa.Text, primary_key=True),
        sa.Column("path", sa.Text, primary_key=True),
        sa.Column("reader", sa.Text),
        sa.Column("added_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "files",
        sa.Column("workspace", sa.Text, primary_key=True),
        sa.Column("user", sa.Text, primary_key=True),
        sa.Column("path", sa.Text, primary_key=True),
        sa.Column("fingerprint", sa.Text, nullable=False),
        sa.Column("read_at", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "counters",
        sa.Column("workspace", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("value", sa.BigInteger, nullable=False),
    )
