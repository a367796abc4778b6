"""`reverie history`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from reverie.cli.options import Shell, common, look, with_pager
from reverie.cli.render import console, day, print_json, print_sentence

if TYPE_CHECKING:
    from reverie.changes.history.change import Change


@click.command(name="history")
@click.argument("path", required=False, type=click.Path())
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True)
@common
@with_pager
def command(*, path: str | None, limit: int, shell: Shell) -> None:
    """Show what happened to memory and skills, newest first; to one document or skill if PATH is given.

    `reverie history rebuild` makes the git projection anew from the database.
    """
    if path == "rebuild":
        _rebuild(shell)
        return
    with shell.opened() as house:
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
        out.print(f"{change.id}  {day(change.settled_at)}  {named[change.id]}  {who(change)}", markup=False)
        print_sentence(out, sentences[change.id])
        if why := _why(change):
            print_sentence(out, why, style="dim")
    for said in elsewhere:
        out.print(f"Note: {said}.", markup=False)


def who(change: Change) -> str:
    approved = change.grounds.approved_by
    return f"{change.grounds.actor}, approved by {approved}" if approved else change.grounds.actor


def _why(change: Change) -> str:
    """The reason that was given, then what the person who approved it said, unless that is the same."""
    grounds = change.grounds
    said = f"because {grounds.because}" if grounds.because and not grounds.policy else ""
    reason = grounds.reason if not grounds.undoes and grounds.reason != grounds.because else ""
    return " · ".join(filter(None, (reason, said)))


def change_words(change: Change) -> str:
    from reverie.changes.history.library import happened

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


def _rebuild(shell: Shell) -> None:
    with shell.opened() as house:
        rebuilt = house.projection.rebuild()
    if shell.json:
        print_json(rebuilt)
    else:
        click.echo(str(rebuilt))
