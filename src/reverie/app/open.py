"""Ways to a Home: opened, checked, restored from a backup."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from reverie.config import Config, load
from reverie.core.clock import FixedClock, SystemClock, rfc3339
from reverie.core.errors import BadSetting, HalfRestored, NotPermitted

if TYPE_CHECKING:
    from reverie.app.home import Home
    from reverie.erasure.records import Erasure
    from reverie.llm.clients.models import Tried
    from reverie.storage.backup import Restored
    from reverie.storage.backup_archive import Manifest, Watch
    from reverie.storage.upkeep import Check


def open_home(
    path: str | os.PathLike[str] | None = None,
    *,
    now: datetime | None = None,
    settings: Mapping[str, str | None] | None = None,
) -> Home:
    """Open a Home, making its folder if it is new. `now` fixes its clock; `settings` win over the environment."""
    config = load(path, settings)
    try:
        config.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise BadSetting(f"{config.home} is not a folder.", expected="a folder for the home") from error
    except OSError as error:
        raise NotPermitted(f"{config.home} cannot be made: {error.strerror}.") from error
    from reverie.storage.backup_files import is_half_restored

    if is_half_restored(config.home):
        raise HalfRestored(
            f"A restore into {config.home} was interrupted: what it brought is only partly in its place.",
            next_step="Run the same `reverie restore` again, with the same backup: it finishes.",
        )
    from reverie.app.home import Home

    return Home(config, FixedClock(now) if now else SystemClock())


def checkup(config: Config) -> list[Check]:
    from reverie.storage.upkeep import checks

    return checks(config.home, config.database)


def try_models(config: Config) -> list[Tried]:
    """Ask the model of the settings, if there is one, for a word and a number; nothing of the user's is sent."""
    from reverie.llm.clients.models import try_out

    said = config.models
    return [try_out(said.choice, config.environment, said.answer_tokens, said.timeout)] if said.choice else []


def restore_home(
    config: Config, file: Path, *, erased: Path | None = None, watch: Watch | None = None
) -> tuple[Restored, list[Erasure]]:
    """Make this home from a backup, or leave everything as it is. What was erased since it was made is erased again:
    what the files beside the backup and in the home say, and the file `erased`."""
    from reverie.changes.ledger import RESTORE
    from reverie.storage.backup import restore
    from reverie.storage.erasure.files import hand_over

    asked = config.values["database"].came_from == "--database"
    with hand_over(config.home, file, erased):
        made = restore(file, config.home, config.database, named=config.database if asked else None, watch=watch)
    flags = {"database": config.database} if asked else {}
    with open_home(config.home, settings=flags) as home:
        # Git may have gone on past the backup, in folders of skills: the ledger says why. Twice is once.
        told = {"backup_made_at": rfc3339(made.manifest.created_at), "actor": home.scope.actor}
        *_, last = (None, *home.history_records.rows(home.owned))
        if last is None or last.kind != RESTORE or last.body != told:
            home.history_records.append(home.owned, RESTORE, told)
        return made, home.erase.again()


def check_backup(file: Path, *, watch: Watch | None = None) -> Manifest:
    from reverie.storage.backup import read_whole_backup

    return read_whole_backup(file, watch=watch)
