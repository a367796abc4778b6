"""The words of every turn of a workspace, in tantivy. Derived from the database and rebuilt from it when in doubt.

Each turn is one document: its speaker and words, then the opening words of the turns beside it, so that an answer is
found by the question it answers. No text is stored, only keys. How far the index has followed the database is a
document too, and lands in the same commit.
"""

from __future__ import annotations

import logging
import math
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TypeVar

import tantivy
from tantivy import Document, Occur, Query

from reverie.language.search import Candidate, IndexedSession, IndexedTurn, Term, TurnKey, Where
from reverie.language.tokens import tokens

FORMAT = 1
CONTEXT = 60  # tokens of a neighbour: enough for its gist, too few for a long answer to drown a short question
_HEAP = 50_000_000
_WORDS = "words"
_META = "cursor"
_LOG = logging.getLogger(__name__)
_Result = TypeVar("_Result")


class TantivyIndex:
    """Opening takes no lock and reading never does; a writer is held from the first change until `commit`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "turns"
        self._index = self._opened()
        self._writer: tantivy.IndexWriter | None = None

    @property
    def cursor(self) -> int:
        """How far this index has followed the database; 0 when it has to start again."""
        return self._guarded(lambda index: _meta(index)[1], 0)

    def try_writer(self) -> bool:
        """False while another process writes: reading goes on, catching up is its affair."""
        if self._writer is None:
            index = self._index or self._fresh()
            try:
                self._writer = index.writer(_HEAP, 1)
            except ValueError as busy:
                if "LockBusy" not in str(busy):
                    raise
                return False
            self._index = index
        return True

    def replace(self, entry: IndexedSession) -> None:
        """Every turn of the session anew. Seen by searches after the next `commit`."""
        self.remove(entry.user, entry.session_id)
        for document in _documents(entry):
            self._writing().add_document(document)

    def remove(self, user: str, session_id: str) -> None:
        of_user, of_session = _is("user", user), _is("session", session_id)
        self._writing().delete_documents_by_query(_all(of_user, of_session))

    def commit(self, cursor: int) -> None:
        """Changes and cursor land together; then the writer is released to other processes."""
        writer = self._writing()
        writer.delete_documents_by_term("meta", _META)
        writer.add_document(Document(meta=_META, format=FORMAT, cursor=cursor))
        writer.commit()
        self._release()

    def pool(self, terms: Sequence[Term], where: Where, size: int) -> list[Candidate]:
        query = Query.boolean_query([(Occur.Should, _asked(term)) for term in terms])
        bounds = list(_bounds(where))
        if bounds:
            query = _all(query, *(Query.const_score_query(bound, 0.0) for bound in bounds))
        return self._guarded(lambda index: _candidates(index, query, size), [])

    def rarity(self, terms: Sequence[Term]) -> list[float]:
        return self._guarded(lambda index: _rarities(index, terms), [0.0] * len(terms))

    def close(self) -> None:
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

    def _guarded(self, read: Callable[[tantivy.Index], _Result], nothing: _Result) -> _Result:
        """A damaged index reads as an empty one, at cursor 0, and the next writer builds it again."""
        if self._index is None and self._folder.is_dir():
            self._index = self._opened()
        if self._index is None:
            return nothing
        try:
            self._index.reload()
            return read(self._index)
        except BaseException as error:
            if not _is_damage(error):
                raise
            _LOG.warning("The search index in %s is damaged and will be rebuilt: %s", self._folder, error)
            self._index = None
            shutil.rmtree(self._folder, ignore_errors=True)
            return nothing

    def _opened(self) -> tantivy.Index | None:
        """None when there is no index here, or none that this version can read."""
        if not (self._folder / "meta.json").is_file():
            return None
        try:
            index = _prepared(tantivy.Index.open(str(self._folder)))
            return index if _meta(index)[0] == FORMAT else None
        except BaseException as error:
            if not _is_damage(error):
                raise
            _LOG.warning("The search index in %s cannot be read and will be rebuilt: %s", self._folder, error)
            return None

    def _fresh(self) -> tantivy.Index:
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        return _prepared(tantivy.Index(_schema(), path=str(self._folder)))
