"""`/v1/sessions`: recorded, and idle."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query

from reverie.core.errors import BadInput
from reverie.erasure.wanted import ErasureKind, Rules
from reverie.memory.stores.library import writable
from reverie.server.caller import Caller, Reader, Writer
from reverie.server.pagination import After, Before, Limit, Page, Since, Until, bearing, between, both_ways
from reverie.server.shapes import sessions as shapes
from reverie.server.shapes.definitions import agent_told
from reverie.transcripts.recorded.library import SessionWish
from reverie.transcripts.recorded.rules import mount_path
from reverie.transcripts.recorded.session import RecordedQuery, Status, Walk

router = APIRouter(prefix="/v1/sessions", tags=["sessions"])
LISTING = "sessions"


@router.post("")
def create_session(who: Writer, body: shapes.NewSession) -> shapes.WireSession:
    """An agent and an environment must be there first. No agent answers: what is sent is recorded."""
    mounted = [_mounted(who, one) for one in body.resources or ()]
    if len({one["memory_store_id"] for one in mounted}) < len(mounted):
        raise BadInput("resources: a memory store stands there twice.", expected="each store once")
    wish = SessionWish(
        **_agent(body.agent),
        environment=body.environment_id,
        title=body.title,
        metadata=body.metadata,
        resources=mounted,
        vaults=body.vault_ids or (),
        budget=body.budget,
    )
    first = [one.model_dump(exclude_unset=True) for one in body.initial_events or ()]
    return shapes.session(who.recording.create(wish, first))


@router.get("")
def list_sessions(
    *,
    who: Reader,
    limit: Limit = 20,
    page: Page = None,
    order: Literal["asc", "desc"] = "desc",
    agent_id: str | None = None,
    agent_version: Annotated[int | None, Query(ge=1, lt=2**31)] = None,
    memory_store_id: str | None = None,
    deployment_id: str | None = None,
    statuses: Annotated[list[Status] | None, Query()] = None,
    include_archived: bool = False,
    since: Since = None,
    until: Until = None,
    after: After = None,
    before: Before = None,
) -> shapes.SessionPage:
    made = between(since, until, after, before)
    which = RecordedQuery(made, agent_id, agent_version, memory_store_id, tuple(statuses or ()), include_archived)
    place, back = bearing(page, LISTING)
    walk = Walk(limit + 1, place, descending=(order == "desc") is not back)
    found = [] if deployment_id is not None else who.recording.find(which, walk)
    shown, forward, backward = both_ways([one.id for one in found], limit, LISTING, place, back=back)
    by_id = {one.id: one for one in found}
    data = [shapes.session(by_id[name]) for name in shown]
    return shapes.SessionPage(data=data, next_page=forward, prev_page=backward)


@router.get("/{session_id}")
def retrieve_session(who: Reader, session_id: str) -> shapes.WireSession:
    return shapes.session(who.recording.get(session_id))


@router.post("/{session_id}")
def update_session(who: Writer, session_id: str, body: shapes.SessionPatch) -> shapes.WireSession:
    patch = body.model_dump(exclude_unset=True)
    if body.agent is not None:
        patch["agent"] = agent_told(patch["agent"])
    return shapes.session(who.recording.update(session_id, patch))


@router.post("/{session_id}/archive")
def archive_session(who: Writer, session_id: str) -> shapes.WireSession:
    """Nothing can be sent to it from now on; it can be read and dreamt about."""
    return shapes.session(who.recording.archive(session_id))


@router.delete("/{session_id}")
def delete_session(who: Writer, session_id: str, rules: Rules | None = None) -> shapes.SessionDeleted:
    """With its events and its words. What memory says because of it is the store's and stays, unless `rules` is
    `remove`. One that was imported is erased from everywhere, with what rests on it alone (`rules=keep` keeps that)."""
    is_recorded = who.recording.records.one(who.scope, session_id) is not None
    if is_recorded and rules is None:
        who.recording.delete(session_id)
    else:
        who.erasing(who.erasing.plan(ErasureKind.SESSION, session_id, rules=rules or "remove"))
        who.recording.told(session_id)
    return shapes.SessionDeleted(id=session_id)


def _agent(given: str | shapes.AgentReference | shapes.AgentWithOverrides) -> dict[str, Any]:
    if isinstance(given, str):
        return {"agent": given}
    laid_over = given.model_dump(exclude_unset=True, exclude={"type", "id", "version"})
    laid_over = {name: value for name, value in laid_over.items() if value is not None or name == "system"}
    return {"agent": given.id, "version": given.version, "overrides": agent_told(laid_over)}


def _mounted(who: Caller, given: shapes.MountedStore) -> dict[str, Any]:
    """Keep the store's name as it is now."""
    store = writable(who.stores.get(given.memory_store_id))
    return {
        "type": "memory_store",
        "memory_store_id": store.id,
        "access": given.access or "read_write",
        "instructions": given.instructions,
        "name": store.name,
        "description": store.description,
        "mount_path": mount_path(store.name),
    }
