"""API keys; memory stores, their memories and versions.

Revision ID: 0004
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "api_keys",
        *_owned(),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("permissions", sa.Text, nullable=False),
        sa.Column("prefix", sa.Text, nullable=False),
        sa.Column("sha256", sa.Text, nullable=False),
        sa.Column("made_at", sa.BigInteger, nullable=False),
        sa.Column("expires_at", sa.BigInteger),
        sa.Column("revoked_at", sa.BigInteger),
    )
    op.create_index("api_keys_by_prefix", "api_keys", ["prefix"])
    op.create_table(
        "memory_stores",
        *_owned(),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("details", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("archived_at", sa.BigInteger),
        sa.Column("held", sa.Integer, nullable=False),
        sa.Column("written", sa.BigInteger, nullable=False),
    )
    op.create_index("memory_stores_of_a_workspace", "memory_stores", ["workspace", "id"])
    _memories()
    _versions()


def _memories() -> None:
    op.create_table(
        "memories",
        *_owned(),
        sa.Column("store", sa.Text, primary_key=True),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("path", _path(), nullable=False),
        sa.Column("sha256", sa.Text, nullable=False),
        sa.Column("size", sa.Integer, nullable=False),
        sa.Column("version", sa.Text, nullable=False),
        sa.Column("flags", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
    )
    op.create_index("memories_by_path", "memories", ["workspace", "user", "store", "path"], unique=True)


def _versions() -> None:
    op.create_table(
        "memory_versions",
        *_owned(),
        sa.Column("store", sa.Text, primary_key=True),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("number", sa.BigInteger, nullable=False),
        sa.Column("memory", sa.Text, nullable=False),
        sa.Column("operation", sa.Text, nullable=False),
        sa.Column("path", sa.Text),
        sa.Column("sha256", sa.Text),
        sa.Column("size", sa.Integer),
        sa.Column("flags", sa.Text, nullable=False),
        sa.Column("hand", sa.Text, nullable=False),
        sa.Column("author", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("change_id", sa.Text),
        sa.Column("redacted_at", sa.BigInteger),
        sa.Column("redacted_hand", sa.Text),
        sa.Column("redacted_by", sa.Text),
    )
    numbered = ["workspace", "user", "store", "number"]
    op.create_index("memory_versions_in_order", "memory_versions", numbered, unique=True)
    op.create_index("memory_versions_of_a_memory", "memory_versions", [*numbered[:3], "memory", "number"])


def _path() -> sa.types.TypeEngine[str]:
    return sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def _owned() -> list[sa.Column[str]]:
    return [sa.Column("workspace", sa.Text, primary_key=True), sa.Column("user", sa.Text, primary_key=True)]
