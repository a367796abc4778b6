"""The inbox, a proposal, and what a person says to it."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Literal

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from reverie.app import Home
from reverie.changes.inbox import VerdictResult
from reverie.core.errors import BadInput
from reverie.web.pages import Pages, link

router = APIRouter()
MOST_CHOSEN = 40
_ONE_AT_A_TIME = Lock()  # of two tabs the second is told what the first did


@router.get("/")
def inbox(request: Request, where: str = "", every: bool = False, done: str = "") -> Response:
    return _listed(request, where, every, [name for name in done.split(",") if name][:MOST_CHOSEN])


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
    where, every = form.get("where", ""), form.get("every", "")
    if failed:
        return _listed(request, where, bool(every), done, failed)
    return RedirectResponse(link("/", where=where, every=every, done=",".join(done)), 303)


def _listed(
    request: Request, where: str, every: bool, done: list[str], failed: Sequence[tuple[str, str]] = ()
) -> Response:
    home, pages = parts(request)
    values = {
        "waiting": home.inbox.waiting(every=every, where=where),
        "where": where,
        "every": every,
        "last": [home.inbox.item(name) for name in done],
        "failed": failed,
        "decided": home.inbox.decided(),
    }
    return pages.page(request, "inbox.html", 409 if failed else 200, **values)


@router.get("/proposals/{proposal}")
def proposal(request: Request, proposal: str, edited: str = "") -> Response:
    return _shown(request, proposal, edited=bool(edited))


@router.post("/proposals/{proposal}/approve")
def approve(request: Request, proposal: str) -> Response:
    home, _ = parts(request)
    form = request.state.form
    despite = form.get("despite") == "yes"
    with _ONE_AT_A_TIME:
        decision = home.inbox.approve(proposal, form.get("hash", ""), form.get("because", ""), despite_findings=despite)
    return _answered(request, decision)


@router.post("/proposals/{proposal}/refuse")
def refuse(request: Request, proposal: str) -> Response:
    home, _ = parts(request)
    with _ONE_AT_A_TIME:
        decision = home.inbox.refuse(proposal, request.state.form.get("because", ""))
    return _answered(request, decision)


@router.post("/proposals/{proposal}/undo")
def undo(request: Request, proposal: str) -> Response:
    home, _ = parts(request)
    with _ONE_AT_A_TIME:
        decision = home.inbox.undo(proposal)
    return _answered(request, decision)


@router.post("/proposals/{proposal}/edit")
def edit(request: Request, proposal: str) -> Response:
    home, _ = parts(request)
    form = request.state.form
    with _ONE_AT_A_TIME:
        decision = home.inbox.edit(proposal, form.get("hash", ""), form.get("text", ""))
    if decision.done:
        return RedirectResponse(f"/proposals/{proposal}?edited=yes", 303)
    return _shown(request, proposal, decision, typed=form.get("text", ""))


@router.post("/proposals/{proposal}/check")
def check(request: Request, proposal: str) -> Response:
    """What would come of the words in the field, for whoever is typing them."""
    home, pages = parts(request)
    form = request.state.form
    decision = home.inbox.edit(proposal, form.get("hash", ""), form.get("text", ""), keep=False)
    return pages.page(request, "checked.html", decision=decision)


def _answered(request: Request, decision: VerdictResult) -> Response:
    """Back to the list as it was; a refusal to do it is shown with what it is about."""
    if not decision.done:
        return _shown(request, decision.proposal.id, decision)
    form = request.state.form
    back = link("/", where=form.get("where"), every=form.get("every"), done=decision.proposal.id)
    return RedirectResponse(back, 303)


def _shown(
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
    }
    return pages.page(request, "proposal.html", 200 if decision is None or decision.done else 409, **values)


def parts(request: Request) -> tuple[Home, Pages]:
    return request.app.state.home, request.app.state.pages
