"""The project in whose sessions all of a proposal was said, as a column, so that what waits can be narrowed to one.

Revision ID: 0016
"""

from __future__ import annotations

import json

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"

_KEY = ("workspace", "user", "id")


def upgrade() -> None:
    op.add_column("proposals", sa.Column("project", sa.Text, nullable=False, server_default=sa.text("''")))
    connection = op.get_bind()
    table = sa.table("proposals", *map(sa.column, (*_KEY, "status", "details", "project")))
    sessions = sa.table("sessions", *map(sa.column, (*_KEY, "project")))
    asked = sa.select(*(table.c[name] for name in _KEY), table.c.details).where(table.c.status == "waiting")
    for row in connection.execute(asked).all():
        said = {one["session_id"] for one in json.loads(row.details).get("evidence", ())}
        theirs = sa.select(sessions.c.project).where(sessions.c.id.in_(said), sessions.c.workspace == row.workspace)
        projects = set(connection.execute(theirs).scalars())
        if len(projects) == 1 and (project := projects.pop()):
            key = {name: getattr(row, name) for name in _KEY}
            connection.execute(sa.update(table).filter_by(**key).values(project=project))
