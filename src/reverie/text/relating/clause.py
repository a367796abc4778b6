"""A clause: its words, its values, and how it is meant."""

from __future__ import annotations

from dataclasses import dataclass

from reverie.text.relating.cues import Cue
from reverie.text.relating.values import Value


@dataclass(frozen=True, slots=True)
class PlacedValue:
    """A value and the words around it."""

    value: Value
    near: frozenset[str]
    after: frozenset[str]  # what it counts
    given: bool  # part of something the speaker takes as known: "my best time of 25:50"
    in_head: bool


@dataclass(frozen=True, slots=True)
class Clause:
    text: str
    words: dict[str, float]  # stem -> how much it says
    surface: dict[str, str]  # stem -> the word as written
    head: tuple[str, ...]  # the stems before the first verb: what the clause is about
    predicate: str  # the stem of the first full verb; "" for "is", "has" and no verb at all
    attributes: frozenset[str]
    own: bool  # the speaker, or the user, is the subject
    negated: frozenset[str]  # stems this clause denies
    limits: tuple[frozenset[str], ...]  # stems and values of each time, place and condition it is limited to
    ended: frozenset[str]  # stems this clause declares over
    values: tuple[PlacedValue, ...]
    sides: dict[str, int]  # axis of opposites -> the side this clause is on
    attitude: int  # likes 1, dislikes -1, says nothing of it 0
    polarity: int
    cues: frozenset[Cue]
    one_at_a_time: bool  # its verb takes one object at a time
    any_number: bool  # its verb takes any number of objects
    role: bool  # it says who has a duty
