"""`/v1/agents` and `/v1/environments`: what a session is made with.

Here an agent is a name and what it is made of; it does not answer. Nothing runs in an environment.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from reverie.core.clock import TimeSpan
from reverie.core.errors import BadInput
from reverie.server.caller import Reader, Writer
from reverie.server.pagination import Created, Limit, Page, paged, position
from reverie.server.shapes import definitions as shapes
from reverie.transcripts.recorded import Walk

agents = APIRouter(prefix="/v1/agents", tags=["agents"])
AGENTS, AGENT_VERSIONS = "agents", "agent versions"
_EMPTY = shapes.agent_told({"tools": None, "mcp_servers": None, "skills": None, "execution_identity": None})
Version = Annotated[int | None, Query(ge=1, lt=2**31)]


@agents.post("")
def create_agent(who: Writer, body: shapes.NewAgent) -> shapes.Agent:
    given = {"description": None, "system": None, "multiagent": None} | _EMPTY
    return shapes.agent(who.agents.create(given | shapes.agent_told(body.model_dump(exclude_unset=True))))


@agents.get("")
def list_agents(
    *,
    who: Reader,
    limit: Limit = 20,
    page: Page = None,
    include_archived: bool = False,
    made: Created,
) -> shapes.AgentPage:
    """Newest first: one's own and those everyone shares."""
    walk = Walk(limit + 1, position(page, AGENTS, str), descending=True)
    found = who.agents.find(made, walk, archived=include_archived)
    data = [shapes.agent(one) for one in found[:limit]]
    return shapes.AgentPage(data=data, next_page=paged(found, limit, AGENTS, lambda one: one.id))


@agents.get("/{agent_id}")
def retrieve_agent(who: Reader, agent_id: str, version: Version = None) -> shapes.Agent:
    return shapes.agent(who.agents.get(agent_id, version))


@agents.post("/{agent_id}")
def update_agent(who: Writer, agent_id: str, body: shapes.AgentPatch) -> shapes.Agent:
    """Make a new version if anything changes; sessions keep the one they began with."""
    patch = body.model_dump(exclude_unset=True, exclude={"version"})
    for name in ("model", "name"):
        if patch.get(name, "") is None:
            raise BadInput(f"{name}: null.", expected="it left out, or a value: it cannot be cleared")
    return shapes.agent(who.agents.update(agent_id, shapes.agent_told(patch), body.version))


@agents.post("/{agent_id}/archive")
def archive_agent(who: Writer, agent_id: str) -> shapes.Agent:
    """No new session can be made with it. There is no way back."""
    return shapes.agent(who.agents.archive(agent_id))


@agents.delete("/{agent_id}")
def delete_agent(who: Writer, agent_id: str) -> shapes.AgentDeleted:
    """With all its versions. Sessions made with it stay, and say what it was when they began. Ours: Anthropic's API
    only archives."""
    who.agents.delete(agent_id)
    return shapes.AgentDeleted(id=agent_id)


@agents.get("/{agent_id}/versions")
def list_agent_versions(who: Reader, agent_id: str, limit: Limit = 20, page: Page = None) -> shapes.AgentPage:
    """Newest first."""
    found = who.agents.versions(agent_id, Walk(limit + 1, position(page, AGENT_VERSIONS, int), descending=True))
    data = [shapes.agent(one) for one in found[:limit]]
    return shapes.AgentPage(data=data, next_page=paged(found, limit, AGENT_VERSIONS, lambda one: one.version))


environments = APIRouter(prefix="/v1/environments", tags=["environments"])
ENVIRONMENTS = "environments"


@environments.post("")
def create_environment(who: Writer, body: shapes.NewEnvironment) -> shapes.Environment:
    told: dict[str, Any] = {
        "name": body.name,
        "description": body.description,
        "config": shapes.config_told(body.config),
        "metadata": body.metadata,
        "scope": body.scope or "organization",
    }
    return shapes.environment(who.environments.create(told))


@environments.get("")
def list_environments(
    who: Reader, limit: Limit = 20, page: Page = None, include_archived: bool = False
) -> shapes.EnvironmentPage:
    """Newest first: one's own and those everyone shares."""
    walk = Walk(limit + 1, position(page, ENVIRONMENTS, str), descending=True)
    found = who.environments.find(TimeSpan(), walk, archived=include_archived)
    data = [shapes.environment(one) for one in found[:limit]]
    return shapes.EnvironmentPage(data=data, next_page=paged(found, limit, ENVIRONMENTS, lambda one: one.id))


@environments.get("/{environment_id}")
def retrieve_environment(who: Reader, environment_id: str) -> shapes.Environment:
    return shapes.environment(who.environments.get(environment_id))


@environments.post("/{environment_id}")
def update_environment(who: Writer, environment_id: str, body: shapes.EnvironmentPatch) -> shapes.Environment:
    """Change what is given. What is left out or null stays; a null within `metadata` takes that key away."""
    patch = {name: value for name, value in body.model_dump(exclude_unset=True).items() if value is not None}
    if body.config is not None:
        patch["config"] = shapes.config_told(body.config)
    return shapes.environment(who.environments.update(environment_id, patch))


@environments.post("/{environment_id}/archive")
def archive_environment(who: Writer, environment_id: str) -> shapes.Environment:
    """No new session can be made in it. There is no way back."""
    return shapes.environment(who.environments.archive(environment_id))


@environments.delete("/{environment_id}")
def delete_environment(who: Writer, environment_id: str) -> shapes.EnvironmentDeleted:
    """Sessions made in it stay."""
    who.environments.delete(environment_id)
    return shapes.EnvironmentDeleted(id=environment_id)
