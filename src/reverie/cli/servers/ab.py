"""`reverie ab`."""

from __future__ import annotations

import click

from reverie.cli.options import Shell, common
from reverie.cli.render import print_json, terminal_safe
from reverie.core.errors import BadInput


@click.group(name="ab")
def ab() -> None:
    """Which of two memory stores, or skill libraries, works better in use?"""


@ab.command()
@click.argument("name")
@click.argument("a")
@click.argument("b")
@click.option("--metric", default="success", show_default=True, help="Or corrections, turns, cost, NAME:higher:0.1.")
@click.option("--guardrail", "guardrails", multiple=True, metavar="METRIC", help="What may not get worse.")
@click.option("--alpha", default=0.05, show_default=True, help="How often at most an arm is called better that is not.")
@click.option("--share", default=0.5, show_default=True, help="The share of units that get B.")
@common
def start(
    *, name: str, a: str, b: str, metric: str, guardrails: tuple[str, ...], alpha: float, share: float, shell: Shell
) -> None:
    """Compare A, which is in use, with B: ids of memory stores, or versions of a skill library."""
    with shell.opened() as house:
        made = house.experiments.start(name, a, b, metric=metric, guardrails=guardrails, alpha=alpha, share=share)
    if shell.json:
        print_json(made)
    else:
        click.echo(f"{name} runs. What a session gets: `reverie ab assign {name} UNIT`.")


@ab.command()
@click.argument("name")
@click.argument("unit")
@common
def assign(*, name: str, unit: str, shell: Shell) -> None:
    """Say which arm UNIT, a session or a person, gets: the same every time."""
    with shell.opened() as house:
        found = house.experiments.assign(name, unit)
    if shell.json:
        print_json(found)
    else:
        click.echo(found.use)


@ab.command()
@click.argument("name")
@click.argument("unit")
@click.option("--session", metavar="ID", help="Take turns and corrections from this session.")
@click.option("--value", "values", multiple=True, metavar="METRIC=NUMBER", help="success=1, cost=0.03, ….")
@common
def record(*, name: str, unit: str, session: str | None, values: tuple[str, ...], shell: Shell) -> None:
    """Record what came of a session of UNIT."""
    with shell.opened() as house:
        told = house.session_outcome(session) if session else {}
        counted = house.experiments.record(name, unit, told | dict(map(_value, values)))
    if shell.json:
        print_json({"counted": counted})
    else:
        click.echo("Counted." if counted else f"Not counted: {name} is decided.")


def _value(said: str) -> tuple[str, float]:
    name, _, number = said.partition("=")
    try:
        return name, float(number)
    except ValueError:
        raise BadInput(f"{said!r} is no outcome.", expected="METRIC=NUMBER, as in success=1") from None


@ab.command()
@click.argument("name")
@common
def report(*, name: str, shell: Shell) -> None:
    """A page about the experiment: verdict, intervals, and a plot. It can be looked at as often as you like."""
    with shell.opened() as house:
        page, standing = house.experiments.report(name), house.experiments.standing(name)
    if shell.json:
        print_json({"verdict": standing.verdict, "metric": standing.metric, "guardrails": standing.guardrails})
    else:
        click.echo(page, nl=False)


@ab.command(name="list")
@common
def list_experiments(*, shell: Shell) -> None:
    """Every experiment, and what it says so far."""
    with shell.opened() as house:
        told = [(one, house.experiments.standing(one.name).verdict) for one in house.experiments.all()]
    if shell.json:
        print_json([{"experiment": one, "verdict": verdict} for one, verdict in told])
        return
    for one, verdict in told:
        standing = (one.decided or verdict).replace("_", " ")
        click.echo(terminal_safe(f"{one.name}  {standing}  {one.a} against {one.b}"))
    if not told:
        click.echo("There is none: `reverie ab start NAME A B`.")


@ab.command()
@click.argument("name")
@click.option("--despite", is_flag=True, help="Though it is not shown to be better.")
@common
def promote(*, name: str, despite: bool, shell: Shell) -> None:
    """Give B to everyone."""
    with shell.opened() as house:
        made = house.experiments.promote(name, despite=despite)
    print_json(made) if shell.json else click.echo(f"Everyone gets {made.b}. And back: `reverie ab roll-back {name}`.")


@ab.command(name="roll-back")
@click.argument("name")
@common
def roll_back(*, name: str, shell: Shell) -> None:
    """Give A to everyone."""
    with shell.opened() as house:
        made = house.experiments.roll_back(name)
    print_json(made) if shell.json else click.echo(f"Everyone gets {made.a}.")
