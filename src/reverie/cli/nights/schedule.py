"""`reverie cron` and `reverie worker`: nights by the system's own means, and nights that are queued."""

from __future__ import annotations

import signal
from pathlib import Path

import click

from reverie.cli.options import Shell, common
from reverie.cli.render import print_json
from reverie.core.errors import BadInput
from reverie.core.strings import plural

SYSTEMD = click.option("--systemd", is_flag=True, help="A systemd timer instead of a line in your crontab.")


@click.group(name="cron")
def cron() -> None:
    """Dream every night by the system's own means: your crontab, or a systemd timer."""


@cron.command()
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


@cron.command()
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


@click.group(name="worker", invoke_without_command=True)
@click.option("--executor", metavar="NAME", help="Its name: the same after a restart. One is chosen if not said.")
@click.option("--until-idle", is_flag=True, help="End when nothing is queued any more.")
@common
def worker(*, executor: str | None, until_idle: bool, shell: Shell) -> None:
    """Do the nights that are queued (`reverie dream --queue`), until told to stop.

    On Postgres several may run, on one machine or on many. One that was killed goes on where it was when it is back
    under the same name.
    """
    if click.get_current_context().invoked_subcommand:
        return
    with shell.opened() as home:
        home.check_enabled()
        engine = home.queue.worker(executor)
        for sign in (signal.SIGTERM, signal.SIGINT):
            signal.signal(sign, lambda *_: engine.stop())
        done = engine.work(until_idle=until_idle)
    if shell.json:
        print_json({"nights": done})
    else:
        click.echo(f"{plural(done, 'night')} done.")


@worker.command()
@click.option("--executor", required=True, metavar="NAME", help="The worker that is dead.")
@common
def reap(*, executor: str, shell: Shell) -> None:
    """Have the other workers go on with what a dead one left. Be sure that it is dead."""
    with shell.opened() as home:
        left = home.queue.worker().reap(executor)
    if shell.json:
        print_json({"nights": left})
    else:
        click.echo(f"{plural(left, 'night')} handed to the others.")
