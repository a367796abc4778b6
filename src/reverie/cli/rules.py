"""`reverie rules`."""

from __future__ import annotations

import csv
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from reverie.cli.options import Day, Shell, common, look
from reverie.cli.render import console, print_json, visible
from reverie.core.clock import rfc3339

if TYPE_CHECKING:
    from reverie.app import Home
    from reverie.changes.history.library import Instruction, Rule

COLUMNS = (
    "rule",
    "where",
    "since",
    "seen",
    "critical",
    "from",
    "approved_by",
    "because",
    "evidence",
    "change",
    "id",
    "user",
)
WORKSPACE = click.option("--workspace", metavar="NAME", help="The memory stores of everyone in a workspace, instead.")
USER = click.option("--user", metavar="NAME", help="Those of one person only; '' is what is nobody's.")


@click.command(name="rules")
@click.option("--as-of", type=Day(), help="As it was then: a date, a time, or an age such as 7d.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@WORKSPACE
@USER
@common
def command(*, as_of: datetime | None, as_csv: bool, workspace: str | None, user: str | None, shell: Shell) -> None:
    """Every rule the agents operate under, since when, on what evidence, approved by whom: of memory, of skills, of
    memory stores, and of instruction files, which Reverie reads and never changes."""
    with shell.opened() as house:
        here = workspace is None and user is None
        if here:
            look(house)
            look_at_skills(house)
        rules = [rule for history in house.histories(workspace, user) for rule in history.rules(as_of)]
        told = house.instructions() if as_of is None and here else []
    if shell.json:
        print_json([*(row(rule) for rule in rules), *map(instruction_row, told)])
    elif as_csv:
        _csv(rules, told)
    else:
        for rule in rules:
            _show(rule)
        for one in told:
            show_instruction(one)
        if not rules and not told:
            click.echo("No rules are known." if as_of is None else "No rules were known then.")


def row(rule: Rule) -> dict[str, Any]:
    grounds = rule.change.grounds
    values = (
        rule.text,
        rule.where,
        rule.since,
        rule.seen,
        rule.critical,
        _came_from(rule),
        grounds.approved_by,
        grounds.because,
        grounds.evidence,
        rule.change.id,
        rule.id,
        rule.user,
    )
    return dict(zip(COLUMNS, values, strict=True))


def _came_from(rule: Rule) -> str:
    return str(rule.change.grounds.origin or rule.change.grounds.via)


def look_at_skills(house: Home) -> None:
    """Reading a skill records how it stands."""
    for _ in house.skills.every():
        pass


def instruction_row(one: Instruction) -> dict[str, Any]:
    return dict.fromkeys(COLUMNS) | {"rule": one.text, "where": one.file, "from": "instruction file", "evidence": []}


def show_instruction(one: Instruction) -> None:
    console().print(visible(one.text), style="bold", markup=False)
    console().print(f"  {visible(one.file)}  an instruction file; Reverie does not change it", markup=False)


def _csv(rules: list[Rule], instructions: list[Instruction]) -> None:
    writer = csv.DictWriter(sys.stdout, COLUMNS)
    writer.writeheader()
    for rule in rules:
        told = row(rule)
        told |= {name: rfc3339(told[name]) for name in ("since", "seen") if told[name]}
        told["evidence"] = " | ".join(f"{one.session_id}#{one.turn} {one.quote}" for one in told["evidence"])
        told["rule"] = _inert(told["rule"])
        told["because"] = _inert(told["because"] or "")
        writer.writerow(told)
    for one in instructions:
        writer.writerow(instruction_row(one) | {"rule": _inert(one.text), "evidence": ""})


def _inert(text: str) -> str:
    """A cell that a spreadsheet takes as text, not as a formula."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text


def _show(rule: Rule) -> None:
    grounds = rule.change.grounds
    out = console()
    out.print(f"{visible(rule.text)}{'  (critical)' if rule.critical else ''}", style="bold", markup=False)
    since = f"since {rule.since:%Y-%m-%d %H:%M}" if rule.since else f"there before {rule.seen:%Y-%m-%d %H:%M}"
    approved = f", approved by {grounds.approved_by}" if grounds.approved_by else ", nobody was asked"
    out.print(f"  {rule.where}  {since}{approved}", markup=False)
    for one in grounds.evidence:
        out.print(f"  “{visible(one.quote)}” — {one.origin}, {one.session_id} turn {one.turn}", markup=False)
    if grounds.because:
        out.print(f"  because {visible(grounds.because)}", markup=False)
