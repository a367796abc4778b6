"""`/v1/dreams`: one night over a memory store and some sessions.

What is ours over the wire begins with `reverie_`, but for two names that copied scripts read.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from reverie.core.errors import BadInput
from reverie.core.scope import Permission
from reverie.dreams.dream import Fate, Judged, Status
from reverie.dreams.stores.dream import DreamQuery, StoreDream, StoreWish
from reverie.llm.settings import BUILT_IN
from reverie.server.caller import Caller, Dreamer, Reader, Reviewer
from reverie.server.wire import Created, Limit, Page, Problem, WirePage, paged, position

_DONE = {"add": "added", "replace": "replaced", "merge": "merged", "remove": "removed"}
LISTING = "dreams"


class StoreInput(BaseModel):
    type: Literal["memory_store"]
    memory_store_id: str


class SessionsInput(BaseModel):
    type: Literal["sessions"]
    session_ids: Annotated[list[str], Field(min_length=1, max_length=100)]


class DreamModel(BaseModel):
    id: Annotated[str, Field(min_length=1, max_length=256)]
    speed: Literal["standard"] | None = None


class CreateNew(BaseModel):
    type: Literal["create_new"]


class UpdateExisting(BaseModel):
    type: Literal["update_existing"]
    memory_store_id: str


Input = Annotated[StoreInput | SessionsInput, Field(discriminator="type")]
Behavior = Annotated[CreateNew | UpdateExisting, Field(discriminator="type")]


class NewDream(BaseModel):
    inputs: Annotated[list[Input], Field(min_length=2, max_length=2)]
    model: Annotated[str, Field(min_length=1, max_length=256)] | DreamModel
    instructions: Annotated[str, Field(min_length=1, max_length=4096)] | None = None
    output_behavior: Behavior | None = None


class DreamUsage(BaseModel):
    input_tokens: int
    output_tokens: int
    cache_read_input_tokens: int
    cache_creation_input_tokens: int


class DreamError(BaseModel):
    type: str
    message: str


class DreamOutput(BaseModel):
    type: Literal["memory_store"] = "memory_store"
    memory_store_id: str


class Instructions(BaseModel):
    """Whether the instructions steered who decided, and why or why not."""

    used: bool
    why: str


class WireDream(BaseModel):
    id: str
    type: Literal["dream"] = "dream"
    status: Literal["pending", "running", "completed", "failed", "canceled"]
    inputs: list[dict[str, Any]]
    outputs: list[DreamOutput]
    model: dict[str, Any]
    instructions: str | None
    output_behavior: dict[str, Any]
    session_id: str | None
    created_at: datetime
    ended_at: datetime | None
    archived_at: datetime | None
    usage: DreamUsage
    error: DreamError | None
    output_memory_store_id: str | None
    elapsed_seconds: float
    reverie_reader: str
    reverie_instructions: Instructions
    reverie_decision: Literal["accepted", "discarded"] | None


class DreamPage(WirePage[WireDream]): ...


PageOperation = Literal["added", "changed", "removed", "withheld"]


class PageChange(BaseModel):
    """`withheld`: it looks unsafe, and did not come along, or not with all its statements. Its words are not told."""

    path: str
    operation: PageOperation
    before: str | None
    after: str | None
    diff: str


class DreamDiff(BaseModel):
    type: Literal["dream_diff"] = "dream_diff"
    dream_id: str
    data: list[PageChange]


class WireQuoted(BaseModel):
    session_id: str
    turn: int
    quote: str
    origin: str
    weight: str


class ScorePart(BaseModel):
    name: str
    value: float
    adds: float
    why: str


class MatterScore(BaseModel):
    total: float
    parts: list[ScorePart]


class Matter(BaseModel):
    """One thing a dream thought about. What must not be told (secrets, unsafe text) is not told here either.

    `unsure`: a person would have been asked, and it is in the output; `reasons` says for what."""

    change_id: str | None
    operation: str
    fate: str
    path: str
    before: str
    after: str
    reason: str
    why: str
    origin: str
    evidence: list[WireQuoted]
    score: MatterScore | None
    unsure: bool
    reasons: list[str]


class DreamChanges(BaseModel):
    type: Literal["dream_changes"] = "dream_changes"
    dream_id: str
    data: list[Matter]


class DreamWithheld(BaseModel):
    """`data` a person would have to decide; `left_out` is what was not done for other reasons."""

    type: Literal["dream_withheld"] = "dream_withheld"
    dream_id: str
    data: list[Matter]
    left_out: list[Matter]


class DreamDiary(BaseModel):
    type: Literal["dream_diary"] = "dream_diary"
    dream_id: str
    diary: str


def matter(one: Judged) -> Matter:
    return Matter(
        change_id=one.ref or None,
        operation=_DONE.get(one.verb, one.verb),
        fate=one.fate,
        path=one.document,
        before=one.old,
        after="" if one.verb == "remove" else one.text,
        reason=one.reason,
        why=one.why,
        origin=one.origin,
        evidence=[WireQuoted.model_validate(each, from_attributes=True) for each in one.evidence],
        score=MatterScore.model_validate(one.score, from_attributes=True) if one.score else None,
        unsure=one.unsure,
        reasons=list(one.reasons),
    )


def _instructions(found: StoreDream) -> Instructions:
    if not found.instructions:
        return Instructions(used=False, why="There are none.")
    if found.reader != BUILT_IN:
        return Instructions(used=True, why=f"{found.reader} was given them and decided.")
    if not found.over and found.model != BUILT_IN:
        return Instructions(used=False, why="The dream has not been decided yet.")
    return Instructions(used=False, why="The built-in curator decided. It reads no instructions; they are recorded.")


router = APIRouter(prefix="/v1/dreams", tags=["dreams"])


@router.post("")
def create_dream(who: Dreamer, body: NewDream) -> WireDream:
    """It begins at once, or when there is room; ask for it again to see how it stands."""
    stores = [one for one in body.inputs if isinstance(one, StoreInput)]
    sessions = [one for one in body.inputs if isinstance(one, SessionsInput)]
    if len(stores) != 1 or len(sessions) != 1:
        raise BadInput("inputs: not one of each.", expected="one memory_store and one sessions")
    store, behavior = stores[0].memory_store_id, body.output_behavior
    in_place = isinstance(behavior, UpdateExisting)
    if isinstance(behavior, UpdateExisting) and behavior.memory_store_id != store:
        raise BadInput("output_behavior: another memory store than the input.", expected=f"{store[:80]!r}")
    model = DreamModel(id=body.model) if isinstance(body.model, str) else body.model
    wish = StoreWish(store, tuple(sessions[0].session_ids), model.id, model.speed, body.instructions, in_place)
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
) -> DreamPage:
    """Newest first."""
    which = DreamQuery(made, tuple(statuses or ()), include_archived)
    found = who.dreaming.find(which, after=position(page, LISTING, str), limit=limit + 1)
    data = [_wire_dream(who, one) for one in found[:limit]]
    return DreamPage(data=data, next_page=paged(found, limit, LISTING, lambda one: one.id))


@router.get("/{dream_id}")
def retrieve_dream(who: Reader, dream_id: str) -> WireDream:
    return _wire_dream(who, who.dreaming.get(dream_id))


@router.post("/{dream_id}/cancel")
def cancel_dream(who: Dreamer, dream_id: str) -> WireDream:
    """Keep what was written of its output, to be looked at."""
    return _wire_dream(who, who.dreaming.cancel(dream_id))


@router.post("/{dream_id}/archive")
def archive_dream(who: Dreamer, dream_id: str) -> WireDream:
    """For one that is over. Its output is not touched."""
    return _wire_dream(who, who.dreaming.archive(dream_id))


# ---- what Anthropic's API does not have ------------------------------------------------------------------------------


@router.get("/{dream_id}/diff")
def diff_dream(who: Reader, dream_id: str) -> DreamDiff:
    """Every page that reads otherwise than before, with a unified diff."""
    data = list[PageChange]()
    for one in who.dreaming.diff(dream_id):
        before, after = (None if text is None else text.decode() for text in (one.before, one.after))
        operation: PageOperation = "changed"
        if before is None:
            operation = "withheld" if after is None else "added"
        elif after is None:
            operation = "removed"
        data.append(PageChange(path=one.path, operation=operation, before=before, after=after, diff=one.diff))
    return DreamDiff(dream_id=dream_id, data=data)


@router.get("/{dream_id}/changes")
def list_dream_changes(who: Reader, dream_id: str) -> DreamChanges:
    """Each change with its reason, the words it rests on and its score."""
    landed = who.dreaming.account(dream_id).of(Fate.LANDED)
    return DreamChanges(dream_id=dream_id, data=[matter(one) for one in landed])


@router.get("/{dream_id}/withheld")
def list_dream_withheld(who: Reader, dream_id: str) -> DreamWithheld:
    """List what was not done, and why: for want of a person to ask, of a decision, or of worth."""
    judged = who.dreaming.account(dream_id).judged
    rest = [matter(one) for one in judged if one.fate not in (Fate.LANDED, Fate.WITHHELD)]
    data = [matter(one) for one in judged if one.fate is Fate.WITHHELD]
    return DreamWithheld(dream_id=dream_id, data=data, left_out=rest)


@router.get("/{dream_id}/diary")
def read_dream_diary(who: Reader, dream_id: str) -> DreamDiary:
    """The dream told in Markdown."""
    return DreamDiary(dream_id=dream_id, diary=who.dreaming.account(dream_id).diary)


@router.post("/{dream_id}/accept")
def accept_dream(who: Reviewer, dream_id: str) -> WireDream:
    """The input store gets the output's content as one change that can be undone; 409 if it was written to since."""
    return _wire_dream(who, who.dreaming.accept(dream_id, who.storing))


@router.post("/{dream_id}/discard")
def discard_dream(who: Reviewer, dream_id: str) -> WireDream:
    """The output store is archived."""
    return _wire_dream(who, who.dreaming.discard(dream_id))


def _wire_dream(who: Caller, found: StoreDream) -> WireDream:
    output = found.output if found.cloned and found.status != "pending" else None
    in_place = {"type": "update_existing", "memory_store_id": found.store}
    inputs: list[dict[str, Any]] = [
        {"type": "memory_store", "memory_store_id": found.store},
        {"type": "sessions", "session_ids": list(found.sessions)},
    ]
    failed = found.error if found.status == "failed" else None
    lasted = (found.ended_at or who.house.home.clock.now()) - found.created_at
    return WireDream(
        id=found.id,
        status=found.status.value,
        model={"id": found.model} | ({"speed": found.speed} if found.speed else {}),
        instructions=found.instructions,
        inputs=inputs,
        outputs=[DreamOutput(memory_store_id=output)] if output else [],
        output_behavior=in_place if found.in_place else {"type": "create_new"},
        session_id=found.session,
        created_at=found.created_at,
        ended_at=found.ended_at,
        archived_at=found.archived_at,
        usage=DreamUsage.model_validate(found.usage, from_attributes=True),
        error=DreamError.model_validate(failed, from_attributes=True) if failed else None,
        output_memory_store_id=output,
        reverie_reader=found.reader,
        reverie_decision=found.decided,
        elapsed_seconds=round(lasted.total_seconds(), 3),
        reverie_instructions=_instructions(found),
    )
