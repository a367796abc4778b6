"""What someone wrote to a file that Reverie had replaced meanwhile, brought into the one that is there now.

Three sides: what the displaced file was known to say, what it says now, and what the document says now. Whatever the
editor brought, changed or took is done to the document where its entries still stand; what meets a change of the same
entry is put to a person. Pure: bytes in, bytes and operations out.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from reverie.changes.drafts import three_way
from reverie.changes.history.change import Edit
from reverie.memory.formats import FORMATS, FormatName
from reverie.memory.identity import matched
from reverie.memory.operation import Add, Applied, Operation, Remove, Replace, applied, entry_hash


@dataclass(frozen=True, slots=True)
class Merged:
    """`content` is the document with all of it that fits; `open` is what a person has to decide on."""

    content: bytes | None
    open: tuple[Operation, ...] = ()
    clashes: bool = False  # the files of a skill have no entries: the whole text is what has to be decided on


def merge_displaced(form: FormatName | None, late: Edit, now: bytes | None) -> Merged:
    if now in (late.before, late.after):
        return Merged(late.after)
    if form is None:
        both = None if now is None else three_way(late.before or b"", now, late.after or b"")
        return Merged(now, clashes=True) if both is None else Merged(both)
    return _entries_merged(form, late, now)


def _entries_merged(form: FormatName, late: Edit, now: bytes | None) -> Merged:
    read = FORMATS[form].read
    base, theirs = (read(content or b"").entries for content in (late.before, late.after))
    there = Counter(read(now or b"").entries)
    matching = matched(base, theirs)
    operations: list[Operation] = []
    unclear: list[Operation] = []
    for old, new in ((base[a], theirs[b]) for a, b in matching.edited):
        if there[old]:
            operations.append(Replace(late.document, entry_hash(old), new))
        elif not there[new]:
            unclear.append(Add(late.document, new))
    gone = [base[at] for at in matching.gone]
    operations += [Remove(late.document, entry_hash(text)) for text in gone if there[text]]
    brought = [theirs[at] for at in matching.new]
    operations += [Add(late.document, text) for text in brought if not there[text]]
    if not operations:
        return Merged(now, tuple(unclear))
    outcome = applied(now or b"", form, operations)
    if not isinstance(outcome, Applied):
        adds = [Add(late.document, one.text) for one in operations if not isinstance(one, Remove)]
        return Merged(now, (*unclear, *adds))
    return Merged(_in_their_places(form, late, now, outcome.after), tuple(unclear))


def _in_their_places(form: FormatName, late: Edit, now: bytes | None, by_entries: bytes) -> bytes:
    """Line by line, where that comes to the same entries: so each stands where the editor put it, with the text that
    is no entry around it."""
    read = FORMATS[form].read
    both = three_way(late.before or b"", now or b"", late.after or b"")
    same = both is not None and Counter(read(both).entries) == Counter(read(by_entries).entries)
    return both if both is not None and same else by_entries
