"""Touching a shelf: record what it holds now, and queue what came from outside and looks unsafe for removal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from reverie.history.change import Change, Via
from reverie.history.records import Known, Records
from reverie.kernel.scope import Scope
from reverie.memory.formats import FORMATS
from reverie.memory.library import Entry
from reverie.memory.operation import Remove, entry_hash
from reverie.memory.shelf import Place, Shelf
from reverie.review.noticing import Noticing, places_of
from reverie.review.proposal import Suggestion
from reverie.review.targets import memory_target
from reverie.safety.scan import scan

REVERIE = "reverie"


@dataclass(frozen=True, slots=True)
class Touching:
    scope: Scope
    records: Records
    noticing: Noticing
    suggest: Callable[[Suggestion], object]

    def touch(self, shelf: Shelf) -> list[Entry]:
        return [entry for place in shelf.places() for entry in self._document(shelf, place)]

    def _document(self, shelf: Shelf, place: Place) -> list[Entry]:
        known = self.records.known(self.scope, shelf.key, place.document)
        content = shelf.read(place.document)
        if content != (known.content if known else None) or self._unsettled(shelf, place):
            self._reconcile(shelf, place)
            known = self.records.known(self.scope, shelf.key, place.document)
        return _entries(shelf, place, known)

    def _unsettled(self, shelf: Shelf, place: Place) -> bool:
        return bool(self.records.unsettled(self.scope, shelf.key, place.document))

    def _reconcile(self, shelf: Shelf, place: Place) -> None:
        target = memory_target(shelf, place)
        with shelf.held(place.document) as held:
            noticed = self.noticing.reconcile(target, held)
        for change in noticed.outside:
            if change.grounds.via is Via.OUTSIDE:
                self._queue_what_is_unsafe(shelf, place, change)

    def _queue_what_is_unsafe(self, shelf: Shelf, place: Place, change: Change) -> None:
        for text in _new_in(place, change):
            report = scan(text, "memory")
            if report.blocked:
                why = f"written from outside and looks unsafe: {report.findings[0].category}"
                operation = Remove(place.document, entry_hash(text))
                self.suggest(Suggestion(shelf.key, place.document, (operation,), reason=why, proposer=REVERIE))


def _new_in(place: Place, change: Change) -> Iterable[str]:
    edit = change.edit(place.document)
    if edit is None:
        return
    read = FORMATS[place.form].read
    before = set(read(edit.before or b"").entries)
    for text in read(edit.after or b"").entries:
        if text not in before:
            yield text


def _entries(shelf: Shelf, place: Place, known: Known | None) -> list[Entry]:
    if known is None:
        return []
    texts = FORMATS[place.form].read(known.content or b"").entries
    return [
        Entry(shelf.name, place.document, texts[at], one.sha256, one.id, one.since, one.seen, one.critical, one.change)
        for at, one in sorted(places_of(known, texts).items())
    ]
