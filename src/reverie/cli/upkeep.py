"""`reverie verify`, `recover`, `backup` and `restore`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reverie.cli.options import Shell, common
from reverie.cli.render import console, day, print_json, terminal_safe
from reverie.core.strings import plural

if TYPE_CHECKING:
    from reverie.storage.backup.archive import BackupStep, Manifest
    from reverie.storage.backup.backup import Restored


@click.command(name="verify")
@common
def verify(*, shell: Shell) -> None:
    """Check that database, files and git agree and that nothing was altered. Changes nothing."""
    with shell.opened() as house:
        found = house.verify()
    if shell.json:
        print_json(found)
    else:
        for check in found:
            click.echo(f"{'ok  ' if check.ok else 'BAD '} {check.name}: {check.said}")
    if not all(check.ok for check in found):
        sys.exit(1)


@click.command(name="recover")
@common
def recover(*, shell: Shell) -> None:
    """Finish what a crash left, and say what was done. Running it twice does nothing more."""
    with shell.opened() as house:
        erased = [*house.erase.again(), *house.erase.resume()]
        noticed = house.review.recover()
        nights = house.dream.recover()
    if shell.json:
        told = {name: [one.id for one in getattr(noticed, name)] for name in ("landed", "dropped", "outside")}
        print_json(told | {"nights": [one.id for one in nights], "erasures": [one.id for one in erased]})
        return
    for one in erased:
        click.echo(f"Finished the erasure {one.id}.")
    for change in noticed.landed:
        click.echo(f"Finished {change.id} on {change.subject}.")
    for change in noticed.dropped:
        click.echo(f"Gave up {change.id} on {change.subject}: {change.note}.")
    for change in noticed.outside:
        click.echo(f"Recorded {change.id}: {change.subject} was written from outside.")
    for night in nights:
        click.echo(f"Finished the night {night.id} on {night.target}: {night.status}.")
    if not (erased or nights or noticed.landed or noticed.dropped or noticed.outside):
        click.echo("Nothing was left over.")


@click.command(name="backup")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@common
def backup(*, file: Path, force: bool, shell: Shell) -> None:
    """Write the whole home into one FILE, such as home.tar.gz: database, settings, memory and skills.

    It is read back and checked before it takes its name, only you may read it, and it restores into SQLite and
    Postgres alike. The search index and git are not in it: they are made again.
    """
    with shell.opened() as house, progress(shell) as watch:
        made = house.backup(file, force=force, watch=watch)
    if shell.json:
        print_json({"file": str(made.file), "bytes": made.bytes, **manifest_as_json(made.manifest)})
        return
    click.echo(f"Wrote {made.file}: {held(made.manifest)}; {size(made.bytes)}.")
    warn(made.manifest)


def manifest_as_json(manifest: Manifest) -> dict[str, Any]:
    return {
        "schema": manifest.schema,
        "created_at": manifest.created_at,
        "tables": manifest.tables,
        "files": manifest.files,
        "ledger": manifest.ledger,
        "left_out": manifest.left_out,
    }


def held(manifest: Manifest) -> str:
    nouns = {"sessions": "session", "turns": "turn", "changes": "change", "proposals": "proposal"}
    rows = [plural(manifest.tables.get(table, 0), noun) for table, noun in nouns.items()]
    return ", ".join([*rows, plural(manifest.files, "file")])


def warn(manifest: Manifest) -> None:
    for path in manifest.left_out:
        click.echo(f"Left out: {terminal_safe(path)} is a link, or not a regular file.", err=True)
    for workspace, head in manifest.ledger.items():
        if not head.whole:
            click.echo(
                f"The ledger of {terminal_safe(workspace)} was already broken; `reverie verify` says where.", err=True
            )


def size(count: int) -> str:
    return f"{count / 1e6:,.1f} MB" if count >= 100_000 else f"{count / 1e3:,.1f} kB"


@contextmanager
def progress(shell: Shell) -> Iterator[Callable[[BackupStep], None] | None]:
    """Shown only where someone can see it."""
    shown = console()
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
@common
def restore(*, file: Path, erased: Path | None, verify_only: bool, shell: Shell) -> None:
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
        print_json({"restored": not verify_only, **where, **manifest_as_json(found)})
        return
    if verify_only:
        click.echo(f"{file} is whole: {held(found)}, of {day(found.created_at)}.")
    else:
        _say(made)
        if again:
            click.echo(f"Erased again: {plural(len(again), 'erasure')} made since this backup was written.")
    warn(found)


def _say(made: Restored) -> None:
    how = "Finished the restore that was interrupted" if made.finished else "Restored"
    click.echo(f"{how}: {held(made.manifest)}, of {day(made.manifest.created_at)}, in {made.home}.")
    if made.repointed:
        click.echo("`database` in reverie.toml was changed to fit the database that was restored into.")
    click.echo("Next: `reverie recover` makes the git history anew; the next search builds its index.")
