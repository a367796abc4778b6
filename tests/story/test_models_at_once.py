"""Several calls under way at once: as many as was said, within the same caps, and the same night as one by one."""

from __future__ import annotations

import json
import random
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from reverie.adapters.database.spending import SqlPurse
from reverie.dreams.dream import Dream, Status
from reverie.home import Home
from reverie.models.asking import Patience, Timing
from reverie.models.question import Question
from reverie.testing.model_plays import MISBEHAVIOURS, Line, Play, Says, Waits
from reverie.testing.model_server import Script, Server, fitting, serving
from reverie.testing.model_wires import Asked
from tests.conftest import HomeMaker

SESSIONS = 9
QUICK = Patience(seconds=20.0, first_wait=0.01)
SAID = (
    "I prefer tabs over spaces.", "We decided to keep invoices in Lisbon.", "Please remember to use metric units.",
    "The staging database is on port 5433 now.", "From now on answer me in short sentences, please.",
)  # fmt: skip


@dataclass(frozen=True)
class Counted:
    """Performs another play and counts how many are under way."""

    play: Play
    counter: Counter

    def perform(self, asked: Asked, line: Line) -> None:
        with self.counter.one():
            self.play.perform(asked, line)


class Counter:
    def __init__(self) -> None:
        self.now = self.most = 0
        self._lock = threading.Lock()

    @contextmanager
    def one(self) -> Iterator[None]:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
        yield
        with self._lock:
            self.now -= 1


def session(number: int) -> dict[str, Any]:
    turns = [("user", "Can you look at this?"), ("assistant", "Here it is.\n" + "A long log line. " * 60)]
    turns += [("user", f"Story {number} goes on. {SAID[number % len(SAID)]}"), ("assistant", "Noted.")]
    messages = [{"role": role, "content": text} for role, text in turns]
    return {"id": f"s{number}", "user": "ann", "started_at": f"2026-05-{1 + number:02}T09:00:00Z", "messages": messages}


def with_model(homes: HomeMaker, tmp_path: Path, name: str, server: Server, **more: str) -> Home:
    said = {"model": "openai:scripted", "model_url": server.openai_url, "database": "", **more}
    home = homes(tmp_path / f"home-{name}", **{key: text for key, text in said.items() if text})
    home.advising = replace(home.advising, patience=QUICK, timing=Timing(sleep=lambda seconds: None))
    for number in range(SESSIONS):
        home.sessions.add(session(number))
    return home


def told(night: Dream) -> tuple[Any, ...]:
    """All a night comes to but names and times."""
    asked = [replace(one, seconds=0.0) for one in night.consulted]
    diary = re.sub(r"(chg|prop)_\w+", r"\1_", night.diary)
    judged = [(one.verb, one.fate, one.text, one.reason, one.evidence, one.score) for one in night.judged]
    return judged, asked, night.dropped, night.enough, diary


def nights(
    at_once: tuple[int, ...], script: Callable[[], Script], homes: HomeMaker, tmp_path: Path, **more: str
) -> list[tuple[Dream, Server]]:
    found = []
    for number in at_once:
        with serving(script()) as server:
            home = with_model(homes, tmp_path, str(number), server, model_at_once=str(number), **more)
            found.append((home.dream(target="home"), server))
    return found


def suggesting(asked: Asked) -> Says:
    """Whatever a person says of a story is worth keeping, says this model."""
    text = asked.body["messages"][1]["content"]
    quotes = [(int(turn), words) for turn, words in re.findall(r"\[turn (\d+), user\]\n(Story \d+ goes on\.)", text)]
    if "excerpts" not in text:
        return fitting(asked)
    found = [
        {"kind": "project_fact", "text": words, "quotes": [{"turn": turn, "words": words}]} for turn, words in quotes
    ]
    return Says(json.dumps({"suggestions": found}), tokens_in=700, tokens_out=40)


def test_the_night_is_the_same_whichever_call_is_answered_first(homes: HomeMaker, tmp_path: Path) -> None:
    dice, counter = random.Random(5), Counter()

    def script() -> Script:
        return lambda asked: Counted(Waits(suggesting(asked), dice.choice([0.05, 0.2, 0.6])), counter)

    (one, server), *others = nights((1, 4, 9), script, homes, tmp_path)
    assert counter.most > 1 and len(server.asked) >= SESSIONS
    for other, _ in others:
        assert told(other) == told(one)


def test_no_more_are_under_way_than_was_said(homes: HomeMaker, tmp_path: Path, database: str) -> None:
    counter = Counter()
    slowly: Callable[[Asked], Play] = lambda asked: Counted(Waits(suggesting(asked), 0.1), counter)  # noqa: E731
    ((night, server),) = nights((3,), lambda: slowly, homes, tmp_path, database=database)
    assert 1 < counter.most <= 3 and night.status is Status.COMPLETED
    assert sum(one.calls for one in night.consulted) == len(server.asked)


def test_what_runs_on_this_machine_is_asked_one_at_a_time(homes: HomeMaker, tmp_path: Path) -> None:
    counter = Counter()
    with serving(lambda asked: Counted(Waits(fitting(asked), 0.02), counter)) as server:
        with_model(homes, tmp_path, "here", server).dream(target="home")
    assert counter.most == 1


@pytest.mark.parametrize("cap", ["12000", "20000", "26000"])
def test_a_cap_is_as_hard_and_leaves_out_the_same(cap: str, homes: HomeMaker, tmp_path: Path) -> None:
    """Each call can take some 5,000 tokens and takes 740."""
    dice = random.Random(6)

    def script() -> Script:
        return lambda asked: Waits(suggesting(asked), dice.choice([0, 0.05]))

    found = nights((1, 4), script, homes, tmp_path, model_tokens_per_dream=cap)
    assert told(found[0][0]) == told(found[1][0])
    assert len(found[0][1].asked) == len(found[1][1].asked) > 1


@pytest.mark.parametrize("name", ["500", "429 retry-after huge", "prose", "refusal", "reset"])
def test_a_provider_in_trouble_is_not_asked_more_often_than_one_by_one_and_a_few(
    name: str, homes: HomeMaker, tmp_path: Path
) -> None:
    found = nights((1, 4), lambda: [MISBEHAVIOURS[name]], homes, tmp_path)
    assert [one.status for one, _ in found] == [Status.COMPLETED] * 2
    assert told(found[0][0])[0] == told(found[1][0])[0]
    assert len(found[1][1].asked) <= len(found[0][1].asked) + 3 * QUICK.tries


class Killed(BaseException):
    """As sudden as a signal: nothing of ours catches it."""


@pytest.mark.parametrize("place", [1, 4, 7])
def test_what_was_recorded_before_a_crash_is_not_asked_again(
    place: int, homes: HomeMaker, tmp_path: Path, database: str
) -> None:
    settled: list[str] = []
    settle, lock = SqlPurse.settle, threading.Lock()

    def killed(self: SqlPurse, question: Question, *args: Any, **more: Any) -> Any:
        with lock:
            if len(settled) >= place:
                raise Killed
            settled.append(question.sha256)
        return settle(self, question, *args, **more)

    with serving(suggesting) as server:
        home = with_model(homes, tmp_path, "x", server, model_at_once="4", database=database)
        try:
            SqlPurse.settle = killed  # type: ignore[assignment,method-assign]
            with pytest.raises(Killed):
                home.dream(target="home")
        finally:
            SqlPurse.settle = settle  # type: ignore[method-assign]
        home.close()
        before = len(server.asked)
        again = with_model(homes, tmp_path, "x", server, model_at_once="4", database=database)
        (night,) = again.dream.recover()
    light = [asked for asked in server.asked if b"excerpts" in asked.raw]
    assert place <= before <= place + 4  # what was under way then
    assert len(light) == SESSIONS + before - place
    assert night.status is Status.COMPLETED and night.consulted[0].calls == len(light)


def test_a_night_that_is_canceled_asks_no_more(homes: HomeMaker, tmp_path: Path, database: str) -> None:
    canceling: list[Home] = []

    def script(asked: Asked) -> Play:
        if canceling and len(server.asked) == 2:
            (night,) = canceling[0].dreams.records.unfinished(canceling[0].owned)
            canceling.pop().dream.cancel(night.id)
        return Waits(suggesting(asked), 0.05)

    with serving(script) as server:
        home = with_model(homes, tmp_path, "x", server, model_at_once="2", database=database)
        canceling.append(homes(tmp_path / "home-x", database=database))
        assert home.dream(target="home").status is Status.CANCELED
    assert 2 <= len(server.asked) <= 4
