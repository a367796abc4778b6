"""Touching a target: whoever reads memory through Reverie has what is there recorded first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from time import sleep

from reverie.changes.artifact import Artifacts, memory_artifact
from reverie.changes.history.records import HistoryRecords, Known
from reverie.changes.outside_edits import OutsideEdits
from reverie.core.scope import Scope
from reverie.memory.formats import FORMATS
from reverie.memory.library import Entry
from reverie.memory.operation import places_of
from reverie.memory.target import Place, Target
from reverie.skills.library import Folder

SAVING_SECONDS = 0.05  # for which some editors take a file away while they save it


@dataclass(frozen=True, slots=True)
class RecordBeforeRead:
    scope: Scope
    records: HistoryRecords
    outside: OutsideEdits
    artifacts: Artifacts

    def touch(self, target: Target) -> list[Entry]:
        places = target.places()
        return [entry for place in (*places, *self._gone(target, places)) for entry in self._document(target, place)]

    def _gone(self, target: Target, places: Sequence[Place]) -> Iterator[Place]:
        """Documents whose text is known, and that are neither listed nor there any more."""
        listed = {place.document for place in places}
        for _, document in self.records.documents(self.scope, target.key):
            known = None if document in listed else self.records.known(self.scope, target.key, document)
            if known and known.content is not None and target.read(document) is None:
                yield Place(document, "list")  # only Markdown folders have documents that come and go

    def _document(self, target: Target, place: Place) -> list[Entry]:
        known = self.records.known(self.scope, target.key, place.document)
        content = target.read(place.document)
        if content is None and known and known.content is not None:
            sleep(SAVING_SECONDS)
            content = target.read(place.document)
        moved_on = content != (known.content if known else None) or has_displaced(target, place.document)
        if moved_on or self.records.unsettled(self.scope, target.key, place.document):
            with self.outside.held(memory_artifact(target, place)):
                known = self.records.known(self.scope, target.key, place.document)
        return known_entries(target.name, place, known)

    def touch_skill(self, folder: Folder, subject: str) -> None:
        artifact = self.artifacts(folder.key, subject)
        files = folder.files(subject)
        known = {name: self.records.known(self.scope, folder.key, name) for name in artifact.documents()}
        if not files and any(was.content is not None for was in known.values() if was):
            sleep(SAVING_SECONDS)
            files = folder.files(subject)
        moved_on = any(files.get(name) != (was.content if was else None) for name, was in known.items())
        if moved_on or has_displaced(folder, subject) or self.records.unsettled(self.scope, folder.key, subject):
            with self.outside.held(artifact):
                pass  # holding it records what was written there

    def skills_seen(self, folder: Folder) -> list[str]:
        """The skills of a folder that history knows, there or not, but the archived; none while the folder itself is
        not there."""
        if not folder.root.is_dir():
            return []
        known = self.records.documents(self.scope, folder.key)
        paths = [PurePosixPath(path) for _, path in known if not path.startswith(".")]
        folders = {path.parent for path in paths if path.name in ("SKILL.md", "skill.md") and path.parent.name}
        files = {path for path in paths if path.suffix == ".md" and folders.isdisjoint(path.parents)}
        return sorted(map(str, folders | files))


def has_displaced(holder: Target | Folder, subject: str) -> bool:
    """Whether someone may have written to a file after it was replaced. A target of rows has nothing of the kind."""
    look = getattr(holder, "has_displaced", None)
    return look is not None and bool(look(subject))


def known_entries(target: str, place: Place, known: Known | None) -> list[Entry]:
    if known is None:
        return []
    texts = FORMATS[place.form].read(known.content or b"").entries
    return [
        Entry(
            target,
            place.document,
            texts[at],
            one.sha256,
            one.id,
            one.since,
            one.seen,
            one.critical,
            one.change,
            one.said,
        )
        for at, one in sorted(places_of(known.entries, texts).items())
    ]
