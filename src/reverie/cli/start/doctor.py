"""`reverie doctor`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from reverie.cli.options import Shell, common
from reverie.cli.render import print_json

if TYPE_CHECKING:
    from reverie.llm.clients.models import Tried

ALWAYS = ("home", "owner", "database", "timezone")  # what people ask about, set or not


@click.command(name="doctor")
@click.option("--all", "every", is_flag=True, help="Every setting, also those that nobody has set.")
@click.option("--model", is_flag=True, help="Also try the model of the settings, and say what it can do.")
@common
def command(*, every: bool, model: bool, shell: Shell) -> None:
    """Print what is set and where it came from, and check what Reverie needs. Changes nothing.

    `--model` asks the model for a word and a number, and sends nothing of yours.
    """
    from reverie.app import checkup, try_models
    from reverie.config import load

    config = load(shell.home, {"database": shell.database})
    found = checkup(config)
    tried = try_models(config) if model else []
    if shell.json:
        values = {name: asdict(value) for name, value in config.shown().items()}
        told = {"settings": values, "notices": config.notices, "checks": [asdict(check) for check in found]}
        print_json(told | ({"models": [asdict(one) for one in tried]} if model else {}))
    else:
        click.echo("Settings")
        known = config.shown()
        shown = {name: one for name, one in known.items() if every or name in ALWAYS or one.came_from != "default"}
        width = max(map(len, shown))
        for name, value in shown.items():
            click.echo(f"  {name:<{width}} {value.text}  ({value.came_from})")
        if len(shown) < len(known):
            click.echo(f"  {len(known) - len(shown)} more have their defaults (--all shows them)")
        for notice in config.notices:
            click.echo(f"Note: {notice}")
        click.echo("Checks")
        for check in found:
            click.echo(f"  {'ok  ' if check.ok else 'BAD '} {check.name}: {check.said}")
        if model:
            _models(tried)
    if not (all(check.ok for check in found) and all(one.ok for one in tried)):
        sys.exit(1)


def _models(tried: list[Tried]) -> None:
    click.echo("Models")
    if not tried:
        click.echo("  none is set: the built-in reader does everything; `model` in reverie.toml sets one")
    for one in tried:
        reads = f" It reads {one.context:,} tokens at once." if one.context else ""
        click.echo(f"  {'ok  ' if one.ok else 'BAD '} {one.said}{reads}")
