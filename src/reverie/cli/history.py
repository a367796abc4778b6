"""`reverie history`, `blame`, `diff` and `undo`: what happened to memory and skills. And `rules`, `context` and `sync`:
what agents are told.
"""

from __future__ import annotations

import sys
from collections import Counter
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reverie.cli import shell as ui
from reverie.core.errors import BadInput, NotFound

if TYPE_CHECKING:
    from reverie.app import Home
    from reverie.changes.history import Instruction, Rule
    from reverie.changes.ledger import Change


WORKSPACE = click.option("--workspace", metavar="NAME", help="The memory stores of everyone in a workspace, instead.")
USER = click.option("--user", metavar="NAME", help="Those of one person only; '' is what is nobody's.")


@click.command(name="rules")
@click.option("--as-of", type=ui.DateOrAge(), help="As it was then: a date, a time, or an age such as 7d.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@WORKSPACE
@USER
@ui.with_pager
def rules(*, as_of: datetime | None, as_csv: bool, workspace: str | None, user: str | None, shell: ui.Shell) -> None:
    """Every rule the agents operate under, since when, on what evidence, approved by whom: of memory, of skills, of
    memory stores, and of instruction files, which Reverie reads and never changes."""
    from reverie.changes.history import instruction_row, rule_row, rules_as_csv

    with shell.opened() as house:
        here = workspace is None and user is None
        if here:
            ui.look(house, skills=True)
        rules = [rule for history in house.histories(workspace, user) for rule in history.rules(as_of)]
        told = house.instructions() if as_of is None and here else []
    if shell.json:
        ui.print_json([*map(rule_row, rules), *map(instruction_row, told)])
    elif as_csv:
        click.echo(rules_as_csv(rules, told), nl=False)
    else:
        out = ui.console()
        for rule in rules:
            grounds = rule.change.grounds
            text = f"{ui.terminal_safe(rule.text)}{'  (critical)' if rule.critical else ''}"
            out.print(text, style="bold")
            since = f"since {rule.since:%Y-%m-%d %H:%M}" if rule.since else f"there before {rule.seen:%Y-%m-%d %H:%M}"
            approved = f", approved by {grounds.approved_by}" if grounds.approved_by else ", nobody was asked"
            out.print(f"  {rule.where}  {since}{approved}")
            for one in grounds.evidence:
                quote = f"“{ui.terminal_safe(one.quote)}” — {one.origin}, {one.session_id} turn {one.turn}"
                out.print(f"  {quote}")
            if grounds.because:
                out.print(f"  because {ui.terminal_safe(grounds.because)}")
        for instruction in told:
            show_instruction(instruction)
        if not rules and not told:
            click.echo(
                "No rules are known: no memory and no skills were found. `reverie memory add TEXT` writes the first."
                if as_of is None
                else "No rules were known then."
            )


def show_instruction(one: Instruction) -> None:
    ui.console().print(ui.terminal_safe(one.text), style="bold")
    ui.console().print(f"  {ui.terminal_safe(one.file)}  an instruction file; Reverie does not change it")


@click.command(name="context")
@click.option("--task", default="", metavar="TEXT", help="What the session is about to do: chooses the skills.")
@click.option("--tags", default="", metavar="A,B", help="Tags the skills should have.")
@click.option("--budget", type=click.IntRange(1), default=6_000, show_default=True, help="Tokens to spend.")
@click.option(
    "--target", "targets", multiple=True, metavar="NAME", help="Which targets; all that are there if not said."
)
@click.option("--session", metavar="ID", help="For this session: asked again, it gets the same.")
@click.option("--as-of", type=ui.DateOrAge(), help="What was given last by then, byte for byte.")
@ui.common
def context(
    *,
    task: str,
    tags: str,
    budget: int,
    targets: tuple[str, ...],
    session: str | None,
    as_of: datetime | None,
    shell: ui.Shell,
) -> None:
    """Exactly the block a session starts with: memory and the skills its task calls for. It is recorded."""
    with shell.opened() as house:
        if as_of is not None:
            given = house.context.as_of(as_of, session)
        else:
            wanted = [tag.strip() for tag in tags.split(",") if tag.strip()]
            given = house.context(task, tags=wanted, budget=budget, targets=targets, session=session)
    if shell.printed_json(given):
        return
    click.echo(given.text, nl=False)
    for reason in (*given.withheld, *given.left_out):
        click.echo(f"Not in it: {reason}", err=True)


@click.command(name="sync")
@click.option("--from", "source", metavar="NAME", help="The source target; Hermes' or the home's own if not said.")
@click.option("--to", multiple=True, metavar="NAME", help="A target to render it to; all that agents read if not said.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@ui.common
def sync(*, source: str | None, to: tuple[str, ...], dry_run: bool, shell: ui.Shell) -> None:
    """Render the rules of one target to the memory of other agents, each within its own limits, and say what does not
    fit. Twice is once. What someone changed on a rendered surface is left alone, and the source is never written.

    What rests on the owner's words or was approved lands on the other surfaces; what was written into the source from
    outside asks first. Each surface has its change in the history; `reverie undo` takes it back.
    """
    with shell.opened() as house:
        chosen = source or house.memory.default()
        rendered = house.sync(chosen, to, land=not dry_run)
    if shell.printed_json({"source": chosen, "dry_run": dry_run, "rendered": rendered}):
        return
    for one in rendered:
        if one.fate != "same":
            click.echo(f"{one.target}/{one.document}  {one.fate}: {ui.one_line(one.text, 80)}")
            click.echo(f"  {one.why}" if one.why else "", nl=bool(one.why))
    for target in dict.fromkeys(one.target for one in rendered):
        counts = Counter(one.fate.value for one in rendered if one.target == target)
        click.echo(f"{target}: {', '.join(f'{number} {fate}' for fate, number in counts.items())}.")
    if not rendered:
        click.echo(f"Nothing to render from {chosen}, or no other agent is used on this machine.")
    if dry_run:
        click.echo("Nothing was changed.")


@click.command(name="history")
@click.argument("path", required=False, type=click.Path())
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True)
@ui.with_pager
def history(*, path: str | None, limit: int, shell: ui.Shell) -> None:
    """Show what happened to memory and skills, newest first; to one document or skill if PATH is given.

    `reverie history rebuild` makes the git projection anew from the database.
    """
    with shell.opened() as house:
        if path == "rebuild":
            rebuilt = house.projection.rebuild()
            shell.tell(rebuilt, str(rebuilt))
            return
        ui.look(house)
        changes = house.history.changes(house.document_of(path) if path else None, limit)
        named = {change.id: house.history.name_of(change.target) for change in changes}
        sentences = house.inbox.sentences(changes, house.history.name_of, whole=not sys.stdout.isatty())
        elsewhere = [] if shell.json else house.projection.elsewhere()
    if shell.printed_json([change_as_json(one, named[one.id]) | {"sentence": sentences[one.id]} for one in changes]):
        return
    if not changes:
        click.echo(
            "Nothing has happened yet. `reverie dream` reads what is new; `reverie memory add TEXT` writes an entry."
        )
    out = ui.console()
    for change in changes:
        grounds = change.grounds
        who = f"{grounds.actor}, approved by {grounds.approved_by}" if grounds.approved_by else grounds.actor
        out.print(f"{change.id}  {ui.day(change.settled_at)}  {named[change.id]}  {who}")
        ui.print_sentence(out, sentences[change.id])
        # The reason that was given, then what the person who approved it said, unless that is the same.
        reason = grounds.reason if not grounds.undoes and grounds.reason != grounds.because else ""
        because = f"because {grounds.because}" if grounds.because and not grounds.policy else ""
        if why := " · ".join(filter(None, (reason, because))):
            ui.print_sentence(out, why, style="dim")
    for said in elsewhere:
        out.print(f"Note: {said}.")


def change_as_json(change: Change, target: str) -> dict[str, object]:
    from reverie.changes.history import happened

    names = ("via", "actor", "origin", "reason", "approved_by", "because", "policy", "proposal", "dream", "undoes")
    row = {"id": change.id, "number": change.number, "at": change.settled_at, "target": target}
    row |= {"subject": change.subject, "happened": happened(change)}
    row |= {name: getattr(change.grounds, name) for name in (*names, "evidence")}
    return row | {"documents": [edit.document for edit in change.edits]}


@click.command(name="blame")
@click.argument("path", type=click.Path())
@click.option("--as-of", type=ui.DateOrAge(), help="As it was then: a date, a time, or an age such as 7d.")
@WORKSPACE
@USER
@ui.with_pager
def blame(*, path: str, as_of: datetime | None, workspace: str | None, user: str | None, shell: ui.Shell) -> None:
    """Which change brought each statement of a document, who made it and who approved it. PATH is a document, a skill,
    a memory store or a memory in one, or an instruction file, of which Reverie keeps no history."""
    from reverie.changes.history import happened, instruction_row, rule_row

    with shell.opened() as house:
        if workspace is None and user is None:
            ui.look(house, skills=True)
        rules: list[Rule] = []
        unknown: list[NotFound] = []
        histories = house.histories(workspace, user)
        for history in histories:
            try:
                rules += history.blame(house.document_of(path), as_of)
            except NotFound as error:
                unknown.append(error)
        meant = Path(path).expanduser().absolute()
        named = [one for one in house.instructions() if Path(one.file) == meant or one.file.endswith(f"/{path}")]
        if len(unknown) == len(histories) and not named:
            raise unknown[0]
        told = named if not rules else []
    if shell.printed_json([*(rule_row(rule) for rule in rules), *map(instruction_row, told)]):
        return
    for one in told:
        show_instruction(one)
    out = ui.console()
    for rule in rules:
        change = rule.change
        approved = f", approved by {change.grounds.approved_by}" if change.grounds.approved_by else ""
        head = f"{change.id}  {ui.day(change.settled_at)}  {change.grounds.actor}: {happened(change)}{approved}"
        out.print(head, style="dim")
        out.print(f"  {ui.one_line(ui.terminal_safe(rule.text), max(20, out.width - 4))}")


@click.command(name="diff")
@click.argument("earlier")
@click.argument("later", required=False)
@click.argument("path", required=False)
@ui.with_pager
def diff(*, earlier: str, later: str | None, path: str | None, shell: ui.Shell) -> None:
    """Show what changed between two points: changes (`chg_…`), dates, or ages such as 7d. One change alone: what it
    did."""
    with shell.opened() as house:
        ui.look(house)
        start = _point(house, earlier)
        end = _point(house, later) if later else house.history.latest()
        if later is None and earlier.startswith("chg_"):
            start, end = start - 1, start
        differences = house.history.difference(start, end, house.document_of(path) if path else None)
    from reverie.changes.proposal import drawn_diff

    diffs = [drawn_diff(one.target, [one.edit], 3) for one in differences]
    if shell.printed_json({"diff": "".join(diffs)}):
        return
    out = ui.console()
    for line in ui.terminal_safe("".join(diffs)).splitlines():
        out.print(line, style={"+": "green", "-": "red"}.get(line[:1], "dim"))
    if not diffs:
        click.echo("No difference.")


def _point(house: Home, text: str) -> int:
    if text.startswith("chg_"):
        return house.history.get(house.id_of("change", text)).number or 0
    return house.history.number_at(ui.DateOrAge().convert(text, None, None))


@click.command(name="undo")
@click.argument("change", required=False, shell_complete=ui.ids("change"))
@click.option("--target", metavar="NAME", help="The last change of ours to this target.")
@ui.BECAUSE
@ui.DESPITE
@ui.YES
@ui.common
def undo(
    *, change: str | None, target: str | None, because: str, despite_findings: bool, yes: bool, shell: ui.Shell
) -> None:
    """Take a change back, byte for byte; the last one of ours if none is named.

    Doing it twice does nothing more. An undo can be undone too, by its own name.
    """
    if change and target:
        raise BadInput(f"{change} and the last change to {target} are both named.", expected="one of them")
    with shell.opened() as house:
        change = house.id_of("change", change) if change else None
        within = house.memory.target(target).key if target else None
        land = partial(house.review.undo, change, because, within=within, despite_findings=despite_findings)
        ui.land_confirmed(house, land, shell, yes=yes, landed="Reverted in")
