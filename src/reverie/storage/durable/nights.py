"""The workflow of a night for DBOS. It carries ids and counts; words stay in our own tables.

Its steps run one after another. What a step raises is not handed to DBOS, which would keep its words.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from dbos import DBOS

from reverie.core.errors import StillLocked
from reverie.dreams.dream import Dream
from reverie.dreams.records import Overtaken
from reverie.dreams.run.job_queue import NightsOf
from reverie.dreams.run.steps import PASSING

NIGHT = "reverie.night"
QUEUE = "nights"
VERSION = "1"  # of the order of the steps: raised by hand, when what is under way could not be gone on with
_WAITS = (0.5, 2.0, 8.0)  # seconds, when something passing is in the way of a step
_LATER = 1.0

nights: NightsOf | None = None  # of the Home this process works for
done: list[str] = []
stopping = threading.Event()


class StepFailed(Exception):
    """Names the kind of what went wrong, and none of its words."""


@DBOS.workflow(name=NIGHT)
def night(workspace: str, user: str, dream: str) -> str:
    """The status of the night afterwards: over, or still running when it has to be taken up another time."""
    assert nights is not None, "the engine was not launched by DbosEngine"
    dreaming = nights(workspace, user, dream)
    try:
        found = _in_turn(lambda: dreaming.run(dream, durably))
    except Exception as error:  # noqa: BLE001 — DBOS would keep its words; the dream's own row says what it was
        found = dreaming.get(dream)
        DBOS.logger.error("%s was not finished: %s", dream, type(error).__name__)
    done.append(dream)
    return str(found.status)


def _in_turn(run: Callable[[], Dream]) -> Dream:
    """Waits for another night over the same target. No step is asked for meanwhile, so nothing is remembered of it."""
    while True:
        try:
            return run()
        except Overtaken:
            raise
        except StillLocked:
            if stopping.wait(_LATER):
                raise


def durably(name: str, step: Callable[[], int]) -> int:
    failed: list[Exception] = []
    if stopping.is_set():
        raise StillLocked("This worker is stopping.", next_step="Another one goes on, or this one when it is back.")

    def without_words() -> int:
        try:
            return _patiently(step)
        except Exception as error:  # noqa: BLE001 — it is raised again below
            failed.append(error)
            raise StepFailed(type(error).__name__) from None

    try:
        return DBOS.run_step({"name": name}, without_words)
    except StepFailed:
        if failed:
            raise failed[-1] from None
        raise


def _patiently(step: Callable[[], int]) -> int:
    for wait in _WAITS:
        try:
            return step()
        except PASSING:
            time.sleep(wait)
    return step()
