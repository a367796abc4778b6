"""`reverie init`."""

from __future__ import annotations

import click

from reverie.cli.options import Shell, common
from reverie.cli.render import print_json


@click.command(name="init")
@common
def command(*, shell: Shell) -> None:
    """Make a home, or check the one there is. Nothing that exists is changed."""
    from reverie.config import write_template

    with shell.opened() as house:
        made = write_template(house.config)
        house.engine.connect().close()
        where = house.config.home
    if shell.json:
        print_json({"home": str(where), "new": made})
    elif made:
        click.echo(f'Made a home in {where}.\nNext: `reverie sessions add --all`, then `reverie search "…"`.')
    else:
        click.echo(f"{where} is a home already; nothing was changed. `reverie doctor` checks it.")
