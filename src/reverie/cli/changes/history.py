"""`reverie history`, `blame` and `diff`: what happened to memory and skills."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reverie.cli.changes.rules import USER, WORKSPACE, look_at_skills, show_instruction
from reverie.cli.options import DateOrAge, Shell, common, look, with_pager
from reverie.cli.render import console, day, one_line, print_json, print_sentence, terminal_safe
from reverie.core.errors import NotFound

if TYPE_CHECKING:
    from reverie.app import Home
    from reverie.changes.history import History, Instruction, Rule
    from reverie.changes.ledger import Change


@click.command(name="history")
@click.argument("path", required=False, type=click.Path())
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True)
@common
@with_pager
def history(*, path: str | None, limit: int, shell: Shell) -> None:
    """Show what happened to memory and skills, newest first; to one document or skill if PATH is given.

    `reverie history rebuild` makes the git projection anew from the database.
    """
    with shell.opened() as house:
        if path == "rebuild":
            rebuilt = house.projection.rebuild()
            print_json(rebuilt) if shell.json else click.echo(str(rebuilt))
            return
        look(house)
        changes = house.history.changes(house.document_of(path) if path else None, limit)
        named = {change.id: house.history.name_of(change.target) for change in changes}
        sentences = house.inbox.sentences(changes, house.history.name_of, whole=not sys.stdout.isatty())
        elsewhere = [] if shell.json else house.projection.elsewhere()
    if shell.json:
        print_json([change_as_json(one, named[one.id]) | {"sentence": sentences[one.id]} for one in changes])
        return
    if not changes:
        click.echo(
            "Nothing has happened yet. `reverie dream` reads what is new; `reverie memory add TEXT` writes an entry."
        )
    out = console()
    for change in changes:
        grounds = change.grounds
        who = f"{grounds.actor}, approved by {grounds.approved_by}" if grounds.approved_by else grounds.actor
        out.print(f"{change.id}  {day(change.settled_at)}  {named[change.id]}  {who}", markup=False)
        print_sentence(out, sentences[change.id])
        if why := _why(change):
            print_sentence(out, why, style="dim")
    for said in elsewhere:
        out.print(f"Note: {said}.", markup=False)


def _why(change: Change) -> str:
    """The reason that was given, then what the person who approved it said, unless that is the same."""
    grounds = change.grounds
    said = f"because {grounds.because}" if grounds.because and not grounds.policy else ""
    reason = grounds.reason if not grounds.undoes and grounds.reason != grounds.because else ""
    return " · ".join(filter(None, (reason, said)))


def change_words(change: Change) -> str:
    from reverie.changes.history import happened

    return happened(change)


def change_as_json(change: Change, target: str) -> dict[str, object]:
    grounds = change.grounds
    return {
        "id": change.id,
        "number": change.number,
        "at": change.settled_at,
        "target": target,
        "subject": change.subject,
        "happened": change_words(change),
        "via": grounds.via,
        "actor": grounds.actor,
        "origin": grounds.origin,
        "reason": grounds.reason,
        "approved_by": grounds.approved_by,
        "because": grounds.because,
        "policy": grounds.policy,
        "proposal": grounds.proposal,
        "dream": grounds.dream,
        "undoes": grounds.undoes,
        "evidence": grounds.evidence,
        "documents": [edit.document for edit in change.edits],
    }


@click.command(name="blame")
@click.argument("path", type=click.Path())
@click.option("--as-of", type=DateOrAge(), help="As it was then: a date, a time, or an age such as 7d.")
@WORKSPACE
@USER
@common
@with_pager
def blame(*, path: str, as_of: datetime | None, workspace: str | None, user: str | None, shell: Shell) -> None:
    """Which change brought each statement of a document, who made it and who approved it. PATH is a document, a skill,
    a memory store or a memory in one, or an instruction file, of which Reverie keeps no history."""
    from reverie.changes.history import instruction_row, rule_row

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


@click.command(name="diff")
@click.argument("earlier")
@click.argument("later", required=False)
@click.argument("path", required=False)
@common
@with_pager
def diff(*, earlier: str, later: str | None, path: str | None, shell: Shell) -> None:
    """Show what changed between two points: changes (`chg_…`), dates, or ages such as 7d. One change alone: what it
    did."""
    with shell.opened() as house:
        look(house)
        if later is None and earlier.startswith("chg_"):
            end = _point(house, earlier)
            start = end - 1
        else:
            start = _point(house, earlier)
            end = _point(house, later) if later else house.history.latest()
        differences = house.history.difference(start, end, house.document_of(path) if path else None)
    from reverie.changes.proposal import drawn_diff

    diffs = [drawn_diff(one.target, [one.edit], 3) for one in differences]
    if shell.json:
        print_json({"diff": "".join(diffs)})
        return
    out = console()
    for line in terminal_safe("".join(diffs)).splitlines():
        out.print(line, style={"+": "green", "-": "red"}.get(line[:1], "dim"), markup=False)
    if not diffs:
        click.echo("No difference.")


def _point(house: Home, text: str) -> int:
    if text.startswith("chg_"):
        return house.history.get(house.id_of("change", text)).number or 0
    return house.history.number_at(DateOrAge().convert(text, None, None))
