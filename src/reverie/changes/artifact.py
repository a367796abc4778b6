"""What a Change can be made to: a document in a target, or a skill in a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

from reverie.core.errors import BadInput
from reverie.memory.formats import FormatName
from reverie.memory.target import Held, Place, Target
from reverie.memory.targets import Targets
from reverie.safety.bundle import scan_skill
from reverie.safety.report import Report, join_reports
from reverie.safety.scan import scan
from reverie.skills.library import Folder


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
        ...


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
