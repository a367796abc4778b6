"""`/v1/dreams`: one night over a memory store and some sessions."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from reverie.core.errors import BadInput
from reverie.core.keys import Permission
from reverie.dreams.dream import Fate, Status
from reverie.dreams.stores.dream import StoreDream, StoreWish
from reverie.dreams.stores.records import DreamQuery
from reverie.server.caller import Caller, Dreamer, Reader, Reviewer
from reverie.server.errors import Problem
from reverie.server.pagination import Created, Limit, Page, paged, position
from reverie.server.shapes import dreams as shapes

router = APIRouter(prefix="/v1/dreams", tags=["dreams"])
LISTING = "dreams"


@router.post("")
def create_dream(who: Dreamer, body: shapes.NewDream) -> shapes.WireDream:
    """It begins at once, or when there is room; ask for it again to see how it stands."""
    wish = _wish(body)
    if wish.in_place and not who.key.may(Permission.WRITE):
        raise Problem(403, f"The key {who.key.id} lacks the scope write, and the dream would rewrite its input.")
    return _wire_dream(who, who.dreaming.create(wish))


@router.get("")
def list_dreams(
    *,
    who: Reader,
    limit: Limit = 20,
    page: Page = None,
    include_archived: bool = False,
    statuses: Annotated[list[Status] | None, Query()] = None,
    made: Created,
) -> shapes.DreamPage:
    """Newest first."""
    which = DreamQuery(made, tuple(statuses or ()), include_archived)
    found = who.dreaming.find(which, after=position(page, LISTING, str), limit=limit + 1)
    data = [_wire_dream(who, one) for one in found[:limit]]
    return shapes.DreamPage(data=data, next_page=paged(found, limit, LISTING, lambda one: one.id))


@router.get("/{dream_id}")
def retrieve_dream(who: Reader, dream_id: str) -> shapes.WireDream:
    return _wire_dream(who, who.dreaming.get(dream_id))


@router.post("/{dream_id}/cancel")
def cancel_dream(who: Dreamer, dream_id: str) -> shapes.WireDream:
    """Keep what was written of its output, to be looked at."""
    return _wire_dream(who, who.dreaming.cancel(dream_id))


@router.post("/{dream_id}/archive")
def archive_dream(who: Dreamer, dream_id: str) -> shapes.WireDream:
    """For one that is over. Its output is not touched."""
    return _wire_dream(who, who.dreaming.archive(dream_id))


# ---- what Anthropic's API does not have ------------------------------------------------------------------------------


@router.get("/{dream_id}/diff")
def diff_dream(who: Reader, dream_id: str) -> shapes.DreamDiff:
    """Every page that reads otherwise than before, with a unified diff."""
    return shapes.DreamDiff(dream_id=dream_id, data=[shapes.page_diff(one) for one in who.dreaming.diff(dream_id)])


@router.get("/{dream_id}/changes")
def list_dream_changes(who: Reader, dream_id: str) -> shapes.DreamChanges:
    """Each change with its reason, the words it rests on and its score."""
    landed = who.dreaming.account(dream_id).of(Fate.LANDED)
    return shapes.DreamChanges(dream_id=dream_id, data=[shapes.matter(one) for one in landed])


@router.get("/{dream_id}/withheld")
def list_dream_withheld(who: Reader, dream_id: str) -> shapes.DreamWithheld:
    """List what was not done, and why: for want of a person to ask, of a decision, or of worth."""
    return shapes.withheld(dream_id, who.dreaming.account(dream_id).judged)


@router.get("/{dream_id}/diary")
def read_dream_diary(who: Reader, dream_id: str) -> shapes.DreamDiary:
    """The dream told in Markdown."""
    return shapes.DreamDiary(dream_id=dream_id, diary=who.dreaming.account(dream_id).diary)


@router.post("/{dream_id}/accept")
def accept_dream(who: Reviewer, dream_id: str) -> shapes.WireDream:
    """The input store gets the output's content as one change that can be undone; 409 if it was written to since."""
    return _wire_dream(who, who.dreaming.accept(dream_id, who.storing))


@router.post("/{dream_id}/discard")
def discard_dream(who: Reviewer, dream_id: str) -> shapes.WireDream:
    """The output store is archived."""
    return _wire_dream(who, who.dreaming.discard(dream_id))


def _wire_dream(who: Caller, found: StoreDream) -> shapes.WireDream:
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
