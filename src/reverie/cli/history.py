"""`reverie history`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reverie.cli.options import Shell, common, look
from reverie.cli.render import console, day, one_line, print_json

if TYPE_CHECKING:
    from reverie.changes.history.change import Change


@click.command(name="history")
@click.argument("path", required=False)
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True)
@common
def command(*, path: str | None, limit: int, shell: Shell) -> None:
    """What happened to memory and skills, newest first; to one document or skill if PATH is given.

    `reverie history rebuild` makes the git projection anew from the database.
    """
    if path == "rebuild":
        _rebuild(shell)
        return
    with shell.opened() as house:
        look(house)
        changes = house.history.changes(path, limit)
        named = {change.id: house.history.name_of(change.target) for change in changes}
        elsewhere = [] if shell.json else house.projection.elsewhere()
    if shell.json:
        print_json([summary(change, named[change.id]) for change in changes])
        return
    if not changes:
        click.echo("Nothing has happened yet.")
    out = console()
    for change in changes:
        grounds = change.grounds
        out.print(f"{change.id}  {day(change.settled_at)}  {named[change.id]}  {grounds.actor}", markup=False)
        approved = f", approved by {grounds.approved_by}" if grounds.approved_by else ""
        reason = f": {grounds.reason}" if grounds.reason else ""
        out.print(f"  {one_line(f'{words(change)}{approved}{reason}', max(20, out.width - 4))}", markup=False)
    for said in elsewhere:
        out.print(f"Note: {said}.", markup=False)


def words(change: Change) -> str:
    from reverie.changes.history.library import happened

    return happened(change)


def summary(change: Change, target: str) -> dict[str, object]:
    grounds = change.grounds
    return {
        "id": change.id,
        "number": change.number,
        "at": change.settled_at,
        "target": target,
        "subject": change.subject,
        "happened": words(change),
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


def _rebuild(shell: Shell) -> None:
    with shell.opened() as house:
        rebuilt = house.projection.rebuild()
    if shell.json:
        print_json(rebuilt)
    else:
        click.echo(str(rebuilt))
