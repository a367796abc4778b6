"""Where a new statement goes: to the page that speaks of the same things, or to one of its own."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from reverie.deep.subjects import about, nearness
from reverie.dreams.stores.pages import Pages, is_prose
from reverie.dreams.stores.wishes import Wishes
from reverie.light.candidate import About
from reverie.memory.store_rules import above

FITS = 0.42
_PERSON = re.compile(r"user|person|profile|preference|about-?me|owner|style", re.IGNORECASE)
_WORLD = re.compile(r"memory|fact|project|note|knowledge|context|environment", re.IGNORECASE)
_NEW = {"person": "preferences.md", "world": "notes.md"}
_ODD = re.compile(r"[^a-z0-9]+")
_LONGEST_NAME = 48


def place_for(text: str, subject: About, pages: Pages, wishes: Wishes) -> str:
    """A path of the store, or a new one. What is to stay as it is gets nothing added."""
    if wishes.under is not None:
        return _under(wishes.under, text, subject, pages)
    open_pages = [path for path in sorted(pages.now) if is_prose(path) and not wishes.keeps(path)]
    best = max(open_pages, key=lambda path: _fit(text, path, pages), default=None)
    if _one_each(pages):
        folder = str(PurePosixPath(best).parent) if best and _fit(text, best, pages) >= FITS else "/"
        return _free(f"{folder.rstrip('/')}/{_name(text)}.md", pages)
    if best and _fit(text, best, pages) >= FITS:
        return best
    meant = _PERSON if subject == "person" else _WORLD
    return next((path for path in open_pages if meant.search(path)), None) or _free(f"/{_NEW[subject]}", pages)


def _under(under: str, text: str, subject: About, pages: Pages) -> str:
    if PurePosixPath(under).suffix:
        return under
    return f"{under.rstrip('/*')}/{_name(text)}.md" if _one_each(pages) else f"{under.rstrip('/*')}/{_NEW[subject]}"


def _one_each(pages: Pages) -> bool:
    """Whether this store keeps one statement a page."""
    counts = [len(pages.on(path)) for path in pages.now if is_prose(path)]
    return len(counts) >= 3 and sum(count <= 1 for count in counts) > 0.6 * len(counts)


def _fit(text: str, path: str, pages: Pages) -> float:
    """How near the nearest statement is, with what the path itself names."""
    statements = pages.on(path)
    near = max((nearness(text, one.text) for one in statements), default=0.0)
    named = about(path.replace("/", " ").replace("-", " ").replace(".md", "")) & about(text)
    common = max((len(about(one.text) & about(text)) for one in statements), default=0)
    return near + 0.1 * min(common, 2) + 0.2 * bool(named) - 0.2


def _name(text: str) -> str:
    words = _ODD.sub(" ", text.casefold()).split()
    kept = [word for word in words if about(word)][:6] or ["note"]
    return "-".join(kept)[:_LONGEST_NAME].strip("-")


def _free(path: str, pages: Pages) -> str:
    """One that no page stands at, above or below."""
    stem, number = path.removesuffix(".md"), 1
    while _in_the_way(path, pages):
        number += 1
        path = f"{stem}-{number}.md"
    return path


def _in_the_way(path: str, pages: Pages) -> bool:
    return any(folder in pages.now for folder in above(path)) or any(one.startswith(f"{path}/") for one in pages.now)
