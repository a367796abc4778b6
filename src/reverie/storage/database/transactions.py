"""Where every transaction on our rows begins: in one workspace, or in all of them for a reason that has a name.

On Postgres row-level security holds a transaction to that: it says in which workspace it is (`begun`, once it has begun
and until it ends) and sees and writes rows of that workspace only, whatever it asks for. Who says nothing sees nothing.
The policies bind the owner of the tables too. A superuser, or a role made with BYPASSRLS, is bound by none: `bypassed`
says so, and who runs a server is told. SQLite has no such policies; there the workspace in every query is alone.

An errand is a reason to look across workspaces, and may do that much: `keys` finds the key a caller sent, before it is
known whose it is; `nights` finds nights for who works on them or runs the machine; `upkeep` migrates, backs up and
restores.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Literal, cast, get_args

from sqlalchemy import Connection, Engine, text

from reverie.core.hashes import sha256
from reverie.core.scope import Scope

Errand = Literal["keys", "nights", "upkeep"]
SEEN_ON: dict[Errand, tuple[str, ...]] = {"keys": ("api_keys",), "nights": ("dreams", "nights", "leases")}
_WORKSPACE = "workspace = (select current_setting('reverie.workspace', true))"
_ON_ERRAND = "(select current_setting('reverie.errand', true)) = '{}'"
_WITH_A_WORKSPACE = """
    select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace
      and a.attname = 'workspace' and not a.attisdropped order by c.relname"""
_POLICIES = "select policyname from pg_policies where schemaname = current_schema() and tablename = :table"
_BYPASSED = "select rolname from pg_roles where rolname = current_user and (rolsuper or rolbypassrls)"


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


def begun(connection: Connection) -> None:
    """Tell Postgres where a transaction is, for as long as it lasts. Called when it begins."""
    options: Any = connection.get_execution_options()
    for name in ("workspace", "errand"):
        if name in options:
            connection.exec_driver_sql(f"select set_config('reverie.{name}', %s, true)", (options[name],))


def raise_walls(connection: Connection) -> None:
    """Around every table that has a workspace. After each migration, so that no new table is left without."""
    if connection.dialect.name != "postgresql":
        return
    for table in connection.execute(text(_WITH_A_WORKSPACE)).scalars().all():
        standing = set(connection.execute(text(_POLICIES), {"table": table}).scalars())
        told = {"own_workspace": f"using ({_WORKSPACE})", "upkeep": f"using ({_ON_ERRAND.format('upkeep')})"}
        for errand in get_args(Errand):
            if table in SEEN_ON.get(errand, ()):
                told[errand] = f"for select using ({_ON_ERRAND.format(errand)})"
        for name, policy in told.items():
            if name not in standing:
                connection.execute(text(f'create policy {name} on "{table}" {policy}'))
        connection.execute(text(f'alter table "{table}" enable row level security, force row level security'))


def bypassed(connection: Connection) -> str | None:
    """The role this connection has, if no policy binds it."""
    if connection.dialect.name != "postgresql":
        return None
    found: str | None = connection.execute(text(_BYPASSED)).scalar()
    return found


def unbound(role: str) -> str:
    return (
        f"row-level security does not bind the role {role}, so that one wall alone is between workspaces: "
        "connect as a role that is no superuser and has no BYPASSRLS"
    )
