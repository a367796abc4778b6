"""The inbox, a proposal, and what a person says to it."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Literal

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from reverie.app import Home
from reverie.changes.headline import InboxFilter, VerdictResult
from reverie.core.errors import BadInput
from reverie.web.pages import Pages, link, root_of

router = APIRouter()
MOST_CHOSEN = 40
_ONE_AT_A_TIME = Lock()  # of two tabs the second is told what the first did


@router.get("/")
def inbox(
    request: Request,
    where: str = "",
    night: str = "",
    project: str = "",
    *,
    every: bool = False,
    snoozed: bool = False,
    page: int = 1,
    done: str = "",
) -> Response:
    wanted = InboxFilter(where, night, project, every, snoozed, page)
    return _inbox_page(request, wanted, [name for name in done.split(",") if name][:MOST_CHOSEN])


@router.post("/chosen/{verb}")
def chosen(request: Request, verb: Literal["approve", "refuse", "undo"]) -> Response:
    """The same answer to several proposals. What did not go through is said; the others are done, with one undo."""
    home, _ = parts(request)
    form = request.state.form
    picked = {name.removeprefix("pick-"): seen for name, seen in form.items() if name.startswith("pick-")}
    if not 0 < len(picked) <= MOST_CHOSEN:
        raise BadInput(f"{len(picked)} proposals are chosen.", expected=f"1 to {MOST_CHOSEN} at a time")
    because = form.get("because", "")
    with _ONE_AT_A_TIME:
        match verb:
            case "approve":
                results = [home.inbox.approve(name, seen, because) for name, seen in picked.items()]
            case "refuse":
                results = [home.inbox.refuse(name, because) for name in picked]
            case "undo":
                results = [home.inbox.undo(name) for name in reversed(picked)]
    done = [one.proposal.id for one in results if one.done]
    failed = [(home.inbox.item(one.proposal.id).sentence, one.said) for one in results if not one.done]
    if failed:
        narrowed = {name: form.get(name, "") for name in ("where", "night", "project")}
        return _inbox_page(request, InboxFilter(**narrowed, every=bool(form.get("every"))), done, failed)
    return RedirectResponse(_back(request, ",".join(done)), 303)


def _back(request: Request, done: str) -> str:
    form = request.state.form
    kept = {name: form.get(name) for name in ("where", "night", "project", "every", "snoozed", "page")}
    return link(f"{root_of(request)}/", **kept, done=done)


def _inbox_page(
    request: Request, wanted: InboxFilter, done: list[str], failed: Sequence[tuple[str, str]] = ()
) -> Response:
    home, pages = parts(request)
    waiting = home.inbox.waiting(wanted)
    offered = home.inbox.choices(snoozed=wanted.snoozed)
    over = {target: home.history.name_of(target) for _, _, target in offered.nights}
    choices = {
        "night": [(name, f"{pages.moment(at)}, {over[target]}") for name, at, target in offered.nights],
        "where": [(name, name) for name in offered.places],
        "project": [(name, name) for name in offered.projects],
    }
    kept = {
        "where": wanted.where,
        "night": wanted.night,
        "project": wanted.project,
        "every": "yes" if wanted.every else "",
        "snoozed": "yes" if wanted.snoozed else "",
        "page": waiting.page if waiting.page > 1 else "",
    }
    values = {
        "waiting": waiting,
        "wanted": wanted,
        "choices": {name: found for name, found in choices.items() if found},
        "kept": kept,
        "last": [home.inbox.item(name) for name in done],
        "failed": failed,
        "decided": home.inbox.decided(),
        "new": not waiting.groups and not home.dreams.records.find(home.owned, limit=1),
    }
    return pages.page(request, "inbox.html", 409 if failed else 200, **values)


@router.get("/proposals/{proposal}")
def proposal(request: Request, proposal: str, edited: str = "") -> Response:
    return _proposal_page(request, proposal, edited=bool(edited))


@router.post("/proposals/{proposal}/check")
def check(request: Request, proposal: str) -> Response:
    """Show what would come of the words in the field, while somebody is typing them."""
    home, pages = parts(request)
    form = request.state.form
    decision = home.inbox.edit(proposal, form.get("hash", ""), form.get("text", ""), keep=False)
    return pages.page(request, "checked.html", decision=decision)


@router.post("/proposals/{proposal}/{verb}")
def decide(
    request: Request, proposal: str, verb: Literal["approve", "refuse", "undo", "snooze", "move", "edit"]
) -> Response:
    """Back to the list as it was, or to what was edited; a refusal to do it is shown with what it is about."""
    home, pages = parts(request)
    form = request.state.form
    seen, because, text = form.get("hash", ""), form.get("because", ""), form.get("text", "")
    with _ONE_AT_A_TIME:
        match verb:
            case "approve":
                despite = form.get("despite") == "yes"
                decision = home.inbox.approve(proposal, seen, because, despite_findings=despite)
            case "refuse":
                decision = home.inbox.refuse(proposal, because)
            case "undo":
                decision = home.inbox.undo(proposal)
            case "snooze":
                decision = home.inbox.snooze(proposal, pages.beginning_of(form.get("until", "")))
            case "move":
                decision = home.inbox.move(proposal, seen, form.get("to", ""))
            case "edit":
                decision = home.inbox.edit(proposal, seen, text)
    if not decision.done:
        return _proposal_page(request, decision.proposal.id, decision, typed=text if verb == "edit" else None)
    if verb in ("move", "edit"):
        return RedirectResponse(f"{root_of(request)}/proposals/{proposal}?edited=yes", 303)
    return RedirectResponse(_back(request, decision.proposal.id), 303)


def _proposal_page(
    request: Request,
    proposal: str,
    decision: VerdictResult | None = None,
    *,
    typed: str | None = None,
    edited: bool = False,
) -> Response:
    home, pages = parts(request)
    detail = home.inbox.detail(proposal)
    values = {
        "detail": detail,
        "item": detail.item,
        "proposal": detail.item.proposal,
        "decision": decision,
        "edited": edited,
        "text": detail.text if typed is None else typed,
        "today": home.clock.now().astimezone(home.config.timezone).date(),
    }
    return pages.page(request, "proposal.html", 200 if decision is None or decision.done else 409, **values)


def parts(request: Request) -> tuple[Home, Pages]:
    return request.state.home, request.app.state.pages
