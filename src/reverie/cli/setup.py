"""`reverie init`, `install`, `uninstall` and `doctor`: make a home, put Reverie into an agent, check both."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from reverie.cli.shell import Shell, common, print_json

if TYPE_CHECKING:
    from reverie.app import Home
    from reverie.harnesses.installers import Installing
    from reverie.system.installation import FileChange


@click.command(name="init")
@common
def init(*, shell: Shell) -> None:
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


@click.command(name="install")
@click.argument("agent")
@click.option("--dry-run", is_flag=True, help="Show what would be changed, and change nothing.")
@click.option(
    "--nights/--no-nights",
    default=True,
    help="Whether a session that ends begins a night that is due, in the background.",
)
@click.option("--check/--no-check", default=True, help="Whether to prove the loop on a made-up session afterwards.")
@common
def install(*, agent: str, dry_run: bool, nights: bool, check: bool, shell: Shell) -> None:
    """Put Reverie into AGENT (claude, codex, gemini, hermes, openclaw, opencode): the MCP server, a short skill, and
    a hook that queues each session for the next night and begins it, in the background, once it is due by `schedule`.
    Twice is once. `reverie uninstall AGENT` takes it out again, to the last byte.

    At the end a check proves the loop on a made-up session in a folder that is thrown away: the session ends, a night
    learns from it, and what the next session is given is shown.
    """
    from reverie.integrations.loop_check import Step, check_loop

    with shell.opened() as house:
        installing = house.installer(agent, nights=nights)
        title, notes = installing.installer.title, installing.plan.notes
        when = _nights(house, installing)
        changes = installing.to_install() if dry_run else installing.install()
    if not shell.json:
        show_changes(changes, dry_run, f"Reverie is in {title} already.")
        for note in notes:
            click.echo(f"Note: {note}")
        click.echo(when)
    steps = list[Step]()
    for step in check_loop(installing.installer, installing.launch, installing.where) if check and not dry_run else ():
        steps.append(step)
        if not shell.json:
            click.echo(f"  {'ok  ' if step.ok else 'BAD '} {step.said}")
    if shell.json:
        told = {"agent": agent, "dry_run": dry_run, "files": [str(one.path) for one in changes], "notes": list(notes)}
        print_json(told | {"nights": when, "check": steps})
    elif not dry_run:
        click.echo(
            "Next: use it as ever; `reverie review` shows what waits, `reverie dream --propose` tries a night now."
        )
    if not all(step.ok for step in steps):
        sys.exit(1)


def _nights(house: Home, installing: Installing) -> str:
    """When nights come."""
    if not installing.launch.nights:
        return "Nights: none by themselves. `reverie cron install` dreams every night, `reverie dream` now."
    limits = house.dreaming_on(installing.installer.target)
    if not limits.enabled:
        return "Nights: none, dreaming is switched off (`enabled`). Once it is on, the end of a session begins them."
    return (
        "Nights: the first begins in the background when the next session ends, then one after each time of `schedule` "
        f"({limits.schedule.text}, {house.config.timezone.key}). `reverie cron install` dreams at that time itself."
    )


def show_changes(changes: list[FileChange], dry_run: bool, nothing: str) -> None:
    if not changes:
        click.echo(nothing)
    for one in changes:
        if dry_run:
            click.echo(one.diff)
        else:
            click.echo(f"{'Removed' if one.then is None else 'Wrote'} {one.path}: {', '.join(one.about)}.")
    if dry_run:
        click.echo("Nothing was changed.")


@click.command(name="uninstall")
@click.argument("agent")
@click.option("--dry-run", is_flag=True, help="Show what would be changed, and change nothing.")
@common
def uninstall(*, agent: str, dry_run: bool, shell: Shell) -> None:
    """Take Reverie out of AGENT. A file nobody else wrote to since is byte for byte as before; from any other, only
    what `reverie install` put there is taken. What was learnt stays."""
    with shell.opened() as house:
        installing = house.installer(agent)
        changes = installing.to_uninstall() if dry_run else installing.uninstall()
        left = installing.left
    if shell.json:
        files = [str(one.path) for one in changes]
        print_json({"agent": agent, "dry_run": dry_run, "files": files, "notes": list(left)})
        return
    show_changes(changes, dry_run, f"Reverie is not in {installing.installer.title}.")
    for note in left:
        click.echo(f"Note: {note}")


ALWAYS = ("home", "owner", "database", "timezone")  # what people ask about, set or not


@click.command(name="doctor")
@click.option("--all", "every", is_flag=True, help="Every setting, also those that nobody has set.")
@click.option("--model", is_flag=True, help="Also try the model of the settings, and say what it can do.")
@common
def doctor(*, every: bool, model: bool, shell: Shell) -> None:
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
            click.echo("Models")
            if not tried:
                click.echo("  none is set: the built-in reader does everything; `model` in reverie.toml sets one")
            for one in tried:
                reads = f" It reads {one.context:,} tokens at once." if one.context else ""
                click.echo(f"  {'ok  ' if one.ok else 'BAD '} {one.said}{reads}")
    if not (all(check.ok for check in found) and all(one.ok for one in tried)):
        sys.exit(1)
