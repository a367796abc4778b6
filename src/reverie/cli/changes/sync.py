"""`reverie sync`."""

from __future__ import annotations

from collections import Counter

import click

from reverie.cli.options import Shell, common
from reverie.cli.render import one_line, print_json


@click.command(name="sync")
@click.option("--from", "source", metavar="NAME", help="The source target; Hermes' or the home's own if not said.")
@click.option("--to", multiple=True, metavar="NAME", help="A target to render it to; all that agents read if not said.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@common
def command(*, source: str | None, to: tuple[str, ...], dry_run: bool, shell: Shell) -> None:
    """Render the rules of one target to the memory of other agents, each within its own limits, and say what does not
    fit. Twice is once. What someone changed on a rendered surface is left alone, and the source is never written.

    What rests on the owner's words or was approved lands on the other surfaces; what was written into the source from
    outside asks first. Each surface has its change in the history; `reverie undo` takes it back.
    """
    with shell.opened() as house:
        chosen = source or house.memory.default()
        rendered = house.sync(chosen, to, land=not dry_run)
    if shell.json:
        print_json({"source": chosen, "dry_run": dry_run, "rendered": rendered})
        return
    for one in rendered:
        if one.fate != "same":
            click.echo(f"{one.target}/{one.document}  {one.fate}: {one_line(one.text, 80)}")
            click.echo(f"  {one.why}" if one.why else "", nl=bool(one.why))
    for target in dict.fromkeys(one.target for one in rendered):
        counts = Counter(one.fate.value for one in rendered if one.target == target)
        click.echo(f"{target}: {', '.join(f'{number} {fate}' for fate, number in counts.items())}.")
    if not rendered:
        click.echo(f"Nothing to render from {chosen}, or no other agent is used on this machine.")
    if dry_run:
        click.echo("Nothing was changed.")
