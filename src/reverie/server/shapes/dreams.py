"""Dreams over the wire. What is ours begins with `reverie_`, but for two names that copied scripts read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from reverie.dreams.dream import Fate, Judged
from reverie.dreams.stores.account import PageDiff
from reverie.dreams.stores.dream import StoreDream
from reverie.llm.settings import BUILT_IN

_DONE = {"add": "added", "replace": "replaced", "merge": "merged", "remove": "removed"}


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


class DreamPage(BaseModel):
    data: list[WireDream]
    next_page: str | None


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


def page_diff(one: PageDiff) -> PageChange:
    return PageChange(
        path=one.path, operation=_became(one), before=_text(one.before), after=_text(one.after), diff=one.diff
    )


def _became(one: PageDiff) -> PageOperation:
    match one.before, one.after:
        case None, None:
            return "withheld"
        case None, _:
            return "added"
        case _, None:
            return "removed"
        case _:
            return "changed"


def _text(content: bytes | None) -> str | None:
    return None if content is None else content.decode()


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


def withheld(dream_id: str, judged: Sequence[Judged]) -> DreamWithheld:
    rest = [one for one in judged if one.fate not in (Fate.LANDED, Fate.WITHHELD)]
    return DreamWithheld(
        dream_id=dream_id,
        data=[matter(one) for one in judged if one.fate is Fate.WITHHELD],
        left_out=[matter(one) for one in rest],
    )


def dream(found: StoreDream, now: datetime) -> WireDream:
    output = found.output if found.cloned and found.status != "pending" else None
    behavior = {"type": "update_existing", "memory_store_id": found.store} if found.in_place else {"type": "create_new"}
    return WireDream(
        id=found.id,
        status=found.status.value,
        model={"id": found.model} | ({"speed": found.speed} if found.speed else {}),
        instructions=found.instructions,
        inputs=[
            {"type": "memory_store", "memory_store_id": found.store},
            {"type": "sessions", "session_ids": list(found.sessions)},
        ],
        outputs=[DreamOutput(memory_store_id=output)] if output else [],
        output_behavior=behavior,
        session_id=found.session,
        created_at=found.created_at,
        ended_at=found.ended_at,
        archived_at=found.archived_at,
        usage=DreamUsage.model_validate(found.usage, from_attributes=True),
        error=DreamError.model_validate(found.error, from_attributes=True)
        if found.error and found.status == "failed"
        else None,
        output_memory_store_id=output,
        reverie_reader=found.reader,
        reverie_decision=found.decided,
        elapsed_seconds=round(((found.ended_at or now) - found.created_at).total_seconds(), 3),
        reverie_instructions=_instructions(found),
    )


def _instructions(found: StoreDream) -> Instructions:
    if not found.instructions:
        return Instructions(used=False, why="There are none.")
    if found.reader != BUILT_IN:
        return Instructions(used=True, why=f"{found.reader} was given them and decided.")
    if not found.over and found.model != BUILT_IN:
        return Instructions(used=False, why="The dream has not been decided yet.")
    return Instructions(used=False, why="The built-in curator decided. It reads no instructions; they are recorded.")
