"""The nights: what each read, what came of it, what it refused and why, and how to take it back. The transcripts they
read: a list, one of them page by page, and search over all of them. And how things stand: targets, sources, the queue,
what models cost, what is wrong with what is read.

What happens elsewhere while a page is open comes as server-sent events: a night that runs, a proposal that someone else
decided. A page works without them.
"""

from __future__ import annotations

import asyncio
import json
from calendar import Calendar
from collections.abc import AsyncIterator
from datetime import date, datetime

from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from reverie.app import Home, checkup
from reverie.changes.land import Landed, in_words
from reverie.core.clock import rfc3339
from reverie.core.errors import BadInput, NotFound
from reverie.dreams.diary import night_summary
from reverie.dreams.dream import Dream, Fate
from reverie.search.finder import exchanges, passage
from reverie.transcripts.records import SessionQuery
from reverie.web.inbox import parts
from reverie.web.memory import where_of
from reverie.web.pages import barred

router = APIRouter()
MOST_NIGHTS, MOST_MONTHS = 60, 2
SESSIONS_A_PAGE, TURNS_A_PAGE, HITS = 50, 60, 20
LONGEST_HIT = 700


@router.get("/nights")
def nights(request: Request) -> Response:
    home, pages = parts(request)
    dreams = home.dreams.records.find(home.owned, limit=MOST_NIGHTS)
    told = [(one, night_summary(one)) for one in dreams]
    # The last months in which there were nights, the newest first.
    on: dict[date, list[Dream]] = {}
    for dream in dreams:
        on.setdefault(dream.started_at.astimezone(home.config.timezone).date(), []).append(dream)
    months = []
    for first in sorted({day.replace(day=1) for day in on}, reverse=True)[:MOST_MONTHS]:
        weeks = Calendar().monthdatescalendar(first.year, first.month)
        shown = [[(day, on.get(day, [])) if day.month == first.month else (None, []) for day in week] for week in weeks]
        months.append({"first": first, "weeks": shown})  # no date outside the month
    return pages.page(request, "nights.html", dreams=told, months=months)


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


PLOTTED = 40  # nights
MOST_FINDINGS = 200
EVERY_SECONDS = 2.0


@router.get("/costs")
def costs(request: Request) -> Response:
    home, pages = parts(request)
    dreams = home.dreams.records.find(home.owned, limit=PLOTTED)
    asked = [one for one in dreams if one.consulted]
    plots = [
        barred(
            "Dollars a night", asked, lambda one: sum(each.dollars or 0.0 for each in one.consulted), top="${:,.4f}"
        ),
        barred("Tokens a night", asked, lambda one: sum(each.tokens_in + each.tokens_out for each in one.consulted)),
    ]
    values = {"dreams": asked, "plots": [one for one in plots if one], "spending": home.spending()}
    return pages.page(request, "costs.html", **values)


def _seconds(dream: Dream) -> float:
    return ((dream.ended_at or dream.started_at) - dream.started_at).total_seconds()


@router.get("/status")
def status(request: Request, check: bool = False) -> Response:
    home, pages = parts(request)
    unread = [str(error) for error in home.memory.touch_all()]
    names = list(dict.fromkeys([*home.memory.present(), *home.dreams.records.targets(home.owned)]))
    # The last nights: what they read, what came of it, how long they took.
    done = [one for one in home.dreams.records.find(home.owned, limit=PLOTTED) if one.ended_at]
    plots = [
        barred("Sessions read", done, lambda one: len(one.sessions)),
        barred("Landed or asked", done, lambda one: one.landed + len(one.proposals)),
        barred("Seconds taken", done, _seconds, top="{:,.1f}"),
    ]
    values = {
        "usage": [(name, one) for name in names for one in home.memory.usage(name)],
        "staged": {name: len(home.dreams.records.staged(home.owned, name)) for name in names},
        "off": {name: home.switched_off(name) for name in names},
        "enabled": home.config.dreaming.enabled,
        "sources": home.sessions.sources(),
        "quarantined": home.sessions.quarantined(),
        "dreams": home.dreams.records.find(home.owned, limit=8),
        "running": home.dreams.records.unfinished(home.owned),
        "queued": home.queue.waiting() if home.is_whole else [],
        "success": home.dreams.last_success(),
        "waiting": home.review.count(),
        "spending": home.spending(),
        "checks": checkup(home.config) if check and home.is_whole else [],
        "unread": unread,
        "home": str(home.config.home) if home.is_whole else "",
        "behind": home.index.behind(),
        "plots": [one for one in plots if one],
    }
    return pages.page(request, "status.html", **values)


@router.get("/audit")
def audit(request: Request, kind: str = "") -> Response:
    home, pages = parts(request)
    if not home.is_whole:
        raise NotFound("There is nothing here to audit.", next_step="The files of the machine belong to its owner.")
    whole = home.audit()
    shown = whole.narrowed([kind] if kind else [], None)
    values = {"report": whole, "findings": shown.findings[:MOST_FINDINGS], "count": len(shown.findings), "kind": kind}
    return pages.page(request, "audit.html", **values)


@router.get("/events")
async def events(request: Request) -> StreamingResponse:
    home, _ = parts(request)
    return StreamingResponse(_news(home), media_type="text/event-stream")


async def _news(home: Home) -> AsyncIterator[str]:
    """The state of now, at once and whenever it has changed; between, a comment that keeps the connection."""
    last = ""
    while True:
        now = await asyncio.to_thread(_now, home)
        yield f"data: {now}\n\n" if now != last else ": nothing new\n\n"
        last = now
        await asyncio.sleep(EVERY_SECONDS)


def _now(home: Home) -> str:
    nights = [one.sentence for one in home.dreams.progress()]
    return json.dumps({"waiting": home.inbox.mark(), "nights": nights})
