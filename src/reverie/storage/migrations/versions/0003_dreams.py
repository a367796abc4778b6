"""Dreams, the sessions they read, and the candidates they noticed.

Revision ID: 0003
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "dreams",
        *_owned(),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("shelf", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("started_at", sa.BigInteger, nullable=False),
        sa.Column("ended_at", sa.BigInteger),
        sa.Column("details", sa.Text, nullable=False),
    )
    op.create_index("dreams_in_order", "dreams", ["workspace", "user", "number"])
    op.create_table(
        "dreamt",
        *_owned(),
        sa.Column("shelf", sa.Text, primary_key=True),
        sa.Column("session_user", sa.Text, primary_key=True),
        sa.Column("session_id", sa.Text, primary_key=True),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("turns", sa.Integer, nullable=False),
        sa.Column("dream", sa.Text, nullable=False),
    )
    _candidates()


def _candidates() -> None:
    op.create_table(
        "candidates",
        *_owned(),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("shelf", sa.Text, nullable=False),
        sa.Column("session_id", sa.Text, nullable=False),
        sa.Column("staged", sa.Boolean, nullable=False),
        sa.Column("said_at", sa.BigInteger),
        sa.Column("dream", sa.Text, nullable=False),
        sa.Column("details", sa.Text, nullable=False),
    )
    op.create_index("candidates_staged", "candidates", ["workspace", "user", "shelf", "staged"])


def _owned() -> list[sa.Column[str]]:
    return [sa.Column("workspace", sa.Text, primary_key=True), sa.Column("user", sa.Text, primary_key=True)]
