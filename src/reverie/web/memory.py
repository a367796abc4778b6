"""What agents remember: documents, rules and skills as they are, which change brought each, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from typing import Literal

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from reverie.app import Home
from reverie.changes.headline import Hunk, edit_hunks
from reverie.changes.history import History, Instruction, Rule, happened, rules_as_csv, rules_as_json, sizes
from reverie.changes.land import Landed, in_words, undone_by
from reverie.changes.ledger import Change
from reverie.core.clock import rfc3339
from reverie.core.errors import BadInput, NotFound, ReverieError
from reverie.memory.library import budget_of
from reverie.web.inbox import parts
from reverie.web.pages import link, root_of, stepped

router = APIRouter()
MOST_CHANGES = 50
MOST_STORES, MOST_MEMORIES = 20, 50
MOST_SHOWN = 300


@router.get("/memory")
def memory(request: Request) -> Response:
    home, pages = parts(request)
    unread = [str(error) for error in home.memory.touch_all()]
    targets = []
    for name in home.memory.present():
        with suppress(ReverieError):  # what could not be read is told of above
            targets.append((home.memory.target(name), home.memory.usage(name)))
    values = {"skills": list(home.skills.every()), "stores": home.stores(MOST_STORES, MOST_MEMORIES)}
    return pages.page(request, "memory.html", targets=targets, unread=unread, most=MOST_MEMORIES, **values)


@router.get("/memory/document")
def document(request: Request, path: str, as_of: str = "", since: str = "", at: int = 0) -> Response:
    """`at` is a place in its history: the first change that is listed is 1; `as_of` says it as a date."""
    home, pages = parts(request)
    unread = [str(error) for error in home.memory.touch_all()]
    history = _history_with(home, lambda one: one.changes(path, 1))
    changes = history.changes(path, MOST_CHANGES)
    if 0 < at < len(changes) and not as_of:
        as_of = rfc3339(changes[len(changes) - at].settled_at or changes[0].intended_at)
    when = pages.end_of(as_of)
    hunks = list[Hunk]()  # the differences between it at the end of one day and at the end of an earlier one
    if earlier := pages.end_of(since):
        later = history.number_at(when) if when else history.latest()
        hunks = edit_hunks(one.edit for one in history.difference(history.number_at(earlier), later, path))
    content, last = None, None
    with suppress(BadInput):  # a skill is several documents
        content = history.content(path, when)
        last = history.last_text(path) if content is None and when is None else None
    values = {
        "document": path,
        "as_of": as_of,
        "rules": history.blame(path, when),
        "content": content,
        "last": last,
        "changes": changes,
        "told": home.inbox.sentences(changes, history.name_of),
        "at": at if 0 < at < len(changes) else len(changes),
        "plot": stepped("How full it was", sizes(changes), limit=budget_of(home.memory, path), unit="characters"),
        "unread": unread,
        "since": since,
        "hunks": hunks,
    }
    return pages.page(request, "document.html", **values)


def _history_with(home: Home, look: Callable[[History], object]) -> History:
    """The owner's; or, of a memory store that is nobody's, the one that knows what is looked for."""
    try:
        look(home.history)
    except NotFound:
        for one in home.histories():
            with suppress(NotFound):
                look(one)
                return one
    return home.history


@router.get("/changes/{change}")
def change(request: Request, change: str) -> Response:
    return _change_page(request, change, "")


@router.post("/changes/{change}/undo")
def undo(request: Request, change: str) -> Response:
    home, _ = parts(request)
    meant = request.state.form.get("critical") == "yes"
    whose = _history_with(home, lambda one: one.get(change)).scope
    review = replace(home.review, scope=whose)
    outcome = review.undo(change, request.state.form.get("because", ""), even_critical=meant)
    if isinstance(outcome, Landed):
        return RedirectResponse(f"{root_of(request)}/changes/{outcome.change.id}", 303)
    return _change_page(request, change, in_words(outcome))


def _change_page(request: Request, change: str, said: str) -> Response:
    home, pages = parts(request)
    history = _history_with(home, lambda one: one.get(change))
    found = history.get(change)
    values = {
        "change": found,
        "where": where_of(home, found),
        "happened": happened(found),
        "hunks": edit_hunks(found.edits),
        "undone": undone_by(home.review.records, history.scope, change),
        "said": said,
    }
    return pages.page(request, "change.html", 409 if said else 200, **values)


def where_of(home: Home, change: Change) -> str:
    return f"{home.history.name_of(change.target)}/{change.subject.removeprefix('/')}"


@router.get("/rules")
def rules(request: Request, q: str = "", as_of: str = "") -> Response:
    home, pages = parts(request)
    unread = [str(error) for error in home.memory.touch_all()]
    found, told = _rules_that_match(home, q, pages.end_of(as_of))
    values = {"q": q, "as_of": as_of, "rules": found[:MOST_SHOWN], "told": told[:MOST_SHOWN], "unread": unread}
    return pages.page(request, "rules.html", count=len(found) + len(told), most=MOST_SHOWN, **values)


@router.get("/rules.{kind}")
def rules_file(request: Request, kind: Literal["csv", "json"], q: str = "", as_of: str = "") -> Response:
    home, pages = parts(request)
    home.memory.touch_all()
    found = _rules_that_match(home, q, pages.end_of(as_of))
    text, media = (rules_as_csv, "text/csv") if kind == "csv" else (rules_as_json, "application/json")
    named = {"content-disposition": f'attachment; filename="rules.{kind}"'}
    return Response(text(*found), media_type=media, headers=named)


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


def _rules_that_match(home: Home, q: str, when: datetime | None) -> tuple[list[Rule], list[Instruction]]:
    list(home.skills.every())  # reading a skill records how it stands
    words = q.casefold().split()

    def has(text: str, where: str) -> bool:
        whole = f"{text} {where}".casefold()
        return all(word in whole for word in words)

    rules = [rule for history in home.histories() for rule in history.rules(when) if has(rule.text, rule.where)]
    return rules, [] if when else [one for one in home.instructions() if has(one.text, one.file)]


@router.get("/skill")
def skill(request: Request, path: str) -> Response:
    return _skill_page(request, path, "")


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
    return _skill_page(request, path, in_words(outcome))


def _skill_page(request: Request, path: str, said: str) -> Response:
    home, pages = parts(request)
    found, versions = home.skills.get(path), home.refining.versions(path)
    told = home.inbox.sentences([change for _, change in versions], home.history.name_of)
    values = {"found": found, "skill": found.skill, "versions": versions, "told": told, "said": said}
    return pages.page(request, "skill.html", 409 if said else 200, **values)
