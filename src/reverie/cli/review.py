"""`reverie review`: the queue, one proposal a screen."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from reverie.cli import shell as ui
from reverie.cli.review_screen import nothing_waits, review_in_terminal, show_theme, show_whole
from reverie.core.errors import BadInput
from reverie.core.ids import json_ready, plural

if TYPE_CHECKING:
    from reverie.app import Home
    from reverie.changes.proposal import Proposal


THEME = click.option("--theme", metavar="NAME", help="All of one theme, as `reverie review themes` names it.")


@contextmanager
def _mirrored(shell: ui.Shell) -> Iterator[Home]:
    """Show here, too, what agents' own programs hold back for approval; it leaves their queue once it is decided."""
    with shell.opened() as house:
        house.mirror_staged()
        for line in house.mirror_staged.problems():
            click.echo(f"Note: {ui.terminal_safe(line)}", err=True)
        yield house
        house.mirror_staged()


@click.group(name="review", invoke_without_command=True)
@ui.common
def review(*, shell: ui.Shell) -> None:
    """Decide what waits, one proposal a screen and one key for it: approve, refuse, edit, skip, why, undo.

    Nothing is approved by silence: what nobody answers expires.
    """
    if click.get_current_context().invoked_subcommand is not None:
        return
    with _mirrored(shell) as house:
        if not shell.json and sys.stdin.isatty() and sys.stdout.isatty():
            review_in_terminal(house)
            return
        _show_queue(house, shell, whole=True)


@review.command(name="list")
@click.option("--all", "every", is_flag=True, help="Also what waits behind today's, and what was decided.")
@ui.with_pager
def list_(*, every: bool, shell: ui.Shell) -> None:
    """List what waits, the best first."""
    with _mirrored(shell) as house:
        _show_queue(house, shell, whole=not sys.stdout.isatty(), every=every)


@review.command()
@click.argument("proposal", shell_complete=ui.ids("proposal"))
@ui.with_pager
def show(*, proposal: str, shell: ui.Shell) -> None:
    """One proposal: what changes, where it was said, what it contradicts, findings, every check, and the score."""
    with shell.opened() as house:
        show_proposal(house, house.id_of("proposal", proposal), shell)


@review.command()
@ui.with_pager
def themes(*, shell: ui.Shell) -> None:
    """List what can be decided together: what changes one skill or document, of one page of a managed memory.

    `reverie review approve --theme NAME` lets all of it land, `reverie review undo --theme NAME` takes all of it back.
    """
    with _mirrored(shell) as house:
        found, nothing = house.inbox.themes(), nothing_waits(house)
    rows = [{"theme": name, "proposals": [one.proposal.id for one in items]} for name, items in found.items()]
    if shell.printed_json(rows):
        return
    if not found:
        click.echo(nothing)
    for name, items in found.items():
        show_theme(ui.console(), name, items)


@review.command()
@click.argument("proposals", nargs=-1, metavar="[PROPOSAL]...", shell_complete=ui.ids("proposal"))
@THEME
@click.option("--hash", "seen", metavar="HASH", help="Only if it is still the one with this hash.")
@ui.DESPITE
@ui.BECAUSE
@ui.common
def approve(
    *,
    proposals: tuple[str, ...],
    theme: str | None,
    seen: str | None,
    despite_findings: bool,
    because: str,
    shell: ui.Shell,
) -> None:
    """Let proposals land. Each is named by its id, or by as much of it as no other has; or all of one theme."""
    from reverie.changes.land import Outcome, Stale

    if seen is not None and len(proposals) > 1:
        raise BadInput(f"--hash is given with {len(proposals)} proposals.", expected="one proposal")
    with _mirrored(shell) as house:
        outcomes = list[Outcome]()
        for found in _meant(house, proposals, theme):
            if seen is not None and not found.hash.startswith(seen):
                outcomes.append(Stale(found.id, f"its hash is {found.hash[:12]} now"))
            else:
                outcomes.append(house.review.approve(found, because, despite_findings=despite_findings))
        ui.tell_outcomes(house, outcomes, shell)


@review.command()
@click.argument("proposals", nargs=-1, metavar="[PROPOSAL]...", shell_complete=ui.ids("proposal"))
@THEME
@ui.BECAUSE
@ui.common
def reject(*, proposals: tuple[str, ...], theme: str | None, because: str, shell: ui.Shell) -> None:
    """Say no. It is not proposed again on the same evidence."""
    with _mirrored(shell) as house:
        rejected = [house.review.reject(found, because) for found in _meant(house, proposals, theme)]
    lines = (f"{one.id} is rejected; it will not be proposed again on the same evidence." for one in rejected)
    shell.tell(rejected[0] if len(rejected) == 1 else rejected, *lines)


@review.command()
@click.argument("proposals", nargs=-1, metavar="[PROPOSAL]...", shell_complete=ui.ids("proposal"))
@THEME
@ui.common
def undo(*, proposals: tuple[str, ...], theme: str | None, shell: ui.Shell) -> None:
    """Take verdicts back: what landed is taken out byte for byte, and like what was refused it waits again."""
    with _mirrored(shell) as house:
        results = [house.inbox.undo(one.id) for one in _meant(house, proposals, theme, decided=True)]
    rows = [{"proposal": one.proposal.id, "done": one.done, "said": one.said} for one in results]
    for one in () if shell.printed_json(rows) else results:
        ui.print_sentence(ui.console(), f"{one.proposal.id}: {one.said}", indent=0)
    if not all(one.done for one in results):
        sys.exit(1)


def _meant(house: Home, typed: Sequence[str], theme: str | None, *, decided: bool = False) -> list[Proposal]:
    """Every one of them is found before anything is done with the first. What was decided last comes first."""
    if bool(typed) == (theme is not None):
        found = f"{plural(len(typed), 'proposal')} and the theme {theme} are named." if typed else "Nothing is named."
        raise BadInput(found, expected="proposals, or --theme NAME", next_step="`reverie review themes` lists them.")
    if theme is not None:
        return [one.proposal for one in house.inbox.of_theme(theme, decided=decided)]
    names = dict.fromkeys(house.id_of("proposal", one) for one in typed)
    return [house.review.get(name) for name in names]


def _show_queue(house: Home, shell: ui.Shell, *, whole: bool, every: bool = False) -> None:
    waiting = house.review.past() if every else house.review.waiting()
    behind = 0 if every else len(house.review.waiting(every=True)) - len(waiting)
    items = house.inbox.items(waiting, whole=whole)
    told = [json_ready(one.proposal) | {"sentence": one.sentence} for one in items] if shell.json else []
    if shell.printed_json({"proposals": told, "behind": behind}):
        return
    if not items:
        click.echo(nothing_waits(house))
    out = ui.console()
    for one in items:
        status = "" if one.proposal.status == "waiting" else f"  {one.proposal.status}"
        voice = one.first
        said = f"  {ui.terminal_safe(voice.who)}{f', {voice.at:%Y-%m-%d}' if voice.at else ''}" if voice else ""
        out.print(f"{one.proposal.id}{said}{status}")
        ui.print_sentence(out, one.sentence)
    if behind > 0:
        more = f"{plural(behind, 'more')} wait{'s' if behind == 1 else ''}"
        click.echo(f"{more} behind today's limit (--all shows them).")


def show_proposal(house: Home, proposal: str, shell: ui.Shell) -> None:
    detail = house.inbox.detail(proposal)
    if not shell.printed_json(json_ready(detail.item.proposal) | {"checks": dict(detail.checks)}):
        show_whole(ui.console(), detail, detail.item.where)
