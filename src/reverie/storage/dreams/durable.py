"""Durable nights by DBOS: implements `reverie.dreams.run.job_queue.Engine`.

Importing this costs a second, so only who wants an engine does. DBOS is one per process; a second configuration would
be ignored silently, so here it is an error. A worker has a fixed name, under which it finds what it left when it was
killed, and a lock that keeps the name its own.

The workflow of a night carries ids and counts; words stay in our own tables. Its steps run one after another. What a
step raises is not handed to DBOS, which would keep its words.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from dbos import DBOS, DBOSClient, DBOSConfig, SetEnqueueOptions, SetWorkflowID
from sqlalchemy import Engine as Database
from sqlalchemy import event

from reverie.core.errors import EngineBusy, StillLocked
from reverie.core.ids import slug
from reverie.dreams.records import OVER, Overtaken
from reverie.dreams.run.job_queue import NightsOf, WaitingNights
from reverie.dreams.run.steps import PASSING
from reverie.storage.database import engine as database_of
from reverie.system.files import flocked

NIGHT = "reverie.night"
QUEUE = "nights"
VERSION = "1"  # of the order of the steps: raised by hand, when what is under way could not be gone on with
_WAITS = (0.5, 2.0, 8.0)  # seconds, when something passing is in the way of a step
_LATER = 1.0

_SERVED: list[NightsOf] = []  # of the Home this process works for
done: list[str] = []
stopping = threading.Event()
LOCAL = "local"
MOST_WORKERS = 64  # of one home on one machine, if they are not named
SOON, SELDOM = 0.2, 1.0  # seconds between two looks
TO_THE_END_OF_A_STEP = 60  # seconds
_UNDER_WAY = ["PENDING", "ENQUEUED", "DELAYED"]
_RUNNING: list[Path] = []
_ONE = threading.Lock()


class StepFailed(Exception):
    """Names the kind of what went wrong, and none of its words."""


@DBOS.workflow(name=NIGHT)
def night(workspace: str, user: str, dream: str) -> str:
    """The status of the night afterwards: over, or still running when it has to be taken up another time."""
    assert _SERVED, "the engine was not launched by DbosEngine"
    dreaming = _SERVED[0](workspace, user, dream)
    try:
        found = None
        while found is None:
            try:
                found = dreaming.run(dream, durably)
            except Overtaken:
                raise
            except StillLocked:  # by another night over the same target; no step was asked for, and none is remembered
                if stopping.wait(_LATER):
                    raise
    except Exception as error:  # noqa: BLE001 — DBOS would keep its words; the dream's own row says what it was
        found = dreaming.get(dream)
        DBOS.logger.error("%s was not finished: %s", dream, type(error).__name__)
    done.append(dream)
    return str(found.status)


def durably(name: str, step: Callable[[], int]) -> int:
    failed: list[Exception] = []
    if stopping.is_set():
        raise StillLocked("This worker is stopping.", next_step="Another one goes on, or this one when it is back.")

    def without_words() -> int:
        try:
            for wait in _WAITS:
                try:
                    return step()
                except PASSING:
                    time.sleep(wait)
            return step()
        except Exception as error:  # noqa: BLE001 — it is raised again below
            failed.append(error)
            raise StepFailed(type(error).__name__) from None

    try:
        return DBOS.run_step({"name": name}, without_words)
    except StepFailed:
        if failed:
            raise failed[-1] from None
        raise


class DbosEngine:
    """`database` is that of the Home: on Postgres the engine is in it, else in `engine.db` beside it.

    `queue` is what waits; `at_once` how many nights it does at the same time, each on a target of its own.
    """

    def __init__(
        self,
        home: Path,
        database: str,
        queue: WaitingNights,
        *,
        nights: NightsOf,
        executor: str | None = None,
        at_once: int = 2,
    ) -> None:
        self._home = home
        self._shared = not database.startswith("sqlite")
        self._url = database if self._shared else f"sqlite:///{home / 'engine.db'}"
        self._waiting, self._nights = queue, nights
        self._named = executor
        self._at_once = at_once
        self._bell = threading.Event()
        self._held: ExitStack | None = None
        self._handed: set[str] = set()

    def follow(self, workspace: str, user: str, dream: str) -> None:
        nights = self._nights(workspace, user, dream)
        while nights.get(dream).status not in OVER:
            with suppress(StillLocked):  # someone else works for this Home
                self.launch()
            if self._held:
                self._queue()
            time.sleep(SOON)

    def work(self, *, until_idle: bool = False) -> int:
        self.launch()
        while not stopping.is_set():
            queued = self._queue()
            if until_idle and not queued and not self._under_way():
                break
            self._bell.wait(SOON if until_idle else SELDOM)
            self._bell.clear()
        return len(done)

    def wake(self) -> None:
        self._bell.set()

    def stop(self) -> None:
        """From a signal, or another thread: nights are broken off behind the step they are at."""
        stopping.set()
        self._bell.set()

    def reap(self, executor: str) -> int:
        database = self._database()
        client = DBOSClient(system_database_url=self._url, system_database_engine=database)
        try:
            left = client.list_workflows(
                name=NIGHT, status="PENDING", executor_id=executor, load_input=False, load_output=False
            )
            for one in left:
                client.resume_workflow(one.workflow_id, queue_name=QUEUE)
        finally:
            client.destroy()
            database.dispose()
        return len(left)

    def close(self) -> None:
        if self._held:
            self.stop()
            self._held.close()
            self._held = None
            self._handed.clear()

    def _database(self) -> Database:
        """Where a transaction has begun already, that DBOS begins one by hand is passed over: from 3.4 on it does."""
        database = database_of(self._url)

        @event.listens_for(database, "before_cursor_execute", retval=True)
        def begun_once(_: Any, cursor: Any, statement: str, given: Any, *__: Any) -> tuple[str, Any]:
            again = statement == "BEGIN IMMEDIATE" and cursor.connection.in_transaction
            return ("SELECT 1" if again else statement), given

        return database

    # ---- the one engine of this process ------------------------------------------------------------------------------

    def launch(self) -> None:
        """Raises EngineBusy if another Home has the engine of this process, StillLocked if another process works."""
        if self._held:
            return
        with _ONE, ExitStack() as held:
            if _RUNNING:
                raise EngineBusy(
                    f"This process has an engine already, for {_RUNNING[0]}.",
                    expected="one Home with an engine in a process",
                    next_step="Close that Home first, or dream in another process.",
                )
            executor = self._name(held)
            database = self._database()
            held.callback(database.dispose)
            config: DBOSConfig = {
                "name": "reverie",
                "system_database_url": self._url,
                "system_database_engine": database,
                "application_version": VERSION,
                "executor_id": executor,
                "log_level": "ERROR",
                "use_listen_notify": False,
                "max_executor_threads": 4 * self._at_once + 8,
            }
            _RUNNING.append(self._home)
            held.callback(_RUNNING.clear)
            _SERVED[:] = [self._nights]
            done.clear()
            stopping.clear()
            DBOS(config=config)
            held.callback(DBOS.destroy, workflow_completion_timeout_sec=TO_THE_END_OF_A_STEP)
            DBOS.launch()
            DBOS.register_queue(
                QUEUE,
                worker_concurrency=self._at_once,
                partition_concurrency=1,
                polling_interval_sec=SOON,
                on_conflict="always_update",
            )
            self._held = held.pop_all()

    def _name(self, held: ExitStack) -> str:
        """A name nobody else has now, and that is the same again after a restart."""
        if not self._shared:
            held.enter_context(flocked(self._home / "engine.lock", 0))
            return self._named or LOCAL
        if self._named:
            held.enter_context(flocked(self._home / f"engine.{slug(self._named)}.lock", 0))
            return self._named
        for number in range(MOST_WORKERS):
            with suppress(StillLocked):
                held.enter_context(flocked(self._home / f"engine.{number}.lock", 0))
                return f"{socket.gethostname()}-{number}"
        raise StillLocked(f"{MOST_WORKERS} workers run for {self._home}.", expected="fewer")

    # ---- the queue: our own rows -------------------------------------------------------------------------------------

    def _queue(self) -> int:
        """Hand to DBOS what waits and what was abandoned. If others hand it, too, it is handed once."""
        waiting = [one for one in self._waiting.waiting() if one.name not in self._handed]
        for one in waiting:
            self._handed.add(one.name)
            with SetWorkflowID(one.name), SetEnqueueOptions(queue_partition_key=f"{one.user}/{one.target}"):
                DBOS.enqueue_workflow(QUEUE, night, one.workspace, one.user, one.dream)
        return len(waiting)

    def _under_way(self) -> bool:
        return bool(DBOS.list_workflows(status=_UNDER_WAY, name=NIGHT, load_input=False, load_output=False, limit=1))
