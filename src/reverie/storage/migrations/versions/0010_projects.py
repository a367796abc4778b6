"""The project a session was in. Of sessions that are kept already, the folder they recorded tells it.

Revision ID: 0010
"""

from __future__ import annotations

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

from reverie.transcripts.session import project_folder, project_name

revision = "0010"
down_revision = "0009"

_PAGE = 1000
_KEY = ("workspace", "user", "id")


def upgrade() -> None:
    op.add_column("sessions", sa.Column("project", sa.Text))
    op.add_column("sessions", sa.Column("project_path", sa.Text))
    connection = op.get_bind()
    table = sa.table("sessions", *map(sa.column, (*_KEY, "harness", "facts", "project", "project_path")))
    columns = [table.c[name] for name in _KEY]
    told = sa.select(*columns, table.c.facts).where(
        table.c.facts.like('%"cwd"%'), table.c.harness.in_(("claude-code", "codex", "hermes"))
    )
    one = sa.and_(*(table.c[name] == sa.bindparam(f"of_{name}") for name in _KEY))
    change = sa.update(table).where(one)
    last: tuple[str, ...] | None = None
    while True:
        page = told if last is None else told.where(sa.tuple_(*columns) > sa.tuple_(*map(sa.literal, last)))
        rows = connection.execute(page.order_by(*columns).limit(_PAGE)).all()
        if not rows:
            return
        connection.execute(change, [_filled(row) for row in rows])
        last = tuple(rows[-1])[: len(_KEY)]


def _filled(row: Any) -> dict[str, str | None]:
    folder = json.loads(row.facts).get("cwd")
    return {
        "of_workspace": row.workspace,
        "of_user": row.user,
        "of_id": row.id,
        "project": project_name(folder),
        "project_path": project_folder(folder),
    }
