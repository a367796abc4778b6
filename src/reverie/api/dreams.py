"""`/v1/dreams`: one night over a memory store and some sessions."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from reverie.api import dream_shapes as shapes
from reverie.api.caller import Caller, Dreamer, Reader
from reverie.api.pages import After, Before, Limit, Page, Since, Until, between, paged, position
from reverie.dreams.dream import Status
from reverie.dreams.stores.dream import StoreDream, StoreWish
from reverie.dreams.stores.records import Which
from reverie.kernel.errors import BadInput

router = APIRouter(prefix="/v1/dreams", tags=["dreams"])
LISTING = "dreams"


@router.post("")
def create_dream(who: Dreamer, body: shapes.NewDream) -> shapes.Dream:
    """It begins at once, or when there is room; ask for it again to see how it stands."""
    return _told(who, who.dreaming.create(_wish(body)))


@router.get("")
def list_dreams(
    *, who: Reader, limit: Limit = 20, page: Page = None, include_archived: bool = False,
    statuses: Annotated[list[Status] | None, Query()] = None, since: Since = None, until: Until = None,
    after: After = None, before: Before = None,
) -> shapes.DreamPage:  # fmt: skip
    """Newest first."""
    which = Which(between(since, until, after, before), tuple(statuses or ()), include_archived)
    found = who.dreaming.find(which, after=position(page, LISTING, str), limit=limit + 1)
    data = [_told(who, one) for one in found[:limit]]
    return shapes.DreamPage(data=data, next_page=paged(found, limit, LISTING, lambda one: one.id))


@router.get("/{dream_id}")
def retrieve_dream(who: Reader, dream_id: str) -> shapes.Dream:
    return _told(who, who.dreaming.get(dream_id))


@router.post("/{dream_id}/cancel")
def cancel_dream(who: Dreamer, dream_id: str) -> shapes.Dream:
    """What was written of its output stays, to be looked at."""
    return _told(who, who.dreaming.cancel(dream_id))


@router.post("/{dream_id}/archive")
def archive_dream(who: Dreamer, dream_id: str) -> shapes.Dream:
    """For one that is over. Its output is not touched."""
    return _told(who, who.dreaming.archive(dream_id))


def _told(who: Caller, found: StoreDream) -> shapes.Dream:
    return shapes.dream(found, who.house.home.clock.now())


def _wish(body: shapes.NewDream) -> StoreWish:
    stores = [one for one in body.inputs if isinstance(one, shapes.StoreInput)]
    sessions = [one for one in body.inputs if isinstance(one, shapes.SessionsInput)]
    if len(stores) != 1 or len(sessions) != 1:
        raise BadInput("inputs: not one of each.", expected="one memory_store and one sessions")
    store, behavior = stores[0].memory_store_id, body.output_behavior
    in_place = isinstance(behavior, shapes.UpdateExisting)
    if isinstance(behavior, shapes.UpdateExisting) and behavior.memory_store_id != store:
        raise BadInput("output_behavior: another memory store than the input.", expected=f"{store[:80]!r}")
    model = shapes.DreamModel(id=body.model) if isinstance(body.model, str) else body.model
    return StoreWish(store, tuple(sessions[0].session_ids), model.id, model.speed, body.instructions, in_place)
