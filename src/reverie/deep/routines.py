"""A routine as a skill: its steps as they were run, with a name in the place of what differs from time to time."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest

from reverie.deep.material import Noted
from reverie.deep.matters import Matter
from reverie.dreams.curators.lessons import steps_of
from reverie.light.commands import doing

TIMES = 3  # sessions in which the same steps make a routine
_PIECES = re.compile(r"\d+|[^\W\d_]+|[\W_]")
_LONGEST_ASKED = 120
_NAMES = ("n", "name", "what", "which", "other")


def name_of(matter: Matter) -> str:
    return "-".join(dict.fromkeys(step.split()[0] for step in steps_of(matter.last)))


def title_of(matter: Matter) -> str:
    return ", ".join(f"`{step}`" for step in steps_of(matter.last))


def when_asked(matter: Matter) -> str:
    """The words it was asked for in."""
    asked = [one.quote for note in matter.said for one in note.candidate.evidence if one.weight == "context"]
    shortest = " ".join(min(asked, key=len).split())[:_LONGEST_ASKED] if asked else ""
    return f"When asked for something like “{shortest.rstrip('.')}”." if shortest else "When asked for it."


def run_steps(matter: Matter) -> list[str]:
    """One line for each step."""
    runs = [_commands(note) for note in matter.said]
    alike = [run for run in runs if len(run) == len(runs[-1])]
    slots: dict[tuple[str, ...], str] = {}
    return [f"Run `{_common([run[place] for run in alike], slots)}`." for place in range(len(runs[-1]))]


def _commands(note: Noted) -> list[str]:
    found = [part for one in note.support for part in doing(one.quote) or [one.quote]]
    return [" ".join(part.split()) for part in found]


def _common(commands: Sequence[str], slots: dict[tuple[str, ...], str]) -> str:
    """The command all of them are, with what differs named; the last one as it is where they are not built alike."""
    pieces = [_PIECES.findall(command) for command in commands]
    if len({len(one) for one in pieces}) != 1:
        return commands[-1]
    return "".join(_slot(column, slots) for column in zip_longest(*pieces, fillvalue=""))


def _slot(column: tuple[str, ...], slots: dict[tuple[str, ...], str]) -> str:
    if len(set(column)) == 1:
        return column[0]
    kind = "n" if all(piece.isdigit() for piece in column) else "name"
    free = [name for name in (kind, *_NAMES) if name not in slots.values()]
    return f"<{slots.setdefault(column, free[0] if free else f'{kind}{len(slots)}')}>"
