"""`relate(old, new)`: how a new statement stands to an old one.

Not likeness: two statements can share every word and contradict each other, or share none and agree. `conflict` says
how surely `new` takes the place of `old`; 0.5 is where it becomes more likely than not.
Which of two conflicting statements holds is not decided here: that needs their dates and who said them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from reverie.text.embedding import embed
from reverie.text.relating.cues import Cue
from reverie.text.relating.judge import DecidingClauses, evidence
from reverie.text.relating.opposition import Compared, compare
from reverie.text.relating.reasons import reason
from reverie.text.relating.statement import ParsedStatement, normal, read
from reverie.text.relating.words import language_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class RelationKind(StrEnum):
    SAME = "same"
    REFINES = "refines"
    SUPERSEDES = "supersedes"
    CONTRADICTS = "contradicts"
    UNRELATED = "unrelated"


@dataclass(frozen=True, slots=True)
class Relation:
    kind: RelationKind
    confidence: float  # 0..1, in the kind
    conflict: float  # 0..1, how surely the new statement replaces or contradicts the old one
    why: str  # for people


def relate(old: str, new: str) -> Relation:
    """Whether `new` says the same as `old`, refines it, supersedes it, contradicts it, or does not concern it."""
    language = language_of(f"{normal(old)[:_SAMPLE]} {normal(new)[:_SAMPLE]}")
    before, after = _read(old, language), _read(new, language)
    if before.text == after.text:
        return Relation(RelationKind.SAME, 1.0, SAME_WORDS, "Both say the same in the same words.")
    about = float(_vector(before.text) @ _vector(after.text))
    found = evidence(before, after, about)
    conflict = round(found.conflict, 4)
    kind, confidence = _kind(found, conflict, compare(before.whole, after.whole), about)
    return Relation(kind, round(confidence, 4), conflict, reason(kind, found))


def mutual_conflict(one: str, other: str) -> float:
    """How surely both cannot hold, read either way: one of them alone is often a mere exception to the other, or a
    narrower case of it."""
    sides = relate(one, other), relate(other, one)
    narrower = any(side.kind is RelationKind.REFINES and side.conflict >= _EVEN for side in sides)
    return 0.0 if narrower else min(side.conflict for side in sides)


_EVEN = 0.5  # from here on a conflict is more likely than not
_SAMPLE = 400  # characters; enough to tell a language
SAME_WORDS = 0.22  # it could stand in the other's place without loss, which is no conflict
_ALIKE, _NEAR = 0.72, 0.6  # share of words in common; likeness of whole texts


def _kind(found: DecidingClauses, conflict: float, whole: Compared, about: float) -> tuple[RelationKind, float]:
    if conflict >= _EVEN:
        return _conflicting(found), conflict
    if _agree(found.parts, whole, about):
        return RelationKind.SAME, (1 - conflict) * min(1.0, 0.3 + whole.dice)
    if _adds(found.parts, whole, about):
        return RelationKind.REFINES, (1 - conflict) * min(1.0, 0.3 + whole.cover_old)
    return RelationKind.UNRELATED, 1 - conflict


def _conflicting(found: DecidingClauses) -> RelationKind:
    """A narrower preference takes the broader one's place; a plain denial contradicts; the rest supersedes."""
    new, parts = found.compared.new, found.parts
    if "narrowed" in parts and not found.compared.opposed:
        return RelationKind.REFINES
    told = new.ended or Cue.CHANGE in new.cues or Cue.NOW in new.cues
    return RelationKind.CONTRADICTS if {"denied", "opposite"} & parts.keys() and not told else RelationKind.SUPERSEDES


_APART = frozenset({"subject", "scope", "question", "hedged", "conditional", "past", "additive"})


def _agree(parts: dict[str, float], whole: Compared, about: float) -> bool:
    if "agrees" in parts:
        return True
    if _APART & parts.keys() or whole.changes or whole.opposed or whole.flipped:
        return False
    little_new = whole.rest_new <= 0.35 * (whole.matched + whole.rest_new) and (whole.only_old or whole.rest_new < 0.6)
    values = not (whole.old.values or whole.new.values) or whole.equal > 0
    return values and bool(little_new) and (whole.dice >= _ALIKE or about >= _NEAR)


def _adds(parts: dict[str, float], whole: Compared, about: float) -> bool:
    if _APART & parts.keys() or whole.flipped or not whole.shared:
        return False
    return whole.cover_old >= 0.3 and (about >= 0.25 or whole.cover_old >= 0.6)


@lru_cache(maxsize=8192)
def _read(text: str, language: str) -> ParsedStatement:
    return read(text, language)


@lru_cache(maxsize=8192)
def _vector(text: str) -> NDArray[np.float32]:
    vector: NDArray[np.float32] = embed([text])[0]
    return vector
