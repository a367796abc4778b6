"""Copies of managed memory stores below the home: implements `reverie.bridge.source.Copies`.

    <home>/routes/learned.json                where reviewers put things
    <home>/bridge/<source>/source.json        where it came from; never a key
                           dreams.json, proposed.json
                           sessions/<session>.json     what was said in those a dream to be proposed read
                           nights/<store>.json         the last night that was asked for over it
                           <store>/store.json
                                   versions.jsonl      one line a version, only ever appended to
                                   texts/<version>.txt what it said, secrets taken out

A text is written before the line that names it, so a line that is there can be read; half a line at the end is not one.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from reverie.bridge.night import BridgeNight, Link
from reverie.bridge.propose.learned_routes import LearnedRoute
from reverie.bridge.source import HeardSession, RemoteDream, RemoteStore, RemoteVersion
from reverie.core.clock import rfc3339
from reverie.core.strings import slug
from reverie.system.files import PATIENCE_SECONDS, explained, flocked, make_folder, read_file, replace_file

SOURCE, DREAMS, PROPOSED, SESSIONS = "source.json", "dreams.json", "proposed.json", "sessions"
STORE, VERSIONS, TEXTS, NIGHTS = "store.json", "versions.jsonl", "texts", "nights"


def every_copy(home: Path) -> list[StoreCopies]:
    return [StoreCopies(path.parent) for path in sorted((home / "bridge").glob(f"*/{SOURCE}"))]


@dataclass(frozen=True, slots=True)
class StoreCopies:
    folder: Path

    @classmethod
    def of(cls, home: Path, address: str) -> StoreCopies:
        made = cls(home / "bridge" / slug(address))
        make_folder(made.folder)
        replace_file(made.folder / SOURCE, _json({"address": address}))
        return made

    @property
    def address(self) -> str:
        return str(json.loads(read_file(self.folder / SOURCE) or b"{}").get("address", ""))

    def alone(self) -> AbstractContextManager[None]:
        return flocked(self.folder / "pull.lock", PATIENCE_SECONDS)

    def stores(self) -> list[RemoteStore]:
        found = (read_file(path) for path in sorted(self.folder.glob(f"*/{STORE}")))
        return [RemoteStore(**json.loads(content)) for content in found if content]

    def keep_store(self, store: RemoteStore) -> None:
        make_folder(self._of(store.id))
        told = {"id": store.id, "name": store.name, "description": store.description}
        replace_file(self._of(store.id) / STORE, _json(told))

    def versions(self, store: str) -> list[RemoteVersion]:
        content = read_file(self._of(store) / VERSIONS) or b""
        whole = content[: content.rfind(b"\n") + 1]
        rows = map(json.loads, whole.splitlines())
        return [RemoteVersion(**row | {"at": datetime.fromisoformat(row["at"])}) for row in rows]

    def keep(self, store: str, kept: Iterable[tuple[RemoteVersion, str | None]]) -> None:
        lines = list[bytes]()
        for version, text in kept:
            if text is not None:
                path = self._text(store, version)
                make_folder(path.parent)
                replace_file(path, text.encode("utf-8", "surrogateescape"))
            lines.append(json.dumps(_told(version), ensure_ascii=False).encode() + b"\n")
        if lines:
            _append(self._of(store) / VERSIONS, b"".join(lines))

    def text(self, store: str, version: RemoteVersion) -> str | None:
        content = read_file(self._text(store, version))
        return None if content is None else content.decode("utf-8", "surrogateescape")

    def dreams(self) -> list[RemoteDream]:
        return [_dream(row) for row in json.loads(read_file(self.folder / DREAMS) or b"[]")]

    def keep_dreams(self, dreams: Iterable[RemoteDream]) -> None:
        known = {one.id: one for one in self.dreams()} | {one.id: one for one in dreams}
        rows = [_told(one) for one in sorted(known.values(), key=lambda one: (one.created_at, one.id))]
        replace_file(self.folder / DREAMS, _json(rows))

    def heard(self, sessions: Iterable[str]) -> list[HeardSession]:
        found = (read_file(self._session(one)) for one in sorted(sessions))
        return [_heard(json.loads(content)) for content in found if content]

    def keep_heard(self, heard: Iterable[HeardSession]) -> None:
        for one in heard:
            make_folder(self._session(one.id).parent)
            replace_file(self._session(one.id), _json(_told(one)))

    def _session(self, name: str) -> Path:
        return self.folder / SESSIONS / f"{_safe(name)}.json"

    def proposed(self) -> frozenset[str]:
        return frozenset(json.loads(read_file(self.folder / PROPOSED) or b"[]"))

    def mark_proposed(self, dreams: Iterable[str]) -> None:
        replace_file(self.folder / PROPOSED, _json(sorted(self.proposed() | set(dreams))))

    def alone_with(self, store: str) -> AbstractContextManager[None]:
        make_folder(self.folder / NIGHTS)
        return flocked(self.folder / NIGHTS / f"{_safe(store)}.lock", 0)

    def night(self, store: str) -> BridgeNight | None:
        content = read_file(self.folder / NIGHTS / f"{_safe(store)}.json")
        if content is None:
            return None
        row = json.loads(content)
        links = tuple(Link(**one | {"sessions": tuple(one["sessions"])}) for one in row["links"])
        began, until = (datetime.fromisoformat(row[name]) for name in ("began", "until"))
        return BridgeNight(row["store"], began, until, links)

    def keep_night(self, night: BridgeNight) -> None:
        row = _told(night) | {"links": [_told(one) for one in night.links]}
        replace_file(self.folder / NIGHTS / f"{_safe(night.store)}.json", _json(row))

    def _of(self, store: str) -> Path:
        return self.folder / _safe(store)

    def _text(self, store: str, version: RemoteVersion) -> Path:
        return self._of(store) / TEXTS / f"{_safe(version.id)}.txt"


@dataclass(frozen=True, slots=True)
class RouteFile:
    """`routes/learned.json`: implements `reverie.bridge.propose.learned_routes.LearnedRoutes`."""

    path: Path

    def all(self) -> list[LearnedRoute]:
        rows = json.loads(read_file(self.path) or b"[]")
        return [LearnedRoute(**row | {"at": datetime.fromisoformat(row["at"])}) for row in rows]

    def put(self, route: LearnedRoute) -> None:
        make_folder(self.path.parent)
        self._write([*(one for one in self.all() if one.id != route.id), route])

    def remove(self, name: str) -> bool:
        kept = [one for one in self.all() if one.id != name]
        there = len(kept) < len(self.all())
        if there:
            self._write(kept)
        return there

    def _write(self, routes: Iterable[LearnedRoute]) -> None:
        replace_file(self.path, _json([_told(one) for one in routes]))


def _safe(name: str) -> str:
    """A server's id as a name of a file: whatever a server calls it, it stays below our folder."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "-", name)[:80]
    return plain if plain == name and plain else f"{plain}-{sha256(name.encode()).hexdigest()[:12]}"


def _append(path: Path, lines: bytes) -> None:
    with explained(path, "written"):
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "r+b") as file:
            content = file.read()
            file.seek(content.rfind(b"\n") + 1)  # half a line of a pull that was killed is written over
            file.truncate()
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=1).encode() + b"\n"


def _told(value: RemoteVersion | RemoteDream | HeardSession | BridgeNight | Link | LearnedRoute) -> dict[str, Any]:
    told = {name: getattr(value, name) for name in value.__slots__}
    return {name: rfc3339(one) if isinstance(one, datetime) else one for name, one in told.items()}


def _heard(row: dict[str, Any]) -> HeardSession:
    return HeardSession(**row | {"turns": tuple((who, text) for who, text in row["turns"])})


def _dream(row: dict[str, Any]) -> RemoteDream:
    times = {name: row[name] and datetime.fromisoformat(row[name]) for name in ("created_at", "ended_at")}
    return RemoteDream(**row | times | {"sessions": tuple(row["sessions"])})
