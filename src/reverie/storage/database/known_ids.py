"""The ids that begin with what a person typed."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Engine, Table, or_, select

from reverie.core.ids import IdKind
from reverie.core.scope import Scope
from reverie.storage.database import schema
from reverie.storage.database.transactions import reading, reading_across

_TABLES: dict[IdKind, Table] = {
    "proposal": schema.proposals,
    "change": schema.changes,
    "dream": schema.dreams,
    "session": schema.sessions,
    "entry": schema.entries,
}


def known_ids(engine: Engine, scope: Scope, kind: IdKind, beginnings: Sequence[str]) -> list[str]:
    """Within a scope; of dreams everybody's, which who runs the machine may name."""
    table = _TABLES[kind]
    asked = select(table.c.id).where(or_(*(table.c.id.startswith(one, autoescape=True) for one in beginnings)))
    if kind == "dream":
        with reading_across(engine, "nights") as connection:
            return list(connection.execute(asked.distinct()).scalars())
    asked = asked.filter_by(workspace=scope.workspace)
    if scope.user is not None:
        asked = asked.filter_by(user=scope.user)
    with reading(engine, scope) as connection:
        return list(connection.execute(asked.distinct()).scalars())
