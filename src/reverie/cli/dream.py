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
@click.option("--if-missed", is_flag=True, help="Only if the last night is more than a day ago.")
@click.option("--after", type=click.IntRange(1), metavar="N", help="Only when there are so many new sessions.")
@common
def command(
    *, sessions: tuple[str, ...], propose: bool, shelf: str | None, since: datetime | None, limit: int,
    if_missed: bool, after: int | None, shell: Shell,
) -> None:  # fmt: skip
    """One night: read what is new, notice what is worth keeping, land very little, propose the rest.

    No model and no key are needed. Zero changes is a good night. `reverie review` shows what waits,
    `reverie undo` takes back what landed.
    """
    with shell.opened() as house:
        chosen = shelf or house.memory.default()
        if if_missed and not house.dream.missed(chosen):
            click.echo("No night was missed.", err=True)
            return
        if after and house.dream.new_sessions(chosen) < after:
            click.echo(f"Fewer than {after:,} new sessions: not tonight.", err=True)
            return
        dream = house.dream(
            shelf=chosen, mode="propose" if propose else "land",
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
