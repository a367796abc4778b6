"""`/v1/reverie/experiments`: which of two memories a session gets, and what came of it. Not in Anthropic's API."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from reverie.core.errors import NotFound
from reverie.core.scope import LOCAL
from reverie.experiments.library import Experiments
from reverie.server.caller import Caller, Reader, Writer

router = APIRouter(prefix="/v1/reverie/experiments", tags=["experiments"])
Unit = Annotated[str, Field(min_length=1, max_length=256)]


class NewAssignment(BaseModel):
    unit: Unit


class Assignment(BaseModel):
    """`use` is the memory store, or the version, to give the unit; the same at every call."""

    type: Literal["reverie_assignment"] = "reverie_assignment"
    arm: Literal["a", "b"]
    use: str


class NewOutcome(BaseModel):
    unit: Unit
    values: Annotated[dict[str, float], Field(min_length=1, max_length=16)]


class CountedOutcome(BaseModel):
    type: Literal["reverie_outcome"] = "reverie_outcome"
    counted: bool


@router.post("/{name}/assignments")
def assign_unit(who: Reader, name: str, body: NewAssignment) -> Assignment:
    """The arm of a session or a person."""
    found = _experiments(who).assign(name, body.unit)
    return Assignment(arm=found.arm, use=found.use)


@router.post("/{name}/outcomes")
def record_outcome(who: Writer, name: str, body: NewOutcome) -> CountedOutcome:
    """Record what came of a session of that unit. Not counted once the experiment is decided."""
    return CountedOutcome(counted=_experiments(who).record(name, body.unit, body.values))


def _experiments(who: Caller) -> Experiments:
    """They belong to whoever runs the server: other workspaces have none."""
    if who.scope.workspace != LOCAL:
        raise NotFound("There are no experiments in this workspace.")
    return who.house.home.experiments
