"""The storage contract. Every test runs on SQLite and on a real Postgres."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import Engine

from reverie.app import Home
from reverie.changes.proposal import Score, Suggestion
from reverie.changes.queue import Waiting
from reverie.core.clock import FixedClock
from reverie.core.errors import BadInput, NotFound
from reverie.core.scope import Origin, Scope
from reverie.memory.operation import Add
from reverie.storage.database import reading_across
from reverie.storage.sessions import SqlRecords, SqlSources
from reverie.transcripts.records import SessionQuery
from reverie.transcripts.session import Evidence, Head, Said, ToolCall, Turn

NOON = datetime(2026, 5, 12, 12, 0, 0, 123456, tzinfo=UTC)
ANN = Scope("local", "ann", "test")
BOB = Scope("local", "bob", "test")
EVERYONE = Scope("local", None, "test")
ELSEWHERE = Scope("elsewhere", "ann", "test")


@pytest.fixture
def records(engine: Engine) -> SqlRecords:
    return SqlRecords(engine, FixedClock(NOON))


def talk(*texts: str) -> list[Turn]:
    return [Turn(number, Said("user", text), Origin.OWNER) for number, text in enumerate(texts, 1)]


def keep(records: SqlRecords, scope: Scope, turns: list[Turn], head: Head | None = None) -> tuple[str, int]:
    head = head or Head("s1")
    return records.write(scope, head, turns, source="/a/file", finish=lambda: head)


def texts(records: SqlRecords, scope: Scope, session_id: str = "s1", revision: int | None = None) -> list[str]:
    return [turn.text for turn in records.read(scope, session_id, revision).turns]


def test_what_was_written_is_read_back_without_loss(records: SqlRecords) -> None:
    call = ToolCall("terminal", '{"command": "ls"}', "call_1")
    said = [
        Said("assistant", "", calls=(call, call), at=NOON),
        Said("tool", "not found ␀ é 漢字 🎉", name="terminal", answers="call_1", failed=True),
        Said("user", "x" * 100_000, name="Ann", noise="banner"),
    ]
    turns = [Turn(number, one, origin) for number, (one, origin) in enumerate(zip(said, Origin, strict=False), 1)]
    head = Head("s1", "ann", "hermes", "default", "Título", NOON, NOON + timedelta(hours=1), "s0", 0.5, {"cwd": "/x"})
    keep(records, ANN, turns, head)
    session = records.read(ANN, "s1")
    assert session.turns == tuple(turns)
    assert session.head == head


def test_adding_twice_adds_once(records: SqlRecords) -> None:
    assert keep(records, ANN, talk("a", "b")) == ("new", 2)
    first = records.known(ANN, "s1")
    assert keep(records, ANN, talk("a", "b")) == ("unchanged", 0)
    assert records.known(ANN, "s1") == first


def test_a_transcript_that_grew_adds_only_its_new_turns(records: SqlRecords) -> None:
    keep(records, ANN, talk("a", "b"))
    assert keep(records, ANN, talk("a", "b", "c")) == ("grown", 1)
    assert records.read(ANN, "s1").revision == 1
    assert texts(records, ANN) == ["a", "b", "c"]


@pytest.mark.parametrize("rewritten", [["a", "B", "c"], ["a"], ["x", "a", "b", "c"], []])
def test_a_rewritten_transcript_is_a_new_revision_and_the_old_one_stays(
    records: SqlRecords, rewritten: list[str]
) -> None:
    keep(records, ANN, talk("a", "b", "c"))
    fate, _ = keep(records, ANN, talk(*rewritten))
    assert fate == "rewritten"
    assert texts(records, ANN) == rewritten
    assert texts(records, ANN, revision=1) == ["a", "b", "c"]


def test_a_long_transcript_grows_beyond_a_page(records: SqlRecords) -> None:
    many = [str(number) for number in range(1, 1203)]
    keep(records, ANN, talk(*many[:1100]))
    assert keep(records, ANN, talk(*many)) == ("grown", 102)
    assert texts(records, ANN) == many
    stored = records.known(ANN, "s1")
    assert stored is not None
    assert [turn.text for turn in records.every_turn(ANN, stored)] == many


def test_a_new_title_is_kept_though_no_turn_is_new(records: SqlRecords) -> None:
    keep(records, ANN, talk("a"))
    assert keep(records, ANN, talk("a"), Head("s1", title="Now it has a name")) == ("unchanged", 0)
    assert records.read(ANN, "s1").head.title == "Now it has a name"


def test_a_reader_that_fails_half_way_leaves_what_was_there(records: SqlRecords) -> None:
    keep(records, ANN, talk("a"))

    def broken() -> object:
        yield from talk("a", "b")
        raise OSError("the disk went away")

    with pytest.raises(OSError, match="went away"):
        keep(records, ANN, broken())  # type: ignore[arg-type]
    assert texts(records, ANN) == ["a"]


def test_one_id_of_two_people_is_two_sessions(records: SqlRecords) -> None:
    keep(records, ANN, talk("of ann"))
    keep(records, BOB, talk("of bob"))
    assert texts(records, ANN) == ["of ann"]
    assert texts(records, BOB) == ["of bob"]
    with pytest.raises(BadInput, match="ann, bob"):
        records.read(EVERYONE, "s1")


def test_nothing_is_seen_from_another_workspace_or_person(records: SqlRecords) -> None:
    keep(records, ANN, talk("of ann"))
    for stranger in (BOB, ELSEWHERE):
        assert list(records.find(stranger, SessionQuery())) == []
        assert list(records.changed_since(stranger, 0)) == []
        assert records.exchange(stranger, "s1", [1]) == (None, {})
        with pytest.raises(NotFound):
            records.read(stranger, "s1")
        with pytest.raises(NotFound):
            records.remove(stranger, "s1")


def test_sessions_are_listed_newest_first_and_filtered(records: SqlRecords) -> None:
    for day, name in ((1, "old"), (20, "new"), (10, "middle")):
        keep(records, ANN, talk(name), Head(name, harness=name, started_at=NOON.replace(day=day)))
    keep(records, ANN, talk("undated"), Head("undated"))

    def found(wanted: SessionQuery) -> list[str]:
        return [stored.head.id for stored in records.find(ANN, wanted)]

    assert found(SessionQuery()) == ["new", "middle", "old", "undated"]
    assert found(SessionQuery(limit=2)) == ["new", "middle"]
    assert found(SessionQuery(harness="old")) == ["old"]
    assert found(SessionQuery(since=NOON.replace(day=10), until=NOON.replace(day=20))) == ["middle"]


def test_an_index_that_follows_sees_every_change_once_and_in_order(records: SqlRecords) -> None:
    keep(records, ANN, talk("a"), Head("s1"))
    keep(records, BOB, talk("a"), Head("s2"))
    seen = [(stored.head.id, stored.changed) for stored in records.changed_since(EVERYONE, 0)]
    assert [name for name, _ in seen] == ["s1", "s2"]
    cursor = seen[-1][1]
    assert list(records.changed_since(EVERYONE, cursor)) == []
    keep(records, ANN, talk("a", "b"), Head("s1"))
    records.remove(BOB, "s2")
    later = [(stored.head.id, stored.removed) for stored in records.changed_since(EVERYONE, cursor)]
    assert later == [("s1", False), ("s2", True)]


def test_a_removed_session_is_gone_with_its_words_and_can_be_added_again(records: SqlRecords, engine: Engine) -> None:
    keep(records, ANN, talk("secret plans"), Head("s1", title="Plans"))
    records.remove(ANN, "s1")
    assert list(records.find(ANN, SessionQuery())) == []
    with pytest.raises(NotFound):
        records.read(ANN, "s1")
    with reading_across(engine, "upkeep") as connection:
        assert connection.exec_driver_sql("select count(*) from turns").scalar() == 0
        assert connection.exec_driver_sql("select count(*) from sessions where title is not null").scalar() == 0
    assert keep(records, ANN, talk("secret plans")) == ("new", 1)
    assert texts(records, ANN) == ["secret plans"]


def test_sources_are_remembered_with_the_fingerprints_of_their_files(engine: Engine) -> None:
    sources = SqlSources(engine, FixedClock(NOON))
    sources.remember(ANN, "/a", None)
    sources.remember(ANN, "/a", "hermes")
    sources.remember(BOB, "/b", None)
    assert [(source.path, source.reader, source.user) for source in sources.remembered(EVERYONE)] == [
        ("/a", "hermes", "ann"),
        ("/b", None, "bob"),
    ]
    assert sources.remembered(ELSEWHERE) == []
    assert sources.fingerprint(ANN, "/a/f") is None
    sources.keep_fingerprint(ANN, "/a/f", "1")
    sources.keep_fingerprint(ANN, "/a/f", "2")
    assert sources.fingerprint(ANN, "/a/f") == "2"
    assert sources.fingerprint(BOB, "/a/f") is None
    assert sources.forget(ANN, "/a")
    assert not sources.forget(ANN, "/a")


def test_what_waits_is_ranked_put_off_and_found_by_its_place_on_either_database(home_on: Home) -> None:
    home = home_on
    for number, document in enumerate(("MEMORY.md", "USER.md", "MEMORY.md")):
        wanted = Suggestion("home", document, (Add(document, f"Rule {number}."),), score=Score(number / 10))
        assert isinstance(home.review.propose(wanted, land=False), Waiting)
    first, second, third = home.review.waiting(every=True)
    assert [one.suggestion.score and one.suggestion.score.total for one in (first, second, third)] == [0.2, 0.1, 0.0]
    assert [one.id for one in home.review.page(1, 1)] == [second.id]
    proposals, scope, now = home.review.proposals, home.review.scope, home.review.open
    places = proposals.places(scope, now)
    assert sorted(subject for _, subject in places) == ["MEMORY.md", "USER.md"]
    there = replace(now, places=tuple(place for place in places if place[1] == "USER.md"))
    assert home.review.marks(there) == [(second.id, second.hash)]
    assert [one.id for one in home.review.page(None, asked=there)] == [second.id]
    home.review.snooze(first.id, home.clock.now() + timedelta(days=3))
    assert home.review.count() == 2 and [
        one.id for one in home.review.page(None, asked=replace(now, snoozed=True))
    ] == [first.id]
    messages = [{"role": "user", "content": "one"}] * 3
    home.sessions.add({"id": "s1", "user": "ann", "project": "ledgerly", "messages": messages})
    said = (Evidence("s1", 1, "one", Origin.OWNER),)
    wanted = Suggestion("home", "USER.md", (Add("USER.md", "One."),), evidence=said, dream="drm_1")
    assert isinstance(made := home.review.propose(wanted, land=False), Waiting)
    assert proposals.projects(scope, now) == ["ledgerly"] and [one for one, *_ in proposals.dreams(scope, now)] == [
        "drm_1"
    ]
    for narrowed in (replace(now, project="ledgerly"), replace(now, dream="drm_1")):
        assert home.review.marks(narrowed) == [(made.proposal.id, made.proposal.hash)]
    stored, turns = home.sessions.exchanges({"s1": {1, 3}, "gone": {1}})["s1"]
    assert stored is not None and sorted(turns) == [1, 3]
