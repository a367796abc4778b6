"""The vector of every turn, in a small SQLite file beside the index: 36 bytes a turn.

Filled after the words, session by session, and rebuilt from the database when in doubt. A turn that is not here yet
is found by its words alone.
"""

from __future__ import annotations

import logging
import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TypeVar

from reverie.search.search import BYTES, OPENING, IndexedSession, IndexedTurn, TurnKey, turn_bits
from reverie.storage.word_index import ERASURES, read_count

FORMAT = 1
BLOCK = 64  # turns in a row of the table: a few thousand bytes to read, however long the session
_TURNS_AT_ONCE = 512
_PATIENCE = 5.0  # seconds
_SCHEMA = f"""
    begin immediate;
    drop table if exists vectors;
    drop table if exists followed;
    create table vectors (
        user text not null, session text not null, block integer not null,
        numbers blob not null, bits blob not null, primary key (user, session, block));
    create table followed (cursor integer not null);
    pragma user_version = {FORMAT};
    commit;
"""
_REMOVE = "delete from vectors where user = ? and session = ?"
_BLOCK_OF = "select numbers, bits from vectors where user = ? and session = ? and block = ?"
_LOG = logging.getLogger(__name__)
_Result = TypeVar("_Result")


class WordllamaVectors:
    """Follows the database as the index does: replace, remove, commit(cursor), close. Each session lands whole."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "vectors.db"
        self._database: sqlite3.Connection | None = None

    @property
    def cursor(self) -> int:
        """The change of the database up to which the vectors are; 0 when they have to start again."""
        return self._read(_read_cursor, 0)

    @property
    def erasures(self) -> int:
        """The number of erasures there had been when these were begun."""
        return read_count(self._file.with_name(f"{ERASURES}-vectors"))

    def start_again(self, erasures: int) -> bool:
        """Remove every byte of them."""
        self.close()
        for file in self._file.parent.glob(f"{self._file.name}*"):
            file.unlink(missing_ok=True)
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._file.with_name(f"{ERASURES}-vectors").write_text(str(erasures))
        return True

    def replace(self, entry: IndexedSession) -> None:
        """The vectors of a session anew. Doing it twice changes nothing."""
        blocks = groupby(_vectors(entry.turns), lambda turn: turn[0] // BLOCK)
        rows = ((entry.user, entry.session_id, block, *_packed(list(of_block))) for block, of_block in blocks)
        with self._opened() as database:
            database.execute(_REMOVE, (entry.user, entry.session_id))
            database.executemany("insert into vectors values (?, ?, ?, ?, ?)", rows)

    def remove(self, user: str, session_id: str) -> None:
        with self._opened() as database:
            database.execute(_REMOVE, (user, session_id))

    def commit(self, cursor: int) -> None:
        with self._opened() as database:
            database.execute("delete from followed")
            database.execute("insert into followed values (?)", (cursor,))

    def bits(self, keys: Sequence[TurnKey]) -> dict[TurnKey, bytes]:
        none: dict[TurnKey, bytes] = {}
        return self._read(lambda database: _read_bits(database, keys), none)

    def close(self) -> None:
        if self._database is not None:
            self._database.close()
            self._database = None

    def _read(self, read: Callable[[sqlite3.Connection], _Result], nothing: _Result) -> _Result:
        """Where the file is missing, damaged or locked for long, turns have no vectors and words alone decide."""
        if not self._file.exists():
            return nothing
        try:
            return read(self._opened())
        except sqlite3.OperationalError as error:
            _LOG.warning("The vectors in %s cannot be read just now: %s", self._file, error)
        except sqlite3.DatabaseError as error:
            self._start_again(error)
        return nothing

    def _opened(self) -> sqlite3.Connection:
        if self._database is None:
            try:
                self._database = _connection(self._file)
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError as error:
                self._start_again(error)
                self._database = _connection(self._file)
        return self._database

    def _start_again(self, error: sqlite3.DatabaseError) -> None:
        _LOG.warning("The vectors in %s are damaged and will be rebuilt: %s", self._file, error)
        self.close()
        self._file.unlink(missing_ok=True)


def _vectors(turns: Iterable[IndexedTurn]) -> Iterator[tuple[int, bytes]]:
    """A few turns at a time: a session may be larger than memory. Each leans to its neighbours, so parts overlap."""
    part, settled = list[tuple[int, str]](), 0
    for turn in turns:
        part.append((turn.number, (f"{turn.name}: {turn.text}" if turn.name else turn.text)[:OPENING]))
        if len(part) > _TURNS_AT_ONCE:
            yield from list(_numbered_bits(part))[settled:-1]
            part, settled = part[-2:], 1
    yield from list(_numbered_bits(part))[settled:]


def _numbered_bits(part: list[tuple[int, str]]) -> Iterator[tuple[int, bytes]]:
    return zip([number for number, _ in part], turn_bits([text for _, text in part]), strict=True)


def _read_cursor(database: sqlite3.Connection) -> int:
    row = database.execute("select cursor from followed").fetchone()
    return int(row[0]) if row else 0


def _read_bits(database: sqlite3.Connection, keys: Sequence[TurnKey]) -> dict[TurnKey, bytes]:
    wanted: defaultdict[tuple[str, str, int], list[TurnKey]] = defaultdict(list)
    for key in keys:
        wanted[key.user, key.session_id, key.turn // BLOCK].append(key)
    found: dict[TurnKey, bytes] = {}
    for place, of_block in wanted.items():
        numbers, bits = database.execute(_BLOCK_OF, place).fetchone() or (b"", b"")
        starts = {number: at * BYTES for at, number in enumerate(array("I", numbers))}
        found |= {key: bits[starts[key.turn] : starts[key.turn] + BYTES] for key in of_block if key.turn in starts}
    return found


def _packed(rows: Sequence[tuple[int, bytes]]) -> tuple[bytes, bytes]:
    return array("I", [number for number, _ in rows]).tobytes(), b"".join(bits for _, bits in rows)


def _connection(file: Path) -> sqlite3.Connection:
    file.parent.mkdir(parents=True, exist_ok=True)
    # The searches of a server come from many threads; SQLite takes their calls one at a time.
    database = sqlite3.connect(file, timeout=_PATIENCE, check_same_thread=False)
    database.execute("pragma synchronous = off")  # what a power cut loses is rebuilt: the truth is elsewhere
    database.execute("pragma secure_delete = on")
    if database.execute("pragma user_version").fetchone()[0] != FORMAT:
        database.executescript(_SCHEMA)
    return database
