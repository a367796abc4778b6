"""Lessons and procedures belong in a skill: the one that is about them, or a new one. Made here, landed by a person."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from reverie.deep.decision import Drafted
from reverie.deep.material import Noted
from reverie.deep.matters import Matter
from reverie.deep.routines import name_of, run_steps, title_of, when_asked
from reverie.deep.subjects import about, nearness
from reverie.deep.wording import tidy
from reverie.dreams.curators.lessons import commands_of, in_full, is_routine, steps_of
from reverie.kernel.errors import BadInput
from reverie.sessions.session import Evidence
from reverie.skills.amending import amended
from reverie.skills.amendment import Amended, Create, Patch
from reverie.skills.library import Found
from reverie.skills.refining import draft, refine

_COMMANDS = re.compile(r"`([^`]+)`")
_SLUG = re.compile(r"[^a-z0-9]+")
_LONGEST_NAME = 40
_MOST_QUOTES = 3
_ENOUGH = 0.34
_ALL_WENT_WELL = "Names in angle brackets stand for what differs. Each step went well before the next was taken."


@dataclass(frozen=True, slots=True)
class Lines:
    """A lesson worded by someone else. Where there are none, ours stand."""

    steps: tuple[str, ...] = ()
    gotchas: tuple[str, ...] = ()


def drafted(matter: Matter, skills: Sequence[Found], now: datetime, lines: Lines = Lines()) -> Drafted | None:
    """The skill as it would read with this matter in it; None where there is nothing to change."""
    routine = is_routine(matter.last)
    home = None if routine else _home(matter, skills)
    if routine and any(_says_every_step(one, matter) for one in skills):
        return None
    try:
        return _patched(matter, home, now, lines) if home else _created(matter, skills, now, lines)
    except BadInput:  # the skill says so already, or has no room for it
        return None


def _home(matter: Matter, skills: Sequence[Found]) -> Found | None:
    """The skill that speaks of the same command or procedure."""
    best = max(skills, default=None, key=lambda one: (_fit(matter, one), one.path))
    return best if best and _fit(matter, best) >= _ENOUGH else None


def _fit(matter: Matter, found: Found) -> float:
    text, said = found.skill.content.decode("utf-8", "replace"), matter.last.text
    commands = _COMMANDS.findall(said)
    if commands and any(command in text for command in commands):
        return 1.0
    mine, theirs = about(said), about(text)
    head = about(f"{found.skill.name} {found.skill.description}")
    covered = len(mine & theirs) / max(1, len(mine))
    return covered * min(1.0, nearness(said, text[:600]) + 0.5) if mine & head else 0.0


def _says_every_step(found: Found, matter: Matter) -> bool:
    text = found.skill.content.decode("utf-8", "replace")
    return all(step.split()[0] in text for step in steps_of(matter.last))


def _patched(matter: Matter, home: Found, now: datetime, lines: Lines) -> Drafted | None:
    patch = refine(home.skill, section="Gotchas", add=list(lines.gotchas or [gotcha(matter)]))
    return drafted_of(home.folder.key, home.folder.files(home.skill.subject), patch, now)


def _created(matter: Matter, skills: Sequence[Found], now: datetime, lines: Lines) -> Drafted | None:
    beside = [one.skill.subject for one in skills]
    name = _free(_named(matter), beside)
    return drafted_of("", {}, draft(name, _body(matter, lines), description=_description(matter), beside=beside), now)


def drafted_of(folder: str, files: Mapping[str, bytes], change: Patch | Create, now: datetime) -> Drafted | None:
    made = amended(files, change, now)
    if not isinstance(made, Amended) or not made.files_after:
        return None
    text = "\n".join((after or b"").decode("utf-8", "replace") for after in made.files_after.values())
    return Drafted(folder, change, text)


def gotcha(matter: Matter) -> str:
    """The lesson in a line, with what the tool complained of in its own words, as a quotation."""
    complaint = _complaint(matter)
    line = tidy(matter.last.text) if not _COMMANDS.search(matter.last.text) else _shortest(matter)
    return f"{line} It says: “{complaint}”" if complaint and complaint[:20] not in line else line


def _shortest(matter: Matter) -> str:
    return min((in_full(note) for note in matter.said), key=len)


def _complaint(matter: Matter) -> str:
    told = (one.quote for note in matter.said for one in _before_it_worked(note))
    return " ".join(next(told, "").split())[:120]


def _before_it_worked(note: Noted) -> Iterator[Evidence]:
    worked = max(one.turn for one in note.support)
    yield from (one for one in note.candidate.evidence if one.weight == "context" and one.turn < worked)


def _named(matter: Matter) -> str:
    commands = commands_of(matter.last)
    base = commands[-1] if commands else tidy(matter.last.text)
    base = name_of(matter) if is_routine(matter.last) else base
    return _SLUG.sub("-", base.lower()).strip("-")[:_LONGEST_NAME].strip("-") or "lesson"


def _free(name: str, beside: Sequence[str]) -> str:
    taken = {one.casefold() for one in beside}
    return next(one for one in (name, *(f"{name}-{n}" for n in range(2, 100))) if one.casefold() not in taken)


def _description(matter: Matter) -> str:
    if is_routine(matter.last):
        return when_asked(matter)
    commands = commands_of(matter.last)
    return f"When `{commands[0]}` fails." if len(commands) > 1 else tidy(matter.last.text)[:120]


def _body(matter: Matter, worded: Lines) -> str:
    commands, routine = commands_of(matter.last), is_routine(matter.last)
    title = f"`{commands[0]}`" if commands else tidy(matter.last.text)[:60]
    title = title_of(matter) if routine else title
    lines = [f"# {title}", "", "## When to use", "", _description(matter), "", "## Steps", ""]
    lines += [f"{n}. {step}" for n, step in enumerate(worded.steps or _steps(matter, commands), 1)]
    gotchas = [f"- {line}" for line in worded.gotchas or [_ALL_WENT_WELL if routine else gotcha(matter)]]
    return "\n".join([*lines, "", "## Gotchas", "", *gotchas, *_seen(matter), ""])


def _steps(matter: Matter, commands: Sequence[str]) -> list[str]:
    if is_routine(matter.last):
        return run_steps(matter)
    if len(commands) > 1 and "it works after" in matter.last.text:  # the same call, between what helps and its undoing
        return [f"Run `{command}`." for command in (commands[1], commands[0], *commands[2:])]
    if len(commands) > 1:
        return [f"Run `{commands[-1]}`, not `{commands[0]}`."]
    return [tidy(matter.last.text)]


def _seen(matter: Matter) -> list[str]:
    days = sorted({note.said_at.date().isoformat() for note in matter.said if note.said_at})
    return [f"- Seen on {', '.join(days[:_MOST_QUOTES])}."] if days else []
