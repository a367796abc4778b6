"""`/v1/agents` and `/v1/environments`: what a session is made with.

Here an agent is a name and what it is made of; it does not answer. Nothing runs in an environment. Tools, skills and
the like are kept as they come.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from reverie.core.clock import TimeSpan
from reverie.core.errors import BadInput
from reverie.server.caller import Reader, Writer
from reverie.server.wire import Created, Limit, Page, WirePage, paged, position
from reverie.transcripts.recorded import Definition, Recorded, Walk

Parts = list[dict[str, Any]]
Metadata = dict[str, str]
_ALLOWED = {"enabled": True, "permission_policy": {"type": "always_allow"}}
_CLOSED = {"allow_mcp_servers": False, "allow_package_managers": False, "allowed_hosts": []}
_PACKAGES = ("apt", "cargo", "gem", "go", "npm", "pip")
AGENTS, AGENT_VERSIONS = "agents", "agent versions"
ENVIRONMENTS = "environments"


class WireModel(BaseModel, extra="allow"):
    id: Annotated[str, Field(min_length=1, max_length=256)]


class AgentFields(BaseModel):
    description: str | None = None
    system: str | None = None
    tools: Annotated[Parts, Field(max_length=256)] | None = None
    mcp_servers: Annotated[Parts, Field(max_length=20)] | None = None
    skills: Parts | None = None
    multiagent: dict[str, Any] | None = None
    execution_identity: dict[str, Any] | None = None


class NewAgent(AgentFields):
    model: Annotated[str, Field(min_length=1, max_length=256)] | WireModel
    name: str
    metadata: Metadata | None = None


class AgentPatch(AgentFields):
    """A change: what is left out stays; null and empty clear. With `version` only if nobody changed it since."""

    model: Annotated[str, Field(min_length=1, max_length=256)] | WireModel | None = None
    name: str | None = None
    metadata: dict[str, str | None] | None = None
    version: Annotated[int, Field(ge=1, lt=2**31)] | None = None


class SessionAgent(BaseModel):
    id: str
    type: Literal["agent"] = "agent"
    name: str
    version: int
    model: dict[str, Any]
    system: str | None
    description: str | None
    tools: Parts
    mcp_servers: Parts
    skills: Parts
    multiagent: dict[str, Any] | None
    execution_identity: dict[str, Any]


class Agent(SessionAgent):
    metadata: Metadata
    created_at: datetime
    updated_at: datetime
    archived_at: datetime | None


class AgentPage(WirePage[Agent]): ...


class EnvironmentConfig(BaseModel, extra="allow"):
    type: Literal["cloud", "self_hosted"]
    networking: dict[str, Any] | None = None
    packages: dict[str, Any] | None = None


class NewEnvironment(BaseModel):
    name: str
    config: EnvironmentConfig | None = None
    description: str | None = None
    metadata: Metadata | None = None
    scope: Literal["organization", "account"] | None = None


class EnvironmentPatch(BaseModel):
    name: str | None = None
    config: EnvironmentConfig | None = None
    description: str | None = None
    metadata: dict[str, str | None] | None = None
    scope: Literal["organization", "account"] | None = None


class Environment(BaseModel):
    id: str
    type: Literal["environment"] = "environment"
    name: str
    description: str | None
    config: dict[str, Any]
    metadata: Metadata
    scope: Literal["organization", "account"]
    created_at: datetime
    updated_at: datetime
    archived_at: datetime | None


class EnvironmentPage(WirePage[Environment]): ...


class AgentDeleted(BaseModel):
    id: str
    type: Literal["agent_deleted"] = "agent_deleted"


class EnvironmentDeleted(BaseModel):
    id: str
    type: Literal["environment_deleted"] = "environment_deleted"


def agent_told(given: dict[str, Any]) -> dict[str, Any]:
    """The fields that were given, in the form in which they are answered."""
    told = dict(given)
    if "model" in told:
        model = told["model"]
        told["model"] = {"speed": "standard"} | ({"id": model} if isinstance(model, str) else model)
    for parts in {"tools", "mcp_servers", "skills"} & set(told):
        told[parts] = [_whole(part) for part in told[parts] or []]
    if "execution_identity" in told:
        told["execution_identity"] = told["execution_identity"] or {"type": "service_account"}
    return told


def _whole(part: dict[str, Any]) -> dict[str, Any]:
    if str(part.get("type", "")).startswith(("agent_toolset", "mcp_toolset")):
        return {"configs": [], "default_config": _ALLOWED} | part
    return {"version": "latest"} | part if "skill_id" in part else part


def config_told(config: EnvironmentConfig | None) -> dict[str, Any]:
    given = config or EnvironmentConfig(type="cloud")
    if given.type == "self_hosted":
        return given.model_dump(exclude_unset=True)
    none: dict[str, Any] = {name: [] for name in _PACKAGES}
    networking = given.networking or {"type": "unrestricted"}
    closed = _CLOSED if networking.get("type") == "limited" else {}
    packages = none | {"type": "packages"} | (given.packages or {})
    return given.model_dump(exclude_unset=True) | {"networking": closed | networking, "packages": packages}


def stamps(found: Definition | Recorded) -> dict[str, Any]:
    return {name: getattr(found, name) for name in ("id", "created_at", "updated_at", "archived_at")}


def agent(found: Definition) -> Agent:
    return Agent(**found.told, version=found.version, **stamps(found))


def environment(found: Definition) -> Environment:
    return Environment(**found.told, **stamps(found))


agents = APIRouter(prefix="/v1/agents", tags=["agents"])
_EMPTY = agent_told({"tools": None, "mcp_servers": None, "skills": None, "execution_identity": None})
Version = Annotated[int | None, Query(ge=1, lt=2**31)]


@agents.post("")
def create_agent(who: Writer, body: NewAgent) -> Agent:
    given = {"description": None, "system": None, "multiagent": None} | _EMPTY
    return agent(who.agents.create(given | agent_told(body.model_dump(exclude_unset=True))))


@agents.get("")
def list_agents(
    *, who: Reader, limit: Limit = 20, page: Page = None, include_archived: bool = False, made: Created
) -> AgentPage:
    """Newest first: one's own and those everyone shares."""
    walk = Walk(limit + 1, position(page, AGENTS, str), descending=True)
    found = who.agents.find(made, walk, archived=include_archived)
    data = [agent(one) for one in found[:limit]]
    return AgentPage(data=data, next_page=paged(found, limit, AGENTS, lambda one: one.id))


@agents.get("/{agent_id}")
def retrieve_agent(who: Reader, agent_id: str, version: Version = None) -> Agent:
    return agent(who.agents.get(agent_id, version))


@agents.post("/{agent_id}")
def update_agent(who: Writer, agent_id: str, body: AgentPatch) -> Agent:
    """Make a new version if anything changes; sessions keep the one they began with."""
    patch = body.model_dump(exclude_unset=True, exclude={"version"})
    for name in ("model", "name"):
        if patch.get(name, "") is None:
            raise BadInput(f"{name}: null.", expected="it left out, or a value: it cannot be cleared")
    return agent(who.agents.update(agent_id, agent_told(patch), body.version))


@agents.post("/{agent_id}/archive")
def archive_agent(who: Writer, agent_id: str) -> Agent:
    """No new session can be made with it. There is no way back."""
    return agent(who.agents.archive(agent_id))


@agents.delete("/{agent_id}")
def delete_agent(who: Writer, agent_id: str) -> AgentDeleted:
    """With all its versions. Sessions made with it stay, and say what it was when they began. Ours: Anthropic's API
    only archives."""
    who.agents.delete(agent_id)
    return AgentDeleted(id=agent_id)


@agents.get("/{agent_id}/versions")
def list_agent_versions(who: Reader, agent_id: str, limit: Limit = 20, page: Page = None) -> AgentPage:
    """Newest first."""
    found = who.agents.versions(agent_id, Walk(limit + 1, position(page, AGENT_VERSIONS, int), descending=True))
    data = [agent(one) for one in found[:limit]]
    return AgentPage(data=data, next_page=paged(found, limit, AGENT_VERSIONS, lambda one: one.version))


environments = APIRouter(prefix="/v1/environments", tags=["environments"])


@environments.post("")
def create_environment(who: Writer, body: NewEnvironment) -> Environment:
    told: dict[str, Any] = {"name": body.name, "description": body.description, "config": config_told(body.config)}
    told |= {"metadata": body.metadata, "scope": body.scope or "organization"}
    return environment(who.environments.create(told))


@environments.get("")
def list_environments(
    who: Reader, limit: Limit = 20, page: Page = None, include_archived: bool = False
) -> EnvironmentPage:
    """Newest first: one's own and those everyone shares."""
    walk = Walk(limit + 1, position(page, ENVIRONMENTS, str), descending=True)
    found = who.environments.find(TimeSpan(), walk, archived=include_archived)
    data = [environment(one) for one in found[:limit]]
    return EnvironmentPage(data=data, next_page=paged(found, limit, ENVIRONMENTS, lambda one: one.id))


@environments.get("/{environment_id}")
def retrieve_environment(who: Reader, environment_id: str) -> Environment:
    return environment(who.environments.get(environment_id))


@environments.post("/{environment_id}")
def update_environment(who: Writer, environment_id: str, body: EnvironmentPatch) -> Environment:
    """Change what is given. What is left out or null stays; a null within `metadata` takes that key away."""
    patch = {name: value for name, value in body.model_dump(exclude_unset=True).items() if value is not None}
    if body.config is not None:
        patch["config"] = config_told(body.config)
    return environment(who.environments.update(environment_id, patch))


@environments.post("/{environment_id}/archive")
def archive_environment(who: Writer, environment_id: str) -> Environment:
    """No new session can be made in it. There is no way back."""
    return environment(who.environments.archive(environment_id))


@environments.delete("/{environment_id}")
def delete_environment(who: Writer, environment_id: str) -> EnvironmentDeleted:
    """Sessions made in it stay."""
    who.environments.delete(environment_id)
    return EnvironmentDeleted(id=environment_id)
