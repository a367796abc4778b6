"""`reverie diff`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reverie.cli.options import DateOrAge, Shell, common, look, with_pager
from reverie.cli.render import console, print_json, terminal_safe

if TYPE_CHECKING:
    from reverie.app import Home


@click.command(name="diff")
@click.argument("earlier")
@click.argument("later", required=False)
@click.argument("path", required=False)
@common
@with_pager
def command(*, earlier: str, later: str | None, path: str | None, shell: Shell) -> None:
    """Show what changed between two points: changes (`chg_…`), dates, or ages such as 7d. One change alone: what it
    did."""
    with shell.opened() as house:
        look(house)
        start, end = _points(house, earlier, later)
        differences = house.history.difference(start, end, house.document_of(path) if path else None)
    from reverie.changes.proposal import drawn_diff

    diffs = [drawn_diff(one.target, [one.edit], 3) for one in differences]
    if shell.json:
        print_json({"diff": "".join(diffs)})
        return
    out = console()
    for line in terminal_safe("".join(diffs)).splitlines():
        out.print(line, style={"+": "green", "-": "red"}.get(line[:1], "dim"), markup=False)
    if not diffs:
        click.echo("No difference.")


def _points(house: Home, earlier: str, later: str | None) -> tuple[int, int]:
    if later is None and earlier.startswith("chg_"):
        number = house.history.get(house.id_of("change", earlier)).number or 0
        return number - 1, number
    end = _point(house, later) if later else house.history.latest()
    return _point(house, earlier), end


def _point(house: Home, text: str) -> int:
    if text.startswith("chg_"):
        return house.history.get(house.id_of("change", text)).number or 0
    return house.history.number_at(DateOrAge().convert(text, None, None))
