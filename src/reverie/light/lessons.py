"""Failure, then fix: what an agent's own calls taught it.

A call failed; a later one like it, or the same one after something else was done, worked. The lesson rests on the
two calls; their results are context, because a tool's words may be quoted, never obeyed. Not lessons: looking for a
file that is not there, editing code until its tests pass, and what a person told the agent in between.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from reverie.light.candidate import MAX_WORDING, Candidate, Kind
from reverie.light.trials import Trial, trials
from reverie.sessions.session import Evidence, Session, quote

WITHIN = 12  # calls between a failure and what counts as its fix
LIKE = 0.4
_PARTS = re.compile(r"\s*(?:&&|\|\||;|\n)\s*")
_LOOKING = frozenset({
    "ls", "cat", "head", "tail", "find", "grep", "rg", "which", "cd", "pwd", "stat", "file", "test", "echo", "wc",
    "tree", "less", "sed",
})  # fmt: skip
_LOOKING_TOOL = re.compile(r"read|search|list|get_|view|fetch|glob|grep|find|browse|web", re.IGNORECASE)
_LOG_TAG = re.compile(r"^(?:(?:ERROR|FATAL|FAILED|error|fatal|E)\b:?\s*|\[[^\]]{1,60}\]:?\s*)++")
_EDITING = re.compile(r"edit|patch|write|replace|create|str_replace|apply", re.IGNORECASE)
_PIECES = re.compile(r"[^=:/@]+")
_PREFIX = frozenset({"sudo", "uv", "poetry", "npx", "time", "env", "run", "bundle", "exec"})


def lessons(session: Session) -> list[Candidate]:
    told = {turn.number: turn.text[:4_000] for turn in session.turns if turn.role == "user" and turn.noise is None}
    tried = trials(session)
    found: dict[str, Candidate] = {}
    for place, failed in enumerate(tried):
        if failed.worked is False and (pair := _fix(failed, tried[place + 1 : place + 1 + WITHIN], told)):
            lesson = _lesson(session, failed, *pair)
            found.setdefault(lesson.text, lesson)
    return list(found.values())


def _fix(failed: Trial, later: Sequence[Trial], told: dict[int, str]) -> tuple[Trial, str, str] | None:
    """The call that worked, with the part of each command that matters."""
    before = _parts(failed.command)
    if _LOOKING_TOOL.search(failed.tool) or all(_program(part) in _LOOKING for part in before):
        return None
    done: Trial | None = None
    for trial in later:
        if _EDITING.search(trial.tool):
            return None
        if trial.worked is False:
            continue
        pair = _closest(before, _parts(trial.command)) if trial.tool == failed.tool else None
        if pair and pair[0] != pair[1] and not _was_told(pair, failed.turn, trial.turn, told):
            return trial, *pair
        if pair and pair[0] == pair[1] and done:
            return done, pair[0], done.command
        if pair:
            return None
        if _program(trial.command) not in _LOOKING:
            done = trial
    return None


def _closest(before: Sequence[str], after: Sequence[str]) -> tuple[str, str] | None:
    pairs = [(_likeness(old, new), old, new) for old in before for new in after if _program(old) == _program(new)]
    likeness, old, new = max(pairs, default=(0.0, "", ""))
    return (old, new) if likeness >= LIKE else None


def _likeness(old: str, new: str) -> float:
    first, second = set(old.split()), set(new.split())
    return len(first & second) / max(1, len(first | second))


def _was_told(pair: tuple[str, str], start: int, end: int, told: dict[int, str]) -> bool:
    """Every new word of the fix was said by the person in between: that is their statement, not a lesson."""
    new = [piece for word in set(pair[1].split()) - set(pair[0].split()) for piece in _PIECES.findall(word)]
    said = " ".join(text for number, text in told.items() if start < number < end)
    return bool(new) and all(piece in said for piece in new)


def _parts(command: str) -> list[str]:
    return [part for part in _PARTS.split(command) if part]


def _program(command: str) -> str:
    words = [word for word in command.split() if "=" not in word and word not in _PREFIX]
    return words[0].rsplit("/", 1)[-1] if words else ""


def _lesson(session: Session, failed: Trial, worked: Trial, old: str, new: str) -> Candidate:
    return Candidate(
        kind=Kind.SKILL_CANDIDATE,
        text=_wording(old, new, failed.complaint),
        confidence=0.75 if failed.complaint and worked.worked else 0.6,
        explicitness=0.3,
        evidence=tuple(_evidence(session, failed, worked)),
        language="en",
        marks=("failed, then worked",),
    )


def _evidence(session: Session, failed: Trial, worked: Trial) -> Iterator[Evidence]:
    yield quote(session, failed.turn, failed.quoted)
    yield quote(session, worked.turn, worked.quoted)
    for number, words in ((failed.result, failed.complaint), (worked.result, _first_line(session, worked.result))):
        if words and words in session.turn(number).said.whole:
            yield quote(session, number, words, "context")


def _first_line(session: Session, number: int) -> str:
    return next(iter(session.turn(number).text.strip().splitlines()), "")[:200]


def _wording(old: str, new: str, complaint: str) -> str:
    """Both commands if they fit, and as much of the complaint as there is room for."""
    room = MAX_WORDING - len("`` fails (); `` works.")
    first, second = _short(old, room // 2), _short(new, room // 2)
    why = _short(_LOG_TAG.sub("", complaint), max(0, room - len(first) - len(second)))
    return f"`{first}` fails ({why}); `{second}` works." if len(why) > 10 else f"`{first}` fails; `{second}` works."


def _short(text: str, most: int) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else flat[: max(0, most - 1)] + "…"
