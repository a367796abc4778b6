"""Bring what a managed memory holds up to date here: read-only, only what is new, and as often as one likes.

Versions are kept oldest first, a few at a time, so that a pull that was killed goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from reverie.bridge.compare.statements import Provenance, Snapshot
from reverie.bridge.source import Copies, RemoteDream, RemoteStore, RemoteVersion, StoreSource
from reverie.core.clock import Clock, rfc3339
from reverie.core.errors import NotFound

AT_ONCE = 50  # versions that are kept together
ONE_NIGHT = timedelta(hours=12)  # within which a dream over another one's output goes on with its night


@dataclass(frozen=True, slots=True)
class Pulled:
    store: RemoteStore
    versions: int


@dataclass(frozen=True, slots=True)
class Pull:
    """`redact` takes secrets out of a text before it is kept."""

    source: StoreSource
    copies: Copies
    redact: Callable[[str], str]
    clock: Clock

    def __call__(self, stores: Collection[str] = ()) -> list[Pulled]:
        """Every store, or those named; and every dream."""
        with self.copies.alone(), closing(self.source):
            found = [one for one in self.source.stores() if not stores or one.id in stores]
            missing = sorted(set(stores) - {one.id for one in found})
            if missing:
                raise NotFound(f"{self.source.address} has no memory store {missing[0]}.")
            self.copies.keep_dreams(self.source.dreams())
            self._hear()
            return [self._pulled(one) for one in found]

    def _hear(self) -> None:
        """Pull the words of the sessions of the dreams that are to be proposed."""
        wanted = {name for night in new_nights(self.copies) for dream in night for name in dream.sessions}
        missing = sorted(wanted - {one.id for one in self.copies.heard(wanted)})
        for start in range(0, len(missing), AT_ONCE):
            some = self.source.heard(missing[start : start + AT_ONCE])
            clean = (replace(one, turns=tuple((who, self.redact(text)) for who, text in one.turns)) for one in some)
            self.copies.keep_heard(clean)

    def _pulled(self, store: RemoteStore) -> Pulled:
        self.copies.keep_store(store)
        known = self.copies.versions(store.id)
        new = self._new_versions(store.id, known)
        new += self._unversioned(store.id, [*known, *new])
        for start in range(0, len(new), AT_ONCE):
            some = new[start : start + AT_ONCE]
            self.copies.keep(store.id, [(one, self._text(store.id, one)) for one in some])
        return Pulled(store, len(new))

    def _new_versions(self, store: str, known: Sequence[RemoteVersion]) -> list[RemoteVersion]:
        seen = {one.id for one in known}
        found = list[RemoteVersion]()
        for one in self.source.versions(store):
            if one.id in seen:
                break
            found.append(one)
        return found[::-1]

    def _unversioned(self, store: str, known: Sequence[RemoteVersion]) -> Iterator[RemoteVersion]:
        """Memories that stand there and are told by no version: a source forgets old ones, or keeps none at all."""
        heads = {one.memory: one for one in known}
        there = {one.memory: one for one in self.source.memories(store)}
        yield from (one for one in there.values() if one.memory not in heads or heads[one.memory].id != one.id)
        for memory, head in heads.items():
            if memory not in there and head.operation != "deleted":
                name = f"{head.id}-gone"
                yield RemoteVersion(name, memory, "deleted", self.clock.now(), head.path)

    def _text(self, store: str, version: RemoteVersion) -> str | None:
        if version.operation == "deleted" or version.path is None:
            return None
        text = self.source.text(store, version)
        return None if text is None else self.redact(text)


def new_nights(copies: Copies) -> list[list[RemoteDream]]:
    """The dreams that ended since the last were proposed, those of one night together: each reads what the one before
    it wrote. Of a source that is new, its last night alone."""
    done, nights = copies.proposed(), list[list[RemoteDream]]()
    for dream in copies.dreams():
        if dream.status == "completed" and dream.output and dream.id not in done:
            before = next((night for night in nights if _goes_on(night[-1], dream)), None)
            if before is None:
                nights.append([dream])
            else:
                before.append(dream)
    return nights if done else sorted(nights, key=lambda night: night[-1].created_at)[-1:]


def _goes_on(before: RemoteDream, dream: RemoteDream) -> bool:
    return before.output == dream.store and dream.created_at - (before.ended_at or before.created_at) < ONE_NIGHT


# ---- what a store said at a time -------------------------------------------------------------------------------------


def snapshot_at(copies: Copies, store: str, name: str, *, until: datetime | None = None, version: str = "") -> Snapshot:
    """The store as it stood at a time, or when a version had been written; as it was last pulled if neither is said."""
    known, dreams = copies.versions(store), copies.dreams()
    if version and version not in {one.id for one in known}:
        raise NotFound(f"{store} has no version {version} here.", next_step="`reverie bridge pull` brings in new ones.")
    heads = dict[str, RemoteVersion]()
    for one in known:
        if until is None or one.at <= until:
            heads[one.memory] = one
        if version and one.id == version:
            break
    standing = {one.path: one for one in heads.values() if one.operation != "deleted" and one.path is not None}
    texts = {path: copies.text(store, one) or "" for path, one in standing.items()}
    return Snapshot(name, texts, lambda path: _told(copies, store, standing[path], dreams))


def _told(
    copies: Copies, store: str, version: RemoteVersion, dreams: Sequence[RemoteDream]
) -> Iterator[tuple[str, Provenance]]:
    """The texts of a memory, newest first: its versions, then those of the store that the dream read which wrote
    the first of them."""
    known = copies.versions(store)
    for one in reversed(known[: known.index(version) + 1]):
        if one.memory == version.memory:
            dream = next((by for by in dreams if _wrote(by, store, one)), None)
            named = (dream.id, dream.sessions) if dream else ("", ())
            yield copies.text(store, one) or "", Provenance(store, one.id, one.author, *named, rfc3339(one.at))
    if dream is not None and dream.store != store:
        read = [one for one in copies.versions(dream.store) if one.path == version.path and one.at <= dream.created_at]
        if read:
            yield from _told(copies, dream.store, read[-1], dreams)


def _wrote(dream: RemoteDream, store: str, version: RemoteVersion) -> bool:
    """By the session it ran in; else by the store it wrote, while it ran."""
    if dream.session and version.author:
        return dream.session == version.author
    ended = dream.ended_at or version.at
    return dream.output == store and dream.created_at <= version.at <= ended
