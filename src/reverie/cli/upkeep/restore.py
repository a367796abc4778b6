"""`reverie restore`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from reverie.cli.options import Shell, common
from reverie.cli.render import day, print_json
from reverie.cli.upkeep.backup import held, manifest_as_json, progress, warn
from reverie.core.strings import plural

if TYPE_CHECKING:
    from reverie.storage.backup.restore import Restored


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
def command(*, file: Path, erased: Path | None, verify_only: bool, shell: Shell) -> None:
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
