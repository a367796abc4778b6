"""`relate(old, new)`: how a new statement stands to an old one.

Not likeness: two statements can share every word and contradict each other, or share none and agree. A small network
reads both together (`training/relate.py` holds how it learned, its README the data and the figures). `conflict` says
how surely `new` takes the place of `old`; 0.5 is where it becomes more likely than not.
Which of two conflicting statements holds is not decided here: that needs their dates and who said them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import islice, product
from math import exp, log

from reverie.text.network import Network, chances, network
from reverie.text.values import NAME, Value, exchanged, find_values, spelled
from reverie.text.words import carries_meaning, denies, language_of, normal, raw_words, stem

MOST_OLD, MOST_NEW = 110, 200  # tokens read at once, as in training
MOST_TOKENS = 1_000  # of a text
MOST_WINDOWS = 12  # pairs of pieces of long texts
BEGIN, END = 101, 102
# In the data nearly half of the pairs conflict, of what people say all day very few: so much less sure is a conflict.
SHIFT = -2.5
EVEN = 0.5
BY_VALUE = 0.8  # how sure that is of two statements that differ in nothing but a value or a denial
SAME_WORDS = 0.22  # it could stand in the other's place without loss, which is no conflict


class RelationKind(StrEnum):
    SAME = "same"
    REFINES = "refines"
    SUPERSEDES = "supersedes"
    CONTRADICTS = "contradicts"
    UNRELATED = "unrelated"


_KINDS = tuple(RelationKind)  # the order in which the network gives them
_CONFLICTS = (RelationKind.SUPERSEDES, RelationKind.CONTRADICTS)
_WHY = {
    RelationKind.SAME: "Both say the same.",
    RelationKind.REFINES: "The new statement says more about the same thing.",
    RelationKind.SUPERSEDES: "The new statement takes the place of the old one.",
    RelationKind.CONTRADICTS: "They cannot both hold.",
    RelationKind.UNRELATED: "Both can hold side by side.",
}


@dataclass(frozen=True, slots=True)
class Relation:
    kind: RelationKind
    confidence: float  # 0..1, in the kind
    conflict: float  # 0..1, how surely the new statement replaces or contradicts the old one
    why: str  # for people


def relate(old: str, new: str) -> Relation:
    """Whether `new` says the same as `old`, refines it, supersedes it, contradicts it, or does not concern it."""
    if normal(old) == normal(new):
        return Relation(RelationKind.SAME, 1.0, SAME_WORDS, "Both say the same in the same words.")
    differs = differs_plainly(old, new)
    if differs is False:
        return Relation(RelationKind.SAME, BY_VALUE, SAME_WORDS, "Both say the same in nearly the same words.")
    chance = chances_of(old, new)
    if not chance:  # nobody can tell, and people are asked
        return Relation(RelationKind.UNRELATED, 0.0, EVEN, "The network that compares statements cannot be loaded.")
    conflict = max(_conflict(chance), BY_VALUE if differs else 0.0)
    kinds = _CONFLICTS if conflict >= EVEN else [one for one in _KINDS if one not in _CONFLICTS]
    kind = max(kinds, key=chance.__getitem__)
    sure = max(conflict, 1 - conflict) * chance[kind] / sum(chance[one] for one in kinds)
    return Relation(kind, round(sure, 4), round(conflict, 4), _WHY[kind])


def differs_plainly(old: str, new: str) -> bool | None:
    """Whether two statements of the same words, small ones apart, differ in a value, or one of them denies what the
    other says: "2 GB" is 2,000 MB, and 8h40 is not 8h05. None where their words differ."""
    sides = [spelled(normal(one)) for one in (old, new)]
    mine, theirs = ([*find_values(side)] for side in sides)
    said, names = _words(sides[0], mine), _names(mine)
    if not said or said != _words(sides[1], theirs) or names != _names(theirs) or bool(mine) != bool(theirs):
        return None
    return denies(sides[0]) != denies(sides[1]) or exchanged(mine, theirs)


def _names(values: Sequence[Value]) -> list[str]:
    return [value.shown for value in values if value.dimension == NAME]


def _words(text: str, values: Sequence[Value]) -> list[str]:
    for value in values:
        text = text[: value.start] + " " * (value.end - value.start) + text[value.end :]
    language = language_of(text)
    return [stem(word, language) for word in raw_words(text) if carries_meaning(word)]


def conflict_on_one_matter(old: str, new: str) -> float:
    """How surely `new` takes the place of `old`, where it is known that both speak of one thing: among such pairs a
    conflict is nothing rare."""
    differs = differs_plainly(old, new)
    said = 0.0 if differs is False else sum(chances_of(old, new).get(kind, 0.0) for kind in _CONFLICTS)
    return round(max(said, BY_VALUE if differs else 0.0), 4)


def mutual_conflict(one: str, other: str) -> float:
    """How surely both cannot hold, read either way: one of them alone is often a mere exception to the other, or a
    narrower case of it."""
    return (relate(one, other).conflict + relate(other, one).conflict) / 2


@lru_cache(maxsize=16_384)
def chances_of(old: str, new: str) -> Mapping[RelationKind, float]:
    """The chance of each kind; of texts too long to be read at once, for the two pieces most in conflict. Nothing where
    the network cannot be loaded."""
    loaded = network("relate.onnx", MOST_TOKENS)
    if isinstance(loaded, str):
        return {}
    # Both texts as tokens; a long one in pieces.
    before, after = (
        [ids[start : start + most] for start in range(0, max(1, len(ids)), most)]
        for ids, most in ((loaded.ids(old), MOST_OLD), (loaded.ids(new), MOST_NEW))
    )
    read = (_read(loaded, *pieces) for pieces in islice(product(before, after), MOST_WINDOWS))
    return max(read, key=_conflict)


def _read(loaded: Network, old: list[int], new: list[int]) -> dict[RelationKind, float]:
    sides = [0] * (len(old) + 2) + [1] * (len(new) + 1)
    (logits,) = loaded.run([BEGIN, *old, END, *new, END], "kind", sides=sides)
    return dict(zip(_KINDS, map(float, chances(logits)), strict=True))


def _conflict(chance: Mapping[RelationKind, float]) -> float:
    conflict = sum(chance[kind] for kind in _CONFLICTS)
    return 1 / (1 + exp(-(log(max(conflict, 1e-6) / max(1 - conflict, 1e-6)) + SHIFT)))
