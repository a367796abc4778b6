"""The words of every turn of a workspace, in tantivy, and its vector, in a small SQLite file beside: 36 bytes a turn.
Both are derived from the database and rebuilt from it when in doubt.

Each turn is one document: its speaker and words, then the opening words of the turns beside it, so that an answer is
found by the question it answers. No text is stored, only keys. How far the index has followed the database is a
document too, and lands in the same commit. Vectors are filled after the words, session by session: a turn that has
none yet is found by its words alone.
"""

from __future__ import annotations

import ctypes
import logging
import shutil
import sqlite3
import sys
import tempfile
from array import array
from calendar import month_name
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, groupby
from math import ceil, log
from pathlib import Path
from typing import TypeVar

import tantivy
from tantivy import Document, FieldType, Occur, Query

from reverie.search.search import (
    BYTES,
    OPENING,
    IndexedSession,
    IndexedTurn,
    RankedTurn,
    SearchFilter,
    TurnKey,
    turn_bits,
)
from reverie.text.tokens import Term, begins_pairs, tokens

FORMAT = 1
CURSOR = "cursor"
OWN = 2  # a word counts double in the turn it stands in
EVERYWHERE = 20_000  # turns
CONTEXT = 30  # tokens of a neighbour: its gist, too little for a long answer to drown a short question
_HEAP = 20_000_000
ERASURES = "erasures"
_VECTOR_FORMAT = 1
BLOCK = 64  # turns in a row of the table: a few thousand bytes to read, however long the session
_TURNS_AT_ONCE = 512
_PATIENCE = 5.0  # seconds
_VECTOR_TABLES = f"""
    begin immediate;
    drop table if exists vectors;
    drop table if exists followed;
    create table vectors (
        user text not null, session text not null, block integer not null,
        numbers blob not null, bits blob not null, primary key (user, session, block));
    create table followed (cursor integer not null);
    pragma user_version = {_VECTOR_FORMAT};
    commit;
"""
_REMOVE = "delete from vectors where user = ? and session = ?"
_BLOCK_OF = "select numbers, bits from vectors where user = ? and session = ? and block = ?"
_LOG = logging.getLogger(__name__)
_Result = TypeVar("_Result")


@cache
def schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("words", tokenizer_name="words", index_option="freq")
    for name in ("user", "session", "role"):
        builder.add_text_field(name, stored=True, tokenizer_name="raw", index_option="basic")
    for name in ("harness", "meta"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in ("turn", "format", "followed"):
        builder.add_unsigned_field(name, stored=True)
    builder.add_integer_field("at", fast=True)
    return builder.build()


def prepared(index: tantivy.Index) -> tantivy.Index:
    """Tokens are ours, joined by spaces; tantivy has only to cut them apart again."""
    index.register_tokenizer("words", tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build())
    index.config_reader("manual")
    return index


def documents(entry: IndexedSession) -> Iterator[Document]:
    """A turn is found by its own words, its speaker, the turns beside it, and its session's title and day, as people
    write it: for "what did we decide in May 2026?"."""
    at = entry.started_at
    day = [] if at is None else tokens(f"{at.day} {month_name[at.month]} {at:%Y-%m-%d}")
    about = tokens(entry.title or "") + day
    before: list[str] = []
    now: tuple[IndexedTurn, list[str]] | None = None
    for turn in chain(entry.turns, (None,)):  # three turns are held at a time: a session may be larger than memory
        after = tokens(turn.name or "") + tokens(turn.text) if turn else []
        if now:
            said, own = now
            document = Document()
            document.add_text("words", " ".join(chain(*[own] * OWN, about, before[:CONTEXT], after[:CONTEXT])))
            document.add_text("user", entry.user)
            document.add_text("session", entry.session_id)
            document.add_text("role", said.role)
            document.add_text("harness", entry.harness)
            document.add_unsigned("turn", said.number)
            if (moment := said.at or entry.started_at) is not None:
                document.add_integer("at", int(moment.timestamp()))
            yield document
            before = own
        now = (turn, after) if turn else None


def _meta(searcher: tantivy.Searcher) -> Document:
    hits = searcher.search(_is("meta", CURSOR), limit=1, count=False).hits
    return searcher.doc(hits[0][1]) if hits else Document()


def turns_query(terms: Sequence[Term], where: SearchFilter) -> Query:
    """Any term may match; every bound must, and adds nothing to the score."""
    asked = Query.boolean_query([(Occur.Should, _term_query(term)) for term in terms])
    named = (("user", where.user), ("harness", where.harness), ("role", where.role))
    bounds = [_is(name, value) for name, value in named if value is not None]
    if where.since is not None:
        bounds.append(_at(ceil(where.since.timestamp()), None))
    if where.until is not None:
        bounds.append(_at(None, ceil(where.until.timestamp()) - 1))
    return _every(asked, *(Query.const_score_query(bound, 0.0) for bound in bounds)) if bounds else asked


def candidates(index: tantivy.Index, query: Query, size: int) -> list[RankedTurn]:
    searcher = index.searcher()
    found = list[RankedTurn]()
    for score, address in searcher.search(query, limit=size, count=False).hits:
        document = searcher.doc(address)
        user, session, role, turn = (document.get_first(name) for name in ("user", "session", "role", "turn"))
        found.append(RankedTurn(TurnKey(str(user), str(session), int(turn or 0)), str(role), score))
    return found


def _often(searcher: tantivy.Searcher, term: Term) -> int:
    return max(searcher.doc_freq("words", form) for form in term.forms)


def _term_query(term: Term) -> Query:
    forms = [
        Query.regex_query(schema(), "words", f"{form}.")
        if begins_pairs(form)
        else Query.term_query(schema(), "words", form, index_option="freq")
        for form in term.forms
    ]
    query = forms[0] if len(forms) == 1 else Query.disjunction_max_query(forms)
    return query if term.weight == 1 else Query.boost_query(query, term.weight)


def _at(first: int | None, last: int | None) -> Query:
    return Query.range_query(schema(), "at", FieldType.Integer, first, last)


def _is(field: str, value: str) -> Query:
    return Query.term_query(schema(), field, value, index_option="basic")


def _every(*queries: Query) -> Query:
    return Query.boolean_query([(Occur.Must, query) for query in queries])


class TantivyIndex:
    """Opening takes no lock and reading never does; a writer is held from the first change until `commit`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "turns"
        self._warned = False
        self._index = self._opened()
        self._writer: tantivy.IndexWriter | None = None

    @property
    def cursor(self) -> int:
        """The change of the database up to which this index is; 0 when it has to start again."""
        return self._read(lambda index: int(_meta(index.searcher()).get_first("followed") or 0), 0)

    @property
    def erasures(self) -> int:
        """The number of erasures there had been when this index was begun."""
        return read_count(self._folder / ERASURES)

    def start_again(self, erasures: int) -> bool:
        """Remove every byte of it: a segment keeps the words of what was deleted until it is merged. False while
        another process writes."""
        if not self.try_writer():
            return False
        self.close()
        self._index = None
        shutil.rmtree(self._put_aside())
        self._index = self._fresh()
        (self._folder / ERASURES).write_text(str(erasures))
        return True

    def try_writer(self) -> bool:
        """False while another process writes: reading goes on, and catching up is that process's affair."""
        if self._writer is None:
            # Whoever writes may have rebuilt what was damaged when this process last looked.
            index = self._index or self._opened() or self._fresh()
            try:
                self._writer = index.writer(_HEAP, 1)
            except ValueError as busy:
                if "LockBusy" not in str(busy):
                    raise
                return False
            self._index = index
        return True

    def replace(self, entry: IndexedSession) -> None:
        """Every turn of the session anew. Searches see it after the next `commit`."""
        self.remove(entry.user, entry.session_id)
        writer = self._writing()
        for document in documents(entry):
            writer.add_document(document)

    def remove(self, user: str, session_id: str) -> None:
        self._writing().delete_documents_by_query(_every(_is("user", user), _is("session", session_id)))

    def commit(self, cursor: int) -> None:
        """Changes and cursor land together. Then the writer is released to other processes."""
        writer = self._writing()
        try:
            writer.delete_documents_by_term("meta", CURSOR)
            followed = Document()
            followed.add_text("meta", CURSOR)
            followed.add_unsigned("format", FORMAT)
            followed.add_unsigned("followed", cursor)
            writer.add_document(followed)
            writer.commit()
            self._release()
            # A released writer ends its threads, and glibc keeps what they used until it is told not to.
            trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
            if trim is not None:
                trim(0)
        except (ValueError, OSError) as error:
            self._writer = None
            if self._opened() is not None:  # it is not the index that failed, but the disk under it
                raise
            self._warn(error)
            self._index = None

    def pool(self, terms: Sequence[Term], where: SearchFilter, size: int) -> list[RankedTurn]:
        def worth_asking(index: tantivy.Index) -> list[Term]:
            """Without the small words that stand nearly everywhere in a large index: they cost most and tell least."""
            searcher = index.searcher()
            return [term for term in terms if term.weight >= 1 or _often(searcher, term) <= EVERYWHERE]

        asked = self._read(worth_asking, list(terms))
        query = turns_query(asked, where)  # made outside the reading, where a ValueError means damage
        return self._read(lambda index: candidates(index, query, size), [])

    def rarity(self, terms: Sequence[Term]) -> list[float]:
        """The inverse document frequency as BM25 has it, of the form met most often."""

        def rarities(index: tantivy.Index) -> list[float]:
            searcher = index.searcher()
            often = (_often(searcher, term) for term in terms)
            return [log(1 + (searcher.num_docs - count + 0.5) / (count + 0.5)) for count in often]

        return self._read(rarities, [0.0] * len(terms))

    def close(self) -> None:
        """Forget what was not committed; the database still has it, and the cursor has not moved."""
        if self._writer is not None:
            self._writer.rollback()
            self._release()

    def _writing(self) -> tantivy.IndexWriter:
        if not self.try_writer() or self._writer is None:
            raise BlockingIOError(f"{self._folder} is being written by another process; ask `try_writer` first.")
        return self._writer

    def _release(self) -> None:
        if self._writer is not None:
            self._writer.wait_merging_threads()
            self._writer = None

    def _read(self, read: Callable[[tantivy.Index], _Result], nothing: _Result) -> _Result:
        """A damaged index reads as an empty one, and the next writer builds it again from cursor 0."""
        self._index = self._index or self._opened()
        if self._index is None:
            return nothing
        try:
            self._index.reload()
            return read(self._index)
        except BaseException as error:
            if not _is_damage(error):
                raise
            self._warn(error)
            self._index = None
            return nothing

    def _opened(self) -> tantivy.Index | None:
        """None when there is no index here, or none that this version can read."""
        if not (self._folder / "meta.json").is_file():
            return None
        try:
            index = prepared(tantivy.Index.open(str(self._folder)))
            searcher = index.searcher()
            # An index nothing was committed to yet is being made by someone, perhaps right now.
            return index if searcher.num_docs == 0 or _meta(searcher).get_first("format") == FORMAT else None
        except BaseException as error:
            if not _is_damage(error):
                raise
            self._warn(error)
            return None

    def _warn(self, error: BaseException) -> None:
        if not self._warned:
            _LOG.warning("The search index in %s cannot be read and will be rebuilt: %s", self._folder, error)
        self._warned = True

    def _put_aside(self) -> Path:
        """Out of the way in one step, whoever may be writing there."""
        aside = Path(tempfile.mkdtemp(prefix="damaged-", dir=self._folder.parent))
        self._folder.rename(aside / "turns")
        return aside

    def _fresh(self) -> tantivy.Index:
        if (self._folder / "meta.json").exists():
            # What cannot be deleted now is in nobody's way.
            shutil.rmtree(self._put_aside(), ignore_errors=True)
        self._folder.mkdir(parents=True, exist_ok=True)
        return prepared(tantivy.Index(schema(), path=str(self._folder)))


def read_count(file: Path) -> int:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return 0


def _is_damage(error: BaseException) -> bool:
    """A panic inside tantivy arrives as a class that cannot be imported and is no Exception."""
    return isinstance(error, (ValueError, OSError)) or type(error).__name__ == "PanicException"


class WordllamaVectors:
    """Follows the database as the index does: replace, remove, commit(cursor), close. Each session lands whole."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "vectors.db"
        self._database: sqlite3.Connection | None = None

    @property
    def cursor(self) -> int:
        """The change of the database up to which the vectors are; 0 when they have to start again."""
        row = self._read(lambda database: database.execute("select cursor from followed").fetchone(), None)
        return int(row[0]) if row else 0

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

        def rows() -> Iterator[tuple[str, str, int, bytes, bytes]]:
            for block, turns in groupby(_vectors(entry.turns), lambda turn: turn[0] // BLOCK):
                numbers, bits = zip(*turns, strict=True)
                yield entry.user, entry.session_id, block, array("I", numbers).tobytes(), b"".join(bits)

        with self._opened() as database:
            database.execute(_REMOVE, (entry.user, entry.session_id))
            database.executemany("insert into vectors values (?, ?, ?, ?, ?)", rows())

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


def _connection(file: Path) -> sqlite3.Connection:
    file.parent.mkdir(parents=True, exist_ok=True)
    # The searches of a server come from many threads; SQLite takes their calls one at a time.
    database = sqlite3.connect(file, timeout=_PATIENCE, check_same_thread=False)
    database.execute("pragma synchronous = off")  # what a power cut loses is rebuilt: the truth is elsewhere
    database.execute("pragma secure_delete = on")
    if database.execute("pragma user_version").fetchone()[0] != _VECTOR_FORMAT:
        database.executescript(_VECTOR_TABLES)
    return database
