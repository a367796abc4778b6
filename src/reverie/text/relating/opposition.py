"""Two clauses side by side: what they share, what was put in place of what."""

from __future__ import annotations

import re
from dataclasses import dataclass

from reverie.text.embedding import word_vectors
from reverie.text.relating.clause import Clause, PlacedValue
from reverie.text.relating.opposites import KIND_OF, PLAIN_NO, SIDES

SURELY_ALIKE = 0.6  # what a clause is about is told apart by words that are near in meaning
ALIKE = 0.45  # two different words this near mean about the same ("dogs", "pets")
ENOUGH = 2.5  # shared words around two values that make them values of the same thing
TOO_MANY = 150  # pairs of words; beyond that two clauses are compared by their stems alone


@dataclass(frozen=True, slots=True)
class ValueChange:
    """Two values of one dimension that differ, and how much of the words around them is shared."""

    old: PlacedValue
    new: PlacedValue
    context: float


@dataclass(frozen=True, slots=True)
class Compared:
    old: Clause
    new: Clause
    shared: frozenset[str]
    synonyms: dict[str, str]  # stem in old -> stem in new
    only_old: frozenset[str]
    only_new: frozenset[str]
    changes: tuple[ValueChange, ...]
    equal: int
    more: bool  # one has another value of a dimension both have
    opposed: tuple[str, ...]
    apart_old: frozenset[str]  # every word the other clause has not, opposites included
    apart_new: frozenset[str]
    matched: float
    rest_old: float
    rest_new: float

    @property
    def flipped(self) -> bool:
        return self.old.polarity * self.new.polarity < 0

    @property
    def denied_share(self) -> float:
        """How much of what one clause denies the other one says."""
        denying, other = (self.new, self.old) if self.new.polarity < 0 else (self.old, self.new)
        match = self.synonyms.values() if denying is self.new else self.synonyms.keys()
        negated = {word: denying.words[word] for word in sorted(denying.negated) if word in denying.words}
        said = sum(say for word, say in negated.items() if word in other.words or word in match)
        return said / sum(negated.values()) if negated else self.dice

    @property
    def cover_old(self) -> float:
        return self.matched / max(self.matched + self.rest_old, 1e-9)

    @property
    def dice(self) -> float:
        return 2 * self.matched / max(2 * self.matched + self.rest_old + self.rest_new, 1e-9)


def compare(old: Clause, new: Clause, *, closely: bool = True) -> Compared:
    """`closely` also looks for different words that mean about the same."""
    shared = old.words.keys() & new.words.keys()
    left, right = set(old.words) - shared, set(new.words) - shared
    synonyms = (_synonyms(left, right, old, new) if closely else {}) | _same_side(left, right, old, new)
    left -= synonyms.keys()
    right -= set(synonyms.values())
    opposed = tuple(axis for axis, side in old.sides.items() if new.sides.get(axis) == -side)
    opposed += tuple(word for word in sorted(left) if _negates(old.surface[word], new, right))
    opposed += tuple(word for word in sorted(right) if _negates(new.surface[word], old, left))
    settled = PLAIN_NO.union(opposed)  # what these words say is in the polarity or in `opposed`
    only_old = frozenset(word for word in left if SIDES.get(old.surface[word], ("",))[0] not in settled)
    only_new = frozenset(word for word in right if SIDES.get(new.surface[word], ("",))[0] not in settled)
    matched = sum(max(old.words[word], new.words[word]) for word in sorted(shared))
    matched += sum(0.8 * max(old.words[a], new.words[b]) for a, b in synonyms.items())
    changes, equal, more = _changes(old, new)
    return Compared(
        old,
        new,
        frozenset(shared),
        synonyms,
        only_old,
        only_new,
        changes,
        equal,
        more,
        opposed,
        frozenset(left),
        frozenset(right),
        matched,
        sum(old.words[word] for word in sorted(only_old)),
        sum(new.words[word] for word in sorted(only_new)),
    )


def _synonyms(left: set[str], right: set[str], old: Clause, new: Clause) -> dict[str, str]:
    """One-to-one, nearest first."""
    if not left or not right or len(left) * len(right) > TOO_MANY:
        return {}
    import numpy as np

    a, b = sorted(left), sorted(right)
    vectors = word_vectors([*(old.surface[word] for word in a), *(new.surface[word] for word in b)])
    near = vectors[: len(a)] @ vectors[len(a) :].T
    pairs: dict[str, str] = {}
    for row, column in sorted(np.argwhere(near >= ALIKE).tolist(), key=lambda cell: -near[cell[0], cell[1]]):
        if near[row, column] < SURELY_ALIKE and _opens(old, a[row]) and _opens(new, b[column]):
            continue
        taken = a[row] in pairs or b[column] in pairs.values()
        if not taken and not rivals(old.surface[a[row]], new.surface[b[column]]):
            pairs[a[row]] = b[column]
    return pairs


def _opens(clause: Clause, word: str) -> bool:
    return word in clause.head or word == next(iter(clause.words), "")


def _negates(word: str, other: Clause, theirs: set[str]) -> bool:
    """ "unpaid" against "paid", "irregular" against "regular"."""
    plain = _UN.sub("", word)
    return len(plain) > 3 and plain != word and any(other.surface[each] == plain for each in theirs)


_UN = re.compile(r"^(?:un|in|im|ir|dis|non)(?=\w{4})")


def _same_side(left: set[str], right: set[str], old: Clause, new: Clause) -> dict[str, str]:
    """Words on one side of one axis: "spicy" and "chili"."""
    sides = {SIDES[new.surface[word]]: word for word in sorted(right) if new.surface[word] in SIDES}
    mine = {word: SIDES[old.surface[word]] for word in sorted(left) if old.surface[word] in SIDES}
    return {word: sides[side] for word, side in mine.items() if side in sides and side[0] not in PLAIN_NO}


def rivals(left: str, right: str) -> bool:
    """Near in meaning, but as alternatives: brother and sister, open and closed."""
    if left in KIND_OF and KIND_OF[left] == KIND_OF.get(right):
        return left != right
    if left.removeprefix("non") == right.removeprefix("non"):
        return True
    left_side, right_side = SIDES.get(left), SIDES.get(right)
    return bool(left_side and right_side and left_side[0] == right_side[0] and left_side[1] != right_side[1])


def _changes(old: Clause, new: Clause) -> tuple[tuple[ValueChange, ...], int, bool]:
    """Values that differ, best context first, and how many are equal. A value both clauses have is no change."""
    mine = [placed for placed in old.values if not placed.value.was]
    theirs = [placed for placed in new.values if not placed.value.was]
    pairs = [(m, t) for m in mine for t in theirs if _comparable(m, t)]
    # Names are words already; only what can be counted is told apart from "the same value" here.
    kept_old = {id(m) for m, t in pairs if not m.value.differs(t.value)}
    kept_new = {id(t) for m, t in pairs if not m.value.differs(t.value)}
    changes = [
        ValueChange(m, t, _context(m, t, old, new)) for m, t in pairs if id(m) not in kept_old and id(t) not in kept_new
    ]
    equal = [m.value.dimension for m in mine if id(m) in kept_old and m.value.dimension != "name"]
    lone = [m for m in mine if id(m) not in kept_old] + [t for t in theirs if id(t) not in kept_new]
    more = not changes and any(placed.value.dimension in equal for placed in lone)
    return tuple(sorted(changes, key=lambda change: -change.context)), len(equal), more


_NUMERIC = frozenset({"count", "version", "ordinal"})


def _comparable(mine: PlacedValue, theirs: PlacedValue) -> bool:
    a, b = mine.value.dimension, theirs.value.dimension
    return a == b or (a in _NUMERIC and b in _NUMERIC)


def _context(mine: PlacedValue, theirs: PlacedValue, old: Clause, new: Clause) -> float:
    """How much of the words around the two values is shared, by weight; what is counted counts double."""
    weigh = {**new.words, **old.words}
    score = sum(weigh.get(word, 0.3) for word in sorted(mine.near & theirs.near))
    score += sum(weigh.get(word, 0.3) for word in sorted(mine.after & theirs.after))
    smaller = min(sum(weigh.get(word, 0.3) for word in sorted(side)) for side in (mine.near, theirs.near))
    return min(1.0, score / max(smaller, ENOUGH))
