"""`reverie context`."""

from __future__ import annotations

from datetime import datetime

import click

from reverie.cli.options import DateOrAge, Shell, common
from reverie.cli.render import print_json


@click.command(name="context")
@click.option("--task", default="", metavar="TEXT", help="What the session is about to do: chooses the skills.")
@click.option("--tags", default="", metavar="A,B", help="Tags the skills should have.")
@click.option("--budget", type=click.IntRange(1), default=6_000, show_default=True, help="Tokens to spend.")
@click.option(
    "--target", "targets", multiple=True, metavar="NAME", help="Which targets; all that are there if not said."
)
@click.option("--session", metavar="ID", help="For this session: asked again, it gets the same.")
@click.option("--as-of", type=DateOrAge(), help="What was given last by then, byte for byte.")
@common
def command(
    *,
    task: str,
    tags: str,
    budget: int,
    targets: tuple[str, ...],
    session: str | None,
    as_of: datetime | None,
    shell: Shell,
) -> None:
    """Exactly the block a session starts with: memory and the skills its task calls for. It is recorded."""
    with shell.opened() as house:
        if as_of is not None:
            given = house.context.as_of(as_of, session)
        else:
            wanted = [tag.strip() for tag in tags.split(",") if tag.strip()]
            given = house.context(task, tags=wanted, budget=budget, targets=targets, session=session)
    if shell.json:
        print_json(given)
        return
    click.echo(given.text, nl=False)
    for reason in (*given.withheld, *given.left_out):
        click.echo(f"Not in it: {reason}", err=True)
