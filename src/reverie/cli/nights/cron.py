"""`reverie cron`."""

from __future__ import annotations

from pathlib import Path

import click

from reverie.cli.options import Shell, common
from reverie.cli.render import print_json
from reverie.core.errors import BadInput

SYSTEMD = click.option("--systemd", is_flag=True, help="A systemd timer instead of a line in your crontab.")


@click.group(name="cron")
def command() -> None:
    """Dream every night by the system's own means: your crontab, or a systemd timer."""


@command.command()
@click.option("--at", "when", metavar="TIME", help="When, as cron writes it [the setting `schedule`].")
@click.option("--target", metavar="NAME", help="Which target, or a path; all there are if not said.")
@click.option("--propose", is_flag=True, help="Land nothing at night: only proposals.")
@click.option(
    "--after", type=click.IntRange(1), metavar="N", help="Also once so many sessions are new; looked at hourly."
)
@SYSTEMD
@common
def install(
    *, when: str | None, target: str | None, propose: bool, after: int | None, systemd: bool, shell: Shell
) -> None:
    """Dream every night, in the setting `timezone`. A night that was missed is made up for once."""
    with shell.opened() as house:
        nightly = house.nightly(target, when, propose=propose, after=after)
        done = house.schedule(systemd=systemd).install(nightly)
    if shell.json:
        print_json(done)
        return
    click.echo(f"Nights over {nightly.target or 'every target'} by {done.by}, at {done.when} ({done.zone}):")
    for line in done.lines:
        click.echo(f"  {line}")
    if done.by == "cron":
        click.echo(
            "It looks every hour whether a night is due: the first comes within the hour, a missed one after waking."
        )


@command.command()
@click.option("--target", metavar="NAME", help="Only the nights over this target; all nights of the home if not said.")
@SYSTEMD
@common
def remove(*, target: str | None, systemd: bool, shell: Shell) -> None:
    """No more nights by themselves. What was learnt stays."""
    with shell.opened() as house:
        schedule = house.schedule(systemd=systemd)
        try:
            there = schedule.remove(house.memory.target(target).name if target else None)
        except BadInput:  # its nights can go, though it is gone itself
            there = schedule.remove(target) or schedule.remove(str(Path(target or "").expanduser().absolute()))
            if not there:
                raise
    if shell.json:
        print_json({"removed": there})
    else:
        click.echo("Removed." if there else "There was nothing to remove.")
