"""What a Change can be made to, a document in a target or a skill in a folder; and drafts: what someone wants done to
it, worked out against the bytes that are there once the lock is held.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from reverie.changes.ledger import Edit
from reverie.core.errors import BadInput
from reverie.memory.formats import FORMATS, FormatName
from reverie.memory.operation import (
    Add,
    Applied,
    Conflicted,
    Operation,
    OverBudget,
    Remove,
    Replace,
    Unfit,
    applied,
    entry_hash,
)
from reverie.memory.target import Held, Place, Target
from reverie.memory.targets import Targets
from reverie.safety.scan import Report, join_reports, scan, scan_skill
from reverie.skills.amend import amended
from reverie.skills.edits import merge_lines
from reverie.skills.library import Folder
from reverie.skills.page import lines_of
from reverie.skills.skill import ARCHIVE, Amendment, Clashed, Merge, bare_name


class Holder(Protocol):
    """A target or a folder of skills, as far as landing needs it."""

    @property
    def name(self) -> str: ...

    @property
    def key(self) -> str: ...

    @property
    def reach(self) -> str: ...

    def held(self, subject: str, /) -> AbstractContextManager[Held]: ...


@dataclass(frozen=True, slots=True)
class Artifact:
    """`form` and `budget` are those of a memory document; `folder` is where a skill lies."""

    holder: Holder
    subject: str
    documents: Callable[[], Iterable[str]]
    form: FormatName | None = None
    budget: int | None = None
    folder: Folder | None = None

    @property
    def is_memory(self) -> bool:
        return self.form is not None

    def scanned(self, texts: dict[str, bytes]) -> Report:
        """The findings in what would be written: statements of memory, or the files of a skill."""
        if self.is_memory:
            return join_reports(scan(text, "memory") for text in texts.values())
        return scan_skill(texts)


class Artifacts(Protocol):
    def __call__(self, target: str, subject: str, also: str | None = None) -> Artifact:
        """Resolve a name: a document in a target, or a skill in a folder, with another one it absorbs."""


def memory_artifact(target: Target, place: Place) -> Artifact:
    return Artifact(target, place.document, lambda: [place.document], place.form, place.budget)


def artifact(targets: Targets, target: str, subject: str, was_there: Callable[[str, str], bool]) -> Artifact:
    """The document of a target, which people call by name and our own records by its key.

    One that is gone is still one while its history is known: it may have to be brought back.
    """
    if not subject.isprintable():
        raise BadInput(f"A document cannot be named {subject!r}.", expected="a name of visible characters")
    chosen = targets.named(target)
    place = next((one for one in chosen.places() if one.document == subject), None)
    if place is None and was_there(chosen.key, subject):
        place = Place(subject, "list")  # the only targets whose documents come and go are Markdown folders
    if place is None:
        there = ", ".join(one.document for one in chosen.places())
        raise BadInput(f"The target {chosen.name!r} has no document {subject!r}.", expected=f"one of {there}")
    return memory_artifact(chosen, place)


def skill_artifact(
    folder: Folder, subject: str, seen: Callable[[str], Iterable[str]], also: str | None = None
) -> Artifact:
    """A skill with all its files: those that are there and those that were. `also` is one it absorbs."""

    def documents() -> list[str]:
        subjects = [subject, also] if also else [subject]
        there = {path for one in subjects for path in folder.files(one)}
        known = {path for one in subjects for path in seen(one) if path == one or path.startswith(f"{one}/")}
        return sorted(there | known)

    return Artifact(folder, subject, documents, folder=folder)


# ---- drafts ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Drawn:
    """Edits worked out, the operations they stand for, and the texts in them that are new to the artifact."""

    edits: tuple[Edit, ...]
    operations: tuple[Operation, ...]
    new_texts: Mapping[str, bytes]


class Draft(Protocol):
    @property
    def artifact(self) -> Artifact: ...

    def drawn(self, held: Held) -> Drawn | Conflicted | OverBudget | Unfit: ...


@dataclass(frozen=True, slots=True)
class Operate:
    artifact: Artifact
    operations: tuple[Operation, ...]

    def drawn(self, held: Held) -> Drawn | Conflicted | OverBudget | Unfit:
        form = self.artifact.form
        assert form is not None
        for one in self.operations:
            try:
                new_texts([one])
            except UnicodeEncodeError:
                return Unfit(one, "it holds half of a character (a lone surrogate), which no file can hold")
        before = held.read(self.artifact.subject)
        # Saying a thing twice is not a change.
        there = {entry_hash(text) for text in FORMATS[form].read(before or b"").entries} if form != "whole" else set()
        wanted = tuple(one for one in self.operations if not (isinstance(one, Add) and entry_hash(one.text) in there))
        outcome = applied(before or b"", form, wanted, self.artifact.budget)
        if not isinstance(outcome, Applied):
            return outcome
        edits = (Edit(self.artifact.subject, before, outcome.after),) if outcome.after != (before or b"") else ()
        return Drawn(edits, wanted, new_texts(wanted))


@dataclass(frozen=True, slots=True)
class Amend:
    artifact: Artifact
    amendment: Amendment
    now: datetime

    def drawn(self, held: Held) -> Drawn | Conflicted | OverBudget | Unfit:
        folder, amendment = self.artifact.folder, self.amendment
        assert folder is not None
        before = folder.files(amendment.subject)
        retired = amendment.absorbed if isinstance(amendment, Merge) else amendment.subject
        before |= folder.files(retired) | folder.files(f"{ARCHIVE}/{bare_name(retired)}")
        outcome = amended(before, amendment, self.now, folder.subjects())
        if isinstance(outcome, Clashed):
            return Conflicted(None, outcome.why)
        edits = tuple(Edit(path, before.get(path), after) for path, after in sorted(outcome.files_after.items()))
        return Drawn(edits, (), {edit.document: edit.after for edit in edits if edit.after is not None})


def new_texts(operations: Sequence[Operation]) -> dict[str, bytes]:
    texts = [one.text for one in operations if not isinstance(one, Remove)]
    return {str(place): text.encode("utf-8", "surrogateescape") for place, text in enumerate(texts)}


@dataclass(frozen=True, slots=True)
class Rewrite:
    """Edits to files, each from the bytes it was written against; merged with what others wrote since, or not done.

    Taking a Change back is rewriting by its opposite edits: byte for byte where nothing came after it.
    """

    artifact: Artifact
    edits: tuple[Edit, ...]

    def drawn(self, held: Held) -> Drawn | Conflicted | OverBudget | Unfit:
        drawn = list[Edit]()
        for edit in self.edits:
            now = held.read(edit.document)
            then = edit.after if now == edit.before else self._merged(edit, now)
            if isinstance(then, Conflicted):
                return then
            if then != now:
                drawn.append(Edit(edit.document, now, then))
        if self.artifact.form is None:
            new = {edit.document: edit.after for edit in drawn if edit.after is not None}
            return Drawn(tuple(drawn), (), new)
        read = FORMATS[self.artifact.form].read
        brought = (Counter(read(one.after or b"").entries) - Counter(read(one.before or b"").entries) for one in drawn)
        return Drawn(tuple(drawn), (), new_texts([Add("", text) for texts in brought for text in texts]))

    def _merged(self, edit: Edit, now: bytes | None) -> bytes | Conflicted | None:
        conflict = Conflicted(None, f"{edit.document} was changed since in the same place")
        if now == edit.after:
            return now
        if self.artifact.form is not None:
            return _entries_rewritten(self.artifact.form, edit, now or b"", conflict)
        if now is None or edit.before is None or edit.after is None:
            return conflict
        merged = three_way(edit.before, now, edit.after)
        return conflict if merged is None else merged


def _entries_rewritten(form: FormatName, edit: Edit, now: bytes, conflict: Conflicted) -> bytes | Conflicted:
    """The entries the edit takes go, those it brings come, and all that others wrote stays."""
    read = FORMATS[form].read
    before, after, current = (Counter(read(content or b"").entries) for content in (edit.before, edit.after, now))
    takes, brings = list((before - after).elements()), list((after - before).elements())
    if any(current[text] < 1 for text in takes):
        return conflict
    merged = three_way(edit.before or b"", now, edit.after or b"")
    if merged is not None and Counter(read(merged).entries) == current - Counter(takes) + Counter(brings):
        return merged
    pairs = min(len(takes), len(brings))
    operations: list[Operation] = [
        Replace(edit.document, entry_hash(old), new) for old, new in zip(takes, brings, strict=False)
    ]
    operations += [Remove(edit.document, entry_hash(text)) for text in takes[pairs:]]
    operations += [Add(edit.document, text) for text in brings[pairs:]]
    outcome = applied(now, form, operations)
    return outcome.after if isinstance(outcome, Applied) else conflict


def three_way(base: bytes, one: bytes, other: bytes) -> bytes | None:
    """Both sides' changes to the lines of `base`, or None where they touch the same place."""
    texts = (content.decode("utf-8", "surrogateescape") for content in (base, one, other))
    made = merge_lines(*(lines_of(text) for text in texts))
    return None if isinstance(made, tuple) else "".join(made).encode("utf-8", "surrogateescape")
