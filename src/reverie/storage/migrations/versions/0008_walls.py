"""The second wall on Postgres. Nothing is done here: `upgrade` raises it behind every migration, where it is missing.

Revision ID: 0008
"""

from __future__ import annotations

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """The number alone sees to it that databases made before are looked at again."""
