"""The words of every turn of a workspace, in tantivy. Derived from the database and rebuilt from it when in doubt.

Each turn is one document: its speaker and words, then the opening words of the turns beside it, so that an answer is
found by the question it answers. No text is stored, only keys. How far the index has followed the database is a
document too, and lands in the same commit.
"""

from __future__ import annotations

import ctypes
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import tantivy

from reverie.core.errors import NotPermitted
from reverie.search.search import IndexedSession, RankedTurn, SearchFilter, Term
from reverie.storage.index import turns

_HEAP = 20_000_000
ERASURES = "erasures"
_LOG = logging.getLogger(__name__)
_Result = TypeVar("_Result")


def refuse_unusable(*folders: Path) -> None:
    """Each below the one before. What may not be looked into is no damage that building it again would mend."""
    for path in (*folders, folders[-1] / "turns", folders[-1] / "vectors.db"):
        rights, kind = ("rw", "file") if path.name == "vectors.db" else ("rwx", "folder")
        wanted = os.R_OK | os.W_OK | (os.X_OK if kind == "folder" else 0)
        if not os.access(path, wanted) and os.path.lexists(path):
            raise NotPermitted(
                f"The search index in {path} may not be read and written.",
                expected=f"a {kind} of your own",
                next_step=f"`chmod u+{rights} {path}` as its owner; or move it away, and the next search makes it.",
            )


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
        return self._read(turns.cursor, 0)

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
        aside = Path(tempfile.mkdtemp(prefix="damaged-", dir=self._folder.parent))
        self._folder.rename(aside / "turns")
        shutil.rmtree(aside)
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
        for document in turns.documents(entry):
            writer.add_document(document)

    def remove(self, user: str, session_id: str) -> None:
        self._writing().delete_documents_by_query(turns.session_query(user, session_id))

    def commit(self, cursor: int) -> None:
        """Changes and cursor land together. Then the writer is released to other processes."""
        writer = self._writing()
        try:
            writer.delete_documents_by_term("meta", turns.CURSOR)
            writer.add_document(turns.followed(cursor))
            writer.commit()
            self._release()
            _give_back_memory()
        except (ValueError, OSError) as error:
            self._writer = None
            if self._opened() is not None:  # it is not the index that failed, but the disk under it
                raise
            self._warn(error)
            self._index = None

    def pool(self, terms: Sequence[Term], where: SearchFilter, size: int) -> list[RankedTurn]:
        asked = self._read(lambda index: turns.worth_asking(index, terms), list(terms))
        query = turns.turns_query(asked, where)  # made outside the reading, where a ValueError means damage
        return self._read(lambda index: turns.candidates(index, query, size), [])

    def rarity(self, terms: Sequence[Term]) -> list[float]:
        return self._read(lambda index: turns.rarities(index, terms), [0.0] * len(terms))

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
            index = turns.prepared(tantivy.Index.open(str(self._folder)))
            return index if turns.is_current(index) else None
        except BaseException as error:
            if not _is_damage(error):
                raise
            self._warn(error)
            return None

    def _warn(self, error: BaseException) -> None:
        if not self._warned:
            _LOG.warning("The search index in %s cannot be read and will be rebuilt: %s", self._folder, error)
        self._warned = True

    def _fresh(self) -> tantivy.Index:
        if (self._folder / "meta.json").exists():
            # Out of the way in one step, whoever may be writing there; what cannot be deleted now is in nobody's way.
            aside = Path(tempfile.mkdtemp(prefix="damaged-", dir=self._folder.parent))
            self._folder.rename(aside / "turns")
            shutil.rmtree(aside, ignore_errors=True)
        self._folder.mkdir(parents=True, exist_ok=True)
        return turns.prepared(tantivy.Index(turns.schema(), path=str(self._folder)))


def read_count(file: Path) -> int:
    try:
        return int(file.read_text())
    except (OSError, ValueError):
        return 0


def _is_damage(error: BaseException) -> bool:
    """A panic inside tantivy arrives as a class that cannot be imported and is no Exception."""
    return isinstance(error, (ValueError, OSError)) or type(error).__name__ == "PanicException"


def _give_back_memory() -> None:
    """A released writer ends its threads, and glibc keeps what they used until it is told not to."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)
