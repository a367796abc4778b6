"""The nights: what each read, what came of it, what it refused and why, and how to take it back. And the transcripts
they read: a list, one of them page by page, and search over all of them.
"""

from __future__ import annotations

from calendar import Calendar
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo

from fastapi import APIRouter, Request
from starlette.responses import Response

from reverie.changes.land import Landed, in_words
from reverie.core.clock import rfc3339
from reverie.core.errors import BadInput, NotFound
from reverie.dreams.diary import night_summary
from reverie.dreams.dream import Dream, Fate
from reverie.search.finder import exchanges, passage
from reverie.transcripts.records import SessionQuery
from reverie.web.inbox import parts
from reverie.web.memory import where_of

router = APIRouter()
MOST_NIGHTS, MOST_MONTHS = 60, 2
SESSIONS_A_PAGE, TURNS_A_PAGE, HITS = 50, 60, 20
LONGEST_HIT = 700


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


# ---- the transcripts -------------------------------------------------------------------------------------------------


@router.get("/sessions")
def sessions(request: Request, project: str = "", harness: str = "", until: str = "") -> Response:
    home, pages = parts(request)
    wanted = SessionQuery(harness or None, None, _time(until), SESSIONS_A_PAGE, project or None)
    found = list(home.sessions.find(wanted=wanted))
    last = found[-1].head.started_at if len(found) == SESSIONS_A_PAGE else None
    values = {"project": project, "harness": harness, "until": until, "older": rfc3339(last) if last else ""}
    return pages.page(request, "sessions.html", sessions=found, **values)


@router.get("/session")
def session(request: Request, id: str, turn: int = 0, first: int = 0) -> Response:
    home, pages = parts(request)
    begin = first if first > 0 else max(1, turn - TURNS_A_PAGE // 3)
    stored, turns = home.sessions.turns(id, range(begin, begin + TURNS_A_PAGE))
    if stored is None:
        raise NotFound(f"There is no session {id}.", next_step="It may have been removed, or belong to several people.")
    values = {"stored": stored, "turns": [turns[number] for number in sorted(turns)], "turn": turn, "first": begin}
    return pages.page(request, "session.html", page_size=TURNS_A_PAGE, **values)


@router.get("/search")
def search(request: Request, q: str = "") -> Response:
    home, pages = parts(request)
    hits = home.search(q, limit=HITS) if q.strip() else []
    found = [(one, {hit.turn: passage(hit.text, q, LONGEST_HIT) for hit in one.hits}) for one in exchanges(hits)]
    stated = home.search_statements(q) if q.strip() else []
    empty = not any(home.sessions.find(wanted=SessionQuery(limit=1))) if q and not hits and not stated else False
    values = {"hits": found, "stated": stated, "when": home.search.about_time(q, hits), "empty": empty}
    return pages.page(request, "search.html", q=q, **values)


def _time(text: str) -> datetime | None:
    if not text:
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError as error:
        raise BadInput(f"{text!r} is not a time.", expected="a time such as 2026-05-12T14:37:00Z") from error
