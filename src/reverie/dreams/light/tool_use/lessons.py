"""Failure, then fix: what an agent's own calls taught it.

A call failed; a later one like it, or the same one after something else was done, worked. The lesson rests on those
calls; their results are context, because a tool's words may be quoted, never obeyed. Not lessons: looking for a
file that is not there, editing code until its tests pass, and what a person told the agent in between.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reverie.dreams.light.candidate import Candidate, Kind
from reverie.dreams.light.tool_use.commands import alike, doing, undoes
from reverie.dreams.light.tool_use.tool_calls import Trial, trials
from reverie.transcripts.session import Evidence, Session, quote

WITHIN = 12  # calls between a failure and what counts as its fix
LOOKING_TOOL = re.compile(r"read|search|list|get_|view|fetch|glob|grep|find|browse|web", re.IGNORECASE)
_LOG_TAG = re.compile(r"^(?:(?:ERROR|FATAL|FAILED|error|fatal|E)\b:?\s*|\[[^\]]{1,60}\]:?\s*)++")
EDITING = re.compile(r"edit|patch|write|replace|create|str_replace|apply", re.IGNORECASE)
_PIECES = re.compile(r"[^=:/@]+")


@dataclass(frozen=True, slots=True)
class Fix:
    """The call that failed and those that helped. With `helped` the same call works after it, and `undone` was run
    behind it."""

    calls: tuple[Trial, ...]
    failed: str
    worked: str
    helped: str = ""
    undone: str = ""


def lessons(session: Session) -> list[Candidate]:
    told = {turn.number: turn.text[:4_000] for turn in session.turns if turn.role == "user" and turn.noise is None}
    tried = list(trials(session))
    found: dict[str, Candidate] = {}
    for place, failed in enumerate(tried):
        if failed.worked is False and (fix := _fix(failed, tried[place + 1 : place + 1 + WITHIN], told)):
            lesson = _lesson(session, failed, fix)
            found.setdefault(lesson.text, lesson)
    return list(found.values())


def _fix(failed: Trial, later: Sequence[Trial], told: dict[int, str]) -> Fix | None:
    before = doing(failed.command)
    if LOOKING_TOOL.search(failed.tool) or not before:
        return None
    done: Trial | None = None
    for place, trial in enumerate(later):
        if EDITING.search(trial.tool):
            return None
        if trial.worked is False:
            continue
        pair = _closest(before, doing(trial.command)) if trial.tool == failed.tool else None
        if pair and pair[0] != pair[1] and not _was_told(pair, failed.turn, trial.turn, told):
            return Fix((trial,), *pair)
        if pair and pair[0] == pair[1]:
            return _around(trial, pair[0]) or _after(done, trial, pair[0], later[place + 1 :])
        if pair:
            return None
        if doing(trial.command):
            done = trial
    return None


def _around(trial: Trial, same: str) -> Fix | None:
    """The same call, in one go with what goes before and behind it."""
    every = doing(trial.command)
    return Fix((trial,), same, " && ".join(every)) if len(every) > 1 and every[0] != same else None


def _after(done: Trial | None, trial: Trial, same: str, later: Sequence[Trial]) -> Fix | None:
    """The same call, after something else was done, which may have been undone afterwards."""
    if done is None:
        return None
    undone = next((one for one in later[:2] if one.worked is not False and undoes(done.command, one.command)), None)
    calls = (done, trial, undone) if undone else (done, trial)
    helped, put_back = (" && ".join(doing(one.command)) if one else "" for one in (done, undone))
    return Fix(calls, same, same, helped, put_back)


def _closest(before: Sequence[str], after: Sequence[str]) -> tuple[str, str] | None:
    pairs = [(likeness, old, new) for old in before for new in after if (likeness := alike(old, new))]
    return max(pairs)[1:] if pairs else None


def _was_told(pair: tuple[str, str], start: int, end: int, told: dict[int, str]) -> bool:
    """Every new word of the fix was said by the person in between: that is their statement, not a lesson."""
    new = [piece for word in set(pair[1].split()) - set(pair[0].split()) for piece in _PIECES.findall(word)]
    said = " ".join(text for number, text in told.items() if start < number < end)
    return bool(new) and all(piece in said for piece in new)


def _lesson(session: Session, failed: Trial, fix: Fix) -> Candidate:
    return Candidate(
        kind=Kind.SKILL_CANDIDATE,
        text=_wording(fix, failed.complaint),
        confidence=0.75 if failed.complaint and fix.calls[-1].worked else 0.6,
        explicitness=0.3,
        evidence=tuple(_evidence(session, failed, fix)),
        language="en",
        marks=("failed, then worked",),
    )


def _evidence(session: Session, failed: Trial, fix: Fix) -> Iterator[Evidence]:
    for call in (failed, *fix.calls):
        yield quote(session, call.turn, call.quoted)
    worked = fix.calls[0].result
    first_line = next(iter(session.turn(worked).text.strip().splitlines()), "")[:200]
    for number, words in ((failed.result, failed.complaint), (worked, first_line)):
        if words and words in session.turn(number).said.whole:
            yield quote(session, number, words, "context")


def _wording(fix: Fix, complaint: str) -> str:
    why = " ".join(_LOG_TAG.sub("", complaint).replace("`", "'").split())
    commands = (fix.failed, fix.helped or fix.worked, fix.undone)
    failed, helped, undone = (f"`{' '.join(one.split())}`" for one in commands)
    fails = f"{failed} fails ({why})" if len(why) > 10 else f"{failed} fails"
    after = f"; it works after {helped}, and then {undone}." if fix.undone else f"; it works after {helped}."
    return fails + (after if fix.helped else f"; {helped} works.")
