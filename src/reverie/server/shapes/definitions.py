"""Agents and environments over the wire. Tools, skills and the like are kept as they come: nothing here runs them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from reverie.transcripts.recorded import Definition

Parts = list[dict[str, Any]]
Metadata = dict[str, str]
_ALLOWED = {"enabled": True, "permission_policy": {"type": "always_allow"}}
_CLOSED = {"allow_mcp_servers": False, "allow_package_managers": False, "allowed_hosts": []}
_PACKAGES = ("apt", "cargo", "gem", "go", "npm", "pip")


class WireModel(BaseModel, extra="allow"):
    id: Annotated[str, Field(min_length=1, max_length=256)]


class NewAgent(BaseModel):
    model: Annotated[str, Field(min_length=1, max_length=256)] | WireModel
    name: str
    description: str | None = None
    system: str | None = None
    tools: Annotated[Parts, Field(max_length=256)] | None = None
    mcp_servers: Annotated[Parts, Field(max_length=20)] | None = None
    skills: Parts | None = None
    metadata: Metadata | None = None
    multiagent: dict[str, Any] | None = None
    execution_identity: dict[str, Any] | None = None


class AgentPatch(BaseModel):
    """A change: what is left out stays; null and empty clear. With `version` only if nobody changed it since."""

    model: Annotated[str, Field(min_length=1, max_length=256)] | WireModel | None = None
    name: str | None = None
    description: str | None = None
    system: str | None = None
    tools: Annotated[Parts, Field(max_length=256)] | None = None
    mcp_servers: Annotated[Parts, Field(max_length=20)] | None = None
    skills: Parts | None = None
    metadata: dict[str, str | None] | None = None
    multiagent: dict[str, Any] | None = None
    execution_identity: dict[str, Any] | None = None
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


class AgentPage(BaseModel):
    data: list[Agent]
    next_page: str | None


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


class EnvironmentPage(BaseModel):
    data: list[Environment]
    next_page: str | None


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


def agent(found: Definition) -> Agent:
    return Agent(
        **found.told,
        id=found.id,
        version=found.version,
        created_at=found.created_at,
        updated_at=found.updated_at,
        archived_at=found.archived_at,
    )


def environment(found: Definition) -> Environment:
    return Environment(
        **found.told,
        id=found.id,
        created_at=found.created_at,
        updated_at=found.updated_at,
        archived_at=found.archived_at,
    )
