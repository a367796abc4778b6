"""Between rows and nouns, without loss in either direction."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Select

from reverie.core.clock import TimeSpan
from reverie.core.scope import Scope


def owner_key(scope: Scope) -> dict[str, Any]:
    """The columns that say whose a row is."""
    return {"workspace": scope.workspace, "user": scope.user or ""}


def in_span(asked: Select[Any], column: Any, span: TimeSpan) -> Select[Any]:
    limits = (
        (span.since, column.__ge__),
        (span.until, column.__le__),
        (span.after, column.__gt__),
        (span.before, column.__lt__),
    )
    return asked.where(*(compared(limit) for limit, compared in limits if limit is not None))


def mine(table: Any, scope: Scope) -> ColumnElement[bool]:
    """Rows of this person, or of the whole workspace where the scope names nobody."""
    ours: ColumnElement[bool] = table.c.workspace == scope.workspace
    return ours if scope.user is None else ours & (table.c.user == scope.user)
