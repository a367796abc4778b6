"""`reverie skills`."""

from __future__ import annotations

import sys
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from reverie.cli import shell as ui
from reverie.cli.review import show_proposal
from reverie.core.ids import plural

if TYPE_CHECKING:
    from reverie.app import Home
    from reverie.changes.queue import Proposed
    from reverie.skills.library import FoundSkill
    from reverie.skills.skill import Bump


@click.group(name="skills")
def skills() -> None:
    """Skills of agents: procedures in SKILL.md folders and Markdown files, with versions and an undo."""


@skills.command(name="list")
@ui.with_pager
def list_(*, shell: ui.Shell) -> None:
    """Every skill in every folder agents read them from, and how it did where that is known."""
    from reverie.skills.skill import bare_name

    with shell.opened() as house:
        found, outcomes = list(house.skills.every()), house.skills.outcomes()
    if shell.printed_json([_row(one) | {"outcomes": outcomes.get(bare_name(one.skill.subject))} for one in found]):
        return
    out = ui.console()
    copies = dict[tuple[str, bytes], list[str]]()
    for one in found:
        copies.setdefault((one.skill.subject, one.skill.content), []).append(one.folder.name)
    for one in found:
        first, *others = copies[one.skill.subject, one.skill.content]
        if one.folder.name != first:
            continue
        version = f" {one.skill.version}" if one.skill.version else ""
        off = "" if one.skill.enabled else "  (disabled)"
        did = outcomes.get(bare_name(one.skill.subject))
        known = f"  ({did.sentence}; confidence {did.confidence:.2f})" if did else ""
        also = f"  (the same in {', '.join(others)})" if others else ""
        out.print(f"{one.path}{version}{off}{also}{known}", style="bold")
        out.print(f"  {ui.one_line(one.skill.description or 'no description', max(20, out.width - 4))}")
    if not found:
        click.echo("No skills yet. `reverie skills add PATH` brings one in; refinements come as proposals.")


@skills.command()
@click.argument("name")
@click.option("--as-of", type=ui.DateOrAge(), help="As it was then: a date, a time, or an age such as 7d.")
@ui.with_pager
def show(*, name: str, as_of: datetime | None, shell: ui.Shell) -> None:
    """One skill: its text, what validation says of it, and its last changes."""
    from reverie.skills.validation import problems_of

    with shell.opened() as house:
        found = house.skills.get(name)
        problems = problems_of(found.skill)
        named = f"{found.folder.name}/{found.skill.document}"
        text = house.history.content(named, as_of)
        first_seen = None if text is not None else house.history.first_seen(named)
        changes = house.history.changes(named, 5)
    if shell.json:
        shown = None if text is None else text.decode("utf-8", "backslashreplace")
        ui.print_json(_row(found) | {"problems": problems, "text": shown, "changes": [one.id for one in changes]})
        return
    if text is None:
        click.echo(ui.why_absent(found.path, first_seen, as_of), err=True)
        sys.exit(1)
    click.echo(ui.terminal_safe(text.decode("utf-8", "backslashreplace")))
    for problem in problems:
        click.echo(f"{problem.severity}: {problem}", err=True)
    for change in changes:
        click.echo(
            f"{change.id}  {ui.day(change.settled_at)}  {change.grounds.actor}  {change.grounds.reason}", err=True
        )


@skills.command()
@click.argument("path", type=click.Path(path_type=Path, exists=True))
@click.option("--folder", default="skills", show_default=True, metavar="NAME", help="Which folder to put it in.")
@click.option("--name", metavar="NAME", help="What to call it there; its own name if not said.")
@ui.BECAUSE
@ui.DESPITE
@ui.common
def add(*, path: Path, folder: str, name: str | None, because: str, despite_findings: bool, shell: ui.Shell) -> None:
    """Bring in a skill from a folder or a Markdown file. All its files are scanned first."""
    with shell.opened() as house:
        outcome = house.refining.bring_in(path, folder, name, because, despite_findings=despite_findings)
        ui.tell_outcomes(house, [outcome], shell)


@skills.command()
@click.argument("name")
@click.option("--section", default="", metavar="HEADING", help="The section to change, such as Gotchas.")
@click.option("--add", "added", multiple=True, metavar="RULE", help="A rule to add to the section.")
@click.option("--replace", "replaced", nargs=2, multiple=True, metavar="OLD NEW", help="A rule to replace.")
@click.option("--remove", "removed", multiple=True, metavar="RULE", help="A rule to remove.")
@click.option("--diff", type=click.File("r", encoding="utf-8"), help="A unified diff of the document (- is stdin).")
@click.option("--text", type=click.File("r", encoding="utf-8"), help="A new text of the body (- is stdin).")
@click.option("--bump", type=click.Choice(["patch", "minor", "major"]), help="Which part of the version to count up.")
@ui.BECAUSE
@ui.common
def refine(
    *,
    name: str,
    section: str,
    added: tuple[str, ...],
    replaced: tuple[tuple[str, str], ...],
    removed: tuple[str, ...],
    diff: IO[str] | None,
    text: IO[str] | None,
    bump: Bump | None,
    because: str,
    shell: ui.Shell,
) -> None:
    """Propose a change of a skill, by section or by diff. It waits in `reverie review`; nothing is written."""
    with shell.opened() as house:
        made = house.refining.refine_skill(
            name,
            section=section,
            add=added,
            replace=dict(replaced),
            remove=removed,
            diff=diff.read() if diff else "",
            text=text.read() if text else "",
            bump=bump,
            because=because,
        )
        _proposed(house, made, shell)


@skills.command()
@click.argument("into")
@click.argument("absorbed")
@click.option("--text", type=click.File("r", encoding="utf-8"), required=True, help="The text of both (- is stdin).")
@ui.BECAUSE
@ui.common
def merge(*, into: str, absorbed: str, text: IO[str], because: str, shell: ui.Shell) -> None:
    """Propose that one skill takes in another, which is archived then. It waits in `reverie review`."""
    with shell.opened() as house:
        made = house.refining.merge_skills(into, absorbed, text.read(), because)
        _proposed(house, made, shell)


def _proposed(house: Home, made: Proposed, shell: ui.Shell) -> None:
    from reverie.changes.queue import Waiting, proposal_outcome

    if not isinstance(made, Waiting):
        click.echo(proposal_outcome(made))
        sys.exit(1)
    show_proposal(house, made.proposal.id, shell)
    if not shell.json:
        click.echo("Waits for `reverie review`.")


@skills.command(name="match")
@click.argument("task")
@click.option("--tags", default="", metavar="A,B", help="Tags the skills should have.")
@click.option("--budget", type=click.IntRange(1), default=4_000, show_default=True, help="Tokens to spend.")
@click.option("--explain", is_flag=True, help="Say why each matched.")
@ui.common
def match_(*, task: str, tags: str, budget: int, explain: bool, shell: ui.Shell) -> None:
    """Which skills a task calls for, best first."""
    with shell.opened() as house:
        matches = house.skills.match(task, [tag.strip() for tag in tags.split(",") if tag.strip()], budget)
    rows = [
        {"skill": one.skill.subject, "description": one.skill.description or "", "score": one.score}
        | {"tokens": one.tokens, "parts": dict(one.parts), "why": one.why}
        for one in matches
    ]
    if shell.printed_json(rows):
        return
    for one in matches:
        click.echo(f"{one.score:.2f}  {one.skill.subject}  ({one.tokens:,} tokens)")
        if explain:
            click.echo(f"      {one.why}")
            click.echo(f"      {', '.join(f'{name} {value:+.2f}' for name, value in one.parts)}")
    if not matches:
        click.echo("No skill matches.")


@skills.command()
@click.argument("name")
@click.argument("version")
@ui.BECAUSE
@ui.DESPITE
@ui.YES
@ui.common
def revert(*, name: str, version: str, because: str, despite_findings: bool, yes: bool, shell: ui.Shell) -> None:
    """Bring back an older version of a skill, byte for byte."""
    with shell.opened() as house:
        land = partial(house.refining.revert_skill, name, version, because, despite_findings=despite_findings)
        ui.land_confirmed(house, land, shell, yes=yes)


@skills.command()
@click.argument("name")
@ui.BECAUSE
@ui.YES
@ui.common
def archive(*, name: str, because: str, yes: bool, shell: ui.Shell) -> None:
    """Retire a skill: it moves to .archive, nothing is deleted, and `reverie undo` brings it back."""
    with shell.opened() as house:
        ui.land_confirmed(house, partial(house.refining.retire_skill, name, because), shell, yes=yes)


@skills.command()
@click.argument("name")
@click.argument("rule")
@click.option("--off", is_flag=True, help="No longer.")
@ui.common
def critical(*, name: str, rule: str, off: bool, shell: ui.Shell) -> None:
    """Mark a rule of a skill as critical, named by its id or by words that stand in no other: changing or dropping it
    always asks a person, whatever the policy says."""
    with shell.opened() as house:
        marked = house.refining.mark_rule(name, rule, critical=not off)
    shell.tell(
        {"rule": marked.text, "where": f"{marked.target}/{marked.document}", "critical": not off},
        f"{name}: {'no longer ' if off else ''}critical: {ui.one_line(ui.terminal_safe(marked.text), 100)}",
    )


@skills.command()
@click.option("--since", type=ui.DateOrAge(), default="30d", show_default=True, help="A date, or an age such as 30d.")
@ui.common
def refinements(*, since: datetime, shell: ui.Shell) -> None:
    """The skills that were refined lately: when, how often, by whom."""
    with shell.opened() as house:
        changes = house.refining.refinements(since)
        named = {change.id: house.history.name_of(change.target) for change in changes}
    if shell.json:
        from reverie.cli.history import change_as_json

        ui.print_json([change_as_json(change, named[change.id]) for change in changes])
        return
    for change in changes:
        grounds = change.grounds
        approved = f", approved by {grounds.approved_by}" if grounds.approved_by else ""
        click.echo(f"{ui.day(change.settled_at)}  {named[change.id]}/{change.subject}  {grounds.actor}{approved}")
        if grounds.reason:
            click.echo(f"  {ui.one_line(grounds.reason, 100)}")
    click.echo(f"{plural(len(changes), 'refinement')} since {since:%Y-%m-%d}.")


def _row(found: FoundSkill) -> dict[str, object]:
    names = ("name", "description", "version", "tags", "triggers", "priority", "enabled")
    more = ("refinements", "last_refined", "shape")
    return {"path": found.path} | {name: getattr(found.skill, name) for name in (*names, *more)}
