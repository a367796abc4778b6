"""Every rule in force, to be searched, and taken along as CSV or JSON."""

from __future__ import annotations

from datetime import datetime

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from reverie.app import Home
from reverie.changes.history.library import Instruction, Rule, rules_as_csv, rules_as_json
from reverie.web.inbox import parts
from reverie.web.pages import link, root_of

router = APIRouter()
MOST_SHOWN = 300


@router.get("/rules")
def rules(request: Request, q: str = "", as_of: str = "") -> Response:
    home, pages = parts(request)
    unread = [str(error) for error in home.memory.touch_all()]
    found, told = _wanted(home, q, pages.end_of(as_of))
    values = {"q": q, "as_of": as_of, "rules": found[:MOST_SHOWN], "told": told[:MOST_SHOWN], "unread": unread}
    return pages.page(request, "rules.html", count=len(found) + len(told), most=MOST_SHOWN, **values)


@router.get("/rules.csv")
def rules_csv(request: Request, q: str = "", as_of: str = "") -> Response:
    home, pages = parts(request)
    home.memory.touch_all()
    return _file(rules_as_csv(*_wanted(home, q, pages.end_of(as_of))), "text/csv", "rules.csv")


@router.get("/rules.json")
def rules_json(request: Request, q: str = "", as_of: str = "") -> Response:
    home, pages = parts(request)
    home.memory.touch_all()
    return _file(rules_as_json(*_wanted(home, q, pages.end_of(as_of))), "application/json", "rules.json")


@router.post("/rules/critical")
def critical(request: Request) -> Response:
    """A critical rule is never changed or removed without a person."""
    home, _ = parts(request)
    form = request.state.form
    rule = home.history.rule(form.get("where", ""), form.get("id", ""))
    home.review.mark(rule, critical=form.get("critical") == "yes")
    if form.get("from") == "rules":
        return RedirectResponse(link(f"{root_of(request)}/rules", q=form.get("q")), 303)
    return RedirectResponse(link(f"{root_of(request)}/memory/document", path=form.get("where")), 303)


def _wanted(home: Home, q: str, when: datetime | None) -> tuple[list[Rule], list[Instruction]]:
    for _ in home.skills.every():  # reading a skill records how it stands
        pass
    words = q.casefold().split()

    def has(text: str, where: str) -> bool:
        whole = f"{text} {where}".casefold()
        return all(word in whole for word in words)

    rules = [rule for history in home.histories() for rule in history.rules(when) if has(rule.text, rule.where)]
    return rules, [] if when else [one for one in home.instructions() if has(one.text, one.file)]


def _file(text: str, kind: str, name: str) -> Response:
    return Response(text, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})
