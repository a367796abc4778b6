"""How old what a night landed is: as old as the words it rests on.

Revision ID: 0017
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    op.add_column("entries", sa.Column("said", sa.BigInteger))
    op.add_column("memories", sa.Column("dates", sa.Text))
