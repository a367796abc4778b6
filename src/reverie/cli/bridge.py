"""`reverie bridge`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from reverie.cli.options import Shell, common
from reverie.cli.render import console, counted, print_json, visible

if TYPE_CHECKING:
    from reverie.bridge.diff import Difference, Kind, StoreDiff
    from reverie.bridge.statements import StoreStatement

TITLES = {
    "added": "Added",
    "changed": "Changed",
    "removed": "Removed",
    "perhaps_only_reworded": "Perhaps only reworded",
    "reworded": "Only reworded",
    "moved": "Moved",
    "repeated": "Said twice",
}
FOLDED = ("reworded", "moved", "repeated")


@click.group(name="bridge")
def command() -> None:
    """Bring in what a managed memory learned, as reviewed changes to skills and memory."""


@command.command(name="diff")
@click.argument("old")
@click.argument("new")
@click.option("--all", "every", is_flag=True, help="Also what was only reworded, moved or said twice.")
@common
def diff(*, old: str, new: str, every: bool, shell: Shell) -> None:
    """What an agent would do otherwise, given NEW instead of OLD.

    OLD and NEW are exported folders or JSON files. Statements are compared by what they say, wherever they stand.
    """
    with shell.opened() as house:
        found = house.bridge.diff(old, new)
    if shell.json:
        print_json(_as_json(found))
    else:
        _show(found, every)


def _as_json(found: StoreDiff) -> dict[str, Any]:
    return {
        "old": found.old.name,
        "new": found.new.name,
        "unchanged": found.unchanged,
        "differences": [
            {
                "kind": one.kind,
                "old": [_placed(part) for part in one.old],
                "new": [_placed(part) for part in one.new],
                "chance_only_reworded": one.reworded,
                "why": one.why,
            }
            for one in found.differences
        ],
    }


def _placed(one: StoreStatement) -> dict[str, str]:
    return {"text": one.text, "path": one.path, "heading": one.heading}


def _show(found: StoreDiff, every: bool) -> None:
    out = console()
    numbers = {kind: len(found.of(kind)) for kind in _kinds()}
    told = ", ".join(f"{number:,} {TITLES[kind].lower()}" for kind, number in numbers.items() if number)
    click.echo(f"{told or 'No difference'}; {counted(found.unchanged, 'statement')} unchanged.")
    shown = [one for one in found.differences if every or one.kind not in FOLDED]
    for kind, group in groupby(shown, key=lambda one: one.kind):
        click.echo("")
        out.print(TITLES[kind], style="bold")
        for where, some in groupby(group, key=_where):
            out.print(f"  {visible(where)}", style="dim", markup=False)
            for one in some:
                _show_one(one)
    if any(numbers[kind] for kind in _kinds() if kind in FOLDED) and not every:
        click.echo("\nWhat was only reworded, moved or said twice is left out: --all shows it.")


def _kinds() -> Iterable[Kind]:
    from reverie.bridge.diff import Kind

    return Kind


def _where(one: Difference) -> str:
    here = f"{one.place.path} · {one.place.heading}" if one.place.heading else one.place.path
    came = {part.path for part in one.old} - {part.path for part in one.new}
    return f"{here}, from {', '.join(sorted(came))}" if one.new and came else here


def _show_one(one: Difference) -> None:
    out = console()
    if one.kind == "moved":
        out.print(f"      {visible(one.after)}", markup=False)
        return
    for part in one.old:
        out.print(f"    - {visible(part.text)}", style="red", markup=False)
    for part in one.new:
        out.print(f"    + {visible(part.text)}", style="green", markup=False)
    if one.why:
        out.print(f"      {visible(one.why)}", style="dim", markup=False)
