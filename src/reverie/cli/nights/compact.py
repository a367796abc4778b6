"""`reverie compact`."""

from __future__ import annotations

import click

from reverie.cli.options import Shell, common
from reverie.cli.render import one_line, print_json
from reverie.cli.start.audit import propose_all
from reverie.core.strings import plural


@click.command(name="compact")
@click.option("--target", metavar="NAME", help="Which target, or a path; Hermes' or the home's own if not said.")
@common
def command(*, target: str | None, shell: Shell) -> None:
    """Look for duplicates, contradictions and superseded entries, and propose to take them out. Adds nothing."""
    with shell.opened() as house:
        chosen = target or house.memory.default()
        found = house.audit.compact(chosen)
        proposed = list(propose_all(house, found))
    if shell.json:
        print_json({"findings": found, "said": proposed})
        return
    for one in found:
        click.echo(f"{one.kind}  {one.spot}: {one_line(one.words, 80)}\n  {one.why}")
        if one.suggestion is None:
            click.echo(f"  {one.advice}")
    click.echo(f"{plural(len(found), 'finding')} on {chosen}.")
    for line in proposed:
        click.echo(line)
