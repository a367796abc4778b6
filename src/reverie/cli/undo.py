"""`reverie undo`."""

from __future__ import annotations

import click

from reverie.cli.options import Shell, common
from reverie.cli.outcomes import told


@click.command(name="undo")
@click.argument("change", required=False)
@click.option("--because", default="", metavar="WHY", help="Why, for whoever asks later.")
@click.option("--despite-findings", is_flag=True, help="You have read the safety findings and decided.")
@common
def command(*, change: str | None, because: str, despite_findings: bool, shell: Shell) -> None:
    """Take a change back, byte for byte; the last one of ours if none is named.

    Doing it twice does nothing more. An undo can be undone too, by its own name.
    """
    with shell.opened() as house:
        outcome = house.review.undo(change, because, despite_findings=despite_findings)
    told(outcome, shell, "Taken back by")
