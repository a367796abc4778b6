"""`reverie dream`."""

from __future__ import annotations

from datetime import datetime

import click

from reverie.cli.options import Day, Shell, common
from reverie.cli.render import print_json, visible


@click.command(name="dream")
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@click.option("--propose", is_flag=True, help="Land nothing: only proposals and the report.")
@click.option("--shelf", metavar="NAME", help="Which shelf, or a path; Hermes' or the home's own if not said.")
@click.option("--since", type=Day(), help="Only sessions since: a date, or an age such as 7d.")
@click.option("--limit", type=click.IntRange(1), default=14, show_default=True, help="At most so many sessions.")
@common
def command(
    *, sessions: tuple[str, ...], propose: bool, shelf: str | None, since: datetime | None, limit: int, shell: Shell
) -> None:
    """One night: read what is new, notice what is worth keeping, land very little, propose the rest.

    No model and no key are needed. Zero changes is a good night. `reverie review` shows what waits,
    `reverie undo` takes back what landed.
    """
    with shell.opened() as house:
        dream = house.dream(
            shelf=shelf or house.memory.default(), mode="propose" if propose else "land",
            sessions=list(sessions) or None, since=since, limit=limit,
        )  # fmt: skip
    if shell.json:
        print_json(dream)
        return
    click.echo(visible(dream.diary), nl=False)
    if dream.left:
        click.echo(f"{dream.left:,} more sessions wait for another night.")
    if dream.proposals:
        click.echo("`reverie review` shows what waits for you.")
