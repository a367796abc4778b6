"""How well REM tells what to keep: precision and recall at each gate, on cases it was not fitted on.

    python benchmarks/scoring.py                 the cases set aside in labelled/scoring.txt
    python benchmarks/scoring.py --training      those the weights were fitted on
    python benchmarks/scoring.py --wrong         and every case that came out otherwise

Each case is a small shelf, some sessions, and what a careful curator would do. A change is right if the case wants a
change of that kind and the new text says what it must. Intervals are Wilson's, 95 %.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from math import sqrt
from pathlib import Path
from typing import Any

from reverie.deep.decision import Verb
from reverie.deep.judging import Mind, deepen
from reverie.deep.material import Known, Noted
from reverie.deep.noting import noted
from reverie.memory.operation import entry_hash
from reverie.rem.dimensions import Weighing
from reverie.rem.gates import Gates, Limits, Weighed
from reverie.rem.suggesting import weigh
from reverie.safety.redact import redact
from reverie.sessions.intake import Intake
from reverie.sessions.readers.plain import events
from reverie.sessions.session import Session

HERE = Path(__file__).parent
TRAINING, SET_ASIDE = HERE / "training" / "scoring.txt", HERE / "labelled" / "scoring.txt"
NOW = datetime(2026, 6, 15, 3, tzinfo=UTC)
FIRST = datetime(2026, 6, 8, 9, tzinfo=UTC)
DOCUMENTS = {"person": "USER.md", "world": "MEMORY.md"}
ACTIONS = {
    Verb.PROMOTE: "add", Verb.SUPERSEDE: "replace", Verb.MERGE: "merge", Verb.REMOVE: "remove",
    Verb.BETTER_AS_SKILL: "skill",
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    label: str
    category: str
    shelf: str
    sessions: str
    wanted: str
    place: int


def read_cases(path: Path) -> list[Case]:
    lines = [line for line in path.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    cells = [[cell.strip() for cell in line.split(" | ")] for line in lines]
    return [Case(*(row if len(row) == 5 else [*row, ""]), place) for place, row in enumerate(cells)]


def known_of(case: Case) -> tuple[Known, ...]:
    if case.shelf == "-":
        return ()
    age, document, text = case.shelf.split(":", 2)
    since = {"old": FIRST - timedelta(days=120), "new": NOW - timedelta(hours=1), "age?": None}[age]
    seen = since or NOW
    name = {"U": "USER.md", "M": "MEMORY.md"}[document]
    return (Known(name, text, name, entry_hash(text), since, seen),)


def messages(session: str) -> Iterator[dict[str, Any]]:
    """Turns in order: the person, then the agent, in turn; `T:` and `$` are calls with their results."""
    person = True
    for number, turn in enumerate(session.replace("\\n", "\n").split(" / ")):
        if turn.startswith(("T: ", "$ ")):
            yield from _call(turn, f"call_{number}")
            person = False
            continue
        yield {"role": "user" if person else "assistant", "content": turn}
        person = not person


def _call(turn: str, name: str) -> Iterator[dict[str, Any]]:
    command, result = ("fetch", {"content": turn[3:]}) if turn.startswith("T: ") else _ran(turn[2:])
    call = {"name": "terminal" if turn[0] == "$" else "fetch", "arguments": json.dumps({"command": command})}
    yield {"role": "assistant", "content": "", "tool_calls": [{"id": name, "type": "function", "function": call}]}
    content = json.dumps(result) if turn[0] == "$" else turn[3:]
    yield {"role": "tool", "tool_call_id": name, "name": call["name"], "content": content}


def _ran(turn: str) -> tuple[str, dict[str, Any]]:
    command, _, rest = turn.partition(" => ")
    code, _, output = rest.partition(" ")
    return command, {"output": output, "exit_code": int(code)}


def noted_of(case: Case) -> list[Noted]:
    found: list[Noted] = []
    numbers = count()
    for place, text in enumerate(case.sessions.split(" // ")):
        at = FIRST + timedelta(days=2 * place)
        session = {"id": f"s{place}", "user": "ann", "started_at": at.isoformat(), "messages": list(messages(text))}
        found += noted(session_of(session), "ann", lambda: f"cand_{next(numbers):03}")
    return found


def session_of(session: dict[str, Any]) -> Session:
    reading = next(Intake("ann", lambda text: (redact(text).text, {})).sessions(events(session)))
    turns = tuple(reading.turns())
    return Session(reading.head, turns)


def weighed(case: Case) -> list[Weighed]:
    """Every change Deep would make of the case, with its score."""
    known = known_of(case)
    deepened = deepen(noted_of(case), Mind(known, DOCUMENTS, NOW, owner="ann"))
    weighing = Weighing(NOW, known, {name: 2_000 - sum(len(one.text) for one in known) for name in DOCUMENTS.values()})
    return weigh(deepened.decisions, weighing, Gates(), Limits())


def right(case: Case, one: Weighed) -> bool:
    asked = case.label == "ask" and bool(one.decision.asks)
    if ACTIONS[one.decision.verb] != case.label and not asked:
        return False
    text = one.decision.text
    if one.decision.skill:
        text = one.decision.skill.text
    return not case.wanted or bool(re.search(case.wanted, text, re.IGNORECASE))


def wilson(good: int, all_: int) -> tuple[float, float]:
    if not all_:
        return 0.0, 1.0
    z, share = 1.96, good / all_
    middle = (share + z * z / (2 * all_)) / (1 + z * z / all_)
    spread = z * sqrt(share * (1 - share) / all_ + z * z / (4 * all_ * all_)) / (1 + z * z / all_)
    return max(0.0, middle - spread), min(1.0, middle + spread)


def shown(name: str, good: int, all_: int) -> str:
    low, high = wilson(good, all_)
    share = good / all_ if all_ else float("nan")
    return f"{name} {share:.3f} [{low:.3f}, {high:.3f}] ({good} of {all_})"


Results = Sequence[tuple[Case, Sequence[Weighed]]]


def landed(results: Results, action: str) -> tuple[int, int]:
    """How many of the changes of this kind that pass their gate are right, and how many they are."""
    landing = [
        (case, one) for case, every in results for one in every
        if one.passes and ACTIONS[one.decision.verb] == action and not one.decision.asks
    ]  # fmt: skip
    return sum(right(case, one) for case, one in landing), len(landing)


def found(results: Results, action: str) -> tuple[int, int]:
    """How many of the cases that want a change of this kind get it, and how many they are."""
    wanted = [(case, every) for case, every in results if case.label == action]
    done = (any(one.passes and not one.decision.asks and right(case, one) for one in every) for case, every in wanted)
    return sum(done), len(wanted)


def report(cases: Sequence[Case], wrong: bool) -> None:
    results = [(case, weighed(case)) for case in cases]
    for action in ACTIONS.values():
        told = shown("precision", *landed(results, action)), shown("recall", *found(results, action))
        print(f"{action:8}", *told, sep=" ")
    quiet = [every for case, every in results if case.label in ("none", "ask")]
    still = sum(not any(one.passes and not one.decision.asks for one in every) for every in quiet)
    asked = [(case, every) for case, every in results if case.label == "ask"]
    put = sum(any(one.passes and one.decision.asks for one in every) for _, every in asked)
    print("quiet   ", shown("left alone", still, len(quiet)), " ", shown("asked", put, len(asked)))
    if wrong:
        for case, every in results:
            tell(case, every)


def tell(case: Case, every: Sequence[Weighed]) -> None:
    lands = [one for one in every if one.passes and not (one.decision.asks and case.label != "ask")]
    if any(not right(case, one) for one in lands) or (case.label != "none" and not lands):
        print(f"{case.label} | {case.category} | {case.shelf} | {case.sessions}")
        for one in every:
            told = f"{one.decision.verb} {one.score.total:.3f} {one.decision.text!r}"
            print(f"    {told} {one.decision.asks} {one.held_back}")


if __name__ == "__main__":
    report(read_cases(TRAINING if "--training" in sys.argv else SET_ASIDE), "--wrong" in sys.argv)
