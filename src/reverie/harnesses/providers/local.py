"""A broad memory in a file of our own: `local`, or `local=/path/to/memory.db`. Words and meaning say what is near."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from reverie.core.errors import NotReached
from reverie.core.hashes import sha256
from reverie.memory.targets import HomePlaces

FILE = "broad-memory.db"
NEAR = 0.35


def local_provider(address: str, where: HomePlaces, owner: str) -> LocalProvider:
    return LocalProvider(where.place(address) if address else where.home / FILE)


class LocalProvider:
    def __init__(self, path: Path) -> None:
        self._path = path

    def search(self, question: str, limit: int) -> list[tuple[str, str]]:
        if not self._path.exists():
            return []
        with self._opened() as database:
            rows = database.execute("SELECT id, text FROM memories ORDER BY rowid").fetchall()
        return _nearest(question, rows)[:limit]

    def add(self, text: str) -> str:
        """Twice is once."""
        key = sha256(text.encode())[:16]
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._opened() as database:
            database.execute("INSERT OR IGNORE INTO memories (id, text) VALUES (?, ?)", (key, text))
        return key

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self._path)) as database, database:
                database.execute("CREATE TABLE IF NOT EXISTS memories (id TEXT PRIMARY KEY, text TEXT NOT NULL)")
                yield database
        except sqlite3.Error as error:
            raise NotReached(f"{self._path} cannot be used: {error}.", next_step="Mend it or move it away.") from error


def _nearest(question: str, rows: list[tuple[str, str]]) -> list[tuple[str, str]]:
    from reverie.text.embedding import embed
    from reverie.text.tokens import tokens

    if not rows:
        return []
    wanted = set(tokens(question))
    vectors = embed([question, *(text for _, text in rows)])
    likeness = vectors[1:] @ vectors[0]
    shared = [len(wanted & set(tokens(text))) / max(1, len(wanted)) for _, text in rows]
    scored = sorted(((float(likeness[at]) + shared[at], -at) for at in range(len(rows))), reverse=True)
    return [rows[-at] for score, at in scored if score >= NEAR]
