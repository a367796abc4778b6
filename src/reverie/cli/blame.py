"""`reverie blame`."""

from __future__ import annotations

from datetime import datetime

import click

from reverie.cli.history import words
from reverie.cli.options import Day, Shell, common, look
from reverie.cli.render import console, day, one_line, print_json, visible
from reverie.cli.rules import look_at_skills, row


@click.command(name="blame")
@click.argument("path")
@click.option("--as-of", type=Day(), help="As it was then: a date, a time, or an age such as 7d.")
@common
def command(*, path: str, as_of: datetime | None, shell: Shell) -> None:
    """Which change brought each statement of a document, who made it and who approved it."""
    with shell.opened() as house:
        look(house)
        look_at_skills(house)
        rules = house.history.blame(path, as_of)
    if shell.json:
        print_json([row(rule) for rule in rules])
        return
    out = console()
    for rule in rules:
        change = rule.change
        approved = f", approved by {change.grounds.approved_by}" if change.grounds.approved_by else ""
        head = f"{change.id}  {day(change.settled_at)}  {change.grounds.actor}: {words(change)}{approved}"
        out.print(head, style="dim", markup=False)
        out.print(f"  {one_line(visible(rule.text), max(20, out.width - 4))}", markup=False)
