"""A home in one file and back: the same on SQLite and Postgres, whole or not at all, whatever hits it."""

from __future__ import annotations

import gzip
import io
import json
import os
import sqlite3
import stat
import tarfile
import tempfile
import textwrap
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings
from sqlalchemy import BigInteger, Boolean, Column, Double, Engine, Integer, LargeBinary, insert, inspect, text
from sqlalchemy.exc import IntegrityError

from reverie.app import Home
from reverie.changes.land import Landed
from reverie.changes.proposal import Suggestion
from reverie.core.errors import (
    BadInput,
    HalfRestored,
    NotFound,
    NotPermitted,
    ReverieError,
    SchemaTooNew,
    StillLocked,
)
from reverie.core.ids import sha256
from reverie.core.scope import Origin
from reverie.memory.operation import Add
from reverie.storage import migrations, schema
from reverie.storage.backup import BackedUp, Restored, back_up, read_whole_backup, restore
from reverie.storage.backup_archive import BackupStep
from reverie.storage.database import engine as make_engine
from reverie.storage.database import reading_across, writing_across
from reverie.storage.migrations import copies
from reverie.storage.upkeep import lines, reflected_table, snapshot, tables
from reverie.transcripts.session import Evidence
from tests.commands import Process, run_command, run_python
from tests.conftest import NOON, HomeMaker
from tests.sizes import sized


def rows_of(engine: Engine) -> dict[str, list[bytes]]:
    with snapshot(engine) as connection:
        return {table.name: sorted(lines(connection, table)) for table in tables(connection)}


def backup_of(home: Home, file: Path, **how: Any) -> BackedUp:
    return back_up(home.engine, home.config.home, file, at=NOON, **how)


def restored(file: Path, home: Path, database: str | None = None, **how: Any) -> Restored:
    return restore(file, home, database or f"sqlite:///{home / 'reverie.db'}", **how)


@pytest.fixture
def hermes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "hermes" / "memories"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text("Project demo uses pytest")
    monkeypatch.setenv("HERMES_HOME", str(folder.parent))


@pytest.fixture
def lived_in(hermes: None, home_on: Home) -> Home:
    """Sessions, a landed change, settings, memory, and skills with all that a folder can hold."""
    for number in range(3):
        said = [{"role": "user", "content": f"The staging database {number} moved to db2.internal. ünï 🐦"}]
        home_on.sessions.add({"id": f"s{number}", "messages": said})
    why = (Evidence("plain:s1", 0, "moved to db2.internal", Origin.OWNER),)
    add = Add("MEMORY.md", "Staging DB is db2.internal")
    wanted = Suggestion("hermes", "MEMORY.md", (add,), reason="the owner said so", evidence=why)
    assert isinstance(home_on.review.propose(wanted), Landed)
    folder = home_on.config.home
    (folder / "reverie.toml").write_text('# mine\nowner = "ann"\n')
    (folder / "policy.toml").write_text("")
    (folder / "memory").mkdir()
    (folder / "memory" / "MEMORY.md").write_bytes(b"caf\xe9 is not UTF-8\r\n")
    deep = folder / "skills" / "deploy" / ("long-" * 40) / "references"
    deep.mkdir(parents=True)
    (deep / "notes.md").write_text("notes")
    (folder / "skills" / "empty").mkdir()
    run = folder / "skills" / "deploy" / "run.sh"
    run.write_text("#!/bin/sh\n")
    run.chmod(0o755)
    Path(os.fsdecode(os.fsencode(folder / "skills") + b"/b\xff.md")).write_text("odd name")
    return home_on


# ---- there and back --------------------------------------------------------------------------------------------------


def test_a_restored_home_is_the_home_that_was_backed_up(lived_in: Home, homes: HomeMaker, tmp_path: Path) -> None:
    made = backup_of(lived_in, tmp_path / "home.tar.gz")
    there = tmp_path / "new" / "home"
    done = restored(made.file, there)
    assert not done.repointed
    assert {path.name for path in there.iterdir()} == {"memory", "policy.toml", "reverie.db", "reverie.toml", "skills"}
    again = homes(there)
    assert rows_of(again.engine) == rows_of(lived_in.engine)
    assert [check for check in again.verify() if not check.ok] == []  # git is derived, and not made yet
    assert again.projection.catch_up() is None
    assert [check for check in again.verify() if not check.ok] == []
    assert again.search("staging database")[0].session_id.endswith(("s0", "s1", "s2"))
    for name in ("reverie.toml", "policy.toml", "memory", "skills"):
        assert _tree(there / name) == _tree(lived_in.config.home / name)
    assert stat.S_IMODE((there / "skills" / "deploy" / "run.sh").stat().st_mode) == 0o700
    assert stat.S_IMODE((there / "memory" / "MEMORY.md").stat().st_mode) == 0o600
    assert stat.S_IMODE(there.stat().st_mode) == 0o700
    head = made.manifest.ledger["local"]
    assert head.whole
    assert head.number == max(row.number for row in lived_in.history_records.rows(lived_in.owned))


def _tree(path: Path) -> dict[str, bytes | None]:
    below = [path, *path.rglob("*")] if path.is_dir() else [path]
    return {str(one.relative_to(path.parent)): None if one.is_dir() else one.read_bytes() for one in below}


def test_a_restored_home_goes_on_counting_where_the_old_one_stopped(
    lived_in: Home, homes: HomeMaker, tmp_path: Path
) -> None:
    backup_of(lived_in, tmp_path / "b.tar.gz")
    restored(tmp_path / "b.tar.gz", tmp_path / "new")
    again = homes(tmp_path / "new")
    again.sessions.add({"id": "later", "messages": [{"role": "user", "content": "after the restore"}]})
    assert len(list(again.sessions.find())) == 4
    assert again.search("after the restore")[0].session_id.endswith("later")


def test_a_home_of_one_database_is_restored_into_the_other(lived_in: Home, database: str, tmp_path: Path) -> None:
    """From whichever it was into SQLite, and from there into a database of the first kind again."""
    before = rows_of(lived_in.engine)
    backup_of(lived_in, tmp_path / "1.tar.gz")
    restored(tmp_path / "1.tar.gz", tmp_path / "sqlite")
    middle = make_engine(f"sqlite:///{tmp_path / 'sqlite' / 'reverie.db'}")
    back_up(middle, tmp_path / "sqlite", tmp_path / "2.tar.gz", at=NOON)
    middle.dispose()
    lived_in.close()
    _emptied(database)
    restored(tmp_path / "2.tar.gz", tmp_path / "back", database)
    last = make_engine(database)
    assert rows_of(last) == before
    last.dispose()


def _emptied(database: str) -> None:
    engine = make_engine(database)
    if engine.dialect.name == "sqlite":
        for end in ("", "-wal", "-shm"):
            Path(f"{engine.url.database}{end}").unlink(missing_ok=True)
    else:
        with writing_across(engine, "upkeep") as connection:
            connection.execute(text("drop schema public cascade"))
            connection.execute(text("create schema public"))
    engine.dispose()


WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
KINDS: list[tuple[type[Any], st.SearchStrategy[Any]]] = [
    (Boolean, st.booleans()),
    (BigInteger, st.integers(-(2**63), 2**63 - 1)),
    (Integer, st.integers(-(2**31), 2**31 - 1)),
    (Double, st.floats(allow_nan=False)),
    (LargeBinary, st.binary(max_size=40)),
]


def _values(column: Column[Any]) -> st.SearchStrategy[Any]:
    kind = getattr(column.type, "impl_instance", column.type)
    made = next((values for known, values in KINDS if isinstance(kind, known)), WORDS)
    return st.none() | made if column.nullable else made


@st.composite
def whole_databases(draw: st.DrawFn) -> dict[str, list[dict[str, Any]]]:
    every = {}
    for table in schema.metadata.sorted_tables:
        key = [column.name for column in table.primary_key.columns]
        row = st.fixed_dictionaries({column.name: _values(column) for column in table.columns})
        by_key = st.lists(row, max_size=6, unique_by=lambda one, key=key: tuple(one[part] for part in key))  # type: ignore[misc]
        every[table.name] = draw(by_key)
    return every


@settings(
    max_examples=sized(3, 10, 100),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(every=whole_databases())
def test_any_rows_in_any_table_survive_the_way_into_either_database(
    every: dict[str, list[dict[str, Any]]], database: str
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = _filled(f"sqlite:///{folder / 'source.db'}", {})
        kept = {name: _put_what_fits(source, name, rows) for name, rows in every.items()}
        back_up(source, folder, folder / "b.tar.gz", at=NOON)
        _emptied(database)
        restored(folder / "b.tar.gz", folder / "new", database)
        target = make_engine(database)
        assert rows_of(target) == rows_of(source)
        assert {name: len(rows) for name, rows in rows_of(target).items()} == {**dict.fromkeys(every, 0), **kept}
        source.dispose()
        target.dispose()


def _put_what_fits(engine: Engine, name: str, rows: list[dict[str, Any]]) -> int:
    """How many the table took: what else must be unique or refer to something is for the database to say."""
    taken = 0
    with writing_across(engine, "upkeep") as connection:
        table = reflected_table(connection, name)
        for row in rows:
            try:
                with connection.begin_nested():
                    connection.execute(insert(table), [row])
                taken += 1
            except IntegrityError:
                continue
    return taken


def _filled(url: str, every: dict[str, list[dict[str, Any]]], revision: str = migrations.CURRENT) -> Engine:
    engine = make_engine(url)
    migrations.migrate(engine, revision)
    with writing_across(engine, "upkeep") as connection:
        for name, rows in every.items():
            if rows:
                connection.execute(insert(reflected_table(connection, name)), rows)
    return engine


def turn(session: str, number: int, words: str = "word") -> dict[str, Any]:
    key = {"workspace": "local", "user": "ann", "session_id": session, "revision": 1, "number": number}
    other = dict.fromkeys(("name", "at", "noise", "detail"))
    return key | other | {"role": "user", "origin": "owner", "text": words}


def test_more_rows_than_a_page_and_more_bytes_than_a_member(database: str, tmp_path: Path) -> None:
    rows = [turn(session, number, "x" * 3000) for session in ("B", "a", "Ä", "a b", "") for number in range(401)]
    source = _filled(database, {"turns": rows})
    made = back_up(source, tmp_path, tmp_path / "b.tar.gz", at=NOON)
    assert len([member for member in made.manifest.members if member.table == "turns"]) == 2
    restored(made.file, tmp_path / "new")
    target = make_engine(f"sqlite:///{tmp_path / 'new' / 'reverie.db'}")
    assert rows_of(target)["turns"] == rows_of(source)["turns"]
    assert made.manifest.tables["turns"] == len(rows) == len(rows_of(target)["turns"])
    source.dispose()
    target.dispose()


def test_what_is_written_during_a_backup_is_not_half_in_it(database: str, tmp_path: Path) -> None:
    source = _filled(database, {"turns": [turn("s", number, "x" * 9000) for number in range(600)]})
    before = rows_of(source)
    writer = make_engine(database)
    written: list[BackupStep] = []

    def write_meanwhile(step: BackupStep) -> None:
        if not written:
            with writing_across(writer, "upkeep") as connection:
                connection.execute(insert(reflected_table(connection, "turns")), [turn("s", 9999), turn("z", 1)])
                connection.execute(text("delete from turns where number = 599"))
        written.append(step)

    back_up(source, tmp_path, tmp_path / "b.tar.gz", at=NOON, watch=write_meanwhile)
    assert written
    restored(tmp_path / "b.tar.gz", tmp_path / "new")
    target = make_engine(f"sqlite:///{tmp_path / 'new' / 'reverie.db'}")
    assert rows_of(target) == before
    for engine in (source, writer, target):
        engine.dispose()


def test_a_backup_of_an_older_schema_is_brought_up_to_date(empty_database: str, tmp_path: Path) -> None:
    old = _filled(f"sqlite:///{tmp_path / 'old.db'}", {"turns": [turn("s", 1)]}, "0001")
    made = back_up(old, tmp_path, tmp_path / "b.tar.gz", at=NOON)
    assert made.manifest.schema == "0001"
    assert read_whole_backup(made.file).tables["turns"] == 1
    restored(made.file, tmp_path / "new", empty_database)
    engine = make_engine(empty_database)
    with reading_across(engine, "upkeep") as connection:
        assert migrations.schema_version(connection) == migrations.CURRENT
        assert inspect(connection).has_table("ledger")
    assert len(rows_of(engine)["turns"]) == 1
    engine.dispose()
    old.dispose()


def test_a_ledger_that_was_broken_before_is_still_backed_up_and_restored(home: Home, tmp_path: Path) -> None:
    row = {
        "workspace": "local",
        "number": 7,
        "at": 0,
        "kind": "k",
        "user": "",
        "body": "no JSON",
        "previous": "",
        "hash": "h",
    }
    with writing_across(home.engine, "upkeep") as connection:
        connection.execute(insert(reflected_table(connection, "ledger")), [row])
    made = backup_of(home, tmp_path / "b.tar.gz")
    assert not made.manifest.ledger["local"].whole
    assert not restored(made.file, tmp_path / "new").manifest.ledger["local"].whole


# ---- settings --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ["database = 'sqlite:////gone.db'", '"database" = """\nsqlite:////gone.db"""'])
@pytest.mark.parametrize("named", [None, 'sqlite:////tmp/a "quoted" \\ name.db'])
def test_restored_settings_name_the_database_that_was_restored_into(
    home: Home, tmp_path: Path, line: str, named: str | None
) -> None:
    import tomllib

    (home.config.home / "reverie.toml").write_text(f'owner = "ann" # me\n{line}\ntimezone = "UTC"\n')
    backup_of(home, tmp_path / "b.tar.gz")
    assert restored(tmp_path / "b.tar.gz", tmp_path / "new", named=named).repointed
    said = tomllib.loads((tmp_path / "new" / "reverie.toml").read_text())
    assert said == {"owner": "ann", "timezone": "UTC"} | ({"database": named} if named else {})


# ---- the file --------------------------------------------------------------------------------------------------------


def test_a_backup_is_for_its_owner_alone_and_replaces_nothing_unasked(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "b.tar.gz"
    old_mask = os.umask(0)
    try:
        backup_of(home, file)
    finally:
        os.umask(old_mask)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    before = file.read_bytes()
    with pytest.raises(BadInput, match=r"exists already.*--force"):
        backup_of(home, file)
    assert file.read_bytes() == before
    home.sessions.add({"id": "x", "messages": [{"role": "user", "content": "more"}]})
    backup_of(home, file, force=True)
    assert read_whole_backup(file).tables["sessions"] == 1


def test_a_place_that_is_no_place_for_a_backup_is_refused(home: Home, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        backup_of(home, tmp_path / "missing" / "b.tar.gz")
    (home.config.home / "skills").mkdir()
    with pytest.raises(BadInput, match="inside what is backed up"):
        backup_of(home, home.config.home / "skills" / "b.tar.gz")
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for odd in (tmp_path / "link", tmp_path):
        with pytest.raises(NotPermitted):
            backup_of(home, odd, force=True)
    assert not (tmp_path / "elsewhere").exists()


def test_a_link_in_the_home_is_named_and_not_followed(home: Home, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text("CANARY")
    (home.config.home / "skills").mkdir()
    (home.config.home / "skills" / "linked").symlink_to(tmp_path / "secret")
    (home.config.home / "memory").symlink_to(tmp_path / "secret")
    os.mkfifo(home.config.home / "skills" / "pipe")
    made = backup_of(home, tmp_path / "b.tar.gz")
    assert made.manifest.left_out == ("memory", "skills/linked", "skills/pipe")
    assert b"CANARY" not in gzip.decompress(made.file.read_bytes())


def test_a_full_disk_leaves_the_old_backup_and_no_rest(home: Home, tmp_path: Path) -> None:
    file = tmp_path / "b.tar.gz"
    backup_of(home, file)
    before = file.read_bytes()
    said = [{"role": "user", "content": os.urandom(300_000).hex()}]
    home.sessions.add({"id": "x", "messages": said})
    code = f"""
        import resource, signal
        from pathlib import Path
        from reverie.storage.backup import back_up
        from reverie.storage.database import engine
        from reverie.core.clock import SystemClock
        from reverie.core.errors import NoSpace
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        made = engine({home.config.database!r})
        made.connect().close()
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        try:
            back_up(made, Path({str(home.config.home)!r}), Path({str(file)!r}), at=SystemClock().now(), force=True)
        except NoSpace as error:
            print(error)
    """
    done = run_python(["-c", textwrap.dedent(code)])
    assert "could not be written" in done.stdout, done.stderr
    assert file.read_bytes() == before
    assert _left(tmp_path) == []


def _left(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.endswith((".part", ".tmp"))]


# ---- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["memory/MEMORY.md", "skills/a/SKILL.md", "policy.toml", "engine.db", "index/x"])
def test_a_home_with_something_in_it_is_not_restored_into(home: Home, tmp_path: Path, name: str) -> None:
    backup_of(home, tmp_path / "b.tar.gz")
    there = tmp_path / "new"
    (there / name).parent.mkdir(parents=True, exist_ok=True)
    (there / name).write_text("mine")
    with pytest.raises(BadInput, match=rf"holds {name.split('/', maxsplit=1)[0]}\..*Nothing was changed"):
        restored(tmp_path / "b.tar.gz", there)
    assert [path for path in there.rglob("*") if path.is_file()] == [there / name]


def test_a_database_with_rows_is_not_restored_into(lived_in: Home, database: str, tmp_path: Path) -> None:
    backup_of(lived_in, tmp_path / "b.tar.gz")
    before = rows_of(lived_in.engine)
    with pytest.raises(BadInput, match=r"3 in sessions.*Nothing was changed"):
        restored(tmp_path / "b.tar.gz", tmp_path / "new", database)
    assert rows_of(lived_in.engine) == before
    assert not (tmp_path / "new").exists()


def test_somebody_elses_tables_are_not_restored_into(home: Home, empty_database: str, tmp_path: Path) -> None:
    backup_of(home, tmp_path / "b.tar.gz")
    other = make_engine(empty_database)
    with writing_across(other, "upkeep") as connection:
        connection.execute(text("create table sessions (id text primary key)"))
    with pytest.raises(BadInput, match="did not make"):
        restored(tmp_path / "b.tar.gz", tmp_path / "new", empty_database)
    other.dispose()


def test_a_home_that_was_only_made_is_restored_into(lived_in: Home, homes: HomeMaker, tmp_path: Path) -> None:
    from reverie.config import write_template

    backup_of(lived_in, tmp_path / "b.tar.gz")
    fresh = homes(tmp_path / "new")
    write_template(fresh.config)
    fresh.engine.connect().close()
    (tmp_path / "new" / "memory").mkdir()
    fresh.close()
    restored(tmp_path / "b.tar.gz", tmp_path / "new")
    assert (tmp_path / "new" / "reverie.toml").read_text() == '# mine\nowner = "ann"\n'
    assert (tmp_path / "new" / "memory" / "MEMORY.md").exists()


def test_two_restores_into_one_home_do_not_mix(home: Home, tmp_path: Path) -> None:
    import fcntl

    backup_of(home, tmp_path / "b.tar.gz")
    (tmp_path / "new").mkdir()
    handle = os.open(tmp_path / "new", os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    with pytest.raises(StillLocked):
        restored(tmp_path / "b.tar.gz", tmp_path / "new")
    os.close(handle)


def test_a_damaged_backup_is_refused_wherever_the_damage_is(lived_in: Home, tmp_path: Path) -> None:
    whole = backup_of(lived_in, tmp_path / "b.tar.gz").file.read_bytes()
    bad = tmp_path / "bad.tar.gz"
    where = sorted({*range(10, len(whole), len(whole) // 60), len(whole) - 1, len(whole) - 5, len(whole) - 9})
    for place in where:
        bad.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        if not _unpacks_to_the_same(bad, whole):
            _refused(bad, tmp_path)
        bad.write_bytes(whole[:place])
        _refused(bad, tmp_path)
    for content in (b"", b"not a backup", gzip.compress(b""), gzip.compress(b"x" * 2000), whole + b"more"):
        bad.write_bytes(content)
        _refused(bad, tmp_path)


def _unpacks_to_the_same(bad: Path, whole: bytes) -> bool:
    """A repetition can be spelt as one of an earlier place."""
    try:
        return gzip.decompress(bad.read_bytes()) == gzip.decompress(whole)
    except (OSError, EOFError, zlib.error):
        return False


def _refused(bad: Path, folder: Path, words: str = "cannot be used", kind: type[ReverieError] = BadInput) -> None:
    with pytest.raises(kind, match=words):
        restored(bad, folder / "refused")
    assert not (folder / "refused").exists()


Alter = Callable[[dict[str, Any], list[tuple[tarfile.TarInfo, bytes]]], None]


def altered(file: Path, alter: Alter, out: Path, **how: Any) -> Path:
    """The backup as an enemy would write it: any headers, any manifest, all hashes right unless altered."""
    with tarfile.open(file) as tar:
        members = [(one, tar.extractfile(one).read()) for one in tar.getmembers()]  # type: ignore[union-attr]
    said = json.loads(members.pop()[1])
    alter(said, members)
    header = tarfile.TarInfo("manifest.json")
    content = json.dumps(said).encode()
    with tarfile.open(out, "w:gz", **{"format": tarfile.GNU_FORMAT, **how}) as tar:
        for one, inside in [*members, (header, content)]:
            if one.isreg():
                one.size = len(inside)
            tar.addfile(one, io.BytesIO(inside))
    return out


def a_file(path: str, name: str = "home/x") -> Alter:
    def alter(said: dict[str, Any], members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
        member = {"name": name, "bytes": 4, "sha256": sha256(b"evil"), "table": "", "path": path, "executable": False}
        said["members"].append(member)
        members.append((tarfile.TarInfo(name), b"evil"))

    return alter


@pytest.mark.parametrize(
    "path",
    [
        "../evil",
        "/etc/evil",
        "memory/../../evil",
        "skills/./x",
        "memory//x",
        "reverie.db",
        "memory/x\0y",
        "..",
        ".",
        "policy.toml/x",
        "index/x",
        "memory/",
        "engine.db",
        ".restoring/manifest.json",
        "\\..\\evil",
    ],
)
def test_a_path_that_leads_elsewhere_is_refused(home: Home, tmp_path: Path, path: str) -> None:
    backup_of(home, tmp_path / "b.tar.gz")
    _refused(altered(tmp_path / "b.tar.gz", a_file(path), tmp_path / "bad"), tmp_path)

    def as_folder(said: dict[str, Any], _: object) -> None:
        said["folders"].append(path)

    _refused(altered(tmp_path / "b.tar.gz", as_folder, tmp_path / "bad"), tmp_path)


@pytest.mark.parametrize(
    "kind",
    [
        tarfile.SYMTYPE,
        tarfile.LNKTYPE,
        tarfile.CHRTYPE,
        tarfile.BLKTYPE,
        tarfile.FIFOTYPE,
        tarfile.DIRTYPE,
        tarfile.CONTTYPE,
        tarfile.GNUTYPE_SPARSE,
        tarfile.GNUTYPE_LONGNAME,
    ],
)
def test_a_member_that_is_no_plain_file_is_refused(home: Home, tmp_path: Path, kind: bytes) -> None:
    backup_of(home, tmp_path / "b.tar.gz")

    def alter(said: dict[str, Any], members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
        header = tarfile.TarInfo("home/memory/link")
        header.type, header.linkname = kind, "/etc/passwd"
        members.insert(0, (header, b""))

    _refused(altered(tmp_path / "b.tar.gz", alter, tmp_path / "bad"), tmp_path, "not a plain file")


def test_an_extended_header_is_refused_before_it_is_read(home: Home, tmp_path: Path) -> None:
    backup_of(home, tmp_path / "b.tar.gz")
    for how in ({"pax_headers": {"comment": "x" * 10_000}}, {}):
        alter = a_file("memory/x", "home/x" if how else "n" * 300)
        bad = altered(tmp_path / "b.tar.gz", alter, tmp_path / "bad", format=tarfile.PAX_FORMAT, **how)
        _refused(bad, tmp_path, "plain file")


def test_members_and_manifest_must_agree(lived_in: Home, tmp_path: Path) -> None:
    file = backup_of(lived_in, tmp_path / "b.tar.gz").file
    say: dict[str, Alter] = {
        "missing": lambda said, members: members.pop() and None,
        "hash differs": lambda said, members: members.__setitem__(0, (members[0][0], b"{}\n")),
        "too many": lambda said, members: members.append(members[0]),
        "not in its manifest": lambda said, members: said["members"].pop() and None,
        "rows it says": lambda said, members: said["tables"].update(turns=99),
        "has no table": lambda said, members: _rename(said, "alembic_version"),
        "cannot be read": lambda said, members: said.update(members="x"),
        "not one of Reverie's": lambda said, members: said.update(format="other"),
        "its ledger": lambda said, members: said["ledger"]["local"].update(hash="0" * 64),
    }
    for words, alter in say.items():
        bad = altered(file, alter, tmp_path / "bad")
        there = tmp_path / f"refused-{words[:4]}"
        with pytest.raises(BadInput, match=words):
            restored(bad, there)
        assert not (there / ".restoring").exists()
        if (there / "reverie.db").exists():
            engine = make_engine(f"sqlite:///{there / 'reverie.db'}")
            assert not any(rows_of(engine).values())
            engine.dispose()


def _rename(said: dict[str, Any], name: str) -> None:
    for member in said["members"]:
        member["table"] = name if member["table"] == "turns" else member["table"]
    said["tables"][name] = said["tables"].pop("turns")


@pytest.mark.parametrize(
    "row", ["[]", "{}", "7", '{"a":1}', "[" * 100_000, '{"workspace":{"base64":"*"}}', "nonsense", "\xff"]
)
def test_a_row_that_is_no_row_is_refused(home: Home, tmp_path: Path, row: str) -> None:
    backup_of(home, tmp_path / "b.tar.gz")
    inside = row.encode("latin-1") + b"\n"

    def alter(said: dict[str, Any], members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
        one = {
            "name": "tables/turns-9.jsonl",
            "bytes": len(inside),
            "sha256": sha256(inside),
            "table": "turns",
            "path": "",
            "executable": False,
        }
        said["members"].append(one)
        said["tables"]["turns"] += 1
        members.append((tarfile.TarInfo(one["name"]), inside))

    with pytest.raises(BadInput, match="a row of turns"):
        restored(altered(tmp_path / "b.tar.gz", alter, tmp_path / "bad"), tmp_path / "new")


def test_a_bomb_is_refused(home: Home, tmp_path: Path) -> None:
    backup_of(home, tmp_path / "b.tar.gz")

    def alter(said: dict[str, Any], members: list[tuple[tarfile.TarInfo, bytes]]) -> None:
        members.insert(0, (tarfile.TarInfo("home/memory/bomb"), bytes(200_000_000)))

    bad = altered(tmp_path / "b.tar.gz", alter, tmp_path / "bad")
    assert bad.stat().st_size < 300_000
    _refused(bad, tmp_path, "unpacks to more than")


def test_the_most_repetitive_home_there_can_be_is_no_bomb(tmp_path: Path) -> None:
    source = _filled(f"sqlite:///{tmp_path / 's.db'}", {"turns": [turn("s", n, "a" * 10**6) for n in range(90)]})
    made = back_up(source, tmp_path, tmp_path / "b.tar.gz", at=NOON)
    source.dispose()
    assert restored(made.file, tmp_path / "new").manifest.tables["turns"] == 90


def test_a_newer_backup_is_refused(home: Home, tmp_path: Path) -> None:
    file = backup_of(home, tmp_path / "b.tar.gz").file
    for change in ({"schema": "9999"}, {"version": 2}):
        bad = altered(file, lambda said, _, change=change: said.update(change), tmp_path / "bad")  # type: ignore[misc]
        _refused(bad, tmp_path, "at least as new", SchemaTooNew)
        with pytest.raises(SchemaTooNew):
            read_whole_backup(bad)


def test_a_file_that_is_not_there_or_no_file_is_explained(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        read_whole_backup(tmp_path / "none.tar.gz")
    with pytest.raises(NotPermitted):
        read_whole_backup(tmp_path)


# ---- kill -9 ---------------------------------------------------------------------------------------------------------

PRELUDE = """
    import sys, time
    from datetime import UTC, datetime
    from pathlib import Path
    from reverie.storage import backup
    from reverie.storage import backup as backup_restore
    from reverie.storage import backup_files
    from reverie.storage.database import engine

    def stop(*_):
        print("here", flush=True)
        time.sleep(60)
"""


def killed_at(code: str) -> None:
    """SIGKILL lands where the code calls `stop`."""
    whole = textwrap.dedent(PRELUDE) + textwrap.dedent(code)
    process = Process(["-c", whole])
    assert process.stdout.readline() == "here\n"
    process.kill()
    process.communicate()


@pytest.mark.parametrize("where", ["watch=stop", "watch=lambda step: stop() if step.total else None"])
def test_a_backup_killed_while_writing_or_checking_leaves_the_old_one(
    lived_in: Home, tmp_path: Path, where: str
) -> None:
    file = backup_of(lived_in, tmp_path / "b.tar.gz").file
    before = file.read_bytes()
    killed_at(f"""
        backup.back_up(engine({lived_in.config.database!r}), Path({str(lived_in.config.home)!r}), Path({str(file)!r}),
                       at=datetime.now(UTC), force=True, {where})
    """)
    assert file.read_bytes() == before
    assert len(_left(tmp_path)) == 1
    backup_of(lived_in, file, force=True)
    assert _left(tmp_path) == []
    read_whole_backup(file)


RESTORING = [
    "backup_files.stage = stop",
    "backup_files.put_beside = stop",
    "backup_restore.insert_lines = stop",
    "backup_restore.heads = stop",
    "backup_files.sync_below = stop",
    "backup_files.move_in = stop",
    "backup_files.sync_folder = lambda path: stop() if path.name == 'new' else None",
]
IN_EACH = [(database, where) for where in RESTORING for database in ("sqlite", "postgres")]
IN_ONE = IN_EACH[::4] + IN_EACH[3::4]  # each place, of a backup of either database in turn


@pytest.mark.parametrize(("database", "where"), sized(IN_ONE, IN_EACH), indirect=["database"])
def test_a_restore_killed_anywhere_is_done_by_the_same_command(
    homes: HomeMaker, lived_in: Home, tmp_path: Path, where: str
) -> None:
    """Before and in the transaction, right behind its commit, and when the files have been moved into place."""
    file = backup_of(lived_in, tmp_path / "b.tar.gz").file
    there = tmp_path / "new"
    database = f"sqlite:///{there / 'reverie.db'}"
    killed_at(f"""
        {where}
        backup_restore.restore(Path({str(file)!r}), Path({str(there)!r}), {database!r})
    """)
    if "stage = stop" not in where:  # nothing is there yet
        with pytest.raises(HalfRestored, match=r"was interrupted.*Run the same `reverie restore` again"):
            homes(there)
    behind_the_commit = "move_in" in where or "sync_folder" in where
    assert restored(file, there).finished == behind_the_commit
    again = homes(there)
    assert rows_of(again.engine) == rows_of(lived_in.engine)
    for name in ("reverie.toml", "policy.toml", "memory", "skills"):
        assert _tree(there / name) == _tree(lived_in.config.home / name)
    assert not (there / ".restoring").exists()


def test_the_rest_of_a_restore_is_not_mixed_with_another_backup(lived_in: Home, tmp_path: Path) -> None:
    file = backup_of(lived_in, tmp_path / "b.tar.gz").file
    there = tmp_path / "new"
    killed_at(f"""
        backup_files.move_in = stop
        backup_restore.restore(Path({str(file)!r}), Path({str(there)!r}), "sqlite:///{there / "reverie.db"}")
    """)
    (lived_in.config.home / "policy.toml").write_text("# other\n")
    other = backup_of(lived_in, tmp_path / "other.tar.gz").file
    with pytest.raises(BadInput, match=r"unfinished restore.*Nothing was changed"):
        restored(other, there)
    (there / "policy.toml").write_text("# written meanwhile\n")
    with pytest.raises(BadInput, match=r"policy\.toml while a restore was unfinished"):
        restored(file, there)
    (there / "policy.toml").unlink()
    assert restored(file, there).finished


# ---- before a migration ----------------------------------------------------------------------------------------------


def test_a_database_with_rows_is_copied_before_its_schema_changes(tmp_path: Path) -> None:
    path = tmp_path / "a [b] c.db"
    engine = _filled(f"sqlite:///{path}", {"turns": [turn("s", 1, "words")]}, "0001")
    older = path.with_name(f"{path.name}.before-0001")
    older.write_text("of an earlier migration")
    migrations.migrate(engine)
    engine.dispose()
    [copy] = copies(path)
    assert copy.name == f"{path.name}.before-{migrations.CURRENT}"
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    with sqlite3.connect(copy) as opened:
        assert opened.execute("select version_num from alembic_version").fetchone() == ("0001",)
        assert opened.execute("select text from turns").fetchone() == ("words",)
    opened.close()


def test_a_database_without_rows_and_one_that_is_current_are_not_copied(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    engine = _filled(f"sqlite:///{path}", {}, "0001")
    migrations.migrate(engine)
    with writing_across(engine, "upkeep") as connection:
        connection.execute(insert(reflected_table(connection, "turns")), [turn("s", 1)])
    migrations.migrate(engine)
    engine.dispose()
    assert copies(path) == []


def test_a_migration_that_cannot_be_preceded_by_a_copy_does_not_begin(tmp_path: Path) -> None:
    path = tmp_path / "r.db"
    _filled(f"sqlite:///{path}", {"turns": [turn("s", 1, os.urandom(200_000).hex())]}, "0001").dispose()
    code = f"""
        import resource, signal
        from reverie.storage.database import engine
        from reverie.storage.migrations import migrate
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        made = engine("sqlite:///{path}")
        made.connect().close()
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        try:
            migrate(made)
        except Exception as error:
            print(type(error).__name__, error)
    """
    done = run_python(["-c", textwrap.dedent(code)])
    assert "DatabaseUnusable" in done.stdout, done.stdout + done.stderr
    assert "Nothing was changed" in done.stdout
    assert copies(path) == []
    engine = make_engine(f"sqlite:///{path}")
    with reading_across(engine, "upkeep") as connection:
        assert migrations.schema_version(connection) == "0001"
    engine.dispose()


# ---- the commands ----------------------------------------------------------------------------------------------------


def test_the_commands_say_what_they_did_and_what_to_do_next(tmp_path: Path) -> None:
    def run(*words: str, code: int = 0) -> str:
        done = run_command(words, environment=os.environ, folder=tmp_path)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    (tmp_path / "chat.json").write_text(json.dumps({"id": "c", "messages": [{"role": "user", "content": "hello"}]}))
    run("sessions", "add", "chat.json", "--home", "old")
    assert "1 session, 1 turn" in run("backup", "b.tar.gz", "--home", "old")
    assert "--force" in run("backup", "b.tar.gz", "--home", "old", code=2)
    assert json.loads(run("backup", "b.tar.gz", "--home", "old", "--force", "--json"))["tables"]["turns"] == 1
    assert "is whole" in run("restore", "b.tar.gz", "--verify-only")
    assert not (tmp_path / "nobody").exists()
    told = json.loads(run("restore", "b.tar.gz", "--home", "new", "--database", f"sqlite:///{tmp_path}/x.db", "--json"))
    assert told["restored"]
    assert told["repointed"]
    assert "hello" in run("search", "hello", "--home", "new")
    refused = json.loads(run("restore", "b.tar.gz", "--home", "new", "--json", code=2))
    assert "holds reverie.toml" in refused["error"]["found"]
    (tmp_path / "b.tar.gz").write_bytes(b"cut short")
    assert "Nothing was changed" in run("restore", "b.tar.gz", "--home", "third", code=2)
