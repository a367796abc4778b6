"""What agents remember: the documents as they are, which change brought each entry, and what happened to them."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, time

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from reverie.app import Home
from reverie.changes.history.library import happened
from reverie.changes.landing_result import Landed, in_words, undone_by
from reverie.changes.word_diff import Hunk, edit_hunks
from reverie.core.errors import BadInput, ReverieError
from reverie.web.inbox import parts

router = APIRouter()
MOST_CHANGES = 50


@router.get("/memory")
def memory(request: Request) -> Response:
    home, pages = parts(request)
    unread = [str(error) for error in home.memory.touch_all()]
    targets, skills = [], []
    for name in home.memory.present():
        with suppress(ReverieError):  # what could not be read is told of above
            targets.append((home.memory.target(name), home.memory.usage(name)))
    for found in home.skills.every():
        skills.append(found)
    return pages.page(request, "memory.html", targets=targets, skills=skills, unread=unread)


@router.get("/memory/document")
def document(request: Request, path: str, as_of: str = "", since: str = "") -> Response:
    home, pages = parts(request)
    unread = [str(error) for error in home.memory.touch_all()]
    when = end_of(as_of, home)
    content: bytes | None = None
    with suppress(BadInput):  # a skill is several documents
        content = home.history.content(path, when)
    values = {
        "document": path,
        "as_of": as_of,
        "rules": home.history.blame(path, when),
        "content": content,
        "changes": [(one, happened(one)) for one in home.history.changes(path, MOST_CHANGES)],
        "unread": unread,
        "since": since,
        "hunks": _differences(home, path, since, when),
    }
    return pages.page(request, "document.html", **values)


def _differences(home: Home, path: str, since: str, until: datetime | None) -> list[Hunk]:
    """What a document says otherwise at the end of one day than at the end of an earlier one."""
    earlier = end_of(since, home)
    if earlier is None:
        return []
    history = home.history
    later = history.number_at(until) if until else history.latest()
    return edit_hunks(one.edit for one in history.difference(history.number_at(earlier), later, path))


@router.get("/changes/{change}")
def change(request: Request, change: str) -> Response:
    return _shown(request, change, "")


@router.post("/changes/{change}/undo")
def undo(request: Request, change: str) -> Response:
    home, _ = parts(request)
    meant = request.state.form.get("critical") == "yes"
    outcome = home.review.undo(change, request.state.form.get("because", ""), even_critical=meant)
    if isinstance(outcome, Landed):
        return RedirectResponse(f"/changes/{outcome.change.id}", 303)
    return _shown(request, change, in_words(outcome))


def _shown(request: Request, change: str, said: str) -> Response:
    home, pages = parts(request)
    found = home.history.get(change)
    values = {
        "change": found,
        "where": f"{home.history.name_of(found.target)}/{found.subject}",
        "happened": happened(found),
        "hunks": edit_hunks(found.edits),
        "undone": undone_by(home.review.records, home.owned, change),
        "said": said,
    }
    return pages.page(request, "change.html", 409 if said else 200, **values)


def end_of(day: str, home: Home) -> datetime | None:
    """The end of a day as people here count days; None for no day."""
    if not day:
        return None
    try:
        read = datetime.fromisoformat(day)
    except ValueError as error:
        raise BadInput(f"{day!r} is not a date.", expected="a date such as 2026-05-12") from error
    if len(day) == len("2026-05-12"):
        read = datetime.combine(read.date(), time.max)
    return (read if read.tzinfo else read.replace(tzinfo=home.config.timezone)).astimezone(UTC)
