"""Several questions under way at once, with the outcome they would have one after the other.

Room is reserved in the order the questions stand, and what came of them is looked at in that order, whichever is
answered first. So the caps are as hard, the same questions are asked, and the same night comes of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sized
from concurrent.futures import Future, ThreadPoolExecutor

from reverie.models.asking import Answer, Asker, Dropped, Outcome
from reverie.models.budget import CapReached, Reservation
from reverie.models.question import Question

_UnderWay = deque[tuple[Question, Future[Outcome]]]


def ask_ahead(asker: Asker, questions: Iterable[Question]) -> None:
    """Ask these, so that `asker.ask` finds each answered. Ends early where one after the other is the better way:
    when a cap leaves no room, or the provider is in trouble."""
    if asker.at_once < 2 or (isinstance(questions, Sized) and len(questions) < 2):
        return
    with ThreadPoolExecutor(asker.at_once, "model") as threads:
        under_way: _UnderWay = deque()
        for question in _new(asker, questions):
            if len(under_way) == asker.at_once and not _went_well(asker, under_way):
                break
            reserved = asker.reserved(question)
            if isinstance(reserved, CapReached) and under_way:  # what is under way may take less than it could
                if not all(_went_well(asker, under_way) for _ in range(len(under_way))):
                    break
                reserved = asker.reserved(question)
            if not isinstance(reserved, Reservation):
                break
            under_way.append((question, threads.submit(asker.pursued, question, reserved)))
        while under_way:
            _went_well(asker, under_way)


def _new(asker: Asker, questions: Iterable[Question]) -> Iterator[Question]:
    """Each once, without those of which something came before."""
    seen = set(asker.dropped)
    for question in questions:
        name = question.sha256
        if name not in seen and asker.purse.recorded(question) is None:
            seen.add(name)
            yield question


def _went_well(asker: Asker, under_way: _UnderWay) -> bool:
    """What came of the one that was asked first. An answer is on record; why there is none, is kept here."""
    question, future = under_way.popleft()
    outcome = future.result()
    if isinstance(outcome, Dropped):
        asker.dropped[question.sha256] = outcome
        return not outcome.failed
    return isinstance(outcome, Answer)
