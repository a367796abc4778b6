"""`reverie backup`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reverie.cli.options import Shell, common
from reverie.cli.render import console, print_json, terminal_safe
from reverie.core.strings import plural

if TYPE_CHECKING:
    from reverie.storage.backup.manifest import BackupStep, Manifest


@click.command(name="backup")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Replace FILE if it exists.")
@common
def command(*, file: Path, force: bool, shell: Shell) -> None:
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
