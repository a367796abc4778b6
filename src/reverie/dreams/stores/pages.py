"""The pages of a memory store as entries of a dream: each statement with where it stands and what it belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath

from reverie.dreams.brief.brief import BriefDocument, BriefEntry
from reverie.dreams.decide import Limits
from reverie.dreams.ports import DreamTarget
from reverie.memory.formats import FORMATS, FormatName, words_left
from reverie.memory.operation import entry_hash

FORM: FormatName = "page"
NEW = "/notes"
PEOPLE_NEEDED = 2  # who agree, before they change a memory that is nobody's
# A store is looked up, not shown in every prompt, and its output is looked at before it is used.
LIMITS = Limits(max_changes=200, max_adds=50, max_new_chars=20_000, max_amendments=50)
_PROSE = frozenset({"", ".md", ".markdown", ".mdx", ".txt", ".rst", ".org"})
_ITEM = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+(?=\S)")
_LABELLED = re.compile(r"(?P<label>[^\s:][^:.!?]{0,40}):\s+(?P<value>\S.*)")
_HEADING = re.compile(r"^[ ]{0,3}#{1,6}[ \t]+(.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class StorePage:
    """A memory as it was read. `since` is when its wording came in, if that is known; it is as old as `seen`. `said` is
    when the words were said that a dream made one of its statements from, by the hash of that."""

    path: str
    content: bytes
    seen: datetime
    since: datetime | None = None
    critical: bool = False
    said: Mapping[str, datetime] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stated:
    """One statement on a page. `raw` is the entry as it stands there, `text` the same on one line.

    `under` is what it belongs to and does not say itself: the item it hangs below; of "Port: 5432" its heading, too.
    """

    text: str
    raw: str
    under: str = ""


def target_of_store(name: str, user: str, pages: Sequence[StorePage], instructions: str = "") -> DreamTarget:
    """A memory store: nobody is asked, and its limits are wide. Pages that are no prose are not changed."""
    prose = [page for page in pages if is_prose(page.path)]
    stated = {page.path: list(page_statements(page.content)) for page in prose}
    open_pages = [page for page in prose if stated[page.path] or words_left(page.content) is None]
    return DreamTarget(
        name,
        user,
        tuple(_documents(open_pages, [page.path for page in pages])),
        tuple(_entries(open_pages, stated)),
        limits=LIMITS,
        instructions=instructions,
        asks=False,
        people_needed=0 if user else PEOPLE_NEEDED,
    )


def _documents(pages: Iterable[StorePage], taken: Sequence[str]) -> Iterator[BriefDocument]:
    """Every page, and one for what fits none of them."""
    found = {page.path: len(page.content.decode("utf-8", "replace")) for page in pages}
    new, number = f"{NEW}.md", 1
    while (new in taken and new not in found) or any(path.startswith(f"{new}/") for path in taken):
        number += 1
        new = f"{NEW}-{number}.md"
    for path, characters in (found | {new: found.get(new, 0)}).items():
        purpose = "for what fits no other page" if path == new else ""
        yield BriefDocument(path, purpose, characters=characters, for_new=path == new)


def _entries(pages: Iterable[StorePage], stated: dict[str, list[Stated]]) -> Iterator[BriefEntry]:
    number = 0
    for page in pages:
        for one in stated[page.path]:
            number, name = number + 1, entry_hash(one.raw)
            came = page.said.get(name) or page.since
            yield BriefEntry(
                f"e{number}",
                page.path,
                one.text,
                came or page.seen,
                came is not None,
                page.critical,
                sha256=name,
                under=one.under,
            )


def is_prose(path: str) -> bool:
    return PurePosixPath(path).suffix.lower() in _PROSE


def page_statements(content: bytes) -> Iterator[Stated]:
    heading = ""
    above_it: list[tuple[int, str]] = []  # the items that what follows may hang below, by how far they are indented
    for piece in FORMATS[FORM].read(content).pieces:
        # How far an item is indented; None for what is none.
        mark = _ITEM.match(piece.raw)
        indent = len(mark[1].expandtabs(4)) if mark else None
        if indent is not None:
            above_it = [one for one in above_it if one[0] < indent]
        if piece.entry is None:
            heading = next(reversed(_HEADING.findall(piece.raw)), heading)
            above_it = above_it if indent is not None else []
        else:
            text = " ".join(piece.entry.split())
            parents = [label for _, label in above_it] if indent else []
            labelled = _LABELLED.fullmatch(text) is not None
            under = ": ".join([*([heading] if heading and labelled else []), *parents])
            yield Stated(text, piece.entry, under)
        if indent is not None:
            above_it.append((indent, " ".join(_ITEM.sub("", piece.raw, count=1).split()).rstrip(".: ")))
