"""Statements against each other: said twice, contradicted, overtaken. Sentence by sentence, near ones only."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Generic, Literal, Protocol, TypeVar

from reverie.audit.checks.word_by_word import (
    SplitSentence,
    equal,
    is_han,
    much_alike,
    one_thing_apart,
    same_text,
    split_sentence,
    undated,
)
from reverie.dreams.light.dates import dates_in
from reverie.text.relation import RelationKind, conflict_on_one_matter, relate

NEAR = 0.35  # likeness of sentences from which they are worth comparing
MOST_SENTENCES = 4_000
SHORTEST, LONGEST = 8, 240  # characters of a sentence that can be compared word by word
LONG_ENOUGH = 40  # to be no accident below two headings
MOST_NEIGHBOURS = 16
SURE_SAME, SURE_ALIKE, SURE_APART, SURE_OVERTAKEN = 0.85, 0.75, 0.5, 0.5
_SENTENCE = re.compile(r"(?<=[.!?;。！？；])(?<!\d\.)\s+|\n+")
_NESTED = re.compile(r"\n[ \t]*(?:[-*+]|\d+[.)])[ \t].*", re.DOTALL)
_CHANGED = re.compile(
    r"\b(?:switched|moved|migrated|changed|renamed) (?:\w+ ){0,3}?from (?P<from>[\w./-]+)|"
    r"\b(?:no longer|stopped) (?:use |uses |using |on |with )(?P<gone>[\w./-]+)|"
    r"\breplaced (?P<was>[\w./-]+) (?:with|by) ",
    re.IGNORECASE,
)

Tie = Literal["same", "contradicts", "supersedes"]


class Placed(Protocol):
    """A statement somewhere: an entry or a passage, in a document (`place`) and under a heading of it."""

    @property
    def text(self) -> str: ...
    @property
    def is_entry(self) -> bool: ...
    @property
    def section(self) -> str: ...
    @property
    def place(self) -> tuple[str, str]: ...


Stated = TypeVar("Stated", bound=Placed)


@dataclass(frozen=True, slots=True)
class Pair(Generic[Stated]):
    """Two statements, compared: `first` is the one to be looked at, and of "supersedes" the one that is over."""

    tie: Tie
    first: Stated
    second: Stated
    why: str


@dataclass(frozen=True, slots=True)
class _Sentence(Generic[Stated]):
    statement: Stated
    read: SplitSentence
    alone: bool  # it is all its statement says


def pairs(statements: Sequence[Stated], *, loosely: bool = False) -> list[Pair[Stated]]:
    """Every pair that is surely tied. One pair of statements is told once, with the worst that is between them.

    `loosely`: what says the same in other words counts, too, where being wrong costs a line that can be taken back.
    """
    sentences = [one for statement in statements for one in _sentences(statement)][:MOST_SENTENCES]
    found: dict[tuple[int, int], Pair[Stated]] = {}
    for one, other in _near(sentences):
        pair = _tied(one, other) or (_alike(one, other) if loosely else None)
        key = (id(one.statement), id(other.statement))
        if pair and (key not in found or _WORSE[pair.tie] < _WORSE[found[key].tie]):
            found[key] = pair
    return list(found.values())


_WORSE: dict[Tie, int] = {"contradicts": 0, "supersedes": 1, "same": 2}


def _sentences(statement: Stated) -> Iterator[_Sentence[Stated]]:
    """The sentences of a statement that stand on their own: not code, not what hangs below a line, not half a line."""
    if statement.text.lstrip().startswith(("```", "~~~", "|", "<", ">")):
        return
    text = _NESTED.sub("", statement.text)
    if statement.section or not statement.is_entry:
        text = " ".join(text.split())  # Markdown wraps its lines
    parts = [part.strip(" *_-") for part in _SENTENCE.split(text) if part.strip(" *_-")]
    alone = len(parts) == 1 and text.strip() == statement.text.strip()
    for part in parts:
        if SHORTEST <= len(part) <= LONGEST or (len(part) >= 4 and is_han(part)):
            yield _Sentence(statement, split_sentence(part), alone)


def _near(sentences: Sequence[_Sentence[Stated]]) -> Iterator[tuple[_Sentence[Stated], _Sentence[Stated]]]:
    """Pairs of sentences of different statements, in order, that are about the same."""
    import numpy as np

    from reverie.text.embedding import embed

    if len(sentences) < 2:
        return
    vectors = embed([undated(one.read.text) for one in sentences])
    for at, one in enumerate(sentences):
        likeness = vectors[at + 1 :] @ vectors[at]
        near = np.flatnonzero(likeness >= NEAR)
        for shift in sorted(near[np.argsort(-likeness[near])][:MOST_NEIGHBOURS].tolist()):
            other = sentences[at + 1 + shift]
            if other.statement is not one.statement:
                yield one, other


def _tied(one: _Sentence[Stated], other: _Sentence[Stated]) -> Pair[Stated] | None:
    if one.alone and other.alone and (tie := _said_twice(one, other)):
        return tie
    if is_han(one.read.text) or is_han(other.read.text) or not _same_ground(one.statement, other.statement):
        return None
    return _overtaken(one, other) or _overtaken(other, one) or _apart(one, other)


def _same_ground(one: Placed, other: Placed) -> bool:
    """A heading says what its lines are about: within a document only lines below the same one can be compared."""
    return one.place != other.place or one.section == other.section


def _said_twice(one: _Sentence[Stated], other: _Sentence[Stated]) -> Pair[Stated] | None:
    if same_text(one.read, other.read) or (not is_han(one.read.text) and equal(one.read, other.read)):
        return _doubled(one, other)
    if is_han(one.read.text) or not (one.read.states and other.read.states and much_alike(one.read, other.read)):
        return None
    either_way = relate(one.read.text, other.read.text), relate(other.read.text, one.read.text)
    if all(each.kind is RelationKind.SAME and each.confidence >= SURE_SAME for each in either_way):
        shorter, longer = sorted((one.statement, other.statement), key=lambda statement: len(statement.text))
        return Pair("same", shorter, longer, "Another entry says the same in other words.")
    return None


def _alike(one: _Sentence[Stated], other: _Sentence[Stated]) -> Pair[Stated] | None:
    """Each way they are read they say the same, or one says all of the other."""
    if not (one.alone and other.alone) or is_han(one.read.text) or not one.read.signs & other.read.signs:
        return None
    if not _same_ground(one.statement, other.statement):
        return None
    there, back = relate(one.read.text, other.read.text), relate(other.read.text, one.read.text)
    kinds, sure = {there.kind, back.kind}, min(there.confidence, back.confidence)
    more_or_less = kinds == {RelationKind.SAME, RelationKind.REFINES} and much_alike(one.read, other.read)
    if sure < SURE_ALIKE or not (kinds == {RelationKind.SAME} or more_or_less):
        return None
    shorter, longer = sorted((one.statement, other.statement), key=lambda statement: len(statement.text))
    return Pair("same", shorter, longer, "Another entry says the same in other words.")


def _doubled(one: _Sentence[Stated], other: _Sentence[Stated]) -> Pair[Stated] | None:
    """Word for word. Labels recur, and a short line below another heading is about something else."""
    a_line = (one.statement.is_entry or other.statement.is_entry) and _same_ground(one.statement, other.statement)
    if one.read.is_label or not (a_line or len(one.read.text) >= LONG_ENOUGH):
        return None
    return Pair("same", other.statement, one.statement, "The same is said elsewhere, word for word or nearly.")


def _apart(one: _Sentence[Stated], other: _Sentence[Stated]) -> Pair[Stated] | None:
    if not one_thing_apart(one.read, other.read):
        return None
    texts = undated(one.read.text), undated(other.read.text)
    if min(conflict_on_one_matter(*texts), conflict_on_one_matter(*reversed(texts))) < SURE_APART:
        return None
    before, after = _day(one.read.text), _day(other.read.text)
    if before and after and before != after:
        old, new = (one, other) if before < after else (other, one)
        why = f"It was overtaken on {max(before, after):%Y-%m-%d} by what another entry says."
        return Pair("supersedes", old.statement, new.statement, why)
    why = "Another statement says the opposite or gives another value."
    return Pair("contradicts", one.statement, other.statement, why)


def _overtaken(old: _Sentence[Stated], new: _Sentence[Stated]) -> Pair[Stated] | None:
    """The newer one says in so many words that what the older one names is over."""
    changed = _CHANGED.search(new.read.text)
    if changed is None or _CHANGED.search(old.read.text) or old.read.denies or not old.read.states:
        return None
    gone = (changed["from"] or changed["gone"] or changed["was"]).casefold().strip(".,")
    if len(gone) < 3 or not re.search(rf"(?<!\w){re.escape(gone)}(?!\w)", old.read.text.casefold()):
        return None
    if conflict_on_one_matter(undated(old.read.text), undated(new.read.text)) >= SURE_OVERTAKEN:
        return Pair("supersedes", old.statement, new.statement, f"Another entry says that “{gone}” is over.")
    return None


def _day(text: str) -> date | None:
    return max((one.day for one in dates_in(text.lower(), None)), default=None)
