"""`reverie undo`; and how every command that changes something asks first and says what came of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reverie.cli.options import Shell, common, ids
from reverie.cli.render import console, print_json, print_sentence
from reverie.core.errors import BadInput

if TYPE_CHECKING:
    from reverie.app import Home
    from reverie.changes.land import Outcome
    from reverie.changes.ledger import Change


BECAUSE = click.option("--because", default="", metavar="WHY", help="Why, for whoever asks later.")
DESPITE = click.option("--despite-findings", is_flag=True, help="You have read the safety findings and decided.")
YES = click.option("--yes", is_flag=True, help="Do not ask before touching a critical rule.")


def confirmed(attempt: Callable[[bool], Outcome], shell: Shell, *, yes: bool) -> Outcome:
    """Do it; where that would touch a critical rule, ask first. A script has to say `--yes`."""
    from reverie.changes.policy import CONFIRM
    from reverie.memory.operation import Conflicted

    outcome = attempt(yes)
    asks = isinstance(outcome, Conflicted) and outcome.why == CONFIRM and not shell.json
    return attempt(True) if asks and click.confirm("That is a critical rule. Change it all the same?") else outcome


def tell_outcome(house: Home, outcome: Outcome, shell: Shell, landed: str = "Landed as") -> None:
    tell_outcomes(house, [outcome], shell, landed)


def tell_outcomes(house: Home, outcomes: Sequence[Outcome], shell: Shell, landed: str = "Landed as") -> None:
    """One after another; as JSON one object, or a list where several were asked for."""
    from reverie.changes.land import Landed, Unchanged, Unsafe, in_words

    if shell.json:
        values = [_as_json(house, outcome) for outcome in outcomes]
        print_json(values[0] if len(values) == 1 else values)
    for outcome in outcomes if not shell.json else ():
        if isinstance(outcome, Landed):
            click.echo(f"{landed} {outcome.change.id}.")
            for line in landed_lines(house, outcome.change):
                print_sentence(console(), line)
        else:
            click.echo(in_words(outcome))
        if isinstance(outcome, Unsafe):
            click.echo("If you have read this and decided: say it again with --despite-findings.", err=True)
    if not all(isinstance(outcome, Landed | Unchanged) for outcome in outcomes):
        sys.exit(1)


def landed_lines(house: Home, change: Change) -> list[str]:
    """Lines that say what was done to which entry, and in which files."""
    own = Path(house.config.environment.get("HOME") or "/nobody").resolve()
    shown = (f"~/{file.relative_to(own)}" if file.is_relative_to(own) else str(file) for file in _files(house, change))
    return [_sentence(house, change), *shown]


def _sentence(house: Home, change: Change) -> str:
    return house.inbox.sentences([change], house.history.name_of, whole=not sys.stdout.isatty())[change.id]


def _files(house: Home, change: Change) -> list[Path]:
    return [file for edit in change.edits if (file := house.file_of(change.target, edit.document))]


def _as_json(house: Home, outcome: Outcome) -> dict[str, object]:
    from reverie.changes.land import Landed, Unsafe, in_words

    change = outcome.change if isinstance(outcome, Landed) else None
    return {
        "outcome": type(outcome).__name__.lower(),
        "said": in_words(outcome),
        "change": change and change.id,
        "findings": outcome.report.findings if isinstance(outcome, Unsafe) else [],
        "sentence": _sentence(house, change) if change else "",
        "files": [str(file) for file in _files(house, change)] if change else [],
    }


@click.command(name="undo")
@click.argument("change", required=False, shell_complete=ids("change"))
@click.option("--target", metavar="NAME", help="The last change of ours to this target.")
@BECAUSE
@DESPITE
@YES
@common
def undo(
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
