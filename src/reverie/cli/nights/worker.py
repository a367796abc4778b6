"""`reverie worker`."""

from __future__ import annotations

import signal

import click

from reverie.cli.options import Shell, common
from reverie.cli.render import print_json
from reverie.core.strings import plural


@click.group(name="worker", invoke_without_command=True)
@click.option("--executor", metavar="NAME", help="Its name: the same after a restart. One is chosen if not said.")
@click.option("--until-idle", is_flag=True, help="End when nothing is queued any more.")
@common
def command(*, executor: str | None, until_idle: bool, shell: Shell) -> None:
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


@command.command()
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
