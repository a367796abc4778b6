"""How the outcome of wanting a change is told, and the exit code scripts can trust: 0 done, 1 not done."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from reverie.cli.options import Shell
from reverie.cli.render import print_json

if TYPE_CHECKING:
    from reverie.review.outcome import Outcome


def told(outcome: Outcome, shell: Shell, landed: str = "Landed as") -> None:
    from reverie.review.outcome import Landed, Unchanged, Unsafe, in_words

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
