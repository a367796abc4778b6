"""What someone intends to do to a document, and what that would make of it.

An Operation names an Entry by the hash of its text, so that someone else's write to another entry is no conflict.
Applying is pure: bytes and operations in, the outcome out. All of them apply or none does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reverie.core.hashes import sha256
from reverie.memory.formats import FORMATS, Document, FormatName
from reverie.memory.pages import Piece


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
    document = FORMATS[form].read(content)
    for operation in operations:
        step = _one(document, form, operation)
        if not isinstance(step, Document):
            return step
        document = step
    after = document.to_bytes()
    characters = len(after.decode("utf-8", "surrogateescape"))
    grew = characters > len(content.decode("utf-8", "surrogateescape"))
    if budget is not None and characters > budget and grew:
        return OverBudget(characters, budget)
    return Applied(content, after)


def _one(document: Document, form: FormatName, operation: Operation) -> Document | Conflicted | Unfit:
    made = FORMATS[form]
    pieces = list(document.pieces)
    if not isinstance(operation, Remove) and (why := _misfit(operation.text, form)):
        return Unfit(operation, why)
    if isinstance(operation, Add):
        return _checked(made.added(pieces, operation.text), form, operation)
    hashes = ((at, entry_hash(pieces[at].entry or "")) for at in document.places())
    place = next((at for at, sha256 in hashes if sha256 == operation.old_sha256), None)
    if place is None:
        return Conflicted(operation, "no entry of the document has this hash")
    if isinstance(operation, Remove):
        return _reread(made.removed(pieces, place), form)
    return _checked(made.replaced(pieces, place, operation.text), form, operation)


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
