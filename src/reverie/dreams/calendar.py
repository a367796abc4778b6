"""Nights as months of a calendar, the newest month first."""

from __future__ import annotations

import calendar
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, tzinfo

from reverie.dreams.dream import Dream

MOST_MONTHS = 2


@dataclass(frozen=True, slots=True)
class Day:
    """`day` is None outside the month."""

    day: date | None
    dreams: tuple[Dream, ...] = ()


@dataclass(frozen=True, slots=True)
class Month:
    first: date
    weeks: tuple[tuple[Day, ...], ...]


def months(dreams: Sequence[Dream], zone: tzinfo) -> list[Month]:
    """The last months in which there were nights."""
    on: dict[date, list[Dream]] = {}
    for dream in dreams:
        on.setdefault(dream.started_at.astimezone(zone).date(), []).append(dream)
    firsts = sorted({day.replace(day=1) for day in on}, reverse=True)[:MOST_MONTHS]
    return [Month(first, tuple(_weeks(first, on))) for first in firsts]


def _weeks(first: date, on: dict[date, list[Dream]]) -> list[tuple[Day, ...]]:
    weeks = calendar.Calendar().monthdatescalendar(first.year, first.month)
    return [
        tuple(Day(day, tuple(on.get(day, ()))) if day.month == first.month else Day(None) for day in week)
        for week in weeks
    ]
