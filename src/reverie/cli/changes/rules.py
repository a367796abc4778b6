"""`reverie rules`, `context` and `sync`: what agents are told."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import TYPE_CHECKING

import click

from reverie.cli.options import DateOrAge, Shell, common, look, with_pager
from reverie.cli.render import console, one_line, print_json, terminal_safe

if TYPE_CHECKING:
    from reverie.app import Home
    from reverie.changes.history import Instruction, Rule


WORKSPACE = click.option("--workspace", metavar="NAME", help="The memory stores of everyone in a workspace, instead.")
USER = click.option("--user", metavar="NAME", help="Those of one person only; '' is what is nobody's.")


@click.command(name="rules")
@click.option("--as-of", type=DateOrAge(), help="As it was then: a date, a time, or an age such as 7d.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@WORKSPACE
@USER
@common
@with_pager
def rules(*, as_of: datetime | None, as_csv: bool, workspace: str | None, user: str | None, shell: Shell) -> None:
    """Every rule the agents operate under, since when, on what evidence, approved by whom: of memory, of skills, of
    memory stores, and of instruction files, which Reverie reads and never changes."""
    from reverie.changes.history import instruction_row, rule_row, rules_as_csv

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


@click.command(name="context")
@click.option("--task", default="", metavar="TEXT", help="What the session is about to do: chooses the skills.")
@click.option("--tags", default="", metavar="A,B", help="Tags the skills should have.")
@click.option("--budget", type=click.IntRange(1), default=6_000, show_default=True, help="Tokens to spend.")
@click.option(
    "--target", "targets", multiple=True, metavar="NAME", help="Which targets; all that are there if not said."
)
@click.option("--session", metavar="ID", help="For this session: asked again, it gets the same.")
@click.option("--as-of", type=DateOrAge(), help="What was given last by then, byte for byte.")
@common
def context(
    *,
    task: str,
    tags: str,
    budget: int,
    targets: tuple[str, ...],
    session: str | None,
    as_of: datetime | None,
    shell: Shell,
) -> None:
    """Exactly the block a session starts with: memory and the skills its task calls for. It is recorded."""
    with shell.opened() as house:
        if as_of is not None:
            given = house.context.as_of(as_of, session)
        else:
            wanted = [tag.strip() for tag in tags.split(",") if tag.strip()]
            given = house.context(task, tags=wanted, budget=budget, targets=targets, session=session)
    if shell.json:
        print_json(given)
        return
    click.echo(given.text, nl=False)
    for reason in (*given.withheld, *given.left_out):
        click.echo(f"Not in it: {reason}", err=True)


@click.command(name="sync")
@click.option("--from", "source", metavar="NAME", help="The source target; Hermes' or the home's own if not said.")
@click.option("--to", multiple=True, metavar="NAME", help="A target to render it to; all that agents read if not said.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@common
def sync(*, source: str | None, to: tuple[str, ...], dry_run: bool, shell: Shell) -> None:
    """Render the rules of one target to the memory of other agents, each within its own limits, and say what does not
    fit. Twice is once. What someone changed on a rendered surface is left alone, and the source is never written.

    What rests on the owner's words or was approved lands on the other surfaces; what was written into the source from
    outside asks first. Each surface has its change in the history; `reverie undo` takes it back.
    """
    with shell.opened() as house:
        chosen = source or house.memory.default()
        rendered = house.sync(chosen, to, land=not dry_run)
    if shell.json:
        print_json({"source": chosen, "dry_run": dry_run, "rendered": rendered})
        return
    for one in rendered:
        if one.fate != "same":
            click.echo(f"{one.target}/{one.document}  {one.fate}: {one_line(one.text, 80)}")
            click.echo(f"  {one.why}" if one.why else "", nl=bool(one.why))
    for target in dict.fromkeys(one.target for one in rendered):
        counts = Counter(one.fate.value for one in rendered if one.target == target)
        click.echo(f"{target}: {', '.join(f'{number} {fate}' for fate, number in counts.items())}.")
    if not rendered:
        click.echo(f"Nothing to render from {chosen}, or no other agent is used on this machine.")
    if dry_run:
        click.echo("Nothing was changed.")
