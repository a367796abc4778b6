"""What an agent would do otherwise, given one copy of a memory store instead of another. Pure; no model is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from reverie.bridge.compare.align import NEAR, Aligned, aligned
from reverie.bridge.compare.rewording import only_reworded
from reverie.bridge.compare.statements import Snapshot, StoreStatement, statements_of
from reverie.text.embedding import embed
from reverie.text.relation import RelationKind, relate
from reverie.text.wording.words import normal

SURE, DOUBT = 0.75, 0.1  # chance of a mere rewording from which it is taken for one, or left open
FAR_DOUBT = 0.15  # the same as DOUBT, for two statements that have hardly a word in common
ALONE_DOUBT = 0.6  # the same for the one that went from a place and the one that came, which nothing else puts together
OTHER_MATTER = 0.5  # likeness below which two statements may be two matters
SAID_ELSEWHERE = 0.7  # chance of a mere rewording from which a statement that went or came was there already
ALIKE = 0.5  # likeness below which nothing is taken to be said elsewhere
CLOSEST = 4


class DiffKind(StrEnum):
    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"
    DOUBTFUL = "perhaps_only_reworded"
    REWORDED = "reworded"
    MOVED = "moved"
    REPEATED = "repeated"  # said twice now, or no longer said twice

    @property
    def is_behaviour(self) -> bool:
        return self in (DiffKind.ADDED, DiffKind.CHANGED, DiffKind.REMOVED)


@dataclass(frozen=True, slots=True)
class Difference:
    """`reworded` is the chance, 0..1, that nothing but the words is different."""

    kind: DiffKind
    old: tuple[StoreStatement, ...]
    new: tuple[StoreStatement, ...]
    reworded: float
    why: str = ""

    @property
    def before(self) -> str:
        return " ".join(one.text for one in self.old)

    @property
    def after(self) -> str:
        return " ".join(one.text for one in self.new)

    @property
    def place(self) -> StoreStatement:
        return (self.new or self.old)[0]


@dataclass(frozen=True, slots=True)
class StoreDiff:
    old: Snapshot
    new: Snapshot
    differences: tuple[Difference, ...]
    unchanged: int
    note: str = ""  # why a model that was to be asked gave no answer

    def of(self, *kinds: DiffKind) -> list[Difference]:
        return [one for one in self.differences if one.kind in kinds]

    @property
    def behaviour(self) -> list[Difference]:
        return [one for one in self.differences if one.kind.is_behaviour]

    @property
    def arguable(self) -> list[Difference]:
        """The differences that are or may be rewordings, which a model may see otherwise."""
        return [one for one in self.of(DiffKind.DOUBTFUL, DiffKind.REWORDED) if one.reworded < 1.0]


def store_diff(old: Snapshot, new: Snapshot) -> StoreDiff:
    """Behaviour first; within a kind in the order of the newer store."""
    before, after = statements_of(old), statements_of(new)
    found = [one for pair in aligned(before, after) for one in _judged(pair)]
    told = _not_said_elsewhere([one for one in found if one is not None], before, after)
    return StoreDiff(old, new, sorted_differences(told), sum(one is None for one in found))


def sorted_differences(differences: Sequence[Difference]) -> tuple[Difference, ...]:
    kinds = list(DiffKind)
    return tuple(sorted(differences, key=lambda one: (kinds.index(one.kind), one.place.path, one.place.heading)))


def _judged(pair: Aligned) -> list[Difference | None]:
    """None is a statement that stands as it stood."""
    if pair.same_words:
        here = pair.old[0].path == pair.new[0].path
        return [None if here else Difference(DiffKind.MOVED, pair.old, pair.new, 1.0)]
    if not pair.old or not pair.new:
        kind = DiffKind.REPEATED if pair.likeness == 1.0 else DiffKind.ADDED if pair.new else DiffKind.REMOVED
        return [Difference(kind, pair.old, pair.new, 0.0)]
    judged = Difference(DiffKind.CHANGED, pair.old, pair.new, 0.0)
    if pair.old[0].code:
        return [judged]
    chance = round(only_reworded(judged.before, judged.after), 3)
    if chance >= (DOUBT if pair.likeness >= NEAR else FAR_DOUBT if pair.likeness else ALONE_DOUBT):
        sure = chance >= SURE and pair.likeness >= OTHER_MATTER
        return [Difference(DiffKind.REWORDED if sure else DiffKind.DOUBTFUL, pair.old, pair.new, chance)]
    relation = relate(judged.before, judged.after)
    if pair.likeness < NEAR or (relation.kind is RelationKind.UNRELATED and pair.likeness < OTHER_MATTER):
        gone = [Difference(DiffKind.REMOVED, (one,), (), 0.0) for one in pair.old]
        return [*gone, *(Difference(DiffKind.ADDED, (), (one,), 0.0) for one in pair.new)]
    why = relation.why if relation.kind is not RelationKind.SAME else ""
    return [Difference(DiffKind.CHANGED, pair.old, pair.new, chance, why)]


# ---- what went or came, and is said elsewhere ------------------------------------------------------------------------


def _not_said_elsewhere(
    found: Sequence[Difference], before: Sequence[StoreStatement], after: Sequence[StoreStatement]
) -> list[Difference]:
    """Consolidation drops one of two lines that say the same: nothing is lost by that."""
    gone = _said([one for one in found if one.kind is DiffKind.REMOVED], after)
    come = _said([one for one in found if one.kind is DiffKind.ADDED], before)
    return [gone.get(id(one)) or come.get(id(one)) or one for one in found]


def _said(found: Sequence[Difference], other_side: Sequence[StoreStatement]) -> dict[int, Difference]:
    """Those that a statement of the other side says, too."""
    if not found or not other_side:
        return {}
    import numpy as np

    here = embed([normal(one.before or one.after) for one in found])
    there = embed([normal(one.text) for one in other_side])
    said: dict[int, Difference] = {}
    for one, vector in zip(found, here, strict=True):
        likeness = there @ vector
        for at in np.argsort(-likeness)[:CLOSEST].tolist():
            other, text = other_side[at], one.before or one.after
            if likeness[at] < ALIKE:
                break
            if one.place.code == other.code and only_reworded(text, other.text) >= SAID_ELSEWHERE:
                old, new = (one.old, (other,)) if one.old else ((other,), one.new)
                said[id(one)] = Difference(DiffKind.REPEATED, old, new, SAID_ELSEWHERE)
                break
    return said
