"""Which run the call of a model belongs to: what a night may take is for all dreams of a run together.

Revision ID: 0011
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.add_column("calls", sa.Column("run", sa.Text))
    op.create_index("calls_of_a_run", "calls", ["workspace", "user", "run"])
