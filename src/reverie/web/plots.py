"""Plots as inline SVG, drawn here: points and words only, no style and no script."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

WIDTH, HEIGHT, EDGE = 640, 150, 6


@dataclass(frozen=True, slots=True)
class Bar:
    x: float
    y: float
    width: float
    height: float
    said: str


@dataclass(frozen=True, slots=True)
class Plot:
    """`line` is the points of a line, `limit` the height of a line across; `said` is the whole in words, for who cannot
    see it."""

    title: str
    said: str
    top: str
    begins: datetime | None = None
    ends: datetime | None = None
    line: str = ""
    bars: tuple[Bar, ...] = ()
    limit: float | None = None
    width: int = WIDTH
    height: int = HEIGHT


def stepped(title: str, points: Sequence[tuple[datetime, float]], *, limit: float | None, unit: str) -> Plot | None:
    """A value that holds until it changes. `points` are in the order of time."""
    if len(points) < 2:
        return None
    first, last = points[0][0], points[-1][0]
    span = (last - first).total_seconds()
    most = max([value for _, value in points] + ([limit] if limit else [])) or 1.0

    def up(value: float) -> float:
        return round(HEIGHT - EDGE - (HEIGHT - 2 * EDGE) * value / most, 1)

    path, before = list[str](), points[0][1]
    for place, (at, value) in enumerate(points):
        share = (at - first).total_seconds() / span if span else place / (len(points) - 1)
        x = round(EDGE + (WIDTH - 2 * EDGE) * share, 1)
        path += [f"{x},{up(before)}", f"{x},{up(value)}"]
        before = value
    within = f" of {limit:,.0f}" if limit else ""
    said = f"{points[0][1]:,.0f} {unit} at first, {points[-1][1]:,.0f}{within} at last, {len(points)} changes."
    top = f"{max(value for _, value in points):,.0f} {unit}"
    return Plot(title, said, top, first, last, " ".join(path), (), up(limit) if limit else None)


def barred(title: str, points: Sequence[tuple[datetime, float, str]], *, top: str = "{:,.0f}") -> Plot | None:
    """One bar for each point, oldest first, with what it says."""
    if len(points) < 2 or not any(value for _, value, _ in points):
        return None
    most = max(value for _, value, _ in points)
    room = (WIDTH - 2 * EDGE) / max(len(points), 12)
    bars = []
    for place, (_, value, said) in enumerate(points):
        high = round((HEIGHT - 2 * EDGE) * value / most, 1)
        x, y = round(EDGE + place * room, 1), round(HEIGHT - EDGE - high, 1)
        bars.append(Bar(x, y, round(room * 0.8, 1), high, said))
    whole = f"{len(points)} nights, {top.format(sum(value for _, value, _ in points))} in all."
    return Plot(title, whole, top.format(most), points[0][0], points[-1][0], "", tuple(bars))
