"""The nights: what each read, what came of it, what it refused and why, and how to take it back."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from reverie.changes.landing_result import Landed, in_words
from reverie.dreams.calendar import months
from reverie.dreams.diary import night_summary
from reverie.dreams.dream import Fate
from reverie.web.inbox import parts
from reverie.web.memory import where_of

router = APIRouter()
MOST_NIGHTS = 60


@router.get("/nights")
def nights(request: Request) -> Response:
    home, pages = parts(request)
    dreams = home.dreams.records.find(home.owned, limit=MOST_NIGHTS)
    told = [(one, night_summary(one)) for one in dreams]
    return pages.page(request, "nights.html", dreams=told, months=months(dreams, home.config.timezone))


@router.get("/nights/{dream}")
def night(request: Request, dream: str) -> Response:
    return _shown(request, dream, [])


@router.post("/nights/{dream}/undo")
def undo(request: Request, dream: str) -> Response:
    home, _ = parts(request)
    outcomes = home.dream.undo(dream, request.state.form.get("because", ""))
    said = [
        f"Reverted in {one.change.id} ({where_of(home, one.change)})." if isinstance(one, Landed) else in_words(one)
        for one in outcomes
    ]
    return _shown(request, dream, said or ["Nothing of this night had landed: there is nothing to take back."])


def _shown(request: Request, dream: str, said: list[str]) -> Response:
    home, pages = parts(request)
    found = home.dreams.get(dream)
    matters = [(fate, found.of(fate)) for fate in Fate if found.of(fate)]
    standing = home.dream.standing(dream)
    return pages.page(
        request, "night.html", dream=found, said=said, summary=night_summary(found), matters=matters, standing=standing
    )
