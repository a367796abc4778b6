"""In which order people are asked, as a column, so that a page of a long list costs a page; and a proposal can be put
off until a date.

Revision ID: 0015
"""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"

_KEY = ("workspace", "user", "id")


def upgrade() -> None:
    op.add_column("proposals", sa.Column("rank", sa.Double, nullable=False, server_default=sa.text("0")))
    op.add_column("proposals", sa.Column("snoozed_until", sa.BigInteger))
    connection = op.get_bind()
    table = sa.table("proposals", *map(sa.column, (*_KEY, "status", "details", "rank")))
    asked = sa.select(*(table.c[name] for name in _KEY), table.c.details).where(table.c.status == "waiting")
    rows = [dict(zip(("w", "u", "i"), row[:3], strict=True), r=_rank(row.details)) for row in connection.execute(asked)]
    one = sa.and_(*(table.c[name] == sa.bindparam(name[0]) for name in _KEY))
    if rows:
        connection.execute(sa.update(table).where(one).values(rank=sa.bindparam("r")), rows)


def _rank(details: str) -> float:
    told = json.loads(details)
    score = (told.get("score") or {}).get("total") or 0.0
    return (1000.0 if told.get("blocked") else 0.0) - float(score)
