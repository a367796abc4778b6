"""Agents and environments; sessions recorded over the API, and their events.

Revision ID: 0006
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    _definitions()
    op.create_table(
        "recorded",
        *_owned(),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("agent", sa.Text, nullable=False),
        sa.Column("agent_version", sa.Integer, nullable=False),
        sa.Column("environment", sa.Text, nullable=False),
        sa.Column("status", sa.Text, nullable=False),
        sa.Column("stores", sa.Text, nullable=False),
        sa.Column("details", sa.Text, nullable=False),
        sa.Column("events", sa.Integer, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("archived_at", sa.BigInteger),
    )
    op.create_index("recorded_of_a_workspace", "recorded", ["workspace", "id"])
    op.create_table(
        "recorded_events",
        *_owned(),
        sa.Column("session", sa.Text, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("type", sa.Text, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("details", sa.Text, nullable=False),
    )


def _definitions() -> None:
    op.create_table(
        "definitions",
        *_owned(),
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("details", sa.Text, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("archived_at", sa.BigInteger),
    )
    op.create_index("definitions_of_a_workspace", "definitions", ["workspace", "kind", "id"])
    op.create_table(
        "definition_versions",
        *_owned(),
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("version", sa.Integer, primary_key=True),
        sa.Column("details", sa.Text, nullable=False),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
    )


def _owned() -> list[sa.Column[str]]:
    return [sa.Column("workspace", sa.Text, primary_key=True), sa.Column("user", sa.Text, primary_key=True)]
