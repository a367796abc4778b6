"""What looks unsafe in the input of a dream and does not come into its output.

Every statement that the scan found something in goes, if the page can do without it: what is left is no longer kept
out, and has words. Otherwise the page goes. Its words are not repeated where it is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reverie.changes.stores import flags_of, page_after
from reverie.core.scope import Origin
from reverie.dreams.dream import Fate, Judged
from reverie.dreams.stores.dream import Withheld
from reverie.dreams.stores.pages import FORM, is_prose
from reverie.memory.formats import FORMATS, Piece
from reverie.memory.operation import Remove, entry_hash
from reverie.memory.store import Flag
from reverie.safety.report import Report
from reverie.safety.scan import scan


@dataclass(frozen=True, slots=True)
class Cleaned:
    """The rest of a page, with what the scan finds in that; None where the page itself is withheld."""

    left: bytes | None
    flags: tuple[Flag, ...]
    withheld: Withheld


def cleaned(path: str, content: bytes) -> Cleaned | None:
    """None where nothing has to be withheld."""
    report = scan(content, "memory") if content else None
    if report is None or not report.blocked:
        return None
    why = ", ".join(sorted({one.category for one in report.findings}))
    hit = list(_hit(content, report)) if is_prose(path) else []
    left = page_after(content, [Remove(path, entry_hash(one)) for one in hit]) if hit else None
    if not isinstance(left, bytes) or scan(left, "memory").blocked:
        return Cleaned(None, (), Withheld(path, why))
    return Cleaned(left, flags_of(left.decode()), Withheld(path, why, len(hit)))


def as_judged(one: Withheld, *, in_place: bool) -> Judged:
    what = f"{one.statements} of its statements" if one.statements else "it"
    if in_place:
        why = f"{one.path} looks unsafe ({one.found}). Nothing is taken out of a store unasked, so {what} stayed."
    else:
        why = f"{one.path} looks unsafe ({one.found}). The input still has {what}; the output does not."
    return Judged((), "unsafe", Fate.WITHHELD, why, why, "", one.path, "", 0, Origin.MEMBER, ())


def _hit(content: bytes, report: Report) -> Iterator[str]:
    """The statements with a finding in them; none if one is in what is no statement: code, a table, a heading."""
    found: list[str] = []
    end = 0
    for piece in FORMATS[FORM].read(content).pieces:
        start, end = end, end + len(piece.raw)
        if not any(one.start < end and one.end > start for one in report.findings):
            continue
        if piece.entry is None:
            if _blank(piece, start, report):
                continue
            return
        found.append(piece.entry)
    yield from found


def _blank(piece: Piece, start: int, report: Report) -> bool:
    """Only the space between two statements is within the finding."""
    spans = ((max(0, one.start - start), max(0, one.end - start)) for one in report.findings)
    return not any(piece.raw[first:last].strip() for first, last in spans)
