"""Nights that are broken off, canceled, taken over, queued and shared. On SQLite and on a real Postgres."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reverie.app import Home, open_home
from reverie.changes.queue import Review
from reverie.core.clock import FixedClock
from reverie.core.errors import BadInput, StillLocked
from reverie.core.scope import Scope
from reverie.dreams.dream import Dream, Status
from reverie.dreams.files import FileNightTarget
from reverie.dreams.records import LEASE, Lease, Overtaken, SessionChoice, Stopped
from reverie.dreams.run.steps import MOST_ATTEMPTS, Steps
from reverie.dreams.stores.dream import StoreWish
from reverie.memory.store import Author
from reverie.storage.dreams.dreams import SqlDreams
from reverie.storage.dreams.leases import fenced_review
from tests.commands import Process
from tests.conftest import NOON, HomeMaker
from tests.sizes import sized

EARLY = datetime(2026, 5, 1, 12, tzinfo=UTC)
MEMORY = "Staging DB is db1.internal:5432\n§\nCI runs on github.internal:8080"
SAID = {
    "s1": "The staging db moved to db2.internal:6432.",
    "s2": "CI moved to forgejo.internal:8080.",
    "s3": "I prefer tabs maybe, not sure.",
}
MASCOT = "Remember that our mascot is called Miso."
ROOT = Path(__file__).parents[2]
Pages = Callable[[], str]


@pytest.fixture
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pages:
    """What MEMORY.md says."""
    path = tmp_path / "hermes" / "memories" / "MEMORY.md"
    path.parent.mkdir(parents=True)
    path.write_text(MEMORY)
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "hermes"))
    return path.read_text


SHARED = pytest.mark.parametrize("database", ["postgres"], indirect=True)  # where there are several workers


@pytest.fixture
def home(memory: Pages, tmp_path: Path, homes: HomeMaker, database: str) -> Home:
    """With three sessions nobody has dreamt about, on SQLite and on Postgres."""
    with open_home(tmp_path / "home", now=EARLY, settings={"owner": "ann", "database": database}) as early:
        list(early.memory.entries("hermes"))
        for day, (name, words) in enumerate(SAID.items(), 8):
            messages = [{"role": "user", "content": words}, {"role": "assistant", "content": "All right."}]
            early.sessions.add({"id": name, "started_at": f"2026-05-{day:02}T10:00:00Z", "messages": messages})
    return homes(database=database)


def begun(home: Home, *, until: str = "put") -> tuple[Steps, Dream]:
    """A night broken off before the named step, as if its process had died."""
    night = home.dreams
    dream = night.open("hermes", "land", SessionChoice())
    steps = Steps(night, night.records.hold(night.scope, dream), FileNightTarget(night))

    class Died(Exception):
        pass

    def do(name: str, step: Callable[[], int]) -> int:
        if name == until:
            raise Died
        return step()

    with pytest.raises(Died):
        steps.all(do)
    return steps, night.get(dream.id)


def of_another_machine(home: Home, later: timedelta = timedelta()) -> SqlDreams:
    key_of = lambda name: home.memory.target(name).key  # noqa: E731
    return SqlDreams(home.engine, FixedClock(NOON + later), "elsewhere:/home", key_of)


# ---- broken off ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("until", ["light", "think", "put", "end"])
def test_what_was_broken_off_is_finished_before_the_next_night_begins(home: Home, memory: Pages, until: str) -> None:
    _, dream = begun(home, until=until)
    assert dream.status is Status.RUNNING
    again = home.dream(target="hermes")
    done = home.dreams.get(dream.id)
    assert done.status is Status.COMPLETED and len(done.changes) == 2
    assert not again.sessions and "forgejo" in memory() and "db2" in memory()
    assert [change.grounds.dream for change in home.history.changes(limit=2)] == [dream.id] * 2


def test_recovering_finishes_it_too_and_twice_does_nothing_more(home: Home, memory: Pages) -> None:
    _, dream = begun(home)
    assert [one.status for one in home.dream.recover()] == [Status.COMPLETED]
    assert home.dream.recover() == [] and "forgejo" in memory()
    assert home.dreams.get(dream.id).diary


def test_where_nothing_is_to_land_what_is_left_of_a_night_is_only_proposed(home: Home, memory: Pages) -> None:
    _, dream = begun(home)
    home.dream(target="hermes", mode="propose")
    done = home.dreams.get(dream.id)
    assert memory() == MEMORY and len(done.proposals) >= 2 and not done.changes


def test_a_night_that_is_always_broken_off_is_given_up(home: Home) -> None:
    night, (_, dream) = home.dreams, begun(home)
    for _ in range(MOST_ATTEMPTS):
        night.records.hold(night.scope, dream)
    (failed,) = home.dream.recover()
    assert failed.status is Status.FAILED and "broken off" in failed.flaws[-1]
    assert len(home.dream(target="hermes").sessions) == len(SAID)


def test_a_night_in_which_something_is_wrong_says_so_and_the_next_begins_anew(home: Home) -> None:
    def wrong(target: str) -> list[object]:
        raise ZeroDivisionError("surfaces")

    broken = replace(home.dreams, surfaces=wrong)  # type: ignore[arg-type]
    with pytest.raises(ZeroDivisionError):
        broken.dream("hermes")
    (failed,) = home.dreams.records.find(home.owned)
    assert failed.status is Status.FAILED and "surfaces" in failed.flaws[-1]
    assert len(home.dream(target="hermes").changes) == 2


# ---- canceled --------------------------------------------------------------------------------------------------------


def test_a_canceled_night_leaves_memory_as_it_was_and_its_sessions_for_another(home: Home, memory: Pages) -> None:
    steps, dream = begun(home)
    assert home.dream.cancel(dream.id).status is Status.CANCELED
    assert home.dream.cancel(dream.id).status is Status.CANCELED
    with pytest.raises(Stopped):
        steps.put(0)
    assert memory() == MEMORY and home.review.waiting() == [] and home.dream.recover() == []
    assert len(home.dream(target="hermes").sessions) == len(SAID)


def test_once_it_lands_a_night_cannot_be_canceled(home: Home, memory: Pages) -> None:
    steps, dream = begun(home)
    steps.put(0)
    with pytest.raises(BadInput, match="undo"):
        home.dream.cancel(dream.id)
    home.dream.recover()
    assert "forgejo" in memory() and "db2" in memory()


# ---- taken over ------------------------------------------------------------------------------------------------------


def test_two_machines_never_dream_over_one_target_at_once(home: Home) -> None:
    _, dream = begun(home)
    with pytest.raises(StillLocked, match="hermes"):
        of_another_machine(home).hold(home.owned, dream)


def test_canceling_a_night_that_waits_does_not_free_the_target_another_has(home: Home) -> None:
    _, dream = begun(home)
    home.dream.cancel(home.dream.later(target="hermes").id)
    with pytest.raises(StillLocked):
        of_another_machine(home).hold(home.owned, dream)


def test_a_night_that_gets_on_is_not_given_up_however_often_it_is_broken_off(home: Home, memory: Pages) -> None:
    night, (_, dream) = home.dreams, begun(home, until="light")
    for place in range(len(SAID)):
        for _ in range(MOST_ATTEMPTS - 1):
            lease = night.records.hold(night.scope, dream)
        Steps(night, lease, FileNightTarget(night)).light(place)
    assert [one.status for one in home.dream.recover()] == [Status.COMPLETED] and "forgejo" in memory()


@pytest.mark.parametrize("step", ["put", "end"])
def test_who_was_away_too_long_is_overtaken_and_writes_nothing(home: Home, memory: Pages, step: str) -> None:
    steps, dream = begun(home)
    lease = of_another_machine(home, later=LEASE + timedelta(seconds=1)).hold(home.owned, dream)
    assert lease.token > steps.lease.token
    with pytest.raises(Overtaken):
        steps.put(0) if step == "put" else steps.end()
    assert memory() == MEMORY and home.dreams.get(dream.id).status is Status.RUNNING


def test_who_is_overtaken_in_the_middle_of_a_landing_lands_nothing(home: Home, memory: Pages) -> None:
    """It has looked whether the night is still its own, sleeps, and wakes when another has the lease."""
    steps, dream = begun(home)
    records = home.dreams.records
    assert isinstance(records, SqlDreams)

    def sleeping(lease: Lease) -> Review:
        of_another_machine(home, later=LEASE + timedelta(seconds=1)).hold(home.owned, dream)
        return fenced_review(home.review, home.engine, records, lease)

    with pytest.raises(Overtaken):
        replace(steps, target=FileNightTarget(replace(home.dreams, fenced=sleeping))).put(0)
    assert memory() == MEMORY and home.review.past() == [] and home.review.recover().landed == ()


# ---- queued ----------------------------------------------------------------------------------------------------------

WORKER = """
import os, sys
from reverie.storage.dreams import durable as dbos_nights
from reverie.app import open_home
from datetime import datetime

home = open_home(sys.argv[1], now=datetime.fromisoformat(sys.argv[3]),
                 settings={"owner": "ann", "database": sys.argv[2] or None})
engine = home.queue.worker(sys.argv[4] or None)
if sys.argv[5] == "reap":
    print(engine.reap(sys.argv[6]))
    sys.exit()
if sys.argv[5] == "die":
    def durably(name, step, real=dbos_nights.durably):
        if name == sys.argv[6]:
            step()
            os.kill(os.getpid(), 9)
        return real(name, step)
    dbos_nights.durably = durably
print(engine.work(until_idle=True), flush=True)
engine.close()
home.close()
"""


@contextmanager
def worker(home: Home, *words: str, executor: str = "", now: datetime = NOON) -> Iterator[Process]:
    database = home.config.database
    process = Process(["-c", WORKER, str(home.config.home), database, now.isoformat(), executor, *words])
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def worked(home: Home, *words: str, executor: str = "") -> tuple[str, int]:
    with worker(home, *(words or ("work",)), executor=executor) as process:
        said, _ = process.communicate()
        return said.strip(), process.returncode


def test_queueing_a_night_begins_nothing_and_a_worker_does_it(home: Home, memory: Pages) -> None:
    dream = home.dream.later(target="hermes")
    assert dream.status is Status.PENDING and home.dream.recover() == [] and memory() == MEMORY
    assert worked(home) == ("1", 0)
    assert home.dreams.get(dream.id).status is Status.COMPLETED and "forgejo" in memory()


def test_a_worker_killed_behind_a_step_goes_on_when_it_is_back(home: Home, memory: Pages) -> None:
    dream = home.dream.later(target="hermes")
    assert worked(home, "die", "put")[1] == -signal.SIGKILL
    assert home.dreams.get(dream.id).status is Status.RUNNING
    worked(home)
    done = home.dreams.get(dream.id)
    assert done.status is Status.COMPLETED and len(done.changes) == 2
    assert "forgejo" in memory() and "db2" in memory() and len(home.history.changes(limit=9)) == 3


@SHARED
def test_what_a_dead_worker_left_is_gone_on_with_by_another(home: Home, memory: Pages) -> None:
    dream = home.dream.later(target="hermes")
    assert worked(home, "die", "think", executor="one")[1] == -signal.SIGKILL
    assert worked(home, "reap", "one")[0] == "1"
    assert worked(home, executor="two")[0] == "1"
    assert home.dreams.get(dream.id).status is Status.COMPLETED and "forgejo" in memory()


def asked_over_a_store(home: Home, tmp_path: Path) -> tuple[Scope, str, str]:
    """A dream over a store of bob, who is nobody of this Home's."""
    scope = Scope("shop", "bob", "the test")
    store = home.tenants.stores(scope).create("Notes").id
    home.tenants.writes(scope, Author("api", "k"), "bob").create(store, "/ci.md", "- CI runs on GitHub Actions.\n")
    talk = tmp_path / "talk.json"
    talk.write_text(json.dumps({"id": "t", "messages": [{"role": "user", "content": MASCOT}]}))
    [session] = home.tenants.imports(scope, "bob").add(talk).names
    made = home.tenants.dreams(scope).create(StoreWish(store, (session,), "built-in"))
    return scope, made.id, made.output


@pytest.mark.parametrize("step", sized(["think"], ["begin", "think", "land"]))
def test_one_queue_has_nights_over_files_and_dreams_over_stores(
    home: Home, memory: Pages, tmp_path: Path, step: str
) -> None:
    """The worker is killed behind a step of the dream over the store; when it is back, both are done, each once."""
    scope, dream, output = asked_over_a_store(home, tmp_path)
    night = home.dream.later(target="hermes")
    assert {one.dream for one in home.queue.waiting()} == {night.id, dream}
    if step != "begin":
        home.dream.cancel(night.id)
    assert worked(home, "die", step)[1] == -signal.SIGKILL
    worked(home)
    assert home.tenants.dreams(scope).get(dream).status is Status.COMPLETED and home.queue.waiting() == []
    assert home.dreams.get(night.id).status is (Status.COMPLETED if step == "begin" else Status.CANCELED)
    assert "/notes.md" in [one.path for one in home.tenants.stores(scope).memories(output)]
    account = home.tenants.dreams(scope).account(dream)
    assert len(account.changes) == 1 and "Miso" in account.diary


def test_a_canceled_night_is_not_begun_by_a_worker(home: Home, memory: Pages) -> None:
    dream = home.dream.later(target="hermes")
    home.dream.cancel(dream.id)
    assert worked(home) == ("0", 0) and memory() == MEMORY


@SHARED
def test_several_nights_on_one_target_are_done_one_after_another(home: Home) -> None:
    dreams = [home.dream.later(target="hermes", limit=1) for _ in range(3)]
    with worker(home, "work", executor="one") as one, worker(home, "work", executor="two") as two:
        assert [process.wait(120) for process in (one, two)] == [0, 0]
    nights = [home.dreams.get(dream.id) for dream in dreams]
    assert {night.status for night in nights} == {Status.COMPLETED}
    assert sorted(read.session_id for night in nights for read in night.sessions) == sorted(SAID)


PLAIN = """
import sys, threading
from reverie.app import open_home
before = threading.active_count()
with open_home(sys.argv[1], settings={"owner": "ann"}) as home:
    home.dream.later(target="home")
    assert threading.active_count() == before, threading.enumerate()
    home.dream(target="home")
assert "dbos" not in sys.modules
"""
TWO_HOMES = """
import sys, time
from reverie.core.errors import EngineBusy
from reverie.app import open_home

with open_home(sys.argv[1]) as one, open_home(sys.argv[2]) as two:
    first, second = one.queue.worker(), two.queue.worker()
    first.launch()
    try:
        second.launch()
        sys.exit("it was launched twice")
    except EngineBusy as error:
        assert sys.argv[1] in str(error), error
    first.close()
    dream = two.dream.later(target="home")
    second.follow("local", two.config.owner, dream.id)
    assert two.dreams.get(dream.id).status == "completed"
    second.close()
"""


def script(*words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_a_plain_night_needs_no_engine_and_a_queued_one_starts_no_thread(tmp_path: Path) -> None:
    script(PLAIN, str(tmp_path / "home"))


def test_a_process_has_one_engine_and_another_home_is_told_so(tmp_path: Path) -> None:
    script(TWO_HOMES, str(tmp_path / "one"), str(tmp_path / "two"))


# ---- two homes on one database ---------------------------------------------------------------------------------------

WISH = "Please remember that I always want distances in kilometres."


@pytest.fixture
def two_homes(homes: HomeMaker, tmp_path: Path, database: str) -> tuple[Home, Home]:
    """Of one owner, each with a target `home` of its own."""
    one, other = (homes(tmp_path / name, database=database) for name in ("laptop", "desk"))
    for name, words in (("s1", WISH), ("s2", "I prefer tabs over spaces.")):
        messages = [{"role": "user", "content": words}, {"role": "assistant", "content": "All right."}]
        one.sessions.add({"id": name, "started_at": "2026-05-08T10:00:00Z", "messages": messages})
    return one, other


def test_two_homes_with_a_target_of_one_name_have_nights_of_their_own(two_homes: tuple[Home, Home]) -> None:
    one, other = two_homes
    first, second = one.dream(target="home"), other.dream(target="home")
    for home, night in ((one, first), (other, second)):
        assert len(night.sessions) == 2 and len(night.changes) == 1 and night.carried == 0
        assert "kilometres" in "".join(entry.text for entry in home.memory.entries("home"))
        assert [found.id for found in home.dreams.records.find(home.owned, "home")] == [one.id for one in night.dreams]
        staged = home.dreams.records.staged(home.owned, "home")
        assert [note.words for note in staged] == ["I prefer tabs over spaces."]
        assert home.dream(target="home").sessions == ()


def test_a_home_finishes_and_works_off_its_own_nights_only(two_homes: tuple[Home, Home]) -> None:
    one, other = two_homes
    night = one.dreams.open("home", "land", SessionChoice())
    queued = one.dream.later(target="home")
    assert other.dream.recover() == [] and other.dreams.records.queued(other.owned) == []
    with pytest.raises(BadInput, match="another target here"):
        other.dream.run(night.id)
    assert other.dream(target="home").status is Status.COMPLETED
    assert one.dreams.get(night.id).status is Status.PENDING
    assert [found.dream for found in one.dreams.records.queued(one.owned)] == [queued.id]
    (done,) = one.dream.recover()
    assert done.id == night.id and len(done.changes) == 1


def test_rows_from_before_targets_went_by_their_key_still_count(two_homes: tuple[Home, Home]) -> None:
    home = two_homes[0]
    before = SqlDreams(home.engine, home.clock, home.dreams.records._holder)  # type: ignore[attr-defined]
    earlier = replace(home.dreams, records=before).dream("home")
    assert len(earlier.sessions) == 2
    again = home.dream(target="home")
    assert again.sessions == () and home.dreams.records.find(home.owned, "home") == [*again.dreams, earlier]
    assert [note.words for note in home.dreams.records.staged(home.owned, "home")] == ["I prefer tabs over spaces."]
