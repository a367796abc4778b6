"""Which entry is which: the same statement keeps its id when it is moved or edited.

Entries of two readings of one document are matched by exact text, then one to one by likeness, best first. What is
left on one side is new, on the other gone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from reverie.memory.operation import entry_hash

LIKE = 0.5  # share of words in common from which an entry counts as edited, not exchanged
MOST_COMPARED = 1_000_000  # pairs; a document rewritten as a whole is not matched line by line
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Matching:
    """Places in the old and the new reading: (old, new) pairs, and what is on one side only."""

    kept: tuple[tuple[int, int], ...]
    edited: tuple[tuple[int, int], ...]
    new: tuple[int, ...]
    gone: tuple[int, ...]


def matched(old: Sequence[str], new: Sequence[str], replaced: Mapping[str, str] | None = None) -> Matching:
    """Match two readings. `replaced` says which hash became which, where that is known and need not be guessed."""
    kept = _pairs({entry_hash(text): entry_hash(text) for text in old}, old, new, set(), set())
    was, now = {a for a, _ in kept}, {b for _, b in kept}
    told = _pairs(dict(replaced or {}), old, new, was, now)
    was, now = was | {a for a, _ in told}, now | {b for _, b in told}
    alike = _alike(old, new, was, now)
    was, now = was | {a for a, _ in alike}, now | {b for _, b in alike}
    return Matching(
        tuple(kept),
        tuple(told + alike),
        tuple(at for at in range(len(new)) if at not in now),
        tuple(at for at in range(len(old)) if at not in was),
    )


class Hashed(Protocol):
    @property
    def sha256(self) -> str: ...


Known = TypeVar("Known", bound=Hashed)


def places_of(known: Sequence[Known], texts: Iterable[str]) -> dict[int, Known]:
    """Which known entry stands at each place of a document; of two with the same words each has its own."""
    free: dict[str, list[Known]] = {}
    for entry in reversed(known):
        free.setdefault(entry.sha256, []).append(entry)
    return {at: free[sha].pop() for at, text in enumerate(texts) if free.get(sha := entry_hash(text))}


def _pairs(
    became: Mapping[str, str], old: Sequence[str], new: Sequence[str], was: set[int], now: set[int]
) -> list[tuple[int, int]]:
    """Old places with the first free new place that holds what they became."""
    places: dict[str, list[int]] = {}
    for at in reversed(range(len(new))):
        if at not in now:
            places.setdefault(entry_hash(new[at]), []).append(at)
    pairs = []
    for at, text in enumerate(old):
        free = places.get(became.get(entry_hash(text), "")) if at not in was else None
        if free:
            pairs.append((at, free.pop()))
    return pairs


def _alike(old: Sequence[str], new: Sequence[str], was: set[int], now: set[int]) -> list[tuple[int, int]]:
    if (len(old) - len(was)) * (len(new) - len(now)) > MOST_COMPARED:
        return []
    before = {at: _words(text) for at, text in enumerate(old) if at not in was}
    after = {at: _words(text) for at, text in enumerate(new) if at not in now}
    likeness = sorted(
        (-(2 * len(words & others) / (len(words) + len(others)) if words or others else 1.0), a, b)
        for a, words in before.items()
        for b, others in after.items()
    )
    pairs: list[tuple[int, int]] = []
    for unlike, a, b in likeness:
        if -unlike < LIKE:
            break
        if a in before and b in after:
            pairs.append((a, b))
            del before[a], after[b]
    return pairs


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))
