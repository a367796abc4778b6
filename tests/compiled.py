"""Compiled SQL that all engines of a process share.

SQLAlchemy compiles a statement once for each engine. A test has a database of its own, so each would compile the
hundred statements of a night again: a fifth of what a night costs.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Engine, create_engine
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

from reverie.storage import database as engines

_COMPILED: LRUCache[Any, Any] = LRUCache(2000)


def share_compiled_statements() -> None:
    """What was compiled is looked up by its dialect, of which each engine has one: those of a kind are made equal."""
    for dialect in (SQLiteDialect_pysqlite, PGDialect_psycopg):
        dialect.__eq__ = lambda one, other: type(one) is type(other)  # type: ignore[method-assign,assignment]
        dialect.__hash__ = lambda one: hash(type(one))  # type: ignore[method-assign,assignment]
    engines.create_engine = _sharing  # type: ignore[attr-defined]


def _sharing(*arguments: Any, **options: Any) -> Engine:
    made = create_engine(*arguments, **options)
    made.update_execution_options(compiled_cache=_COMPILED)
    return made
