"""`reverie recover`."""

from __future__ import annotations

import click

from reverie.cli.options import Shell, common
from reverie.cli.render import print_json


@click.command(name="recover")
@common
def command(*, shell: Shell) -> None:
    """Finish what a crash left, and say what was done. Running it twice does nothing more."""
    with shell.opened() as house:
        erased = [*house.erase.again(), *house.erase.resume()]
        noticed = house.review.recover()
        nights = house.dream.recover()
    if shell.json:
        told = {name: [one.id for one in getattr(noticed, name)] for name in ("landed", "dropped", "outside")}
        print_json(told | {"nights": [one.id for one in nights], "erasures": [one.id for one in erased]})
        return
    for one in erased:
        click.echo(f"Finished the erasure {one.id}.")
    for change in noticed.landed:
        click.echo(f"Finished {change.id} on {change.subject}.")
    for change in noticed.dropped:
        click.echo(f"Gave up {change.id} on {change.subject}: {change.note}.")
    for change in noticed.outside:
        click.echo(f"Recorded {change.id}: {change.subject} was written from outside.")
    for night in nights:
        click.echo(f"Finished the night {night.id} on {night.target}: {night.status}.")
    if not (erased or nights or noticed.landed or noticed.dropped or noticed.outside):
        click.echo("Nothing was left over.")
