"""`reverie blame`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reverie.cli.changes.history import change_words
from reverie.cli.changes.rules import USER, WORKSPACE, look_at_skills, show_instruction
from reverie.cli.options import DateOrAge, Shell, common, look, with_pager
from reverie.cli.render import console, day, one_line, print_json, terminal_safe
from reverie.core.errors import NotFound

if TYPE_CHECKING:
    from reverie.app import Home
    from reverie.changes.history.library import History, Instruction, Rule


@click.command(name="blame")
@click.argument("path", type=click.Path())
@click.option("--as-of", type=DateOrAge(), help="As it was then: a date, a time, or an age such as 7d.")
@WORKSPACE
@USER
@common
@with_pager
def command(*, path: str, as_of: datetime | None, workspace: str | None, user: str | None, shell: Shell) -> None:
    """Which change brought each statement of a document, who made it and who approved it. PATH is a document, a skill,
    a memory store or a memory in one, or an instruction file, of which Reverie keeps no history."""
    from reverie.changes.history.library import instruction_row, rule_row

    with shell.opened() as house:
        if workspace is None and user is None:
            look(house)
            look_at_skills(house)
        rules, told = _found(house, path, as_of, house.histories(workspace, user))
    if shell.json:
        print_json([*(rule_row(rule) for rule in rules), *map(instruction_row, told)])
        return
    for one in told:
        show_instruction(one)
    out = console()
    for rule in rules:
        change = rule.change
        approved = f", approved by {change.grounds.approved_by}" if change.grounds.approved_by else ""
        head = f"{change.id}  {day(change.settled_at)}  {change.grounds.actor}: {change_words(change)}{approved}"
        out.print(head, style="dim", markup=False)
        out.print(f"  {one_line(terminal_safe(rule.text), max(20, out.width - 4))}", markup=False)


def _found(
    house: Home, path: str, as_of: datetime | None, histories: Sequence[History]
) -> tuple[list[Rule], list[Instruction]]:
    rules: list[Rule] = []
    unknown: list[NotFound] = []
    for history in histories:
        try:
            rules += history.blame(house.document_of(path), as_of)
        except NotFound as error:
            unknown.append(error)
    meant = Path(path).expanduser().absolute()
    told = [one for one in house.instructions() if Path(one.file) == meant or one.file.endswith(f"/{path}")]
    if len(unknown) == len(histories) and not told:
        raise unknown[0]
    return rules, told if not rules else []
