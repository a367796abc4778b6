"""What fills the budget of a document, drawn: one bar, its parts in the colours of what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator

from reverie.audit.finding import FindingKind
from reverie.audit.html.tags import Safe, join_markup, tag
from reverie.audit.report import GOOD, OTHER, Filling

WIDTH, HEIGHT = 1000, 26
_PARTS = (GOOD, *(str(kind) for kind in FindingKind), OTHER)


def bar(filling: Filling) -> Safe:
    """As wide as the budget, or as the document where there is none or it does not fit."""
    whole = max(filling.characters, filling.budget or 0, 1)
    drawn = [_part(name, start, size, whole) for name, start, size in _stretches(filling)]
    frame = tag("rect", class_="bar", x=0.5, y=0.5, width=WIDTH - 1, height=HEIGHT - 1, rx=4)
    limit = None
    if filling.budget and filling.characters > filling.budget:
        at = round(WIDTH * filling.budget / whole, 1)
        limit = tag("line", class_="full", x1=at, x2=at, y1=0, y2=HEIGHT, stroke_width=3, stroke_dasharray="4 3")
    said = ", ".join(f"{size:,} characters {name}" for name, size in filling.parts.items())
    return tag(
        "svg",
        tag("title", f"{filling.spot}: {said}"),
        *drawn,
        frame,
        limit,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        preserveAspectRatio="none",
        role="img",
        height=HEIGHT,
    )


def legend(filling: Filling) -> Safe:
    whole = max(filling.characters, filling.budget or 0, 1)
    parts = [_named(name, f"{name} {_percent(size / whole)}") for name, _, size in _stretches(filling)]
    free = (filling.budget or 0) - filling.characters
    if free > 0:
        parts.append(tag("li", tag("span", f"free {_percent(free / whole)}", class_="soft")))
    return tag("ul", *parts, class_="legend")


def _stretches(filling: Filling) -> Iterator[tuple[str, int, int]]:
    start = 0
    for name in _PARTS:
        if size := filling.parts.get(name, 0):
            yield name, start, size
            start += size


def _part(name: str, start: int, size: int, whole: int) -> Safe:
    x, width = round(WIDTH * start / whole, 1), round(WIDTH * size / whole, 1)
    return tag(
        "rect", tag("title", f"{name}: {size:,} characters"), class_=_class(name), x=x, y=0, width=width, height=HEIGHT
    )


def _named(name: str, said: str) -> Safe:
    return tag(
        "li",
        join_markup(tag("svg", tag("rect", class_=_class(name), width=10, height=10, rx=2), viewBox="0 0 10 10"), said),
    )


def _percent(share: float) -> str:
    return "<1%" if 0 < share < 0.005 else f"{share:.0%}"


def _class(name: str) -> str:
    return name.replace(" ", "-")
