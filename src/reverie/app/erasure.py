"""How erasure is wired: every place of a home that could still hold what is to go."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from reverie.core.errors import ReverieError

if TYPE_CHECKING:
    from reverie.app.home import Home
    from reverie.erasure.library import Erasing
    from reverie.memory.target import Target
    from reverie.storage.erasure.files import HomeFiles


def erasing(home: Home) -> Erasing:
    """`home.erase(home.erase.plan("session", "claude-code:…"))`, or at once: `home.erase.text("…")`."""
    from reverie.erasure.library import Erasing, LiveDocuments
    from reverie.system.files import remove_file

    documents = LiveDocuments(partial(_live_targets, home), home.skill_folders.values, home.review)
    return Erasing(
        home.scope,
        home.erasures,
        documents,
        _erased_files(home),
        lambda path: remove_file(Path(path)),
        home.config.retention,
        home.ids,
        home.clock,
    )


def _live_targets(home: Home) -> list[Target]:
    """Those that stand on this machine, and every other that was ever changed and is still there."""
    known = [
        home.targets.get(key) for key in dict.fromkeys(key for key, _ in home.history_records.documents(home.owned))
    ]
    return list({one.key: one for one in (*known, *home.targets.available()) if one is not None}.values())


def _erased_files(home: Home) -> HomeFiles:
    from reverie.storage.erasure.files import HomeFiles
    from reverie.storage.upkeep import forget_nights

    return HomeFiles(
        home.config.home,
        lambda: home.projection,
        partial(_dream_folders, home),
        partial(_show_dreams, home),
        lambda: home.index.renew(),  # noqa: PLW0108  (it is opened only where something is erased)
        lambda: forget_nights(home.config.home, home.config.database),
    )


def _dream_folders(home: Home) -> list[Path]:
    """Every folder nights may have left their views in."""
    beside = [getattr(target, "dreaming", None) for target in home.targets.offered()]
    own = home.config.home / "dreaming"
    return [*filter(None, beside), *(sorted(own.iterdir()) if own.is_dir() else ())]


def _show_dreams(home: Home) -> None:
    for target in home.dream_records.targets(home.owned):
        with suppress(ReverieError):  # one whose target cannot be written now is shown after its next night
            home.dream.show(target)
