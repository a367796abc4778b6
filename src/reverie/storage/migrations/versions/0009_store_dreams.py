"""Dreams over memory stores, asked for over the API.

Revision ID: 0009
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.create_table(
        "store_dreams",
        sa.Column("workspace", sa.Text, primary_key=True),
        sa.Column("user", sa.Text, primary_key=True),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("store", sa.Text, nullable=False),
        sa.Column("output", sa.Text, nullable=False),
        sa.Column("session", sa.Text, nullable=False),
        sa.Column("in_place", sa.Boolean, nullable=False),
        sa.Column("asked", sa.Text, nullable=False),
        sa.Column("cloned", sa.Boolean, nullable=False),
        sa.Column("told", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("archived_at", sa.BigInteger),
    )
    op.create_index("store_dreams_of_a_workspace", "store_dreams", ["workspace", "id"])
