"""`reverie rules`."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from reverie.cli.options import DateOrAge, Shell, common, look, with_pager
from reverie.cli.render import console, print_json, terminal_safe

if TYPE_CHECKING:
    from reverie.app import Home
    from reverie.changes.history.library import Instruction, Rule

WORKSPACE = click.option("--workspace", metavar="NAME", help="The memory stores of everyone in a workspace, instead.")
USER = click.option("--user", metavar="NAME", help="Those of one person only; '' is what is nobody's.")


@click.command(name="rules")
@click.option("--as-of", type=DateOrAge(), help="As it was then: a date, a time, or an age such as 7d.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@WORKSPACE
@USER
@common
@with_pager
def command(*, as_of: datetime | None, as_csv: bool, workspace: str | None, user: str | None, shell: Shell) -> None:
    """Every rule the agents operate under, since when, on what evidence, approved by whom: of memory, of skills, of
    memory stores, and of instruction files, which Reverie reads and never changes."""
    from reverie.changes.history.library import instruction_row, rule_row, rules_as_csv

    with shell.opened() as house:
        here = workspace is None and user is None
        if here:
            look(house)
            look_at_skills(house)
        rules = [rule for history in house.histories(workspace, user) for rule in history.rules(as_of)]
        told = house.instructions() if as_of is None and here else []
    if shell.json:
        print_json([*map(rule_row, rules), *map(instruction_row, told)])
    elif as_csv:
        click.echo(rules_as_csv(rules, told), nl=False)
    else:
        for rule in rules:
            _show(rule)
        for one in told:
            show_instruction(one)
        if not rules and not told:
            click.echo(
                "No rules are known: no memory and no skills were found. `reverie memory add TEXT` writes the first."
                if as_of is None
                else "No rules were known then."
            )


def look_at_skills(house: Home) -> None:
    """Reading a skill records how it stands."""
    for _ in house.skills.every():
        pass


def show_instruction(one: Instruction) -> None:
    console().print(terminal_safe(one.text), style="bold", markup=False)
    console().print(f"  {terminal_safe(one.file)}  an instruction file; Reverie does not change it", markup=False)


def _show(rule: Rule) -> None:
    grounds = rule.change.grounds
    out = console()
    out.print(f"{terminal_safe(rule.text)}{'  (critical)' if rule.critical else ''}", style="bold", markup=False)
    since = f"since {rule.since:%Y-%m-%d %H:%M}" if rule.since else f"there before {rule.seen:%Y-%m-%d %H:%M}"
    approved = f", approved by {grounds.approved_by}" if grounds.approved_by else ", nobody was asked"
    out.print(f"  {rule.where}  {since}{approved}", markup=False)
    for one in grounds.evidence:
        out.print(f"  “{terminal_safe(one.quote)}” — {one.origin}, {one.session_id} turn {one.turn}", markup=False)
    if grounds.because:
        out.print(f"  because {terminal_safe(grounds.because)}", markup=False)
