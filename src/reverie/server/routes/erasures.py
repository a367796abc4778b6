"""`/v1/reverie/users` and `/v1/reverie/workspaces`: a person or a whole workspace goes.

Ours: Anthropic's API has no such thing.
"""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel

from reverie.erasure.wanted import Erasure as Done
from reverie.erasure.wanted import ErasureKind, Rules
from reverie.server.caller import Administrator
from reverie.server.errors import Problem

router = APIRouter(prefix="/v1/reverie", tags=["erasure"])


class WireLeft(BaseModel):
    """Something that erasure did not touch, and why."""

    where: str
    why: str


class WireErasure(BaseModel):
    """`counts` is what went, by kind. It cannot be undone."""

    type: Literal["reverie_erasure"] = "reverie_erasure"
    id: str
    kind: ErasureKind
    counts: dict[str, int]
    left: list[WireLeft]


@router.delete("/users/{user}")
def erase_user(who: Administrator, user: str, rules: Rules = "remove") -> WireErasure:
    """Everything of this person: sessions, memory stores, keys, and what rests on their words alone elsewhere."""
    if who.key.user and who.key.user != user:
        raise Problem(403, f"The key {who.key.id} is bound to another user.")
    return wire_erasure(who.erasing(who.erasing.plan(ErasureKind.PERSON, user, rules=rules)))


@router.delete("/workspaces/{workspace}")
def erase_workspace(who: Administrator, workspace: str) -> WireErasure:
    """Everything in the key's own workspace, its keys as well. The ledger keeps its hashes and no word."""
    if workspace != who.key.workspace or who.key.user:
        raise Problem(403, f"The key {who.key.id} does not belong to all of that workspace.")
    return wire_erasure(who.erasing(who.erasing.plan(ErasureKind.WORKSPACE, workspace)))


def wire_erasure(done: Done) -> WireErasure:
    left = [WireLeft(where=one.where, why=one.why) for one in done.left]
    return WireErasure(id=done.id, kind=done.kind, counts=dict(done.counts), left=left)
