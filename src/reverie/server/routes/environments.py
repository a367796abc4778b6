"""`/v1/environments`: where an agent would work. Sessions name one; nothing runs in it here."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from reverie.server.caller import Reader, Writer
from reverie.server.pagination import Limit, Page, between, paged, position
from reverie.server.shapes import definitions as shapes
from reverie.transcripts.recorded.session import Walk

router = APIRouter(prefix="/v1/environments", tags=["environments"])
LISTING = "environments"


@router.post("")
def create_environment(who: Writer, body: shapes.NewEnvironment) -> shapes.Environment:
    told: dict[str, Any] = {
        "name": body.name,
        "description": body.description,
        "config": shapes.config_told(body.config),
        "metadata": body.metadata,
        "scope": body.scope or "organization",
    }
    return shapes.environment(who.environments.create(told))


@router.get("")
def list_environments(
    who: Reader, limit: Limit = 20, page: Page = None, include_archived: bool = False
) -> shapes.EnvironmentPage:
    """Newest first: one's own and those everyone shares."""
    walk = Walk(limit + 1, position(page, LISTING, str), descending=True)
    found = who.environments.find(between(None, None), walk, archived=include_archived)
    data = [shapes.environment(one) for one in found[:limit]]
    return shapes.EnvironmentPage(data=data, next_page=paged(found, limit, LISTING, lambda one: one.id))


@router.get("/{environment_id}")
def retrieve_environment(who: Reader, environment_id: str) -> shapes.Environment:
    return shapes.environment(who.environments.get(environment_id))


@router.post("/{environment_id}")
def update_environment(who: Writer, environment_id: str, body: shapes.EnvironmentPatch) -> shapes.Environment:
    """Change what is given. What is left out or null stays; a null within `metadata` takes that key away."""
    patch = {name: value for name, value in body.model_dump(exclude_unset=True).items() if value is not None}
    if body.config is not None:
        patch["config"] = shapes.config_told(body.config)
    return shapes.environment(who.environments.update(environment_id, patch))


@router.post("/{environment_id}/archive")
def archive_environment(who: Writer, environment_id: str) -> shapes.Environment:
    """No new session can be made in it. There is no way back."""
    return shapes.environment(who.environments.archive(environment_id))


@router.delete("/{environment_id}")
def delete_environment(who: Writer, environment_id: str) -> shapes.EnvironmentDeleted:
    """Sessions made in it stay."""
    who.environments.delete(environment_id)
    return shapes.EnvironmentDeleted(id=environment_id)
