"""Which of two statements is the later one. Where that cannot be told, nobody's word takes another's place."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from reverie.deep.material import Known

Order = Literal["later", "earlier", "unknown"]


def order_of(said_at: datetime | None, known: Known) -> Order:
    """How a statement stands in time to what is known. An entry is at least as old as when it was first seen."""
    if said_at is None:
        return "unknown"
    if known.since is not None:
        return "later" if said_at > known.since else "earlier"
    if known.seen is not None and said_at > known.seen:
        return "later"
    return "unknown"


def in_words(order: Order, said_at: datetime | None, known: Known) -> str:
    said = f"said on {said_at:%d %B %Y}" if said_at else "said on a day nobody knows"
    if order == "later":
        since = known.since or known.seen
        return f"{said}, after the entry of {since:%d %B %Y}" if since else said
    if order == "earlier":
        return f"{said}, before the entry came in"
    return f"{said}; how old the entry is cannot be told"
