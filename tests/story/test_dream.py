"""Nights on a Hermes home: what a person notices in the morning, and what must not happen."""

from __future__ import annotations

import os
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import reverie
from reverie.app import Home, open_home
from reverie.changes.proposal import ProposalStatus
from reverie.dreams.brief import select_sessions as choose
from reverie.dreams.brief.select_sessions import noted
from reverie.dreams.dream import Dream, Fate, Status
from reverie.dreams.light.candidate import Noted
from reverie.storage.dreams.dreams import SqlDreams
from reverie.transcripts.session import Session
from tests.conftest import NOON, HomeMaker

MEMORY = "The wiki runs on birch.lan:8080, nightly backup.\n§\nStandup is at nine."
ORDER = "Please remember that I always want distances in kilometres."
SOFT = "I prefer tables for numbers."


@pytest.fixture
def memories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "hermes" / "memories"
    folder.mkdir(parents=True)
    (folder / "MEMORY.md").write_text(MEMORY)
    (folder / "USER.md").write_text("Ann builds boats.")
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "hermes"))
    return folder


def session(name: str, words: str, day: int = 10, user: str = "ann") -> dict[str, Any]:
    turns = [("user", "Can you look at this?"), ("assistant", "Here it is."), ("user", words), ("assistant", "Noted.")]
    messages = [{"role": role, "content": text} for role, text in turns]
    return {"id": name, "user": user, "started_at": f"2026-05-{day:02}T09:00:00Z", "messages": messages}


def dream(home: Home, **how: Any) -> Dream:
    return home.dreams.dream("hermes", **how)


def test_a_plain_order_lands_with_its_evidence_and_can_be_taken_back(memories: Path, home_on: Home) -> None:
    home_on.sessions.add(session("s1", ORDER))
    night = dream(home_on)
    assert (memories / "USER.md").read_text() == "Ann builds boats.\n§\nI always want distances in kilometres."
    (change,) = night.changes
    assert home_on.review.undo(change)
    assert (memories / "USER.md").read_text() == "Ann builds boats."
    (landed,) = night.of(Fate.LANDED)
    assert (
        landed.evidence[0].quote == ORDER.removesuffix(".") and landed.score is not None and landed.score.total >= 0.88
    )
    assert len(landed.score.parts) == 13


def test_a_second_night_over_the_same_sessions_changes_nothing(memories: Path, home_on: Home) -> None:
    home_on.sessions.add(session("s1", ORDER))
    dream(home_on)
    before = (memories / "USER.md").read_bytes()
    again = dream(home_on)
    assert (memories / "USER.md").read_bytes() == before
    assert again.quiet and again.sessions == ()
    assert "A quiet night: there was nothing new to read." in again.diary


def test_a_brief_says_in_how_many_later_sessions_an_entry_was_confirmed(
    memories: Path, homes: HomeMaker, tmp_path: Path, database: str
) -> None:
    home = homes(database=database)
    home.sessions.add(session("s1", ORDER))
    dream(home)
    home.close()
    later = open_home(tmp_path / "home", now=NOON + timedelta(days=9), settings={"owner": "ann", "database": database})
    with later:
        later.sessions.add(session("s2", ORDER, 20))
        assert "since 2026-05-10:\n    I always want" in later.dream.briefs("hermes")[0].render(), "said once so far"
        again = dream(later)
        assert [one.confirms for one in again.judged] == ["I always want distances in kilometres."] and again.quiet
        dream(later, sessions=["s2"])  # twice is once
        later.sessions.add(session("s3", "And now I am for lunch."))
        later.sessions.add(session("s4", "The wiki runs on birch.lan:8080, nightly backup.", 9))
        dream(later)
        brief = later.dream.briefs("hermes", ["s3"])[0].render()
        assert "since 2026-05-10, confirmed 1 time:\n    I always want" in brief
        assert brief.count("confirmed") == 1, "s4 is older than what it repeats"


def test_what_was_undone_does_not_come_back_on_the_same_evidence(memories: Path, home: Home) -> None:
    home.sessions.add(session("s1", ORDER))
    home.review.undo(dream(home).changes[0])
    home.sessions.add(session("s2", "thanks, that was all", 11))
    dream(home)
    assert (memories / "USER.md").read_text() == "Ann builds boats."


def test_what_was_said_softly_asks_and_lands_when_it_is_said_again(memories: Path, home_on: Home) -> None:
    home_on.sessions.add(session("s1", SOFT))
    first = dream(home_on)
    assert first.changes == () and [one.fate for one in first.judged] == [Fate.WAITING]
    assert "Waits for you. Not sure enough to land by itself. It was said once" in first.diary
    assert (memories / "USER.md").read_text() == "Ann builds boats."
    home_on.sessions.add(session("s2", "Again, I prefer tables when you show me numbers.", 11))
    second = dream(home_on)
    assert second.carried == 1 and len(second.changes) == 1
    assert second.of(Fate.LANDED)[0].sessions == 2
    assert "table" in (memories / "USER.md").read_text()


@pytest.mark.parametrize(
    ("words", "offered"),
    [("Monday morning.", []), ("Next week.", []), ("No emojis.", ["No emojis."])],
)
def test_a_few_words_are_offered_only_if_they_would_be_noticed_without_the_rule_beside_them(
    memories: Path, home_on: Home, words: str, offered: list[str]
) -> None:
    home_on.sessions.add(session("s1", f"It's Friday! Remember, we never deploy on Fridays. {words}"))
    night = dream(home_on, mode="propose")
    assert [one.text for one in night.of(Fate.WAITING)] == ["We never deploy on Fridays.", *offered]


def test_what_landed_is_not_thought_over_again(memories: Path, home: Home) -> None:
    home.sessions.add(session("s1", ORDER))
    assert len(dream(home).changes) == 1
    home.sessions.add(session("s2", "thanks, that was all", 11))
    second = dream(home)
    assert (second.carried, second.judged) == (0, ())


def test_a_backlog_said_long_ago_is_not_lost_on_the_night_that_first_reads_it(memories: Path, home_on: Home) -> None:
    wishes = ("I always want distances in kilometres", "my boat is called Otter", "invoices have no tax line")
    for number, wish in enumerate(wishes):
        spoken = session(f"s{number}", f"Please remember that {wish}.")
        home_on.sessions.add({**spoken, "started_at": f"2026-01-1{number}T09:00:00Z"})
    for night in range(3):
        told = dream(home_on)
        assert len(told.changes) == 1 and told.of(Fate.NOT_KEPT) == []
        home_on.sessions.add(session(f"later{night}", "thanks, that was all", 11))
    kept = (memories / "USER.md").read_text() + (memories / "MEMORY.md").read_text()
    assert all(wish[1:] in kept for wish in wishes)


def test_what_is_not_sure_enough_is_let_go_ninety_days_after_its_night(
    memories: Path, home: Home, tmp_path: Path
) -> None:
    home.sessions.add(session("s1", SOFT))
    dream(home)
    for day, stays in ((90, 1), (91, 0)):
        home.sessions.add(session(f"s{day}", "thanks, that was all", 11))
        with open_home(tmp_path / "home", now=NOON + timedelta(days=day), settings={"owner": "ann"}) as later:
            night = dream(later)
            assert night.carried == 1 and night.changes == ()
            assert len(later.dreams.records.staged(later.owned, "hermes")) == stays


def test_the_sample_read_long_afterwards_is_lost_nothing_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes three dreams of one night; its lesson is in the first and the last of its sessions, and is asked
    about the night after, when ten proposals were enough for the first."""
    shipped = Path(reverie.__file__).parent / "samples"
    shutil.copytree(shipped / "hermes", tmp_path / "hermes")
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "hermes"))
    with open_home(tmp_path / "home", now=NOON + timedelta(days=400), settings={"owner": "sam"}) as home:
        home.sessions.add(str(shipped / "shop.jsonl"))
        night = home.dream("hermes", everything=True)
        assert [(len(one.sessions), one.left) for one in night.dreams] == [(14, 15), (14, 1), (1, 0)]
    with open_home(tmp_path / "home", now=NOON + timedelta(days=401), settings={"owner": "sam"}) as home:
        home.sessions.add(session("later", "thanks, that was all", 11))
        home.dream("hermes")
        assert "devops/deploy-shop" in [one.suggestion.subject for one in home.review.waiting(every=True)]


def test_what_stands_there_already_is_counted_as_a_duplicate(memories: Path, home: Home) -> None:
    home.sessions.add(session("s1", SOFT))
    home.sessions.add(session("s2", "Standup is at nine, always."))
    night = dream(home)
    assert (night.noticed, night.duplicates) == (2, 1)
    assert "“Standup is at nine, always.”: It is known already: “Standup is at nine.”" in night.diary
    assert (memories / "MEMORY.md").read_text() == MEMORY


@pytest.mark.parametrize("said", ["Standup is at ten now, not at nine.", "Standup is not at nine any more."])
def test_what_denies_an_entry_is_not_taken_for_known(memories: Path, home: Home, said: str) -> None:
    home.sessions.add(session("s1", said))
    night = dream(home)
    assert night.changes == () and night.duplicates == 0
    assert "It is known already" not in night.diary and [one.fate for one in night.judged] == [Fate.WAITING]


def test_only_proposing_lands_nothing(memories: Path, home: Home) -> None:
    home.sessions.add(session("s1", ORDER))
    night = dream(home, mode="propose")
    assert night.changes == () and len(night.proposals) == 1
    assert (memories / "USER.md").read_text() == "Ann builds boats."
    (proposal,) = home.review.waiting()
    assert proposal.suggestion.dream == night.id and "kilometres" in proposal.diff


def test_what_a_person_rejected_does_not_come_back_on_the_same_evidence(memories: Path, home: Home) -> None:
    home.sessions.add(session("s1", ORDER))
    dream(home, mode="propose")
    home.review.reject(home.review.waiting()[0], because="only for that trip")
    home.sessions.add(session("s2", "thanks, that was all", 11))
    dream(home)
    dream(home, sessions=["s1"])
    assert (memories / "USER.md").read_text() == "Ann builds boats."
    assert home.review.past([ProposalStatus.LANDED]) == []


def test_more_sessions_than_one_night_reads_wait_for_the_next(memories: Path, home: Home) -> None:
    for number in range(5):
        home.sessions.add(session(f"s{number}", "thanks, that was all", 1 + number))
    first, second = dream(home, limit=3), dream(home, limit=3)
    assert [one.session_id for one in first.sessions] == ["plain:s4", "plain:s3", "plain:s2"] or len(
        first.sessions
    ) == 3
    assert (first.left, len(second.sessions), second.left) == (2, 2, 0)
    assert "2 more wait" in first.diary


def test_a_night_for_one_user_reads_their_sessions_and_leaves_the_others(memories: Path, home: Home) -> None:
    home.sessions.add(session("s1", ORDER))
    home.sessions.add(session("s2", "I prefer miles.", user="bob"))
    for users in ("bob", "ann"):
        night = dream(home, user=users)
        assert {one.user for one in night.sessions} == {users} and night.left == 0
    assert dream(home, user="nobody").sessions == () and dream(home).sessions == ()


def test_a_session_that_grew_is_read_again(memories: Path, home: Home) -> None:
    grown = session("s1", "thanks, that was all")
    home.sessions.add(grown)
    dream(home)
    more = [{"role": "user", "content": ORDER}, {"role": "assistant", "content": "Yes."}]
    home.sessions.add({**grown, "messages": [*grown["messages"], *more]})
    assert len(dream(home).changes) == 1


def test_words_of_someone_else_wait_for_the_owner(memories: Path, home: Home) -> None:
    home.sessions.add(session("s1", ORDER, user="bob"))
    night = dream(home)
    assert night.changes == () and len(night.proposals) == 1
    (proposal,) = home.review.waiting()
    assert "It rests on words of the member, not of the owner." in night.diary
    assert [one.origin for one in proposal.suggestion.evidence] == ["member"]
    assert (memories / "USER.md").read_text() == "Ann builds boats."


def test_what_stood_in_a_file_before_reverie_looked_is_as_old_as_the_file(memories: Path, home: Home) -> None:
    year_ago = (NOON - timedelta(days=365)).timestamp()
    os.utime(memories / "MEMORY.md", (year_ago, year_ago))
    home.sessions.add(session("s1", "The wiki moved to alder.lan:8080 last week, birch is switched off."))
    assert "cannot be told" not in dream(home).diary


def test_an_entry_of_unknown_age_is_not_overtaken_without_a_person(memories: Path, home: Home) -> None:
    now = NOON.timestamp()
    os.utime(memories / "MEMORY.md", (now, now))
    home.sessions.add(session("s1", "The wiki moved to alder.lan:8080 last week, birch is switched off."))
    night = dream(home)
    assert (memories / "MEMORY.md").read_text() == MEMORY
    assert "cannot be told" in night.diary
    assert "alder.lan:8080, nightly backup" in home.review.waiting()[0].diff


def test_three_wishes_in_one_night_add_one_line_and_the_others_stay_staged(memories: Path, homes: HomeMaker) -> None:
    home = homes()
    wishes = (ORDER, "Please remember that my boat is called Otter.", "Remember that invoices are sent without tax.")
    for day, words in enumerate(wishes, 1):
        home.sessions.add(session(f"s{day}", words, day))
    night = dream(home)
    assert len(night.changes) == 1 and len(night.of(Fate.HELD_BACK)) == 2
    assert night.diary.count("The limit of 1 addition for one night is reached.") == 2
    home.sessions.add(session("s9", "thanks, that was all", 9))
    assert len(dream(home).changes) == 1


def test_a_dream_is_read_back_as_it_was_kept(memories: Path, home_on: Home) -> None:
    home_on.sessions.add(session("s1", ORDER))
    home_on.sessions.add(session("s2", SOFT, 11))
    night = dream(home_on)
    records = SqlDreams(home_on.engine, home_on.clock, key_of=lambda name: home_on.memory.target(name).key)
    assert records.find(home_on.owned) == [night]
    assert night.status is Status.COMPLETED and night.ended_at is not None
    (staged,) = records.staged(home_on.owned, "hermes")
    assert staged.candidate.evidence[0].quote == SOFT and staged.speaker == "ann"
    assert {one.session_id for one in records.read(home_on.owned, "hermes")} == {
        one.session_id for one in night.sessions
    }
    assert records.find(home_on.owned.of("someone else")) == []


def test_a_session_our_reader_stumbles_over_costs_the_others_nothing(
    memories: Path, home_on: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumbling(read: Session, *more: Any) -> list[Noted]:
        if read.id == "odd":
            raise IndexError
        return noted(read, *more)

    monkeypatch.setattr(choose, "noted", stumbling)
    home_on.sessions.add(session("odd", "Whatever this is."))
    home_on.sessions.add(session("s1", ORDER))
    night = dream(home_on)
    assert night.status is Status.COMPLETED and "kilometres" in (memories / "USER.md").read_text()
    assert "## Could not be read\n\n- Reverie could not read odd: IndexError." in night.diary
    assert not dream(home_on).sessions, "and it is not tried every night"
