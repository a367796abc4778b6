"""`/v1/agents`: who works in a session. Here an agent is a name and what it is made of; it does not answer."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from reverie.core.errors import BadInput
from reverie.server.caller import Reader, Writer
from reverie.server.pagination import After, Before, Limit, Page, Since, Until, between, paged, position
from reverie.server.shapes import definitions as shapes
from reverie.transcripts.recorded.session import Walk

router = APIRouter(prefix="/v1/agents", tags=["agents"])
LISTING, VERSIONS = "agents", "agent versions"
_EMPTY = shapes.agent_told({"tools": None, "mcp_servers": None, "skills": None, "execution_identity": None})
Version = Annotated[int | None, Query(ge=1, lt=2**31)]


@router.post("")
def create_agent(who: Writer, body: shapes.NewAgent) -> shapes.Agent:
    given = {"description": None, "system": None, "multiagent": None} | _EMPTY
    return shapes.agent(who.agents.create(given | shapes.agent_told(body.model_dump(exclude_unset=True))))


@router.get("")
def list_agents(
    *,
    who: Reader,
    limit: Limit = 20,
    page: Page = None,
    include_archived: bool = False,
    since: Since = None,
    until: Until = None,
    after: After = None,
    before: Before = None,
) -> shapes.AgentPage:
    """Newest first: one's own and those everyone shares."""
    walk = Walk(limit + 1, position(page, LISTING, str), descending=True)
    found = who.agents.find(between(since, until, after, before), walk, archived=include_archived)
    data = [shapes.agent(one) for one in found[:limit]]
    return shapes.AgentPage(data=data, next_page=paged(found, limit, LISTING, lambda one: one.id))


@router.get("/{agent_id}")
def retrieve_agent(who: Reader, agent_id: str, version: Version = None) -> shapes.Agent:
    return shapes.agent(who.agents.get(agent_id, version))


@router.post("/{agent_id}")
def update_agent(who: Writer, agent_id: str, body: shapes.AgentPatch) -> shapes.Agent:
    """Make a new version if anything changes; sessions keep the one they began with."""
    patch = body.model_dump(exclude_unset=True, exclude={"version"})
    for name in ("model", "name"):
        if patch.get(name, "") is None:
            raise BadInput(f"{name}: null.", expected="it left out, or a value: it cannot be cleared")
    return shapes.agent(who.agents.update(agent_id, shapes.agent_told(patch), body.version))


@router.post("/{agent_id}/archive")
def archive_agent(who: Writer, agent_id: str) -> shapes.Agent:
    """No new session can be made with it. There is no way back."""
    return shapes.agent(who.agents.archive(agent_id))


@router.delete("/{agent_id}")
def delete_agent(who: Writer, agent_id: str) -> shapes.AgentDeleted:
    """With all its versions. Sessions made with it stay, and say what it was when they began. Ours: Anthropic's API
    only archives."""
    who.agents.delete(agent_id)
    return shapes.AgentDeleted(id=agent_id)


@router.get("/{agent_id}/versions")
def list_agent_versions(who: Reader, agent_id: str, limit: Limit = 20, page: Page = None) -> shapes.AgentPage:
    """Newest first."""
    found = who.agents.versions(agent_id, Walk(limit + 1, position(page, VERSIONS, int), descending=True))
    data = [shapes.agent(one) for one in found[:limit]]
    return shapes.AgentPage(data=data, next_page=paged(found, limit, VERSIONS, lambda one: one.version))
