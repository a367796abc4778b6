"""`reverie erase`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from reverie.cli.options import Shell, common
from reverie.cli.render import one_line, print_json, terminal_safe
from reverie.core.strings import plural

if TYPE_CHECKING:
    from reverie.erasure.records import Erasure, Left, Plan, Rules

KINDS = ("text", "session", "person", "project", "workspace")
SHOWN = 12
NONE_EXPIRED = "Nothing is older than `retention` allows."


@click.command(name="erase")
@click.option("--text", multiple=True, metavar="WORDS", help="These words, wherever they stand. May be given again.")
@click.option(
    "--session", multiple=True, metavar="ID", help="This session and what was made of it. May be given again."
)
@click.option("--person", metavar="NAME", help="Everything of this user.")
@click.option("--project", metavar="NAME", help="Every session in this repository or folder, by name or path.")
@click.option("--workspace", metavar="NAME", help="All of this workspace; with another option: only there.")
@click.option("--expired", is_flag=True, help="Every session that is older than the setting `retention` allows.")
@click.option("--user", metavar="NAME", help="Whose, if several people have a session of that id.")
@click.option(
    "--rules",
    type=click.Choice(["remove", "ask", "keep"]),
    default="remove",
    show_default=True,
    help="What becomes of rules that rest on nothing else. A critical one is always asked about.",
)
@click.option("--transcripts", is_flag=True, help="Delete the harness's own files, too, if nothing else is in them.")
@click.option("--dry-run", is_flag=True, help="List every place and change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@common
def erase(
    *,
    text: tuple[str, ...],
    session: tuple[str, ...],
    person: str | None,
    project: str | None,
    workspace: str | None,
    expired: bool,
    user: str | None,
    rules: Rules,
    transcripts: bool,
    dry_run: bool,
    yes: bool,
    shell: Shell,
) -> None:
    """Erase a text, a session, a person, a project or a whole workspace.

    It goes from transcripts, search, candidates, proposals, changes, diaries, views, git, the ledger's details and the
    database's free pages. Rules that rest on nothing else go, too. It cannot be undone. What is not Reverie's is
    listed: transcripts of a harness, and backups that still hold it.
    """
    named = {
        "text": text,
        "session": session,
        "person": (person,) if person else (),
        "project": (project,) if project else (),
    }
    chosen = [kind for kind, values in named.items() if values]
    if workspace and not chosen and not expired:
        chosen, named["workspace"] = ["workspace"], (workspace,)
    if len(chosen) + expired != 1:
        raise click.UsageError(f"Say what is to go: one of {', '.join(f'--{kind}' for kind in KINDS)} or --expired.")
    with shell.opened() as house:
        plan = None
        if expired and dry_run:
            _show_expiring(shell, house.erase.expiring(workspace=workspace))
            return
        if expired:
            done = house.erase.expire(workspace=workspace)
        else:
            kind = chosen[0]
            plan = house.erase.plan(kind, *named[kind], user=user, workspace=workspace, rules=rules)
            if dry_run and shell.json:
                print_json(_dry_run(plan))
            elif not shell.json:
                _show(plan)
            if dry_run:
                return
            if not yes:
                click.confirm("Erase all of this? It cannot be undone.", abort=True)
            done = [house.erase(plan, transcripts=transcripts)]
    _tell(shell, plan, done)
    if any(one.failed for erasure in done for one in erasure.left):
        sys.exit(1)


def _show_expiring(shell: Shell, plans: list[Plan]) -> None:
    if shell.json:
        print_json([_dry_run(plan) for plan in plans])
    elif not plans:
        click.echo(NONE_EXPIRED)
    else:
        for plan in plans:
            _show(plan)


def _dry_run(plan: Plan) -> dict[str, Any]:
    places = [{"kind": one.kind, "where": one.where, "count": one.count} for one in plan.places]
    left = [{"where": one.where, "why": one.why} for one in plan.left]
    sessions = [one.id for one in plan.sought.sessions]
    told = {"sessions": sessions, "places": places, "rules": plan.rules, "asked": plan.sought.asked, "left": left}
    return {"dry_run": True, **told}


def _show(plan: Plan) -> None:
    if plan.empty:
        click.echo("It stands nowhere. Erasing it all the same keeps it from being imported.")
    for place in plan.places:
        name = f", {place.where}" if place.kind in ("files", "rules and skills agents read") else ""
        click.echo(f"  {place.kind}{terminal_safe(name)}: {place.count:,}")
    for title, texts in (("Rules that go", plan.rules), ("Rules you will be asked about", plan.sought.asked)):
        if texts:
            click.echo(f"{title}:")
        for text in texts[:SHOWN]:
            click.echo(f"  {one_line(text, 100)}")
        if len(texts) > SHOWN:
            click.echo(f"  … and {len(texts) - SHOWN:,} more (--json lists all)")
    _left(plan.left)


def _left(left: tuple[Left, ...]) -> None:
    if left:
        click.echo("Not touched:")
    for one in left:
        click.echo(f"  {terminal_safe(one.where)}: {one.why}")


def _tell(shell: Shell, plan: Plan | None, done: list[Erasure]) -> None:
    if shell.json:
        print_json(
            [
                {"erasure": one.id, "kind": one.kind, "counts": one.counts, "left": one.left, "ended_at": one.ended_at}
                for one in done
            ]
        )
        return
    if not done:
        click.echo(NONE_EXPIRED)
    for one in done:
        total = ", ".join(f"{kind} {count:,}" for kind, count in sorted(one.counts.items()) if count) or "nothing"
        click.echo(f"Erased ({one.id}): {total}.")
        if plan is None or one.left != plan.left:
            _left(one.left)
    if done:
        click.echo(f"{plural(len(done), 'erasure')} done; the ledger says that, and not what it was.")
