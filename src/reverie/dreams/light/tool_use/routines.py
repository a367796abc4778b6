"""Routines: the steps an agent ran, one after another, for one thing it was asked for.

In one session they are only what was done; whether they come back is for Deep to see. Not routines: what was run
while editing code, and what failed on the way.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from itertools import pairwise

from reverie.dreams.light.candidate import MAX_WORDING, Candidate, Kind
from reverie.dreams.light.tool_use.commands import doing, step
from reverie.dreams.light.tool_use.lessons import EDITING, LOOKING_TOOL
from reverie.dreams.light.tool_use.tool_calls import Trial, trials
from reverie.transcripts.session import Evidence, Session, Turn, quote

ROUTINE = "ran these steps"
FEWEST, MOST = 3, 8
_LONGEST_REQUEST = 300


def routines(session: Session) -> list[Candidate]:
    """One candidate for each request that took at least three different steps, all of which went well."""
    asked = [turn for turn in session.turns if turn.role == "user" and turn.noise is None]
    starts = [turn.number for turn in asked]
    runs: dict[int, list[Trial]] = {}
    for trial in trials(session):
        runs.setdefault(bisect(starts, trial.turn) - 1, []).append(trial)
    found = (_routine(session, asked[place], done) for place, done in runs.items() if place >= 0)
    return [one for one in found if one]


def _routine(session: Session, request: Turn, done: Sequence[Trial]) -> Candidate | None:
    if any(EDITING.search(one.tool) for one in done) or any(one.worked is False for one in done):
        return None
    ran = [one for one in done if _steps_of(one)]
    steps = [key for one in ran for key in _steps_of(one)]
    steps = [key for key, after in pairwise([*steps, ""]) if key != after]
    if not FEWEST <= len(steps) <= MOST or len(set(steps)) < FEWEST or len({key.split()[0] for key in steps}) == 1:
        return None
    return Candidate(
        kind=Kind.SKILL_CANDIDATE,
        text=", then ".join(f"`{key}`" for key in steps)[:MAX_WORDING],
        confidence=0.6,
        explicitness=0.3,
        evidence=tuple(_evidence(session, request, ran)),
        language="en",
        marks=(ROUTINE,),
    )


def _steps_of(trial: Trial) -> list[str]:
    """The steps of a call, without what they work on."""
    if trial.command.startswith(f"{trial.tool} "):  # no shell command: the call itself
        return [] if LOOKING_TOOL.search(trial.tool) else [trial.tool]
    return [key for part in doing(trial.command) if (key := step(part))]


def _evidence(session: Session, request: Turn, ran: Sequence[Trial]) -> Iterator[Evidence]:
    for one in ran:
        yield quote(session, one.turn, one.quoted)
    words = request.text.strip().split("\n")[0][:_LONGEST_REQUEST].strip()
    if words:
        yield quote(session, request.number, words, "context")
