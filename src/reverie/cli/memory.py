"""`reverie memory`."""

from __future__ import annotations

import click

from reverie.cli.options import Shell, common
from reverie.cli.render import print_json, visible


@click.group(name="memory")
def command() -> None:
    """What agents were told to remember. Reading only, for now."""


@command.command(name="list")
@click.option("--shelf", default="hermes", show_default=True, metavar="NAME", help="Which shelf to look at.")
@common
def list_(*, shelf: str, shell: Shell) -> None:
    """The entries on a shelf, document by document, and how full each is."""
    with shell.opened() as house:
        entries = list(house.memory.entries(shelf))
        usage = house.memory.usage(shelf)
    if shell.json:
        print_json({"entries": entries, "usage": usage})
        return
    for document in usage:
        limit = f" of {document.budget:,}" if document.budget else ""
        click.echo(f"{document.document}  {document.characters:,}{limit} characters")
        for entry in entries:
            if entry.document == document.document:
                first, *rest = visible(entry.text).splitlines()
                click.echo("\n".join([f"  - {first}", *(f"    {line}" for line in rest)]))
