"""A skill as agents read it, its versions, and the way back to one of them."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from reverie.changes.land import Landed, in_words
from reverie.web.inbox import parts
from reverie.web.pages import root_of

router = APIRouter()


@router.get("/skill")
def skill(request: Request, path: str) -> Response:
    return _shown(request, path, "")


@router.post("/skill/rollback")
def rollback(request: Request) -> Response:
    """Back to a version, as a change like any other: scanned, recorded, and undone like one."""
    home, _ = parts(request)
    form = request.state.form
    path = form.get("path", "")
    meant = form.get("critical") == "yes"
    outcome = home.refining.revert_skill(path, form.get("version", ""), form.get("because", ""), even_critical=meant)
    if isinstance(outcome, Landed):
        return RedirectResponse(f"{root_of(request)}/changes/{outcome.change.id}", 303)
    return _shown(request, path, in_words(outcome))


def _shown(request: Request, path: str, said: str) -> Response:
    home, pages = parts(request)
    found, versions = home.skills.get(path), home.refining.versions(path)
    told = home.inbox.sentences([change for _, change in versions], home.history.name_of)
    values = {"found": found, "skill": found.skill, "versions": versions, "told": told, "said": said}
    return pages.page(request, "skill.html", 409 if said else 200, **values)
