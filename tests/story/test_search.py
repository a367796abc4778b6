"""Finding things, through Home: on SQLite and on a real Postgres."""

from __future__ import annotations

import shutil
from datetime import UTC, date, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reverie.app import Home
from reverie.core.errors import BadInput
from reverie.search.finder import period
from tests.conftest import HomeMaker


def session(name: str, *texts: str, **more: Any) -> dict[str, Any]:
    roles = ("user", "assistant")
    messages = [{"role": roles[place % 2], "content": text} for place, text in enumerate(texts)]
    return {"id": name, "messages": messages} | more


def found(home: Home, question: str, **where: Any) -> list[tuple[str, int]]:
    return [(hit.session_id, hit.turn) for hit in home.search(question, **where)]


@pytest.fixture
def stocked(home_on: Home) -> Home:
    for one in (
        session("deploy", "We deployed the containers on Tuesday.", "Noted.", started_at="2026-03-03T10:00:00Z"),
        session("tea", "My sister Noor prefers jasmine tea.", "I will remember.", started_at="2026-04-04T10:00:00Z"),
        session("umzug", "Die Datenbanken sind nach Hamburg umgezogen.", "Verstanden."),
        session("chinese", "我们上周把数据库迁移到了上海的服务器。", "好的。"),
        session("bobs", "Our containers are deployed by Bob.", "Fine.", user="bob", harness="hermes"),
    ):
        home_on.sessions.add(one)
    return home_on


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("deploy container", "deploy"),
        ("when did we deploy the container?", "deploy"),
        ("What does Noor like to drink?", "tea"),
        ("wohin ist die Datenbank umgezogen", "umzug"),
        ("数据库迁移到哪里了", "chinese"),
        ("上海", "chinese"),
    ],
)
def test_natural_questions_are_answered_in_several_languages(stocked: Home, question: str, answer: str) -> None:
    assert found(stocked, question, user="ann")[0] == (answer, 1)


def test_a_few_words_beside_an_answer_do_not_come_before_one(home: Home) -> None:
    home.sessions.add(session("a", "hm ok. not now", "Fine.", "Staging moved to db2.internal on Tuesday.", "Noted."))
    home.sessions.add(session("b", "Can you look at the staging config?", "It names db2.internal."))
    hits = [hit.text for hit in home.search("when did we move the staging database?", limit=3)]
    assert hits[0].startswith("Staging moved") and not {"Fine.", "Noted.", "hm ok. not now"}.intersection(hits)


def test_a_question_that_names_a_time_is_about_that_time(home: Home) -> None:
    for name, day in (("march", "2026-03-10"), ("may", "2026-05-06"), ("undated", None)):
        home.sessions.add(session(name, "We moved the staging database.", started_at=day and f"{day}T10:00:00Z"))
    assert {where for where, _ in found(home, "what of the staging database did we move in March?")} == {"march"}
    assert {where for where, _ in found(home, "did we move the staging database last week?")} == {"may"}  # it is 12 May
    assert len(found(home, "did we move the staging database yesterday?")) == 3  # nothing was said then
    home.sessions.add(session("other", "I was ill yesterday, and the day before yesterday, too."))
    assert found(home, "staging yesterday")[0][0] != "other"  # then it is about staging, not about yesterday


@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [
        ("what did we say yesterday?", "2026-05-11", "2026-05-11"),
        ("who called this week", "2026-05-11", "2026-05-17"),
        ("two weeks ago?", "2026-04-27", "2026-05-03"),
        ("3 days ago", "2026-05-09", "2026-05-09"),
        ("last month", "2026-04-01", "2026-04-30"),
        ("in December", "2025-12-01", "2025-12-31"),
        ("in february 2024", "2024-02-01", "2024-02-29"),
        ("on 2026-01-31", "2026-01-31", "2026-01-31"),
        ("last year", "2025-01-01", "2025-12-31"),
        ("15 months ago", "2025-02-01", "2025-02-28"),
    ],
)
def test_times_that_questions_name(asked: str, first: str, last: str) -> None:
    found = period(asked, date(2026, 5, 12))
    assert found and (str(found.first), str(found.last)) == (first, last)


def test_a_word_that_could_be_a_time_is_none() -> None:
    asked = ("the march of progress", "on 2026-02-31", "May I?", "the lastweek folder", "weekly")
    assert [period(one, date(2026, 5, 12)) for one in asked] == [None] * len(asked)


def test_a_hit_brings_its_exchange_and_says_why(stocked: Home) -> None:
    hit = stocked.search("jasmine tea")[0]
    assert (hit.text, hit.role, hit.user) == ("My sister Noor prefers jasmine tea.", "user", "ann")
    assert hit.at == datetime(2026, 4, 4, 10, tzinfo=UTC)
    assert [turn.text for turn in hit.after] == ["I will remember."]
    assert hit.before == ()
    assert hit.score == pytest.approx(sum(part for _, part in hit.why), abs=1e-3)


def test_filters_narrow_what_is_looked_at(stocked: Home) -> None:
    assert {name for name, _ in found(stocked, "containers")} == {"deploy", "bobs"}
    assert {name for name, _ in found(stocked, "containers", user="bob")} == {"bobs"}
    assert {name for name, _ in found(stocked, "containers", harness="hermes")} == {"bobs"}
    assert found(stocked, "containers", user="nobody") == []
    april = datetime(2026, 4, 1, tzinfo=UTC)
    assert {name for name, _ in found(stocked, "containers tea", since=april)} == {"tea"}
    assert {name for name, _ in found(stocked, "containers tea", until=april)} == {"deploy"}
    assert all(turn == 2 for _, turn in found(stocked, "containers remember", role="assistant"))


def test_noise_and_injected_blocks_are_never_found(home: Home) -> None:
    injected = "<system-reminder>zebra crossing</system-reminder> What about lions?"
    home.sessions.add(session("zoo", injected, "HEARTBEAT_OK", "<system-reminder>zebra</system-reminder>", "Lions?"))
    assert found(home, "zebra") == []
    assert found(home, "heartbeat") == []
    assert home.search("lions")[0].text.strip() == "What about lions?"


def test_what_is_new_grown_rewritten_or_removed_is_seen_at_once(home_on: Home) -> None:
    home_on.sessions.add(session("s", "apples"))
    assert found(home_on, "apples") == [("s", 1)]
    home_on.sessions.add(session("s", "apples", "pears"))
    assert found(home_on, "pears")[0] == ("s", 2)
    home_on.sessions.add(session("s", "plums", "pears"))
    assert found(home_on, "apples") == []
    home_on.sessions.remove("s")
    assert found(home_on, "plums") == []


def test_a_lost_index_is_rebuilt_from_the_database(homes: HomeMaker) -> None:
    home = homes()
    home.sessions.add(session("s", "apples"))
    assert found(home, "apples") == [("s", 1)]
    home.close()
    shutil.rmtree(home.config.home / "index")
    assert found(homes(), "apples") == [("s", 1)]


def test_two_homes_on_one_database_each_follow_it(homes: HomeMaker, database: str, tmp_path: Any) -> None:
    one = homes(tmp_path / "one", database=database)
    two = homes(tmp_path / "two", database=database)
    one.sessions.add(session("s", "apples"))
    assert found(two, "apples") == [("s", 1)]
    two.sessions.remove("s")
    assert found(one, "apples") == []


@pytest.mark.parametrize(("question", "limit"), [("", 5), ("   ", 5), ("x", 0), ("x", 1001)])
def test_a_question_that_cannot_be_asked_is_refused(home: Home, question: str, limit: int) -> None:
    with pytest.raises(BadInput):
        home.search(question, limit=limit)


@pytest.mark.parametrize("question", ["?", "the", "\"'()[]{}~^*:\\/!-+", "AND OR NOT", "a" * 10_000, "😀", "\x00"])
def test_no_question_breaks_the_search(stocked: Home, question: str) -> None:
    assert isinstance(stocked.search(question), list)


USERS = ("ann", "bob", "cleo")
WORDS = ("apples", "pears", "plums", "deploy", "database")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    said=st.lists(st.tuples(st.sampled_from(USERS), st.lists(st.sampled_from(WORDS), min_size=1)), max_size=12),
    asked=st.lists(st.sampled_from(WORDS), min_size=1),
    user=st.sampled_from(USERS),
)
def test_nothing_of_anyone_else_is_ever_returned(
    home: Home, said: list[tuple[str, list[str]]], asked: list[str], user: str
) -> None:
    for number, (speaker, words) in enumerate(said):
        home.sessions.add(session(f"s{number}", " ".join(words), user=speaker))
    assert {hit.user for hit in home.search(" ".join(asked), user=user)} <= {user}
