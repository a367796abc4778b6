"""`reverie undo`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reverie.cli.changes.landing_output import YES, confirmed, tell_outcome
from reverie.cli.options import Shell, common, ids
from reverie.core.errors import BadInput

if TYPE_CHECKING:
    from reverie.changes.land import Outcome


@click.command(name="undo")
@click.argument("change", required=False, shell_complete=ids("change"))
@click.option("--target", metavar="NAME", help="The last change of ours to this target.")
@click.option("--because", default="", metavar="WHY", help="Why, for whoever asks later.")
@click.option("--despite-findings", is_flag=True, help="You have read the safety findings and decided.")
@YES
@common
def command(
    *, change: str | None, target: str | None, because: str, despite_findings: bool, yes: bool, shell: Shell
) -> None:
    """Take a change back, byte for byte; the last one of ours if none is named.

    Doing it twice does nothing more. An undo can be undone too, by its own name.
    """
    if change and target:
        raise BadInput(f"{change} and the last change to {target} are both named.", expected="one of them")
    with shell.opened() as house:
        change = house.id_of("change", change) if change else None
        within = house.memory.target(target).key if target else None

        def attempt(even_critical: bool) -> Outcome:
            kinds = {"despite_findings": despite_findings, "even_critical": even_critical}
            return house.review.undo(change, because, within=within, **kinds)

        tell_outcome(house, confirmed(attempt, shell, yes=yes), shell, "Reverted in")
