"""`reverie cron`."""

from __future__ import annotations

import click

from reverie.cli.options import Shell, common
from reverie.cli.render import print_json

SYSTEMD = click.option("--systemd", is_flag=True, help="A systemd timer instead of a line in your crontab.")


@click.group(name="cron")
def command() -> None:
    """Dream every night by the system's own means: your crontab, or a systemd timer."""


@command.command()
@click.option("--at", "when", metavar="TIME", help="When, as cron writes it [the setting `schedule`].")
@click.option("--shelf", metavar="NAME", help="Which shelf; Hermes' or the home's own if not said.")
@click.option("--propose", is_flag=True, help="Land nothing at night: only proposals.")
@click.option("--after", type=click.IntRange(1), metavar="N", help="Only when there are so many new sessions.")
@SYSTEMD
@common
def install(
    *, when: str | None, shelf: str | None, propose: bool, after: int | None, systemd: bool, shell: Shell
) -> None:
    """Dream every night. A night that was missed is made up for once."""
    with shell.opened() as house:
        command = house.nightly_command(shelf, propose=propose, after=after)
        done = house.schedule(systemd=systemd).install(when or house.config.dreaming.schedule, command)
    if shell.json:
        print_json(done)
        return
    click.echo(f"Every night by {done.by}:")
    for line in done.lines:
        click.echo(f"  {line}")


@command.command()
@SYSTEMD
@common
def remove(*, systemd: bool, shell: Shell) -> None:
    """No more nights by themselves. What was learnt stays."""
    with shell.opened() as house:
        there = house.schedule(systemd=systemd).remove()
    if shell.json:
        print_json({"removed": there})
    else:
        click.echo("Removed." if there else "There was nothing to remove.")
