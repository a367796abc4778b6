"""Ids as people type them: any beginning that only one has, with or without the word in front of the underscore."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from reverie.core.errors import BadInput

IdKind = Literal["proposal", "change", "dream", "session", "entry", "candidate"]
HEADS: dict[IdKind, str] = {"proposal": "prop_", "change": "chg_", "dream": "drm_", "entry": "ent_", "session": ""}
_SHOWN = 6


def beginnings(kind: IdKind, typed: str) -> list[str]:
    """The beginnings the id that is meant may have. Ours are in capitals behind their head."""
    head = HEADS.get(kind, "")
    if not head or not typed:
        return [typed] if typed else []
    rest = typed[len(head) :] if typed.lower().startswith(head) else typed
    return [typed, f"{head}{rest.upper()}"]


def full_id(kind: IdKind, typed: str, known: Iterable[str]) -> str:
    """The one id of those known that is meant; what was typed if there is none, so that it can be told as missing."""
    wanted = beginnings(kind, typed)
    found = sorted({one for one in known if any(one.startswith(start) for start in wanted)})
    exact = [one for one in wanted if one in found]
    if exact or len(found) <= 1:
        return (exact or found or [typed])[0]
    more = f" and {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
    noun = {"entry": "entries"}.get(kind, f"{kind}s")
    raise BadInput(
        f"{typed!r} is the beginning of {len(found):,} {noun}: {', '.join(found[:_SHOWN])}{more}.",
        expected="as much of one of them as no other has",
    )
