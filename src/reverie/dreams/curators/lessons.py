"""What the agent's own calls taught, read back from a note: its commands in full, and whether two notes are one."""

from __future__ import annotations

import re

from reverie.dreams.light.candidate import Noted
from reverie.dreams.light.commands import doing, step
from reverie.dreams.light.routines import FEWEST, ROUTINE
from reverie.dreams.light.tool_calls import command_of

_SHOWN = re.compile(r"`([^`]+)`")
_CUT = "…"
_FILE = re.compile(r"[\w.-]*\w(?=\.[a-z]\w{1,4}\b)")  # the same is done to another file


def commands_of(note: Noted) -> list[str]:
    """The commands its line shows, each in full: what the line had to cut stands in the evidence."""
    return [_whole(shown, note) if shown.endswith(_CUT) else shown for shown in _SHOWN.findall(note.text)]


def _whole(shown: str, note: Noted) -> str:
    calls = [doing(one.quote) for one in note.support]
    ran = [" ".join(part.split()) for parts in calls for part in (*parts, " && ".join(parts))]
    begins = shown.removesuffix(_CUT)
    return next((one for one in ran if one.startswith(begins) and len(one) > len(begins)), shown)


def is_routine(note: Noted) -> bool:
    return ROUTINE in note.marks


def same_lesson(one: Noted, other: Noted) -> bool:
    """The same steps were taken; or the same program was mended by the same change, whatever it was called on."""
    if is_routine(one) or is_routine(other):
        return is_routine(one) and is_routine(other) and _same_steps(steps_of(one), steps_of(other))
    (failed, brought), (other_failed, other_brought) = _change_of(one), _change_of(other)
    if brought != other_brought:
        return False
    return failed[:1] == other_failed[:1] or _is_inside(failed, other_failed) or _is_inside(other_failed, failed)


def in_full(note: Noted) -> str:
    """Its line with every command as it was run."""
    whole = iter(commands_of(note))
    return _SHOWN.sub(lambda _: f"`{next(whole)}`", note.text)


def steps_of(note: Noted) -> list[str]:
    """The steps of a routine, each without what it is done to."""
    return _SHOWN.findall(note.text)


def as_run(note: Noted) -> list[str]:
    """The steps of a routine, each with all its arguments: what was not run so, nobody may say."""
    quoted = [one.quote for one in note.support]  # a command, or a whole call where its arguments escape it
    commands = [command_of(one.partition(" ")[2]) or one if one.endswith("}") else one for one in quoted]
    ran = [" ".join(part.split()) for one in commands for part in doing(one)]
    return [next((one for one in ran if step(one) == key), key) for key in steps_of(note)]


def _same_steps(one: list[str], other: list[str]) -> bool:
    """The same programs in the same order: each another one, or called in the same way."""
    programs = [step.split()[0] for step in one]
    if programs != [step.split()[0] for step in other]:
        return False
    alike = sum(first == second for first, second in zip(one, other, strict=True))
    return len(set(programs)) == len(programs) or alike >= max(FEWEST, len(one) - 1)


def _change_of(note: Noted) -> tuple[list[str], frozenset[str]]:
    """The words of what failed, and those that mended it."""
    commands = [command.split() for command in commands_of(note)]
    if len(commands) < 2 or not commands[0]:
        return [note.text], frozenset()
    brought = frozenset(commands[-1]) - frozenset(commands[0])
    return commands[0], frozenset(_FILE.sub("*", word) for word in brought or commands[-1])


def _is_inside(command: list[str], other: list[str]) -> bool:
    """ "npm ci" in "docker run --rm node:22 npm ci"."""
    return len(command) > 1 and other[-len(command) :] == command
