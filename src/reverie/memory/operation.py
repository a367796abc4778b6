"""What someone intends to do to a document, what that would make of it, and which entry is which afterwards.

An Operation names an Entry by the hash of its text, so that someone else's write to another entry is no conflict.
Applying is pure: bytes and operations in, the outcome out. All of them apply or none does.

The same statement keeps its id when it is moved or edited: entries of two readings of one document are matched by exact
text, then one to one by likeness, best first. What is left on one side is new, on the other gone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from reverie.core.ids import sha256
from reverie.memory.formats import FORMATS, Document, FormatName, Piece

LIKE = 0.5  # share of words in common from which an entry counts as edited, not exchanged
MOST_COMPARED = 1_000_000  # pairs; a document rewritten as a whole is not matched line by line
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Add:
    document: str
    text: str


@dataclass(frozen=True, slots=True)
class Replace:
    document: str
    old_sha256: str
    text: str


@dataclass(frozen=True, slots=True)
class Remove:
    document: str
    old_sha256: str


Operation = Add | Replace | Remove


@dataclass(frozen=True, slots=True)
class Applied:
    before: bytes
    after: bytes


@dataclass(frozen=True, slots=True)
class Conflicted:
    """The entry of the operation is not there any more. Nothing was changed."""

    operation: Operation | None
    why: str


@dataclass(frozen=True, slots=True)
class OverBudget:
    """The result would not fit. Nothing was changed."""

    characters: int
    budget: int


@dataclass(frozen=True, slots=True)
class Unfit:
    """A text that could not be read back as the one entry it is. Nothing was changed."""

    operation: Operation
    why: str


Outcome = Applied | Conflicted | OverBudget | Unfit


def entry_hash(text: str) -> str:
    """The identity of a statement: the SHA-256 of its text in UTF-8."""
    return sha256(text.encode("utf-8", "surrogateescape"))


def applied(content: bytes, form: FormatName, operations: Sequence[Operation], budget: int | None = None) -> Outcome:
    """The outcome of all operations on one document. The budget, in characters, binds the result and not the steps."""
    made, document = FORMATS[form], FORMATS[form].read(content)
    for operation in operations:
        pieces = list(document.pieces)
        if not isinstance(operation, Remove) and (why := _misfit(operation.text, form)):
            return Unfit(operation, why)
        if isinstance(operation, Add):
            step = _checked(made.added(pieces, operation.text), form, operation)
        else:
            hashes = ((at, entry_hash(pieces[at].entry or "")) for at in document.places())
            place = next((at for at, sha256 in hashes if sha256 == operation.old_sha256), None)
            if place is None:
                return Conflicted(operation, "no entry of the document has this hash")
            if isinstance(operation, Remove):
                step = _reread(made.removed(pieces, place), form)
            else:
                step = _checked(made.replaced(pieces, place, operation.text), form, operation)
        if isinstance(step, Unfit):
            return step
        document = step
    after = document.to_bytes()
    characters = len(after.decode("utf-8", "surrogateescape"))
    grew = characters > len(content.decode("utf-8", "surrogateescape"))
    if budget is not None and characters > budget and grew:
        return OverBudget(characters, budget)
    return Applied(content, after)


def _misfit(text: str, form: FormatName) -> str | None:
    """Why a text cannot stand in a document, however it is read back: the next reader may read less carefully."""
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return "it holds half of a character"
    if form == "hermes" and "\r" in text:
        return "it holds a carriage return, which Hermes reads as the end of a line"
    if form == "hermes" and "§" in (text.split("\n", 1)[0].strip(), text.rsplit("\n", 1)[-1].strip()):
        return "it begins or ends with a line that holds only §, which separates entries"
    return None


def _reread(pieces: list[Piece], form: FormatName) -> Document:
    return FORMATS[form].read(Document(tuple(pieces)).to_bytes())


def read_alone(entries: Sequence[str], form: FormatName) -> tuple[str, ...]:
    """The statements that texts are: on a page one of several sentences is several."""
    if form != "page":
        return tuple(entries)
    return tuple(one for text in entries for one in FORMATS[form].read(text.encode("utf-8", "surrogateescape")).entries)


def _checked(pieces: list[Piece], form: FormatName, operation: Add | Replace) -> Document | Unfit:
    """The document as the next reader will see it, if that is what was meant."""
    meant = Document(tuple(pieces))
    seen = _reread(pieces, form)
    if seen.entries != read_alone(meant.entries, form):
        return Unfit(operation, f"in the format {form!r} this text would not be read back as one entry")
    return seen


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
