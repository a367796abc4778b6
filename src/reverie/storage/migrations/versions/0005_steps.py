"""The rows of a night under way: its steps can be done again, and whoever holds the lease of the shelf does them.

Revision ID: 0005
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.create_table(
        "nights",
        *_owned(),
        sa.Column("dream", sa.Text, primary_key=True),
        sa.Column("asked", sa.Text, nullable=False),
        sa.Column("queued", sa.Boolean, nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("landing", sa.Boolean, nullable=False),
        sa.Column("thought", sa.Text),
    )
    op.create_table(
        "leases",
        *_owned(),
        sa.Column("shelf", sa.Text, primary_key=True),
        sa.Column("holder", sa.Text, nullable=False),
        sa.Column("dream", sa.Text, nullable=False),
        sa.Column("token", sa.BigInteger, nullable=False),
        sa.Column("until", sa.BigInteger, nullable=False),
    )
    _read()
    op.create_table(
        "planned",
        *_owned(),
        sa.Column("dream", sa.Text, primary_key=True),
        sa.Column("place", sa.Integer, primary_key=True),
        sa.Column("details", sa.Text, nullable=False),
        sa.Column("became", sa.Text),
    )


def _read() -> None:
    op.create_table(
        "chosen",
        *_owned(),
        sa.Column("dream", sa.Text, primary_key=True),
        sa.Column("place", sa.Integer, primary_key=True),
        sa.Column("session_user", sa.Text, nullable=False),
        sa.Column("session_id", sa.Text, nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("turns", sa.Integer, nullable=False),
        sa.Column("noticed", sa.Integer),
    )
    op.create_table(
        "noticed",
        *_owned(),
        sa.Column("dream", sa.Text, primary_key=True),
        sa.Column("place", sa.Integer, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("session_id", sa.Text, nullable=False),
        sa.Column("said_at", sa.BigInteger),
        sa.Column("details", sa.Text, nullable=False),
    )


def _owned() -> list[sa.Column[str]]:
    return [sa.Column("workspace", sa.Text, primary_key=True), sa.Column("user", sa.Text, primary_key=True)]
