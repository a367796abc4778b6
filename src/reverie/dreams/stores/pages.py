"""The pages of a store while a night thinks: what they say now, and what they would say. Nothing is written."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PurePosixPath

from reverie.deep.material import Known
from reverie.deep.subjects import about
from reverie.memory.formats import FORMATS, FormatName
from reverie.memory.operation import Applied, Operation, applied, entry_hash
from reverie.memory.pages import words_left
from reverie.memory.pieces import Piece
from reverie.memory.store_rules import LARGEST_MEMORY_BYTES

FORM: FormatName = "page"
_PROSE = frozenset({"", ".md", ".markdown", ".mdx", ".txt", ".rst", ".org"})
_ITEM = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+(?=\S)")
LABELLED = re.compile(r"(?P<label>[^\s:][^:.!?]{0,40}):\s+(?P<value>\S.*)")
_HEADING = re.compile(r"^[ ]{0,3}#{1,6}[ \t]+(.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Page:
    """A memory as it was read. `since` is when its wording came in, if that is known; it is as old as `seen`."""

    path: str
    content: bytes
    seen: datetime
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class Stated:
    """One statement on a page. `raw` is the entry as it stands there, `text` the same on one line.

    `under` is what it belongs to and does not say itself: the item it hangs below; of "Port: 5432" its heading, too.
    What it is about can be told without its page, if it `stands_alone`.
    """

    page: Page
    text: str
    raw: str
    section: str = ""
    under: str = ""
    stands_alone: bool = True
    is_entry: bool = True

    @property
    def sha256(self) -> str:
        return entry_hash(self.raw)

    @property
    def whole(self) -> str:
        """What it says with what it belongs to."""
        return f"{self.under}: {self.text}" if self.under else self.text

    @property
    def path(self) -> str:
        return self.page.path

    @property
    def place(self) -> tuple[str, str]:
        return "", self.page.path

    def known(self) -> Known:
        return Known(self.path, self.whole, self.path, self.sha256, self.page.since, self.page.seen)


@dataclass(slots=True)
class Pages:
    """`do` changes what stands here, as landing will change what stands in the store."""

    now: dict[str, Page] = field(default_factory=dict)
    cut: dict[str, list[Stated]] = field(default_factory=dict)

    @classmethod
    def of(cls, pages: Iterable[Page]) -> Pages:
        return cls({page.path: page for page in pages})

    def statements(self) -> list[Stated]:
        return [one for path in sorted(self.now) for one in self.on(path)]

    def on(self, path: str) -> list[Stated]:
        if path not in self.cut:
            page = self.now.get(path)
            self.cut[path] = list(_stated(page)) if page and is_prose(path) else []
        return self.cut[path]

    def do(self, operation: Operation, at: datetime) -> bool:
        """Whether it can be done; then it is."""
        path = operation.document
        page = self.now.get(path)
        outcome = applied(page.content if page else b"", FORM, [operation])
        if not isinstance(outcome, Applied) or len(outcome.after) > LARGEST_MEMORY_BYTES:
            return False
        self.cut.pop(path, None)
        left = words_left(outcome.after)
        if left is None:
            self.now.pop(path, None)
        else:
            self.now[path] = replace(page or Page(path, b"", at, at), content=left)
        return True


def is_prose(path: str) -> bool:
    return PurePosixPath(path).suffix.lower() in _PROSE


def _stated(page: Page) -> Iterator[Stated]:
    heading = ""
    above: list[tuple[int, str]] = []  # the items that what follows may hang below, by how far they are indented
    for piece in FORMATS[FORM].read(page.content).pieces:
        indent = _depth(piece)
        if indent is not None:
            above = [one for one in above if one[0] < indent]
        if piece.entry is None:
            heading = next(reversed(_HEADING.findall(piece.raw)), heading)
            above = above if indent is not None else []
        else:
            text = " ".join(piece.entry.split())
            parents = [label for _, label in above] if indent else []
            labelled = LABELLED.fullmatch(text)
            alone = not parents and (labelled is None or len(about(labelled["label"])) > 1)
            under = ": ".join([*([heading] if heading and labelled else []), *parents])
            yield Stated(page, text, piece.entry, " / ".join([heading, *parents]), under, alone)
        if indent is not None:
            above.append((indent, _label(piece)))


def _depth(piece: Piece) -> int | None:
    """How far an item is indented; None for what is none."""
    mark = _ITEM.match(piece.raw)
    return len(mark[1].expandtabs(4)) if mark else None


def _label(piece: Piece) -> str:
    return " ".join(_ITEM.sub("", piece.raw, count=1).split()).rstrip(".: ")
