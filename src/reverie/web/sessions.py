"""The transcripts: a list, one of them page by page, and search over all of them."""

from __future__ import annotations

from datetime import datetime

from fastapi import APIRouter, Request
from starlette.responses import Response

from reverie.core.clock import rfc3339
from reverie.core.errors import BadInput, NotFound
from reverie.search.finder import exchanges, passage
from reverie.transcripts.records import SessionQuery
from reverie.web.inbox import parts

router = APIRouter()
SESSIONS_A_PAGE, TURNS_A_PAGE, HITS = 50, 60, 20
LONGEST_HIT = 700


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
