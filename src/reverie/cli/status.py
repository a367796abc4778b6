"""`reverie status`."""

from __future__ import annotations

import click

from reverie.cli.options import Shell, common, look
from reverie.cli.render import counted, day, print_json


@click.command(name="status")
@common
def command(*, shell: Shell) -> None:
    """The last nights, what is staged, what waits, the last changes, and how full memory is."""
    with shell.opened() as house:
        look(house)
        dreams = house.dreams.records.find(house.owned, limit=5)
        names = house.memory.present()
        staged = {name: len(house.dreams.records.staged(house.owned, name)) for name in names}
        usage = {name: house.memory.usage(name) for name in names}
        waiting = len(house.review.waiting(every=True))
        changes = [change for change in house.history.changes(limit=5) if change.grounds.actor != "outside"]
    if shell.json:
        told = {"dreams": dreams, "staged": staged, "usage": usage, "waiting": waiting}
        print_json(told | {"changes": [change.id for change in changes]})
        return
    if not dreams:
        click.echo("No night yet. `reverie dream --propose` tries one and lands nothing.")
    for dream in dreams:
        counts = ", ".join(f"{count} {fate}" for fate, count in dream.counts.items() if count) or "quiet"
        click.echo(f"{day(dream.ended_at or dream.started_at)}  {dream.shelf}  {dream.status}: {counts}")
    for name, documents in usage.items():
        for one in documents:
            full = f" ({one.characters * 100 // one.budget} %)" if one.budget else ""
            click.echo(f"{name}/{one.document}  {one.characters:,} characters{full}")
        if staged[name]:
            click.echo(f"{name}  {counted(staged[name], 'candidate')} staged for other nights")
    for change in changes:
        click.echo(f"{day(change.settled_at)}  {change.id}  {change.grounds.reason}".rstrip())
    click.echo(f"{counted(waiting, 'proposal')} waiting.")
