"""What models took in a night, added up for its account."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from reverie.dreams.dream import Consulted
from reverie.dreams.records import Told
from reverie.models.ledger import Call, totals


def consulted(calls: Iterable[Call]) -> tuple[Consulted, ...]:
    """Per role."""
    every = list(calls)
    return tuple(
        Consulted(
            role, tuple(sorted({one.model for one in every if one.role == role})), total.calls, total.failed,
            total.usage.tokens_in, total.usage.tokens_out, total.usage.cached,
            None if total.cost is None else float(total.cost), round(total.seconds, 3), round(total.share, 4),
            {one.prompt: one.prompt_sha256 for one in every if one.role == role}, total.sent, total.whole,
        )
        for role, total in totals(every).items()
    )  # fmt: skip


def together(told: Iterable[Told]) -> Told:
    """What there is to tell of the whole night."""
    every = list(told)
    dropped = sum((Counter(one.dropped) for one in every), Counter[str]())
    return Told(dict(dropped.most_common()), next((one.enough for one in every if one.enough), ""))
