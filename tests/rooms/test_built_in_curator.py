"""The built-in curator: it copies a sentence or exchanges one value, and composes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from reverie.core.scope import Origin
from reverie.dreams import words
from reverie.dreams.brief.brief import BriefEntry
from reverie.dreams.brief.gather import Material, gather
from reverie.dreams.curators.built_in import BuiltInCurator, exchange, own_sentence
from reverie.dreams.decide import Decided, Rules, decide
from reverie.dreams.items import Item, Op
from reverie.dreams.light.notice import NOBODY
from reverie.dreams.light.spans import sentences
from reverie.dreams.verify.reasons import Reason, Severity
from reverie.transcripts.messages import plain_events
from reverie.transcripts.readers import Intake
from reverie.transcripts.session import Session
from tests.golden.playing import NIGHTS, read
from tests.nights import LAST_WEEK, NOW, entries, entry, material, night, ran, session, sessions


def curated(said: Sequence[Session] | str, known: Sequence[BriefEntry] = ()) -> tuple[Item, ...]:
    return of(material(sessions(said) if isinstance(said, str) else said, known))


def of(made: Material) -> tuple[Item, ...]:
    found = BuiltInCurator().curate(made)
    assert not found.failed and not found.answer.unread
    return found.answer.items


def decided(said: Sequence[Session] | str, known: Sequence[BriefEntry] = ()) -> list[Decided]:
    made = material(sessions(said) if isinstance(said, str) else said, known)
    return decide(of(made), (), made, Rules(NOW))


# ---- the person's own sentence ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Ok, please always use tabs.", "Always use tabs."),
        ("btw the API is slow.", "The API is slow."),
        ("Hey! oh, well: the port is 80.", "The port is 80."),
        ("Nope, keep tabs in Go.", "Keep tabs in Go."),
        ("yes — always CSV", "Always CSV"),
        ("Übrigens, wir deployen montags.", "Wir deployen montags."),
        ("Ach, bitte immer Celsius verwenden.", "Immer Celsius verwenden."),
        ("por favor, responde siempre en español", "Responde siempre en español"),
        ("D'ailleurs, on livre le lundi.", "On livre le lundi."),
        ("  Before I forget:   the  key lies\n under the mat. ", "The key lies under the mat."),
        ("So we moved.", "So we moved."),  # no comma: it belongs to the sentence
        ("Okapis are our mascots.", "Okapis are our mascots."),
        ("Notes go to the wiki.", "Notes go to the wiki."),
        ("以后请不要用表情符号回答。", "以后请不要用表情符号回答。"),
        ("", ""),
        ("   ", ""),
    ],
)
def test_a_sentence_is_kept_without_what_stands_before_its_point(said: str, kept: str) -> None:
    assert own_sentence(said) == kept


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            "Please remember that I always want distances in kilometres.",
            "I always want distances in kilometres.",
        ),
        ("Oh, and remember: invoices go to anna@example.com.", "Invoices go to anna@example.com."),
        ("记住：会议记录一律用中文写。", "会议记录一律用中文写。"),
        ("Ab sofort bitte immer Celsius verwenden.", "Ab sofort bitte immer Celsius verwenden."),
    ],
)
def test_what_was_said_plainly_becomes_one_addition_in_the_same_words(said: str, kept: str) -> None:
    (item,) = curated(said)
    assert (item.op, item.text, item.replaces) == (Op.ADD, kept, ())
    assert item.evidence and all(one.words in said for one in item.evidence) and item.candidates


def test_a_sentence_with_an_address_is_found_though_a_model_would_see_a_stand_in() -> None:
    (found,) = decided("Remember: invoices go to anna@example.com.")
    assert found.case.evidence and Reason.NO_QUOTATION not in {one.reason for one in found.findings}


def test_it_is_sure_where_somebody_asks_to_remember_or_says_it_on_two_days() -> None:
    asked = "Please remember that I always want distances in kilometres."
    once = "I always want distances in kilometres."
    assert [one.sure for one in curated(asked)] == [True]
    assert [one.sure for one in curated(once)] == [False]
    again = sessions(once, "I always want distances in kilometres, please.")
    (item,) = curated(again)
    assert item.sure and {one.session for one in item.evidence} == {"s1", "s2"}


def test_what_is_said_on_two_days_in_other_words_is_said_twice() -> None:
    (item,) = [
        one
        for one in curated(
            sessions("Please always use the 24-hour clock with me.", "As a rule I want the 24-hour clock.")
        )
        if one.sure
    ]
    assert {one.session for one in item.evidence} == {"s1", "s2"} and "24-hour" in item.text


@pytest.mark.parametrize(
    ("said", "offered"),
    [
        ("Sizes always in millimetres, width first. No inches, no height first.", 1),
        ("Never answer complaints yourself, they come to me. I ring them, that's how you keep folk.", 1),
        ("Never post a customer's artwork online. Our VAT quarters end in January, April, July and October.", 2),
    ],
)
def test_what_only_goes_on_with_the_sentence_before_it_is_offered_with_that_one(said: str, offered: int) -> None:
    found = curated(said)
    assert len(found) == offered
    assert offered > 1 or found[0].text == said


def test_what_somebody_else_types_on_the_owners_keyboard_says_who_it_was_and_only_asks() -> None:
    said = "Callum here. Please remember that I want job sheets on paper."
    found, *others = decided(said)
    assert found.item.text == said and found.item.document == "MEMORY.md"
    assert found.severity is Severity.ASK
    assert all(one.severity is Severity.REFUSED for one in others)


def test_an_entry_that_is_spoken_of_twice_gets_the_value_that_was_named_in_full() -> None:
    known = entries("Staging DB is db1.internal:5432, database `shop_stage`.")
    said = sessions(
        "Our staging db moved to db2.internal:6432 on Friday.", "Staging is db2.internal on 6432 now, not db1."
    )
    (item,) = curated(said, known)
    assert item.text == "Staging DB is db2.internal:6432, database `shop_stage`."
    assert item.sure and {one.session for one in item.evidence} == {"s1", "s2"}


def test_of_two_values_for_one_entry_the_last_counts_and_the_first_speaks_for_nothing() -> None:
    known = entries("The staging database listens on port 5432.")
    said = sessions("The staging database moved to port 6432.", "The staging database is on port 7432 now.")
    (item,) = curated(said, known)
    assert item.text == "The staging database listens on port 7432." and {one.session for one in item.evidence} == {
        "s2"
    }


def test_where_two_entries_have_the_value_that_changed_it_asks() -> None:
    known = entries("Paper figures are 3.4 in wide, in serif.", "Figures of the paper are 3.4 in wide, as PDF.")
    said = sessions(
        "All paper figures are 3.375 in wide from now on.", "As I said, paper figures are always 3.375 in wide."
    )
    found = [one.sure for one in curated(said, known) if one.op is Op.REPLACE]
    assert found and not any(found)


def test_two_people_who_say_the_same_are_two() -> None:
    both = [
        session("a", "I always want distances in kilometres."),
        session("b", (Origin.MEMBER, "I always want distances in kilometres."), user="bob"),
    ]
    assert len(curated(both)) == 2 and not any(one.sure for one in curated(both))


@pytest.mark.parametrize(
    "said",
    [
        "Can you look at this?",
        "Do we deploy on Fridays?",
        "Thanks!",
        "Please fix the test.",
        "My sister is in Leeds this week.",
        "Ist das so richtig?",
    ],
)
def test_of_most_of_what_is_said_it_makes_nothing(said: str) -> None:
    assert curated(said) == ()


# ---- one value exchanged ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "said", "new", "shape"),
    [
        (
            "The API listens on port 8080.",
            "The API listens on port 9090 now.",
            "The API listens on port 9090.",
            "number",
        ),
        ("Standup is at 9:30.", "Standup is at 9:45 from now on.", "Standup is at 9:45.", "number"),
        (
            "The office closes at 18:00.",
            "We now close the office at 17:00 instead of 18:00.",
            "The office closes at 17:00.",
            "number",
        ),
        (
            "Der Newsletter geht an 250 Leute.",
            "Der Newsletter geht jetzt an 300 Leute.",
            "Der Newsletter geht an 300 Leute.",
            "number",
        ),
        ("La reunión es a las 10.", "La reunión es a las 11 ahora.", "La reunión es a las 11.", "number"),
        (
            "Invoices go to old@example.com.",
            "Invoices go to new@example.com now.",
            "Invoices go to new@example.com.",
            "address",
        ),
        (
            "Docs are at https://a.example/x.",
            "Docs are at https://b.example/y now.",
            "Docs are at https://b.example/y.",
            "address",
        ),
        (
            "DB is db1.internal:6432.",
            "Our staging db moved to db2.internal:6432.",
            "DB is db2.internal:6432.",
            "address",
        ),
        ("We ship on Tuesdays.", "We ship on Fridays now.", "We ship on Fridays.", "day"),
        (
            "Standup is at 9:30 in room 4.",
            "Standup moved from 9:30 to 9:45.",
            "Standup is at 9:45 in room 4.",
            "number",
        ),
        (
            "Backups run at 2:00, reports at 3:00.",
            "The backups run at 2:00, the reports at 4:00.",
            "Backups run at 2:00, reports at 4:00.",
            "number",
        ),
        (
            "The API listens on port 8080.",
            "The API moved to port 9090 on Friday.",
            "The API listens on port 9090.",
            "number",
        ),
    ],
)
def test_exactly_one_value_is_exchanged_for_one_of_its_shape(old: str, said: str, new: str, shape: str) -> None:
    assert exchange(old, said) == (new, shape)


@pytest.mark.parametrize(
    ("old", "said"),
    [
        ("Backups run at 2:00 and 2:30.", "Backups run at 3:00 now."),  # which of the two?
        ("The API listens on port 8080, in Frankfurt.", "The API moved to port 9090, in Paris."),  # two at once
        ("The API listens on port 8080.", "The cat ate 3 mice."),  # about something else
        ("The API listens on port 8080.", "The API listens on port 8080 now."),  # nothing new
        ("The API listens on a port.", "The API listens on port 9090 now."),  # no value there
        ("Port 8080 is for the API on 8080.", "The API listens on port 9090 now."),  # it stands there twice
        ("The API listens on port 8080.", "The API lives at https://a.example now."),  # another shape
        ("Staging is db1.internal:5432.", "Staging is db2.internal on 6432 now."),  # half of an address
        ("Uses PyCharm for Python.", "I moved from PyCharm to Zed."),  # which of two names?
        ("Uses PyCharm for Python.", "I use Zed for Python now."),
        (
            "Wedding quotes are valid for 30 days.",
            "Every wedding quote gets a line for a 20% deposit.",
        ),  # counts others
        ("Backups run at 2:00, reports at 3:00.", "The backups moved from 2:00 to 4:00, not the reports."),
        ("Drives a 12 tonne Volvo to the quarry.", "I drive a 7 tonne Iveco to the quarry now."),  # another thing
    ],
)
def test_where_it_is_not_plain_which_value_is_meant_nothing_is_exchanged(old: str, said: str) -> None:
    assert exchange(old, said) == ("", "")


def test_of_two_entries_the_one_is_changed_that_was_spoken_of() -> None:
    known = entries("A 340 g jar of honey sells at 7 pounds.", "A 227 g jar of honey sells at 5 pounds.")
    said = sessions("The 340 g jars of honey are 8.50 now.", "A 340 g jar of honey is eight pounds fifty.")
    assert all(one.replaces == ("e1",) for one in curated(said, known) if one.op is Op.REPLACE)


def test_a_number_that_was_only_wished_for_asks() -> None:
    said = "wenn ich könnte wie ich wollte, gäbs Kostenvoranschläge nur noch für 50 Euro"
    assert not any(one.severity is None for one in decided(said, entries("Kostenvoranschläge kosten 25 Euro.")))


def test_a_note_for_somebody_is_not_asked_to_be_remembered() -> None:
    assert not any(one.sure for one in curated("note for the office: order 1 padlock gate B"))


def test_of_two_sayings_the_fuller_one_is_kept() -> None:
    said = sessions("I want all times in the 24 hour clock, on plans as well.", "24 hour clock please, like I said.")
    (item,) = curated(said)
    assert item.text == "I want all times in the 24 hour clock, on plans as well."


def test_what_is_said_again_in_another_session_is_sure_and_cites_both() -> None:
    known = entries("Flour comes from Gilchrist mill.")
    said = sessions(
        "Flour comes from Westmill now, Gilchrist has closed.",
        "Write the order to Westmill, ten sacks of flour as usual.",
    )
    (item,) = curated(said, known)
    assert item.sure and {one.session for one in item.evidence} == {"s1", "s2"}
    (item,) = curated(said[:1], known)
    assert not item.sure, "once is not enough: which of two names is meant nobody can tell"


def test_a_value_that_only_passes_by_in_another_session_confirms_no_other_entry() -> None:
    known = entries("Trial lessons are 30 minutes.", "Lessons are 45 minutes.")
    said = sessions(
        "My lessons are 50 minutes now, trial lessons are unchanged.", "Plan a 50 minute slot for the hall."
    )
    assert not any(one.sure and one.replaces == ("e1",) for one in curated(said, known))


def test_what_leans_on_the_conversation_does_not_stand_for_what_was_said_before_it() -> None:
    said = sessions(
        "Whenever you tell me something legal, give me the paragraph.",
        "that's how I need every legal answer, with the paragraph",
    )
    assert "Whenever you tell me something legal, give me the paragraph." in [one.text for one in curated(said)]


def test_an_entry_that_shares_only_a_word_is_left_and_what_was_said_is_offered_as_new() -> None:
    known = entries("Never more than nine patients a day, her back does not allow it.")
    (item,) = curated("When I am talking to you between patients I want one sentence.", known)
    assert (item.op, item.replaces) == (Op.ADD, ())


def test_a_lasting_wish_that_is_put_as_a_question_is_asked_about() -> None:
    (found,) = decided("Could you always explain the statistics to me in words first and only then show the code?")
    assert found.severity is Severity.ASK and Reason.PUT_AS_QUESTION in {one.reason for one in found.findings}
    assert decided("Could you explain the second plot to me?") == []


def test_a_number_that_changed_lands_and_nothing_else_of_the_entry_is_touched() -> None:
    known = entries("Standup is at 9:30, in the small room.")
    (item,) = curated("Standup is at 9:45 from now on, not at 9:30.", known)
    assert (item.op, item.text, item.sure) == (Op.REPLACE, "Standup is at 9:45, in the small room.", True)


def test_a_day_that_changed_for_good_lands_and_one_that_changed_for_a_week_does_not() -> None:
    known = entries("Choir practice is on Tuesdays, at 19:30.")
    (item,) = curated("Choir practice has moved to Thursdays, at 19:30 as before.", known)
    assert (item.text, item.sure) == ("Choir practice is on Thursdays, at 19:30.", True)
    (item,) = curated("Choir practice has moved, it's on Thursdays at half eight now.", known)
    assert not item.sure, "with the day the hour may have moved"
    for once in ("Choir practice is on Thursday this week because of the concert.", "Can we rehearse on Thursday?"):
        assert not any(one.severity is None for one in decided(once, known))


@pytest.mark.parametrize(
    ("old", "said"),
    [
        ("Il taglio costa 22 euro.", "il taglio costa 25 euro da oggi, però solo il lunedì"),
        ("The late fee is 5 dollars.", "the late fee is 8 dollars now, on Saturdays"),
    ],
)
def test_a_value_that_holds_on_one_day_only_is_asked_about(old: str, said: str) -> None:
    (item,) = [one for one in curated(said, entries(old)) if one.op is Op.REPLACE]
    assert not item.sure


@pytest.mark.parametrize(
    ("old", "said"),
    [
        ("The standup is run by Paul.", "The standup is run by Petra now, no longer by Paul."),
        ("Der Ansprechpartner ist Weber.", "Der Ansprechpartner ist jetzt Huber, nicht mehr Weber."),
    ],
)
def test_a_name_that_changed_only_asks(old: str, said: str) -> None:
    for one in decided(said, entries(old)):
        assert one.severity is not None and not one.item.sure


# ---- it composes nothing ---------------------------------------------------------------------------------------------


def _sessions(night: dict[str, Any]) -> Iterator[Session]:
    for said in night["sessions"]:
        intake = Intake(str(said.get("user") or NOBODY), lambda text: (text, {}))
        reading = next(intake.sessions(plain_events(said)))
        yield Session(reading.head, tuple(reading.turns()))


def _known(night: dict[str, Any]) -> Iterator[BriefEntry]:
    texts = [(text, "MEMORY.md") for text in night["memory"]] + [(text, "USER.md") for text in night["user"]]
    for number, (text, document) in enumerate(texts, 1):
        since = night.get("entry_dates", {}).get(text)
        yield entry(text, document, datetime.fromisoformat(since) if since else None, name=f"e{number}")


def _is_copied(text: str, said: Sequence[str]) -> bool:
    flat = text[1:].lower()
    return any(flat in " ".join(one.split()).lower() for one in said)


def _is_exchanged(text: str, old: str, said: Sequence[str]) -> bool:
    """Only one value of the entry differs, and the one in its place was said."""
    for gone in words.values(old):
        before, _, behind = old.partition(gone)
        if text.startswith(before) and text.endswith(behind) and old.count(gone) == 1:
            came = text[len(before) : len(text) - len(behind)]
            if came in words.values(" ".join(said)) or any(came in one for one in said):
                return True
    return False


@pytest.mark.parametrize("path", NIGHTS, ids=lambda path: path.stem)
def test_every_text_is_a_sentence_that_was_said_or_an_entry_with_one_value_exchanged(path: Path) -> None:
    night = read(path)
    heard, known = list(_sessions(night)), list(_known(night))
    made = material(heard, known)
    by_id = {one.id: one for one in known}
    for item in of(made):
        if item.op.changes_skill:
            ran_words = " ".join(turn.said.whole.replace('\\"', '"') for one in heard for turn in one.turns)
            commands = [command for line in item.steps for command in words.commands(line)]
            assert all(" ".join(one.split()) in " ".join(ran_words.split()) for one in commands), item
            continue
        said = [made.sessions[cited.session].turn(cited.turn).text for cited in item.evidence]
        if item.op is Op.REMOVE:
            assert item.text == "" and not item.evidence
        elif not _is_copied(item.text, said):
            assert item.op is Op.REPLACE and _is_exchanged(item.text, by_id[item.replaces[0]].text, said), item


# ---- what the agent's own calls taught -------------------------------------------------------------------------------


def taught(*days: int) -> list[Session]:
    return [
        session(
            f"L{day}",
            "Please run the tests.",
            *ran("pytest -q", "Error: no module\nexit code 1", failed=True),
            *ran("uv run pytest -q", "ok\nexit code 0"),
            at=LAST_WEEK + timedelta(days=day),
        )
        for day in days
    ]


def published(*days: int) -> list[Session]:
    steps = ("make build", "npm test", "rsync -a site web:/srv")
    return [
        session(f"r{day}", "Please publish the site.", *(one for step in steps for one in ran(step, "ok\nexit code 0")))
        for day in days
    ]


def test_a_lesson_seen_twice_becomes_a_skill_that_a_person_decides_on() -> None:
    (found,) = decided(taught(1, 2))
    assert found.item.op is Op.SKILL_NEW and found.severity is Severity.ASK and found.skill
    assert found.item.steps == ("Run `uv run pytest -q`.",)
    assert {one.session for one in found.item.evidence} == {"s1", "s2"}


def test_a_lesson_seen_once_waits() -> None:
    (found,) = decided(taught(1))
    assert found.severity is Severity.HELD and Reason.SEEN_ONCE in {one.reason for one in found.findings}


def test_a_procedure_run_three_times_becomes_a_skill_with_its_steps_as_they_were_run() -> None:
    (found,) = decided(published(1, 2, 3))
    assert found.item.op is Op.SKILL_NEW and found.severity is Severity.ASK
    assert found.item.steps == ("Run `make build`.", "Run `npm test`.", "Run `rsync -a site web:/srv`.")
    assert found.item.text == "When asked: Please publish the site."
    assert curated(published(1, 2)) == ()


def test_a_procedure_told_step_by_step_becomes_a_skill_in_the_same_words() -> None:
    said = "Every release goes like this: bump the version. Write the changelog. Tag it. Then tell Piet in the chat."
    (found,) = decided(said)
    assert found.item.op is Op.SKILL_NEW and found.severity is Severity.ASK
    assert found.item.steps == ("bump the version.", "Write the changelog.", "Tag it.", "Then tell Piet in the chat.")


@pytest.mark.parametrize(
    ("told", "steps"),
    [
        (
            "Every loan that comes back goes through the same drill: 1. photograph the lid. 2. wipe the case "
            "3. tick it off on the list in the hall",
            ("photograph the lid", "wipe the case", "tick it off on the list in the hall"),
        ),
        (
            "Ich sag dir, wie wir hier immer eine Leihgeige zurücknehmen, merk dir das. Zuerst wird der Kasten "
            "fotografiert. Dann prüfst du die Saiten. Zum Schluss kommt sie zurück in den Schrank.",
            ("Zuerst wird der Kasten fotografiert", "Dann prüfst du die Saiten",
             "Zum Schluss kommt sie zurück in den Schrank"),
        ),
    ],
)  # fmt: skip
def test_a_procedure_told_step_by_step_becomes_one_skill_that_asks(told: str, steps: tuple[str, ...]) -> None:
    (found,) = [one for one in decided(told) if one.item.op is Op.SKILL_NEW]
    assert (found.item.steps, found.severity) == (steps, Severity.ASK)


@pytest.mark.parametrize(
    "told",
    [
        "For tomorrow's fair: 1. print the ten labels 2. put them into the red box 3. mail me when it is done",
        "First open the drawer, please. Then count the forks. Finally tell me how many there are.",
        "The sprinkler has zone 1 in front, zone 2 for the beds and zone 3 by the fence.",
        "What do they mean by this? 1. Wipe the case. 2. Fold the cloth. 3. Sign the list.",
    ],
)
def test_steps_for_once_and_numbers_of_things_are_no_procedure(told: str) -> None:
    assert not [one for one in decided(told) if one.item.op is Op.SKILL_NEW]


# ---- doubles ---------------------------------------------------------------------------------------------------------


def test_entries_that_say_the_same_word_for_word_are_removed_but_for_the_first() -> None:
    known = entries("Ann wants tables.", "ann  wants tables", "Ann drinks tea.", "Ann wants tables.")
    removed = curated("Hello.", known)
    assert [(one.op, one.replaces, one.sure, one.text) for one in removed] == [
        (Op.REMOVE, ("e2",), True, ""),
        (Op.REMOVE, ("e4",), True, ""),
    ]
    assert [one.severity for one in decided("Hello.", known)] == [None, None]


def test_a_double_that_is_critical_or_not_ours_stays() -> None:
    known = [
        entry("Ann wants tables."),
        entry("Ann wants tables.", critical=True, name="e2"),
        entry("Ann wants tables.", changeable=False, name="e3"),
    ]
    assert curated("Hello.", known) == ()


def test_what_is_nearly_the_same_stays() -> None:
    assert curated("Hello.", entries("Ann wants tables.", "Ann wants two tables.")) == ()


def test_a_lesson_of_an_earlier_night_counts_with_tonights() -> None:
    """Every turn it rests on is shown again, not only the first."""
    before, tonight = taught(1, 2)
    earlier = night([before]).fresh
    made = gather(night([tonight], earlier=earlier, earlier_sessions=(before,)), 10**9)
    assert [one.number for one in made.brief.sessions[1].turns] == [2, 3, 4, 5] and made.brief.sessions[1].noted
    (found,) = decide(of(made), (), made, Rules(NOW))
    assert found.severity is Severity.ASK and found.item.op is Op.SKILL_NEW


def test_an_ordinal_ends_neither_a_sentence_nor_a_clause() -> None:
    (item,) = curated("Ab dem 1. März gehen Proben immer an Hannover.")
    assert item.text == "Ab dem 1. März gehen Proben immer an Hannover."
    text = "Okul 8. sınıf etütlerini kaldırdı. Notu sil."
    assert [text[start:end] for start, end in sentences(text, text)] == [text[:34], text[35:]]


@pytest.mark.parametrize(
    ("said", "pieces"),
    [
        ("it runs after 22:00. bring cake", ["it runs after 22:00.", "bring cake"]),
        ("there are 123. count them", ["there are 123.", "count them"]),
        ("am 23. november ist Probe", ["am 23. november ist Probe"]),
    ],
)
def test_a_sentence_may_end_in_a_time_and_not_in_the_number_of_a_day(said: str, pieces: list[str]) -> None:
    assert [said[start:end] for start, end in sentences(said, said)] == pieces


def test_the_same_words_with_another_number_confirm_nothing() -> None:
    wish = "I always want the report as a table with a row for every month, and {} more rows for the whole."
    assert not any(item.sure for item in curated(sessions(wish.format(1), wish.format(2))))


def test_in_chinese_and_japanese_one_value_is_exchanged_only_if_the_rest_was_said_again() -> None:
    known = entries("定例会議は月曜日の10時です。")
    (item,) = [one for one in curated("定例会議は火曜日の14時に変わりました。", known) if one.op is Op.REPLACE]
    assert "火曜日の14時" in item.text
