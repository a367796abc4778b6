"""`/v1/sessions/{id}/resources`: the memory stores a session was given. They are given when it is made, and stay.

In Anthropic's API a memory store has no id as a resource; those with one are files and repositories, which this server
does not keep. So none is found here by an id, and what is asked for is answered as what does not exist.
"""

from __future__ import annotations

from typing import Annotated, Literal, NoReturn

from fastapi import APIRouter, Query
from pydantic import BaseModel

from reverie.core.errors import NotFound
from reverie.server.caller import Caller, Reader, Writer
from reverie.server.pagination import Page, paged, position
from reverie.server.shapes import sessions as shapes

router = APIRouter(prefix="/v1/sessions/{session_id}/resources", tags=["resources"])
LISTING = "resources"


class NewResource(BaseModel):
    """Memory stores are given when a session is made, not later."""

    type: Literal["file"]
    file_id: str
    mount_path: str | None = None


class ResourcePatch(BaseModel):
    authorization_token: str


@router.get("")
def list_resources(
    who: Reader, session_id: str, limit: Annotated[int, Query(ge=1, le=1000)] = 1000, page: Page = None
) -> shapes.ResourcePage:
    there = list(enumerate(who.recording.get(session_id).resources, 1))
    left = there[position(page, LISTING, int) or 0 :]
    data = [dict(one) for _, one in left[:limit]]
    return shapes.ResourcePage(data=data, next_page=paged(left, limit, LISTING, lambda one: one[0]))


@router.post("")
def add_resource(who: Writer, session_id: str, body: NewResource) -> shapes.SessionResource:
    who.recording.get(session_id)
    raise NotFound(f"There is no file {body.file_id}: this server keeps none.")


@router.get("/{resource_id}")
def retrieve_resource(who: Reader, session_id: str, resource_id: str) -> shapes.SessionResource:
    _none(who, session_id, resource_id)


@router.post("/{resource_id}")
def update_resource(who: Writer, session_id: str, resource_id: str, body: ResourcePatch) -> shapes.SessionResource:
    _none(who, session_id, resource_id)


@router.delete("/{resource_id}")
def delete_resource(who: Writer, session_id: str, resource_id: str) -> shapes.ResourceDeleted:
    _none(who, session_id, resource_id)


def _none(who: Caller, session: str, resource: str) -> NoReturn:
    who.recording.get(session)
    raise NotFound(f"The session {session} has no resource {resource}.")
