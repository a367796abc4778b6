"""Search over a real index and real vectors in a real folder: what is found, for whom, and after what accidents."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reverie.search.search import IndexedSession, IndexedTurn, Search, SearchFilter, TurnKey, cosines, question_vector
from reverie.storage.search_index import TantivyIndex, WordllamaVectors
from reverie.text.tokens import terms

MAY = datetime(2026, 5, 12, 9, tzinfo=UTC)
JUNE = datetime(2026, 6, 2, 9, tzinfo=UTC)


def _session(
    name: str, *said: str, user: str = "ann", harness: str = "plain", at: datetime | None = None, title: str = ""
) -> IndexedSession:
    """Turns in turn from a person and an assistant."""
    turns = [
        IndexedTurn(number, "user" if number % 2 else "assistant", None, None, text)
        for number, text in enumerate(said, 1)
    ]
    return IndexedSession(user, name, harness, title or None, at, turns)


def _indexed(folder: Path, *sessions: IndexedSession, cursor: int = 1) -> TantivyIndex:
    index = TantivyIndex(folder)
    for session in sessions:
        index.replace(session)
    index.commit(cursor)
    return index


@pytest.fixture
def vectors(tmp_path: Path) -> Iterator[WordllamaVectors]:
    made = WordllamaVectors(tmp_path)
    yield made
    made.close()


@pytest.fixture
def ask(tmp_path: Path, vectors: WordllamaVectors) -> Iterator[Ask]:
    asking = Ask(TantivyIndex(tmp_path), vectors)
    yield asking
    asking.index.close()


class Ask:
    def __init__(self, index: TantivyIndex, vectors: WordllamaVectors) -> None:
        self.index = index
        self.vectors = vectors

    def add(self, *sessions: IndexedSession) -> None:
        for session in sessions:
            self.index.replace(session)
        self.index.commit(1)

    def fill(self, *sessions: IndexedSession) -> None:
        for session in sessions:
            self.vectors.replace(session)
        self.vectors.commit(1)

    def __call__(self, question: str, where: SearchFilter = SearchFilter(), limit: int = 10) -> list[tuple[str, int]]:
        rows = Search(self.index, self.vectors)(question, where, limit)
        return [(row.key.session_id, row.key.turn) for row in rows]


MOVED = _session(
    "move",
    "The staging database has to be moved to the new rack.",
    "Shall I do it before lunch?",
    "Yes, and say so when it is done.",
    title="Staging",
    at=MAY,
)
PARTY = _session("party", "Which cake shall we order for Nadia?", "A lemon cake serves twelve.", at=JUNE)


def test_a_question_finds_the_turn_that_answers_it(ask: Ask) -> None:
    ask.add(MOVED, PARTY)
    assert ask("when were the databases moved?")[0] == ("move", 1)
    assert ask("cakes")[0][0] == "party"


def test_a_question_in_chinese_finds_its_answer_and_so_does_a_single_character(ask: Ask) -> None:
    ask.add(_session("zh", "我们上周把数据库迁移到了新服务器。"), _session("en", "We had lunch."))
    assert ask("数据库什么时候迁移的？") == [("zh", 1)]
    assert ask("库") == [("zh", 1)]
    assert ask("器") == [("zh", 1)]


def test_an_answer_is_found_by_the_question_it_answers(ask: Ask) -> None:
    ask.add(_session("trip", "Which harbour does the ferry leave from?", "Pier nine, at noon."), PARTY)
    assert ("trip", 2) in ask("ferry harbour")


def test_a_turn_is_found_by_who_said_it_by_its_title_and_by_its_day(ask: Ask) -> None:
    turns = [IndexedTurn(1, "user", "Caroline", None, "I signed up for pottery.")]
    ask.add(IndexedSession("ann", "club", "plain", "Evening classes", MAY, turns), PARTY)
    assert ask("What did Caroline do?")[0] == ("club", 1)
    assert ask("evening classes")[0] == ("club", 1)
    assert ask("anything in May 2026?")[0] == ("club", 1)
    assert ask("2026-05-12")[0] == ("club", 1)


def test_nothing_of_anyone_else_is_found(ask: Ask) -> None:
    ask.add(
        _session("mine", "The safe code is in the drawer.", user="ann"),
        _session("mine", "The safe code is under the mat.", user="bob"),
        _session("ours", "The safe code is changed monthly.", user=""),
    )
    search = Search(ask.index, ask.vectors)
    for user in ("ann", "bob", "", "nobody", "a", "ANN"):
        assert all(row.key.user == user for row in search("safe code", SearchFilter(user=user), 50))
    assert len(search("safe code", SearchFilter(user="ann"), 50)) == 1
    assert len(search("safe code", SearchFilter(), 50)) == 3


@pytest.mark.parametrize(
    ("where", "found"),
    [
        (SearchFilter(harness="codex"), {"codex"}),
        (SearchFilter(role="assistant"), set()),
        (SearchFilter(since=JUNE), {"june"}),
        (SearchFilter(until=JUNE), {"codex", "may"}),
        (SearchFilter(since=MAY, until=JUNE), {"codex", "may"}),
        (SearchFilter(), {"codex", "may", "june", "undated"}),
    ],
)
def test_a_question_stays_within_its_bounds(ask: Ask, where: SearchFilter, found: set[str]) -> None:
    ask.add(
        _session("codex", "Rename the billing table.", harness="codex", at=MAY),
        _session("may", "Rename the billing table.", at=MAY),
        _session("june", "Rename the billing table.", at=JUNE),
        _session("undated", "Rename the billing table."),
    )
    assert {session for session, _ in ask("billing table", where)} == found


def test_a_turns_own_time_counts_before_its_sessions(ask: Ask) -> None:
    late = IndexedTurn(1, "user", None, JUNE, "Rename the billing table.")
    ask.add(IndexedSession("ann", "long", "plain", None, MAY, [late]))
    assert ask("billing", SearchFilter(since=JUNE)) == [("long", 1)]


def test_a_session_that_grew_is_found_once(ask: Ask) -> None:
    ask.add(_session("s", "The kiln is broken."))
    ask.add(_session("s", "The kiln is broken.", "I ordered a heating coil."))
    assert ask("kiln")[0] == ("s", 1)
    assert sorted(ask("kiln coil")) == [("s", 1), ("s", 2)]


def test_a_removed_session_is_not_found_and_others_of_its_name_are(ask: Ask) -> None:
    ask.add(_session("s", "The kiln is broken.", user="ann"), _session("s", "The kiln is fixed.", user="bob"))
    ask.index.remove("ann", "s")
    ask.index.commit(2)
    assert [row.key.user for row in Search(ask.index, ask.vectors)("kiln")] == ["bob"]


def test_what_was_not_committed_is_forgotten_and_the_cursor_has_not_moved(tmp_path: Path, ask: Ask) -> None:
    ask.add(MOVED)
    ask.index.replace(PARTY)
    ask.index.close()
    again = TantivyIndex(tmp_path)
    assert again.cursor == 1
    assert again.pool(terms("cake"), SearchFilter(), 10) == []


def test_meaning_lifts_the_answer_that_uses_other_words(ask: Ask) -> None:
    kids = _session("kids", "Our children love the film about penguins, the afternoon went well.")
    tools = _session("tools", "The afternoon went to sharpening chisels, and the afternoon is over.")
    ask.add(kids, tools)
    before = ask("an afternoon movie for the kids")
    ask.fill(kids, tools)
    assert before[0] == ("tools", 1)
    assert ask("an afternoon movie for the kids")[0] == ("kids", 1)


def test_half_filled_vectors_hide_nothing(ask: Ask) -> None:
    ask.add(MOVED, PARTY)
    ask.fill(MOVED)
    assert {session for session, _ in ask("the cake and the database")} == {"move", "party"}


def test_filling_twice_changes_nothing_and_removing_leaves_the_rest(vectors: WordllamaVectors) -> None:
    keys = [TurnKey("ann", "move", 1), TurnKey("ann", "party", 1), TurnKey("bob", "move", 1)]
    for session in (MOVED, PARTY, MOVED):
        vectors.replace(session)
    vectors.commit(7)
    first = vectors.bits(keys)
    vectors.replace(PARTY)
    assert vectors.bits(keys) == first
    assert set(first) == set(keys[:2])
    move, party = cosines(question_vector({"database": 1.0}), [first[key] for key in keys[:2]])
    assert move > party
    vectors.remove("ann", "move")
    assert set(vectors.bits(keys)) == {keys[1]}
    assert vectors.cursor == 7


def test_a_session_longer_than_a_block_keeps_every_vector(vectors: WordllamaVectors) -> None:
    vectors.replace(_session("long", *(f"Note number {number} about gardens." for number in range(1, 201))))
    keys = [TurnKey("ann", "long", number) for number in range(1, 202)]
    assert set(keys) - set(vectors.bits(keys)) == {keys[-1]}


@pytest.mark.parametrize("accident", ["emptied", "truncated", "overwritten", "gone"])
@pytest.mark.parametrize("victim", ["meta.json", "*.idx", "*.term", "*.store", "*.fieldnorm"])
def test_a_damaged_index_starts_again_and_never_raises(tmp_path: Path, victim: str, accident: str) -> None:
    _indexed(tmp_path, MOVED, cursor=9).close()
    for file in (tmp_path / "turns").glob(victim):
        _harm(file, accident)
    index = TantivyIndex(tmp_path)
    assert index.cursor == 0
    assert index.pool(terms("database"), SearchFilter(), 10) == []
    index.replace(PARTY)
    index.commit(3)
    assert index.cursor == 3
    assert index.pool(terms("cake"), SearchFilter(), 10)


def _harm(file: Path, accident: str) -> None:
    match accident:
        case "emptied":
            file.write_bytes(b"")
        case "truncated":
            os.truncate(file, file.stat().st_size // 2)
        case "overwritten":
            file.write_bytes(b"\xa5" * file.stat().st_size)
        case _:
            file.unlink()


def test_an_index_deleted_while_it_is_open_starts_again(tmp_path: Path) -> None:
    index = _indexed(tmp_path, MOVED)
    assert index.pool(terms("database"), SearchFilter(), 10)
    shutil.rmtree(tmp_path / "turns")
    assert index.cursor == 0
    assert index.pool(terms("database"), SearchFilter(), 10) == []
    index.replace(MOVED)
    index.commit(4)
    assert index.cursor == 4


def test_an_index_that_vanishes_while_it_is_written_starts_again(tmp_path: Path) -> None:
    index = _indexed(tmp_path, MOVED, cursor=4)
    index.replace(PARTY)
    (tmp_path / "turns").rename(tmp_path / "elsewhere")
    index.commit(5)
    assert index.cursor == 0
    index.replace(PARTY)
    index.commit(5)
    assert index.cursor == 5
    assert index.pool(terms("cake"), SearchFilter(), 10)


def test_an_index_of_another_format_starts_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reverie.storage.search_index.FORMAT", 999)
    _indexed(tmp_path, MOVED, cursor=9).close()
    monkeypatch.undo()
    index = TantivyIndex(tmp_path)
    assert index.cursor == 0
    assert index.pool(terms("database"), SearchFilter(), 10) == []


@pytest.mark.parametrize("accident", ["emptied", "truncated", "overwritten", "gone"])
def test_damaged_vectors_start_again_and_never_raise(tmp_path: Path, accident: str) -> None:
    made = WordllamaVectors(tmp_path)
    made.replace(MOVED)
    made.commit(9)
    made.close()
    _harm(tmp_path / "vectors.db", accident)
    again = WordllamaVectors(tmp_path)
    assert again.bits([TurnKey("ann", "move", 1)]) == {}
    assert again.cursor == 0
    again.replace(MOVED)
    again.commit(2)
    assert again.cursor == 2
    again.close()


HOLD = """
import sys
from pathlib import Path
from reverie.storage.search_index import TantivyIndex
index = TantivyIndex(Path(sys.argv[1]))
print(index.try_writer(), flush=True)
sys.stdin.read()
"""


def test_while_another_process_writes_reading_goes_on_and_catching_up_is_left_to_it(tmp_path: Path) -> None:
    index = _indexed(tmp_path, MOVED)
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None and other.stdout.readline() == "True\n"
        assert not index.try_writer()
        with pytest.raises(BlockingIOError):
            index.replace(PARTY)
        assert TantivyIndex(tmp_path).pool(terms("database"), SearchFilter(), 10)
        other.kill()
    assert index.try_writer()
    index.close()


def test_a_commit_of_another_process_is_seen(tmp_path: Path) -> None:
    reader = TantivyIndex(tmp_path)
    assert reader.cursor == 0
    _indexed(tmp_path, MOVED, cursor=5)
    assert reader.cursor == 5
    assert reader.pool(terms("database"), SearchFilter(), 10)
    _indexed(tmp_path, PARTY, cursor=6)
    assert reader.cursor == 6
    assert reader.pool(terms("cake"), SearchFilter(), 10)


def test_no_text_is_kept_beside_the_database(tmp_path: Path, vectors: WordllamaVectors) -> None:
    secret = _session("s", "The marmalade sandwich belongs to the lighthouse keeper.")
    _indexed(tmp_path, secret).close()
    vectors.replace(secret)
    vectors.commit(1)
    assert not any(b"marmalade sandwich" in file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
