"""The nights: what each read, what came of it, what it refused and why, and how to take it back."""

from __future__ import annotations

from calendar import Calendar
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, tzinfo

from fastapi import APIRouter, Request
from starlette.responses import Response

from reverie.changes.land import Landed, in_words
from reverie.dreams.diary import night_summary
from reverie.dreams.dream import Dream, Fate
from reverie.web.inbox import parts
from reverie.web.memory import where_of

router = APIRouter()
MOST_NIGHTS, MOST_MONTHS = 60, 2


@router.get("/nights")
def nights(request: Request) -> Response:
    home, pages = parts(request)
    dreams = home.dreams.records.find(home.owned, limit=MOST_NIGHTS)
    told = [(one, night_summary(one)) for one in dreams]
    return pages.page(request, "nights.html", dreams=told, months=_months(dreams, home.config.timezone))


@router.get("/nights/{dream}")
def night(request: Request, dream: str) -> Response:
    return _night_page(request, dream, [])


@router.post("/nights/{dream}/undo")
def undo(request: Request, dream: str) -> Response:
    home, _ = parts(request)
    outcomes = home.dream.undo(dream, request.state.form.get("because", ""))
    said = [
        f"Reverted in {one.change.id} ({where_of(home, one.change)})." if isinstance(one, Landed) else in_words(one)
        for one in outcomes
    ]
    return _night_page(request, dream, said or ["Nothing of this night had landed: there is nothing to take back."])


def _night_page(request: Request, dream: str, said: list[str]) -> Response:
    home, pages = parts(request)
    found = home.dreams.get(dream)
    matters = [(fate, found.of(fate)) for fate in Fate if found.of(fate)]
    standing = home.dream.standing(dream)
    return pages.page(
        request, "night.html", dream=found, said=said, summary=night_summary(found), matters=matters, standing=standing
    )


@dataclass(frozen=True, slots=True)
class _Month:
    first: date
    weeks: list[list[tuple[date | None, list[Dream]]]]  # no date outside the month


def _months(dreams: Sequence[Dream], zone: tzinfo) -> list[_Month]:
    """The last months in which there were nights, the newest first."""
    on: dict[date, list[Dream]] = {}
    for dream in dreams:
        on.setdefault(dream.started_at.astimezone(zone).date(), []).append(dream)
    months = list[_Month]()
    for first in sorted({day.replace(day=1) for day in on}, reverse=True)[:MOST_MONTHS]:
        weeks = Calendar().monthdatescalendar(first.year, first.month)
        shown = [[(day, on.get(day, [])) if day.month == first.month else (None, []) for day in week] for week in weeks]
        months.append(_Month(first, shown))
    return months
