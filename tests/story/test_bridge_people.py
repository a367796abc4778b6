"""Who is behind what a managed memory learned: a quorum, a poisoned batch, people who disagree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path

import pytest

from reverie.app import Home, open_home
from reverie.bridge.backing import Doubt, Talk
from reverie.bridge.diff import Difference, DiffKind, store_diff
from reverie.bridge.draft import DoubtedDraft, Drafted
from reverie.bridge.route import Kept, KeptOut
from reverie.bridge.source import HeardSession, RemoteDream, RemoteStore, RemoteVersion, Snapshot
from reverie.bridge.statements import StoreStatement
from reverie.core.errors import NotReached
from tests.conftest import NOON

OLD, NEW = "Refunds are possible within 14 days.", "Refunds are possible within 30 days."
OTHER = ("Invoices are sent on Mondays.", "The printer is on the second floor.", "Lunch is at noon.")


@dataclass
class Managed:
    """A managed memory by the port of the bridge: one dream that made `after` of `before`."""

    before: str
    after: str
    sessions: list[HeardSession] = field(default_factory=list)
    address: str = "https://managed.example"

    def says(self, person: str, *texts: str, who: str = "user", group: str = "") -> None:
        turns = tuple((who, text) for text in texts)
        self.sessions.append(HeardSession(f"sesn_{len(self.sessions)}", person, group, turns))

    def stores(self) -> Iterator[RemoteStore]:
        yield from (RemoteStore("memstore_in"), RemoteStore("memstore_out"))

    def memories(self, store: str) -> Iterator[RemoteVersion]:
        yield RemoteVersion(f"{store}-1", f"{store}-m", "created", NOON, "/rules.md")

    def versions(self, store: str) -> Iterator[RemoteVersion]:
        return self.memories(store)

    def text(self, store: str, version: RemoteVersion) -> str:
        return self.before if store == "memstore_in" else self.after

    def dreams(self) -> Iterator[RemoteDream]:
        names = tuple(one.id for one in self.sessions)
        hour = timedelta(hours=1)
        yield RemoteDream("drm_1", "completed", "memstore_in", names, "memstore_out", "", NOON, NOON + hour)

    def heard(self, sessions: Sequence[str]) -> Iterator[HeardSession]:
        return (one for one in self.sessions if one.id in sessions)

    def close(self) -> None: ...


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with open_home(tmp_path / "home", now=NOON, settings={"owner": "ann"}) as opened:
        yield opened


def managed(old: str = OLD, new: str = NEW) -> Managed:
    made = Managed(f"- {old}\n", f"- {new}\n")
    for person, text in zip(("ann", "bob", "cy"), OTHER, strict=True):
        made.says(person, text, "And thanks for the list of last week.")
    return made


def busy(made: Managed) -> Managed:
    """The same, where everybody else speaks of many things."""
    for person in ("ann", "bob", "cy"):
        made.says(person, "The meeting room has a new lamp.", "Please sort the photos by date.")
    return made


def proposed(home: Home, source: Managed, quarantined: bool = False) -> list[object]:
    home.bridge.pull(source)
    return list(home.bridge.propose("drm_1", target="home", quarantined=quarantined).results)


def test_what_three_people_say_in_words_of_their_own_is_proposed_with_their_names(home: Home) -> None:
    source = managed()
    for person, text in (("ann", NEW), ("bob", f"As we agreed, {NEW}"), ("cy", "We refund within 30 days now.")):
        source.says(person, text)
    (one,) = proposed(home, source)
    assert isinstance(one, Drafted)
    assert "Said by 3 people (ann, bob, cy) in sesn_3, sesn_4, sesn_5." in home.review.waiting()[0].suggestion.reason


@pytest.mark.parametrize(
    ("said", "doubt"),
    [
        ([("mallory", NEW)] * 5, Doubt.OUTLIER),
        ([(f"account{number}", NEW) for number in range(5)], Doubt.ONE_WORDING),
        ([(f"account{number}", f"{word} {NEW}") for number, word in enumerate(("Hi!", "Note:", "So,"))], Doubt.OUTLIER),
    ],
)
def test_a_batch_that_one_person_poisoned_is_quarantined_with_the_sessions_named(
    home: Home, said: list[tuple[str, str]], doubt: Doubt
) -> None:
    source = busy(managed())
    for person, text in said:
        source.says(person, text.replace("Note: Refunds", "Note that all refunds"))
    (one,) = proposed(home, source)
    assert isinstance(one, DoubtedDraft) and one.doubt is doubt
    assert set(one.backing.sessions()) == {f"sesn_{number}" for number in range(6, 6 + len(said))}
    assert home.review.waiting() == []
    (let_through,) = proposed(home, source, quarantined=True)
    assert isinstance(let_through, Drafted)
    assert "It was quarantined" in home.review.waiting()[0].suggestion.reason


def test_three_people_who_say_one_thing_each_are_believed_where_nobody_says_much(home: Home) -> None:
    source = managed()
    for person, text in (("dee", NEW), ("eve", "We refund within 30 days now."), ("fay", f"As we agreed, {NEW}")):
        source.says(person, text)
    (one,) = proposed(home, source)
    assert isinstance(one, Drafted) and "Said by 3 people (dee, eve, fay)" in home.review.waiting()[0].suggestion.reason


class NightOfTwo(Managed):
    """The same by two dreams of one night: the second reads what the first wrote, and each half of the sessions."""

    def stores(self) -> Iterator[RemoteStore]:
        yield from (*super().stores(), RemoteStore("memstore_between"))

    def dreams(self) -> Iterator[RemoteDream]:
        names, hour = tuple(one.id for one in self.sessions), timedelta(hours=1)
        ends = [(NOON, NOON + hour), (NOON + hour, NOON + 2 * hour)]
        yield RemoteDream("drm_1", "completed", "memstore_in", names[::2], "memstore_between", "", *ends[0])
        yield RemoteDream("drm_2", "completed", "memstore_between", names[1::2], "memstore_out", "", *ends[1])


def test_a_night_of_several_dreams_is_proposed_as_one_by_all_who_spoke_in_it(home: Home) -> None:
    source = managed()
    for person, text in (("ann", NEW), ("bob", f"As we agreed, {NEW}"), ("cy", "We refund within 30 days now.")):
        source.says(person, text)
    home.bridge.pull(NightOfTwo(source.before, source.after, source.sessions))
    (batch,) = home.bridge.propose_new(target="home")
    assert batch.id == "drm_2" and isinstance(batch.results[0], Drafted) and not batch.note
    (waiting,) = home.review.waiting()
    assert "Said by 3 people (ann, bob, cy)" in waiting.suggestion.reason
    home.review.approve(waiting)
    assert home.bridge.undo("drm_2") and home.bridge.propose_new(target="home") == []


def test_a_change_whose_sessions_are_gone_says_that_nobody_was_checked(home: Home) -> None:
    source = managed()
    names, source.heard = source.sessions, lambda sessions: iter(())  # type: ignore[method-assign]
    home.bridge.pull(source)
    batch = home.bridge.propose("drm_1", target="home")
    assert names and isinstance(batch.results[0], Drafted)
    assert (
        batch.note == "What was said in the sessions of drm_1 is not here: who is behind these changes was not checked."
    )


def test_watching_proposes_what_a_dream_did_as_soon_as_it_ended(home: Home) -> None:
    source = managed()
    for person, text in (("ann", NEW), ("bob", f"As we agreed, {NEW}"), ("cy", "We refund within 30 days now.")):
        source.says(person, text)
    looks = replace(home.bridge, wait=lambda seconds: None).watch(source, 1.0, 3, "home")
    first, *later = looks
    assert [one.id for one in first.ended] == ["drm_1"] and len(first.batches) == 1
    assert [(one.ended, one.batches) for one in later] == [([], []), ([], [])]
    assert len(home.review.waiting()) == 1


def test_watching_outlives_a_server_that_is_away(home: Home) -> None:
    class Away(Managed):
        def stores(self) -> Iterator[RemoteStore]:
            raise NotReached("The cable is out.")

    looks = replace(home.bridge, wait=lambda seconds: None).watch(Away(OLD, NEW), 1.0, 2, None)
    assert [one.missed for one in looks] == ["The cable is out."] * 2


def test_what_only_a_tool_said_is_quarantined_however_often_it_repeats(home: Home) -> None:
    source = managed()
    for person in ("ann", "bob", "cy", "dee"):
        source.says(person, f"page: {NEW}", who="tool")
    (one,) = proposed(home, source)
    assert isinstance(one, DoubtedDraft) and one.doubt is Doubt.NO_PERSON


def test_two_teams_that_disagree_keep_their_own_rule_each(home: Home) -> None:
    source = managed()
    for person in ("ann", "bob"):
        source.says(person, f"{person.title()} here: {NEW}", OTHER[1], group="north")
    for person in ("dee", "eve"):
        source.says(person, OLD, OTHER[2], group="south")
    (one,) = proposed(home, source)
    assert isinstance(one, Drafted) and one.route.text == f"In north: {NEW}" and one.route.rule is None
    assert "People disagree" in home.review.waiting()[0].suggestion.reason


def test_a_rule_that_was_only_forgotten_is_told_as_that(home: Home) -> None:
    skill = home.config.home / "skills" / "shop" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(f"---\nname: shop\ndescription: Refunds.\n---\n\n# Shop\n\n## Rules\n- {OLD}\n")
    (one,) = proposed(home, Managed(f"- {OLD}\n- Be brief.\n", "- Be brief.\n", managed().sessions))
    assert isinstance(one, Drafted)
    reason = home.review.waiting()[0].suggestion.reason
    assert "needs its own verdict" in reason and "No session speaks of it" in reason


@pytest.mark.parametrize(
    ("said", "supports"),
    [
        ("From now on refunds are possible within 30 days, no longer 14.", True),
        ("Refunds are possible within 30 days instead of 14 days.", True),
        ("Refunds went from 14 days to 30 days.", True),
        ("Refunds are possible within 30 days, 14 is too short.", True),
        ("We used to say 14 days, but refunds are possible within 30 days.", True),
        ("Refunds are possible within 14 days, 30 would be far too generous.", False),
        ("Refunds within 14 days are not possible any more.", True),
        ("Refunds are still possible within 14 days, not 30.", False),
        ("Refunds stay at 14 days rather than 30 days.", False),
    ],
)
def test_a_sentence_that_names_both_values_is_for_the_one_it_does_not_deny(said: str, supports: bool) -> None:
    made = managed()
    made.says("dee", said)
    diff = store_diff(Snapshot("old", {"/r.md": f"- {OLD}"}), Snapshot("new", {"/r.md": f"- {NEW}"}))
    backing = Talk(made.sessions).behind(diff.differences[0])
    assert (backing.people, backing.opponents) == ((["dee"], []) if supports else ([], ["dee"])), str(backing)


def test_what_two_stores_differ_in_is_held_against_the_sessions_of_the_dreams_between_them(home: Home) -> None:
    source = managed()
    source.says("mallory", NEW)
    home.bridge.pull(source)
    (one,) = home.bridge.propose("memstore_in", "memstore_out", target="home").results
    assert isinstance(one, DoubtedDraft) and one.backing.people == ["mallory"]


def test_who_says_what_held_before_is_heard_though_nothing_in_it_is_like_what_holds_now() -> None:
    old, new = "The changelog is written by hand.", "Release notes are generated from commits."
    made = managed(old, new)
    made.says("dee", "Please keep writing the changelog by hand.")
    before, after = (StoreStatement(text, text, "/r.md") for text in (old, new))
    backing = Talk(made.sessions).behind(Difference(DiffKind.CHANGED, (before,), (after,), 0.0))
    assert (backing.people, backing.opponents) == ([], ["dee"])


def test_what_is_about_one_of_many_people_is_not_kept_as_if_it_were_about_the_owner(home: Home) -> None:
    source = managed(OLD, f"{OLD}\n- The user is called Bob and wants short answers.")
    for person in ("ann", "bob", "cy"):
        source.says(person, f"I am {person}, keep it short.", "The user is called Bob and wants short answers.")
    (one,) = proposed(home, source)
    assert isinstance(one, KeptOut) and one.reason is Kept.ONE_PERSON and home.review.waiting() == []


def test_what_may_only_be_reworded_is_quarantined_where_one_person_pushes_it(home: Home) -> None:
    old = "The lab orders gloves from the cheaper supplier."
    new = "Gloves for the lab are bought where the quality is best."
    assert not store_diff(Snapshot("old", {"/r.md": f"- {old}"}), Snapshot("new", {"/r.md": f"- {new}"})).behaviour
    quiet = managed(old, new)
    assert proposed(home, quiet) == []
    for number in range(4):
        quiet.says("mallory", f"{number + 1}. {new}")
    (one,) = proposed(home, quiet)
    assert isinstance(one, DoubtedDraft) and one.backing.people == ["mallory"]


def test_what_is_said_where_people_speak_of_rules_of_a_skill_goes_to_that_skill(home: Home) -> None:
    rules = ("Tag every release with the ticket number.", "Releases are cut from main on Tuesdays.")
    skill = home.config.home / "skills" / "shipping" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(
        "---\nname: shipping\ndescription: Our ways.\n---\n\n# S\n\n## Rules\n- " + "\n- ".join(rules) + "\n"
    )
    new = "Jonas holds the second pair of keys."
    source = managed(OLD, f"{OLD}\n- {new}")
    for person, words in (("ann", "{}"), ("bob", "As we agreed, {}"), ("cy", "Note that {}")):
        source.says(person, words.format(new), *(f"And {rule}" for rule in rules))
    (one,) = proposed(home, source)
    assert isinstance(one, Drafted) and one.route.skill is not None and "rules of shipping" in one.route.why
