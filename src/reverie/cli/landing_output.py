"""How the outcome of wanting a change is told, and the exit code scripts can trust: 0 done, 1 not done."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import click

from reverie.cli.options import Shell
from reverie.cli.render import print_json

if TYPE_CHECKING:
    from reverie.changes.landing_result import Outcome


YES = click.option("--yes", is_flag=True, help="Do not ask before touching a critical rule.")


def confirmed(attempt: Callable[[bool], Outcome], shell: Shell, *, yes: bool) -> Outcome:
    """Do it; where that would touch a critical rule, ask first. A script has to say `--yes`."""
    from reverie.changes.critical_rules import CONFIRM
    from reverie.memory.operation import Conflicted

    outcome = attempt(yes)
    asks = isinstance(outcome, Conflicted) and outcome.why == CONFIRM and not shell.json
    return attempt(True) if asks and click.confirm("That is a critical rule. Change it all the same?") else outcome


def told(outcome: Outcome, shell: Shell, landed: str = "Landed as") -> None:
    from reverie.changes.landing_result import Landed, Unchanged, Unsafe, in_words

    if shell.json:
        change = outcome.change if isinstance(outcome, Landed) else None
        print_json(
            {
                "outcome": type(outcome).__name__.lower(),
                "said": in_words(outcome),
                "change": change and change.id,
                "findings": outcome.report.findings if isinstance(outcome, Unsafe) else [],
            }
        )
    elif isinstance(outcome, Landed):
        click.echo(f"{landed} {outcome.change.id}.")
    else:
        click.echo(in_words(outcome))
    if isinstance(outcome, Unsafe) and not shell.json:
        click.echo("If you have read this and decided: say it again with --despite-findings.", err=True)
    if not isinstance(outcome, Landed | Unchanged):
        sys.exit(1)
