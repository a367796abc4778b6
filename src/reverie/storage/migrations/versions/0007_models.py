"""What models were asked in a night: every call with what it took, and the answers of a night under way.

Revision ID: 0007
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.create_table(
        "calls",
        *_owned(),
        sa.Column("dream", sa.Text, primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("phase", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("prompt", sa.Text, nullable=False),
        sa.Column("prompt_sha256", sa.Text, nullable=False),
        sa.Column("question", sa.Text, nullable=False),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("tokens_in", sa.BigInteger, nullable=False),
        sa.Column("tokens_out", sa.BigInteger, nullable=False),
        sa.Column("cached", sa.BigInteger, nullable=False),
        sa.Column("reported", sa.Boolean, nullable=False),
        sa.Column("cost", sa.BigInteger),
        sa.Column("seconds", sa.Double, nullable=False),
        sa.Column("sent", sa.BigInteger, nullable=False),
        sa.Column("whole", sa.BigInteger, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("exceeded", sa.Text),
    )
    op.create_index("calls_of_a_day", "calls", ["workspace", "at"])
    op.create_table(
        "answers",
        *_owned(),
        sa.Column("dream", sa.Text, primary_key=True),
        sa.Column("phase", sa.Text, primary_key=True),
        sa.Column("question", sa.Text, primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )
    op.add_column("chosen", sa.Column("told", sa.Text))


def _owned() -> list[sa.Column[str]]:
    return [sa.Column("workspace", sa.Text, primary_key=True), sa.Column("user", sa.Text, primary_key=True)]
