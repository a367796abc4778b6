"""The door to the database: one `engine()`, the statements every table needs, and where every transaction on our rows
begins: in one workspace, or in all of them for a reason that has a name.

On Postgres row-level security holds a transaction to that: it says in which workspace it is (`begun`, once it has begun
and until it ends) and sees and writes rows of that workspace only, whatever it asks for. Who says nothing sees nothing.
The policies bind the owner of the tables too. A superuser, or a role made with BYPASSRLS, is bound by none: `bypassed`
says so, and who runs a server is told. SQLite has no such policies; there the workspace in every query is alone.

An errand is a reason to look across workspaces, and may do that much: `keys` finds the key a caller sent, before it is
known whose it is; `nights` finds nights for who works on them or runs the machine; `upkeep` migrates, backs up and
restores.

SQLite: `pysqlite3` where its wheel is installed (a current SQLite), else the standard library's. Versions below
3.51.3 can lose a checkpoint in WAL mode, so there the journal is `delete`.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, cast, get_args

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    ExceptionContext,
    Executable,
    Select,
    Table,
    bindparam,
    create_engine,
    event,
    or_,
    select,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, IntegrityError, ProgrammingError

from reverie.core.clock import Clock, TimeSpan
from reverie.core.errors import BadSetting, DatabaseUnusable
from reverie.core.ids import IdKind, sha256
from reverie.core.scope import Scope
from reverie.storage import schema

WAL_IS_SAFE_FROM = (3, 51, 3)
BUSY_MILLISECONDS = 30_000
_NEXT_STEPS = (
    ("locked", "Another process is writing; try again when it is done."),
    ("malformed", "The file is damaged: restore a backup, or move it away and add the sources again."),
    ("not a database", "Another file is in its place: move it away, or point `database` elsewhere."),
    ("is full", "Free some disk space and try again."),
    ("readonly", "{file} or its folder may not be written: check owner and mode."),
    ("unable to open", "Check that the folder exists and {file} may be read and written."),
    ("connect", "Check that the server runs and the URL is right."),
)
THREADS = 40  # of a server, as many as its framework has: none waits for a connection while others are idle
SPARE = 8  # for who holds the lock of a store and writes with another connection
PAGE_BYTES = 8192  # transcripts are long rows: fewer overflow pages, fewer interior ones
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
_TABLES: dict[IdKind, Table] = {
    "proposal": schema.proposals,
    "change": schema.changes,
    "dream": schema.dreams,
    "session": schema.sessions,
    "entry": schema.entries,
}


def engine(url: str) -> Engine:
    parsed = None
    with suppress(ArgumentError):
        parsed = make_url(url)
    if parsed is None or parsed.get_backend_name() not in ("sqlite", "postgresql"):
        raise BadSetting(
            f"The database URL begins {url.split(':', 1)[0][:20]!r}.",
            expected="sqlite:///path/to/reverie.db or postgresql://user@host/name",
            next_step="Set it with --database, REVERIE_DATABASE or `database` in reverie.toml.",
        )
    if parsed.get_backend_name() == "sqlite":
        made = _sqlite(parsed)
    else:
        driven = parsed.set(drivername="postgresql+psycopg")
        made = create_engine(driven, pool_pre_ping=True, pool_size=THREADS, max_overflow=SPARE)
        event.listen(made, "begin", begun)
    event.listen(made, "handle_error", _explained)
    return made


def _explained(context: ExceptionContext) -> None:
    """The driver's word for a database that cannot be used, with what to do about it."""
    error = context.sqlalchemy_exception
    if isinstance(error, DatabaseError) and not isinstance(error, IntegrityError | ProgrammingError):
        words = str(context.original_exception).strip() or "no answer"
        if "readonly" in words.lower():
            context.is_disconnect = True  # what was opened while it could not be written stays so: open it again
        step = next((step for sign, step in _NEXT_STEPS if sign in words.lower()), "Run `reverie doctor`.")
        step = step.format(file=(context.engine and context.engine.url.database) or "The file")
        raise DatabaseUnusable(
            f"The database said: {words}.", next_step=f"{step} Nothing was changed."
        ) from context.original_exception


def _sqlite(url: URL) -> Engine:
    driver = sqlite_driver()
    made = create_engine(url, module=driver)
    event.listen(made, "do_connect", lambda *_: mend_modes(Path(url.database or "")))
    journal = "wal" if driver.sqlite_version_info >= WAL_IS_SAFE_FROM else "delete"

    @event.listens_for(made, "connect")
    def on_connect(connection: Any, _: Any) -> None:
        # The driver must not open transactions by itself: DDL would fall outside them.
        connection.isolation_level = None
        for pragma in (
            f"busy_timeout={BUSY_MILLISECONDS}",
            f"page_size={PAGE_BYTES}",
            f"journal_mode={journal}",
            "synchronous=full",  # what was acknowledged outlives a power cut, too
            "foreign_keys=on",
            "secure_delete=on",
            "cache_size=-16000",
        ):
            connection.execute(f"pragma {pragma}")

    @event.listens_for(made, "begin")
    def on_begin(connection: Any) -> None:
        readonly = connection.get_execution_options().get("reads", False)
        connection.exec_driver_sql("BEGIN" if readonly else "BEGIN IMMEDIATE")

    return made


def mend_modes(database: Path) -> None:
    """SQLite makes the files beside a database with the mode that has at the time. One made while the database could
    only be read keeps every later write out, so it is given the database's mode again."""
    if not os.access(database, os.W_OK):
        return
    for path in (database.with_name(f"{database.name}{end}") for end in ("-wal", "-shm", "-journal")):
        if path.exists() and not os.access(path, os.W_OK):
            try:
                path.chmod(stat.S_IMODE(database.stat().st_mode))
            except OSError as error:
                raise DatabaseUnusable(
                    f"{path} cannot be written ({error.strerror}), though {database.name} can be.",
                    expected="a file with the owner and mode of the database beside it",
                    next_step=f"`chmod u+w {path}` as its owner. Nothing was changed.",
                ) from error


def sqlite_driver() -> ModuleType:
    try:
        import pysqlite3  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        return sqlite3
    return pysqlite3.dbapi2  # type: ignore[no-any-return,unused-ignore]


def reading(engine: Engine, scope: Scope) -> AbstractContextManager[Connection]:
    return engine.execution_options(reads=True, workspace=scope.workspace).connect()


def writing(engine: Engine, scope: Scope) -> AbstractContextManager[Connection]:
    return engine.execution_options(workspace=scope.workspace).begin()


def reading_across(engine: Engine, errand: Errand, **options: Any) -> AbstractContextManager[Connection]:
    return engine.execution_options(reads=True, errand=errand, **options).connect()


def writing_across(engine: Engine, errand: Errand) -> AbstractContextManager[Connection]:
    return engine.execution_options(errand=errand).begin()


class SqlAdapter:
    """What every port that is implemented in SQL has, and how it asks for rows."""

    def __init__(self, engine: Engine, clock: Clock) -> None:
        self._engine = engine
        self._clock = clock

    def _rows(self, scope: Scope, asked: Executable, given: dict[str, Any] | None = None) -> Sequence[Any]:
        with reading(self._engine, scope) as connection:
            return connection.execute(asked, given).all()

    def _first(self, scope: Scope, asked: Executable, given: dict[str, Any] | None = None) -> Any:
        """None where there is none."""
        with reading(self._engine, scope) as connection:
            return connection.execute(asked, given).first()

    def _rows_across(self, errand: Errand, asked: Executable) -> Sequence[Any]:
        with reading_across(self._engine, errand) as connection:
            return connection.execute(asked).all()


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
    return connection.execute(text(_BYPASSED)).scalar() if connection.dialect.name == "postgresql" else None


def unbound(role: str) -> str:
    return (
        f"row-level security does not bind the role {role}, so that one wall alone is between workspaces: "
        "connect as a role that is no superuser and has no BYPASSRLS"
    )


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


def upsert(
    connection: Connection,
    table: Table,
    key: dict[str, Any],
    row: dict[str, Any],
    only_when_new: dict[str, Any] | None = None,
) -> None:
    new = only_when_new or {}
    statement = _inserted(connection.dialect.name, table, tuple(key), tuple(row), tuple(new))
    connection.execute(statement, key | row | new)


@cache
def _inserted(dialect: str, table: Table, key: tuple[str, ...], row: tuple[str, ...], new: tuple[str, ...]) -> Any:
    """With the columns of `row` written over what there is, if there are any."""
    statement = _insert(dialect, table).values({name: bindparam(name) for name in key + row + new})
    if not row:
        return statement.on_conflict_do_nothing(index_elements=key)
    return statement.on_conflict_do_update(index_elements=key, set_={name: statement.excluded[name] for name in row})


def put_blob(connection: Connection, scope: Scope, content: bytes) -> str:
    """The name under which these bytes are kept."""
    name = sha256(content)
    put_if_new(connection, schema.blobs, owner_key(scope) | {"sha256": name}, {"content": content})
    return name


def read_blob(connection: Connection, scope: Scope, name: str | None) -> bytes | None:
    found = connection.execute(select(schema.blobs.c.content).filter_by(**owner_key(scope), sha256=name)).scalar()
    return None if found is None else bytes(found)


def next_change(connection: Connection, workspace: str) -> int:
    """The next place in this workspace's order of commits.

    The counter's row stays locked until the commit, so a smaller number is always visible before a larger one.
    Ask for it late in a transaction: writers of one workspace queue behind it.
    """
    return next_number(connection, workspace, "changes")


def next_number(connection: Connection, workspace: str, name: str) -> int:
    """The next of a series without gaps: a transaction that is rolled back gives its number back."""
    return add_to_counter(connection, workspace, name, 1)


def add_to_counter(connection: Connection, workspace: str, name: str, more: int) -> int:
    """A counter after so many more. Its row stays locked until the commit."""
    given = {"workspace": workspace, "name": name, "value": more}
    return int(connection.execute(_counted(connection.dialect.name), given).scalar_one())


def put_if_new(connection: Connection, table: Table, key: dict[str, Any], row: dict[str, Any]) -> None:
    upsert(connection, table, key, {}, only_when_new=row)


@cache
def _counted(dialect: str) -> Any:
    table = schema.counters
    statement = _insert(dialect, table).values({name: bindparam(name) for name in ("workspace", "name", "value")})
    so_many = {"value": table.c.value + statement.excluded.value}
    more = statement.on_conflict_do_update(index_elements=["workspace", "name"], set_=so_many)
    return more.returning(table.c.value)


def _insert(dialect: str, table: Table) -> Any:
    return (postgresql if dialect == "postgresql" else sqlite).insert(table)


def known_ids(engine: Engine, scope: Scope, kind: IdKind, beginnings: Sequence[str]) -> list[str]:
    """Within a scope; of dreams everybody's, which who runs the machine may name."""
    table = _TABLES[kind]
    asked = select(table.c.id).where(or_(*(table.c.id.startswith(one, autoescape=True) for one in beginnings)))
    if kind == "dream":
        with reading_across(engine, "nights") as connection:
            return list(connection.execute(asked.distinct()).scalars())
    with reading(engine, scope) as connection:
        return list(connection.execute(asked.where(mine(table, scope)).distinct()).scalars())
