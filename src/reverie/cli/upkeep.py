"""`reverie verify`, `recover`, `backup`, `restore` and `erase`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reverie.cli import shell as ui
from reverie.core.ids import plural

if TYPE_CHECKING:
    from reverie.erasure.records import Erasure, Left, Plan, Rules
    from reverie.storage.backup_archive import BackupStep, Manifest

KINDS = ("text", "session", "person", "project", "workspace")
SHOWN = 12
NONE_EXPIRED = "Nothing is older than `retention` allows."


@click.command(name="verify")
@ui.common
def verify(*, shell: ui.Shell) -> None:
    """Check that database, files and git agree and that nothing was altered. Changes nothing."""
    with shell.opened() as house:
        found = house.verify()
    shell.tell(found, *(f"{'ok  ' if check.ok else 'BAD '} {check.name}: {check.said}" for check in found))
    if not all(check.ok for check in found):
        sys.exit(1)


@click.command(name="recover")
@ui.common
def recover(*, shell: ui.Shell) -> None:
    """Finish what a crash left, and say what was done. Running it twice does nothing more."""
    with shell.opened() as house:
        erased = [*house.erase.again(), *house.erase.resume()]
        noticed = house.review.recover()
        nights = house.dream.recover()
    told = {name: [one.id for one in getattr(noticed, name)] for name in ("landed", "dropped", "outside")}
    told |= {"nights": [one.id for one in nights], "erasures": [one.id for one in erased]}
    lines = [f"Finished the erasure {one.id}." for one in erased]
    lines += [f"Finished {one.id} on {one.subject}." for one in noticed.landed]
    lines += [f"Gave up {one.id} on {one.subject}: {one.note}." for one in noticed.dropped]
    lines += [f"Recorded {one.id}: {one.subject} was written from outside." for one in noticed.outside]
    lines += [f"Finished the night {one.id} on {one.target}: {one.status}." for one in nights]
    shell.tell(told, *(lines or ["Nothing was left over."]))


@click.command(name="backup")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@ui.common
def backup(*, file: Path, force: bool, shell: ui.Shell) -> None:
    """Write the whole home into one FILE, such as home.tar.gz: database, settings, memory and skills.

    It is read back and checked before it takes its name, only you may read it, and it restores into SQLite and
    Postgres alike. The search index and git are not in it: they are made again.
    """
    with shell.opened() as house, progress(shell) as watch:
        made = house.backup(file, force=force, watch=watch)
    if shell.printed_json({"file": str(made.file), "bytes": made.bytes, **manifest_as_json(made.manifest)}):
        return
    size = f"{made.bytes / 1e6:,.1f} MB" if made.bytes >= 100_000 else f"{made.bytes / 1e3:,.1f} kB"
    click.echo(f"Wrote {made.file}: {held(made.manifest)}; {size}.")
    warn(made.manifest)


def manifest_as_json(manifest: Manifest) -> dict[str, Any]:
    names = ("schema", "created_at", "tables", "files", "ledger", "left_out")
    return {name: getattr(manifest, name) for name in names}


def held(manifest: Manifest) -> str:
    nouns = {"sessions": "session", "turns": "turn", "changes": "change", "proposals": "proposal"}
    rows = [plural(manifest.tables.get(table, 0), noun) for table, noun in nouns.items()]
    return ", ".join([*rows, plural(manifest.files, "file")])


def warn(manifest: Manifest) -> None:
    for path in manifest.left_out:
        click.echo(f"Left out: {ui.terminal_safe(path)} is a link, or not a regular file.", err=True)
    for workspace, head in manifest.ledger.items():
        if not head.whole:
            broken = f"The ledger of {ui.terminal_safe(workspace)} was already broken"
            click.echo(f"{broken}; `reverie verify` says where.", err=True)


@contextmanager
def progress(shell: ui.Shell) -> Iterator[Callable[[BackupStep], None] | None]:
    """Shown only where someone can see it."""
    shown = ui.console()
    if shell.json or not shown.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=shown, transient=True) as bar:
        task = bar.add_task("Starting", total=None)

        def watch(step: BackupStep) -> None:
            doing = step.doing if step.total else f"{step.done:,} {step.doing}"
            bar.update(task, description=doing, completed=step.done if step.total else 0, total=step.total)

        yield watch


@click.command(name="restore")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--erased",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="What was erased since, where it does not lie beside the backup: a home's `home.erased.json`.",
)
@click.option("--verify-only", is_flag=True, help="Read and check all of FILE; restore nothing.")
@ui.common
def restore(*, file: Path, erased: Path | None, verify_only: bool, shell: ui.Shell) -> None:
    """Make a home from the backup FILE, in a folder and a database that hold no data yet.

    Every hash is checked before anything is written. It is all there or nothing is: after a crash, run the same
    command again. What was erased since the backup was written does not come back.
    """
    from reverie.app import check_backup, restore_home
    from reverie.config import load

    with progress(shell) as watch:
        if verify_only:
            found = check_backup(file, watch=watch)
        else:
            config = load(shell.home, {"database": shell.database})
            made, again = restore_home(config, file, erased=erased, watch=watch)
            found = made.manifest
    if shell.json:
        where: dict[str, object] = {}
        if not verify_only:
            where = {"home": str(made.home), "repointed": made.repointed, "finished": made.finished}
            where["erased_again"] = len(again)
        ui.print_json({"restored": not verify_only, **where, **manifest_as_json(found)})
        return
    if verify_only:
        click.echo(f"{file} is whole: {held(found)}, of {ui.day(found.created_at)}.")
    else:
        how = "Finished the restore that was interrupted" if made.finished else "Restored"
        click.echo(f"{how}: {held(made.manifest)}, of {ui.day(made.manifest.created_at)}, in {made.home}.")
        if made.repointed:
            click.echo("`database` in reverie.toml was changed to fit the database that was restored into.")
        click.echo("Next: `reverie recover` makes the git history anew; the next search builds its index.")
        if again:
            click.echo(f"Erased again: {plural(len(again), 'erasure')} made since this backup was written.")
    warn(found)


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
@ui.common
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
    shell: ui.Shell,
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
            plans = house.erase.expiring(workspace=workspace)
            if not shell.printed_json([_dry_run(one) for one in plans]):
                _show_all(plans)
            return
        if expired:
            done = house.erase.expire(workspace=workspace)
        else:
            kind = chosen[0]
            plan = house.erase.plan(kind, *named[kind], user=user, workspace=workspace, rules=rules)
            if dry_run and shell.json:
                ui.print_json(_dry_run(plan))
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


def _show_all(plans: list[Plan]) -> None:
    if not plans:
        click.echo(NONE_EXPIRED)
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
        click.echo(f"  {place.kind}{ui.terminal_safe(name)}: {place.count:,}")
    for title, texts in (("Rules that go", plan.rules), ("Rules you will be asked about", plan.sought.asked)):
        if texts:
            click.echo(f"{title}:")
        ui.echo_some([f"  {ui.one_line(text, 100)}" for text in texts], SHOWN)
    _left(plan.left)


def _left(left: tuple[Left, ...]) -> None:
    if left:
        click.echo("Not touched:")
    for one in left:
        click.echo(f"  {ui.terminal_safe(one.where)}: {one.why}")


def _tell(shell: ui.Shell, plan: Plan | None, done: list[Erasure]) -> None:
    names = ("kind", "counts", "left", "ended_at")
    if shell.printed_json([{"erasure": one.id} | {name: getattr(one, name) for name in names} for one in done]):
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
