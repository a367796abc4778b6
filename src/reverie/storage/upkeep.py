"""Upkeep of a database: left without what was deleted from it, and its rows as JSON lines, out of one dialect and into
either. And what `reverie doctor` looks at, which changes nothing.

What was deleted stands in free pages, in the write-ahead log, in copies from before the schema was changed, and in what
the engine of nights remembers of those that are over.

For a backup the tables are taken as they stand in the database, so that one of an older schema goes into that schema
and is migrated from there. Moments stay the numbers they are stored as.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

from sqlalchemy import (
    Column,
    Connection,
    Engine,
    MetaData,
    Table,
    bindparam,
    func,
    insert,
    inspect,
    select,
    text,
    tuple_,
)
from sqlalchemy.engine import make_url
from sqlalchemy.exc import IntegrityError, StatementError

from reverie.changes.ledger import broken_links
from reverie.core.errors import DatabaseUnusable, NotPermitted, ReverieError
from reverie.core.scope import LOCAL, Scope
from reverie.dreams.light.tagger import state
from reverie.erasure.records import Left
from reverie.storage import ledger, schema
from reverie.storage.backup_archive import LedgerHead, damaged
from reverie.storage.backup_files import is_half_restored
from reverie.storage.database import WAL_IS_SAFE_FROM, bypassed, part_of, reading_across, sqlite_driver, unbound
from reverie.storage.database import engine as database_of
from reverie.storage.migrations import CURRENT, copies, schema_version
from reverie.storage.session_rows import quarantined

PATIENCE_SECONDS = 30.0
LOCK_MILLISECONDS = 5_000
# The column that the walls are about has a policy, and cannot be given a type.
_COLUMNS_OF_EMPTY = """
    select a.attname, format_type(a.atttypid, a.atttypmod) as kind
    from pg_attribute a join pg_class c on c.oid = a.attrelid
    where c.oid = cast(:table as regclass) and c.reltuples = 0 and a.attnum > 0 and not a.attisdropped
      and a.attname <> 'workspace'"""
_MAY_SWEEP_SAMPLES = """
    select pg_has_role(current_user, datdba, 'usage') from pg_database where datname = current_database()"""
_MAY_CHECKPOINT = "select pg_has_role(current_user, 'pg_checkpoint', 'usage')"
UNDER_WAY = "('PENDING', 'ENQUEUED', 'DELAYED')"
PAGE = 500
_SHOWN = 5
ENOUGH_BYTES = 200 * 1024 * 1024
_TEXT = {"ensure_ascii": False, "separators": (",", ":")}


def compacted(engine: Engine) -> list[Left]:
    if engine.dialect.name == "postgresql":
        with engine.execution_options(isolation_level="AUTOCOMMIT", errand="upkeep").connect() as connection:
            in_use = _vacuumed_tables(connection, [table.name for table in schema.metadata.sorted_tables])
            if connection.execute(text(_MAY_CHECKPOINT)).scalar():  # who may not, waits for the server's own
                connection.execute(text("checkpoint"))
        return [Left(name, "the table was in use: its free space is overwritten in time") for name in in_use]
    file = Path(engine.url.database or "")
    engine.dispose()  # an idle connection of ours must not be what keeps the log from being cut
    with closing(engine.raw_connection()) as raw:
        left = [*_done(raw, "vacuum", file), *_done(raw, "pragma wal_checkpoint(truncate)", file)]
    for copy in copies(file):
        copy.unlink(missing_ok=True)
    return left


def _done(connection: Any, statement: str, file: Path) -> list[Left]:
    """Whoever is reading an older state keeps both from being done; most are gone in a moment."""
    until, said = time.monotonic() + PATIENCE_SECONDS, ""
    while True:
        try:
            row = connection.cursor().execute(statement).fetchone()
            if row is None or row[0] == 0:
                return []
            said = "another process reads it"
        except connection.driver_connection.Error as error:
            said = str(error)
        if time.monotonic() > until:
            why = f"its free pages or its log could not be cleared ({said}): erase something again when nobody reads it"
            return [Left(str(file), why, failed=True)]
        time.sleep(0.05)


def _vacuumed_tables(connection: Connection, names: Sequence[str], schema: str = "") -> list[str]:
    """Written anew where nobody is in the way for long, else swept: then the bytes are overwritten in time. Postgres
    also keeps samples of what stood in each column, for its planner: they are taken anew. The names of those that were
    in use."""
    in_use: list[str] = []
    connection.execute(text(f"set lock_timeout = {LOCK_MILLISECONDS}"))
    for name in names:
        table = f'{schema}."{name}"' if schema else f'"{name}"'
        try:
            connection.execute(text(f"vacuum (full, analyze) {table}"))
            # Of an empty table no new ones are taken, and the old ones stay; a column that is given a type has none.
            columns = connection.execute(text(_COLUMNS_OF_EMPTY), {"table": table}).all()
            if columns:
                given = ", ".join(f'alter column "{one.attname}" type {one.kind}' for one in columns)
                connection.execute(text(f"alter table {table} {given}"))
        except DatabaseUnusable:
            connection.execute(text(f"vacuum (analyze) {table}"))
            in_use.append(name)
    if connection.execute(text(_MAY_SWEEP_SAMPLES)).scalar():
        with suppress(DatabaseUnusable):  # in use: what was there is overwritten in time
            connection.execute(text("vacuum full pg_catalog.pg_statistic"))
    connection.execute(text("reset lock_timeout"))
    return in_use


def forget_nights(home: Path, database: str) -> None:
    """Its rows name a workspace and a user; those of nights under way go when they end and this is done again."""
    if database.startswith("sqlite"):
        if not (home / "engine.db").exists():
            return
        database, schema, name = f"sqlite:///{home / 'engine.db'}", None, "workflow_status"
    else:
        schema, name = "dbos", "dbos.workflow_status"
    engine = database_of(database)
    try:
        with engine.begin() as connection:
            if inspect(connection).has_table("workflow_status", schema=schema):
                connection.execute(text(f"delete from {name} where status not in {UNDER_WAY}"))
        if schema is not None:
            with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                _vacuumed_tables(connection, inspect(connection).get_table_names(schema=schema), schema)
        else:
            with engine.raw_connection().driver_connection as raw:  # type: ignore[union-attr]
                raw.execute("vacuum")
                raw.execute("pragma wal_checkpoint(truncate)")
    finally:
        engine.dispose()


def snapshot(engine: Engine) -> AbstractContextManager[Connection]:
    """Everything as it was at one moment, whoever writes meanwhile."""
    postgres = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
    return reading_across(engine, "upkeep", **postgres if engine.dialect.name == "postgresql" else {})


def tables(connection: Connection) -> list[Table]:
    """Ours, those that others refer to first."""
    there = set(inspect(connection).get_table_names())
    return [reflected_table(connection, table.name) for table in schema.metadata.sorted_tables if table.name in there]


def reflected_table(connection: Connection, name: str) -> Table:
    looked = inspect(connection)
    key = looked.get_pk_constraint(name)["constrained_columns"]
    found = {one["name"]: one["type"] for one in looked.get_columns(name)}
    first = [Column(part, found.pop(part), primary_key=True) for part in key]
    return Table(name, MetaData(), *first, *(Column(other, kind) for other, kind in found.items()))


def lines(connection: Connection, table: Table) -> Iterator[bytes]:
    """A page at a time, each beginning behind the key the last one ended with."""
    key = list(table.primary_key.columns)
    first = select(table).order_by(*key).limit(PAGE)
    behind = first.where(tuple_(*key) > tuple_(*(bindparam(f"last_{part.name}", type_=part.type) for part in key)))
    asked, last = first, dict[str, Any]()
    names = list(table.columns.keys())
    while True:
        count = 0
        for row in connection.execute(asked, last):
            yield json.dumps(dict(zip(names, row, strict=True)), default=_packed, **_TEXT).encode() + b"\n"  # type: ignore[arg-type]
            count += 1
        if count < PAGE:
            return
        asked, last = behind, {f"last_{part.name}": row[place] for place, part in enumerate(key)}


def insert_lines(connection: Connection, table: Table, content: IO[bytes]) -> Iterator[int]:
    """Insert what the lines say; yields how many, page by page."""
    statement, names = insert(table), set(table.columns.keys())
    rows = (_row(table, names, line) for line in content)
    while page := list(islice(rows, PAGE)):
        try:
            connection.execute(statement, page)
        except IntegrityError as error:
            raise damaged(f"the database does not take its rows ({error.orig})") from error
        except StatementError as error:
            if error.orig is None or isinstance(error.orig, TypeError | ValueError | AttributeError | OverflowError):
                raise damaged("a row has a value of another kind than its column") from error
            raise
        yield len(page)


def _row(table: Table, names: set[str], line: bytes) -> dict[str, Any]:
    try:
        row = json.loads(line)
        if row.keys() == names:
            return {
                name: base64.b64decode(value["base64"], validate=True) if isinstance(value, dict) else value
                for name, value in row.items()
            }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise damaged(f"a row of {table.name} cannot be read") from error
    raise damaged(f"a row of {table.name} has other columns than its schema")


def _packed(value: object) -> dict[str, str]:
    if isinstance(value, bytes | bytearray | memoryview):
        return {"base64": base64.b64encode(value).decode()}
    raise TypeError(f"{type(value).__name__} in a row")


def heads(connection: Connection) -> dict[str, LedgerHead]:
    """The end of every workspace's chain, looked through from its beginning."""
    table = schema.ledger
    if not inspect(connection).has_table(table.name):
        return {}
    last = select(table.c.workspace, func.max(table.c.number).label("number")).group_by(table.c.workspace).subquery()
    asked = select(table.c.workspace, table.c.number, table.c.hash).join(
        last, (table.c.workspace == last.c.workspace) & (table.c.number == last.c.number)
    )
    ends = connection.execute(asked.order_by(table.c.workspace)).all()
    found = {}
    for one in ends:
        whole = False
        with suppress(ValueError, OverflowError):  # a body or a time that nothing of ours wrote
            chain = ledger.rows(part_of(connection), Scope(one.workspace, None, "upkeep"))
            whole = next(broken_links(chain), None) is None
        found[one.workspace] = LedgerHead(one.number, one.hash, whole)
    return found


def refuse_unusable(*folders: Path) -> None:
    """Each below the one before. What may not be looked into is no damage that building it again would mend."""
    for path in (*folders, folders[-1] / "turns", folders[-1] / "vectors.db"):
        rights, kind = ("rw", "file") if path.name == "vectors.db" else ("rwx", "folder")
        wanted = os.R_OK | os.W_OK | (os.X_OK if kind == "folder" else 0)
        if not os.access(path, wanted) and os.path.lexists(path):
            raise NotPermitted(
                f"The search index in {path} may not be read and written.",
                expected=f"a {kind} of your own",
                next_step=f"`chmod u+{rights} {path}` as its owner; or move it away, and the next search makes it.",
            )


@dataclass(frozen=True, slots=True)
class Check:
    name: str
    ok: bool
    said: str


def checks(home: Path, database: str) -> list[Check]:
    found = [_permissions(home), _database(database), _index(home), _transcripts(database)]
    why = state()
    instead = f"the trained tagger cannot be loaded ({why}); a short list of English cues reads instead"
    folder = next(folder for folder in (home, *home.parents) if folder.exists())
    free = shutil.disk_usage(folder).free
    git = Check("git", False, "not found; install git (history is kept without it, but not shown as commits)")
    if (program := shutil.which("git")) is not None:
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=False, timeout=10)
        git = Check("git", said.returncode == 0, said.stdout.strip() or said.stderr.strip())
    return [
        *found,
        Check("reader", not why, instead if why else "the trained tagger reads what people say"),
        git,
        Check("disk", free >= ENOUGH_BYTES, f"{free / 1e9:.1f} GB free at {folder}"),
    ]


def _index(home: Path) -> Check:
    """Of every workspace: each has a folder of its own."""
    folder = home / "index"
    try:
        refuse_unusable(folder)
        workspaces = sorted(folder.iterdir()) if folder.is_dir() else []
        for workspace in workspaces:
            refuse_unusable(folder, workspace)
    except ReverieError as error:
        return Check("index", False, str(error))
    return Check("index", True, "can be read and written" if workspaces else "not made yet; the first search makes it")


def _permissions(home: Path) -> Check:
    if not home.exists():
        parent = next(folder for folder in home.parents if folder.exists())
        ok = os.access(parent, os.W_OK)
        return Check("home", ok, "not made yet; `reverie init` makes it" if ok else f"{parent} may not be written")
    if not home.is_dir():
        return Check("home", False, f"{home} is not a folder")
    if not os.access(home, os.R_OK | os.W_OK | os.X_OK):
        return Check("home", False, f"{home} may not be read and written")
    if is_half_restored(home):
        return Check("home", False, "a restore into it was interrupted; run the same `reverie restore` again")
    mode = home.stat().st_mode & 0o777
    if mode & 0o077:
        return Check("home", False, f"others may look into it (mode {mode:o}); `chmod 700 {home}`")
    return Check("home", True, f"readable and writable by you alone (mode {mode:o})")


def _database(url: str) -> Check:
    try:
        with _looking(url) as connection:
            if connection is None:
                return Check("database", True, "not made yet; the first command that needs it makes it")
            found = schema_version(connection)
            if connection.dialect.name == "postgresql":
                kind = f"PostgreSQL {connection.execute(text('show server_version')).scalar()}"
            else:
                driver, journal = sqlite_driver(), connection.execute(text("pragma journal_mode")).scalar()
                unsafe = driver.sqlite_version_info < WAL_IS_SAFE_FROM
                kind = f"SQLite {driver.sqlite_version}, journal {journal}"
                kind += " (WAL is unsafe in this version)" if unsafe else ""
            said = f"schema {found or 'none yet'}, {kind}"
            if found is not None and found.isdigit() and int(found) > int(CURRENT):
                return Check("database", False, f"{said}; newer than this Reverie knows ({CURRENT}): upgrade Reverie")
            if connection.dialect.name == "sqlite":
                verdict = connection.execute(text("pragma quick_check(1)")).scalar()
                return Check("database", verdict == "ok", f"{said}, quick check {verdict}")
            role = bypassed(connection)
            return Check("database", True, f"{said}; {unbound(role)}" if role else said)
    except ReverieError as error:
        return Check("database", False, str(error))


@contextmanager
def _looking(url: str) -> Iterator[Connection | None]:
    """A connection, or None where there is no database yet."""
    made = database_of(url)
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() == "sqlite" and not Path(parsed.database or "").exists():
            yield None
            return
        with made.execution_options(workspace=LOCAL).connect() as connection:
            yield connection
    finally:
        made.dispose()


def _transcripts(url: str) -> Check:
    """Files that could not be read are no fault of this machine's: they are named, and the check is passed."""
    try:
        with _looking(url) as connection:
            held = quarantined(connection, LOCAL) if connection is not None else []
    except ReverieError:
        return Check("transcripts", True, "not looked at: the database cannot be used")
    if not held:
        return Check("transcripts", True, "every file could be read")
    shown = "; ".join(f"{one.path}: {one.why}" for one in held[:_SHOWN])
    more = f"; and {len(held) - _SHOWN:,} more" if len(held) > _SHOWN else ""
    return Check("transcripts", True, f"could not be read, tried again when they change: {shown}{more}")
