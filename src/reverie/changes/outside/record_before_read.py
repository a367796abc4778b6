"""Touching a target: whoever reads memory through Reverie has what is there recorded first."""

from __future__ import annotations

from dataclasses import dataclass

from reverie.changes.artifact import Artifacts, memory_artifact
from reverie.changes.history.records import HistoryRecords, Known
from reverie.changes.outside.edits import Noticing
from reverie.core.scope import Scope
from reverie.memory.formats import FORMATS
from reverie.memory.identity import places_of
from reverie.memory.library import Entry
from reverie.memory.target import Place, Target
from reverie.skills.library import Folder


@dataclass(frozen=True, slots=True)
class Touching:
    scope: Scope
    records: HistoryRecords
    noticing: Noticing
    artifacts: Artifacts

    def touch(self, target: Target) -> list[Entry]:
        return [entry for place in target.places() for entry in self._document(target, place)]

    def _document(self, target: Target, place: Place) -> list[Entry]:
        known = self.records.known(self.scope, target.key, place.document)
        content = target.read(place.document)
        moved_on = content != (known.content if known else None) or has_displaced(target, place.document)
        if moved_on or self.records.unsettled(self.scope, target.key, place.document):
            with self.noticing.held(memory_artifact(target, place)):
                known = self.records.known(self.scope, target.key, place.document)
        return entries_of(target.name, place, known)

    def touch_skill(self, folder: Folder, subject: str) -> None:
        artifact = self.artifacts(folder.key, subject)
        files = folder.files(subject)
        known = {name: self.records.known(self.scope, folder.key, name) for name in artifact.documents()}
        moved_on = any(files.get(name) != (was.content if was else None) for name, was in known.items())
        if moved_on or has_displaced(folder, subject) or self.records.unsettled(self.scope, folder.key, subject):
            with self.noticing.held(artifact):
                pass  # holding it is noticing


def has_displaced(holder: Target | Folder, subject: str) -> bool:
    """Whether someone may have written to a file after it was replaced. A target of rows has nothing of the kind."""
    look = getattr(holder, "has_displaced", None)
    return look is not None and bool(look(subject))


def entries_of(target: str, place: Place, known: Known | None) -> list[Entry]:
    if known is None:
        return []
    texts = FORMATS[place.form].read(known.content or b"").entries
    return [
        Entry(target, place.document, texts[at], one.sha256, one.id, one.since, one.seen, one.critical, one.change)
        for at, one in sorted(places_of(known.entries, texts).items())
    ]
