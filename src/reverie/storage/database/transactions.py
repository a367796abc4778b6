"""Where every transaction on our rows begins: in one workspace, or in all of them for a reason that has a name.

On Postgres the database itself holds a transaction to that (`walls`): a query that forgets whose rows it wants gets
none of anyone else's. A transaction that says nothing gets none at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, cast

from sqlalchemy import Connection, Engine, text

from reverie.core.hashes import sha256
from reverie.core.scope import Scope
from reverie.storage.database.walls import Errand


def reading(engine: Engine, scope: Scope) -> AbstractContextManager[Connection]:
    return engine.execution_options(reads=True, workspace=scope.workspace).connect()


def writing(engine: Engine, scope: Scope) -> AbstractContextManager[Connection]:
    return engine.execution_options(workspace=scope.workspace).begin()


def reading_across(engine: Engine, errand: Errand, **options: Any) -> AbstractContextManager[Connection]:
    return engine.execution_options(reads=True, errand=errand, **options).connect()


def writing_across(engine: Engine, errand: Errand) -> AbstractContextManager[Connection]:
    return engine.execution_options(errand=errand).begin()


class _Part:
    """An Engine, as far as our records use one, whose every transaction is part of one that is open already."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.dialect = connection.dialect

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        yield self._connection

    connect = begin

    def execution_options(self, **_: Any) -> _Part:
        return self


def part_of(connection: Connection) -> Engine:
    """For `SqlHistory`, `SqlStores` and their like: what they write is committed with the rest, or not at all."""
    return cast(Engine, _Part(connection))


def lock_number(key: str) -> int:
    """A Postgres advisory lock is a signed number of 64 bits."""
    return int.from_bytes(bytes.fromhex(sha256(key))[:8], "big", signed=True)


def hold(connection: Connection, key: str) -> None:
    """Wait until nobody else holds this key, then hold it until the end of the transaction. SQLite has one writer."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("select pg_advisory_xact_lock(:key)"), {"key": lock_number(key)})


@contextmanager
def held_across(engine: Engine, key: str, *, wait: bool) -> Iterator[bool]:
    """On Postgres: hold this key over many transactions, or say that someone else does. Who dies lets go of it."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        number = {"key": lock_number(key)}
        if wait:
            connection.execute(text("select pg_advisory_lock(:key)"), number)
        elif not connection.execute(text("select pg_try_advisory_lock(:key)"), number).scalar():
            yield False
            return
        try:
            yield True
        finally:
            connection.execute(text("select pg_advisory_unlock(:key)"), number)
