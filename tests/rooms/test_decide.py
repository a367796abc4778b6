"""What becomes of a curator's items in one night: what lands, what asks, what waits, and what a score is made of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from reverie.changes.proposal import Score
from reverie.dreams.brief.brief import BriefDocument, BriefEntry
from reverie.dreams.decide import MOST_JUDGED, Decided, Gates, Limits, Rules, candidates_of, decide, uncovered
from reverie.dreams.items import Item, Op
from reverie.dreams.score import Measure, _weights, score
from reverie.dreams.verify.reasons import Reason, Severity
from reverie.memory.operation import Add, Remove, Replace
from reverie.transcripts.session import Session
from tests.nights import (
    LAST_WEEK,
    NOW,
    add,
    case,
    cites,
    entries,
    entry,
    material,
    merges,
    ran,
    removes,
    replaces,
    session,
    sessions,
)

LANDS = None
CHANGES = [  # what stands there, what is said, what it becomes
    (
        "Releases are tagged on Wednesdays.",
        "Releases are always tagged on Mondays from now on, not on Wednesdays.",
        "Releases are tagged on Mondays.",
    ),
    (
        "The API listens on port 8080.",
        "The API listens on port 9090 from now on, not 8080.",
        "The API listens on port 9090.",
    ),
    (
        "Invoices are due after 30 days.",
        "Our invoices are due after 14 days from now on, not after 30.",
        "Invoices are due after 14 days.",
    ),
    (
        "The printer stands in room 4.",
        "Our printer stands in room 7 from now on, not in room 4.",
        "The printer stands in room 7.",
    ),
    ("Standup is at 9:30.", "Standup is always at 9:45 from now on.", "Standup is at 9:45."),
]
KNOWN = entries(*(old for old, _, _ in CHANGES))
SAID = [said for _, said, _ in CHANGES]
REPLACED = [replaces(new, cites(said, f"s{n}"), of=f"e{n}") for n, (_, said, new) in enumerate(CHANGES, 1)]
WISHES = [
    "Please always answer in metric units.",
    "Please always show prices with VAT.",
    "Please never send mail on Sundays.",
]
ADDED = [add(said, cites(said, f"s{n}")) for n, said in enumerate(WISHES, 1)]
WISH = "Please always answer in metric units."
METRIC = add("Answer in metric units.", cites(WISH), kind="communication_preference")
MISO = "The office cat is called Miso."
PASSING = "The lab samples stand on target 12."


def decided(
    items: Sequence[Item],
    said: Sequence[Session] | str,
    known: Sequence[BriefEntry] = (),
    second: Sequence[Item] = (),
    documents: Sequence[BriefDocument] | None = None,
    **rules: object,
) -> list[Decided]:
    heard = sessions(said) if isinstance(said, str) else said
    made = material(heard, known, documents=documents)
    return decide(items, second, made, Rules(NOW, **rules))  # type: ignore[arg-type]


def fates(found: Sequence[Decided]) -> list[tuple[Severity | None, str]]:
    return [(one.severity, one.item.text) for one in found]


def reasons(one: Decided) -> set[Reason]:
    return {each.reason for each in one.findings}


# ---- several documents -----------------------------------------------------------------------------------------------

STANDUP = "The standup bot is gone, we stopped using it."
TWO_PAGES = (entry("The standup bot posts at nine."), entry("Ask the standup bot for notes.", "USER.md", name="e2"))


def test_a_merge_across_two_documents_is_refused_with_a_reason() -> None:
    same = (entry("Tags are lower case."), entry("Tags are lower case.", "USER.md", name="e2"))
    (found,) = decided([merges("Tags are lower case.")], "Hello there.", same)
    assert found.severity is Severity.REFUSED and Reason.SEVERAL_DOCUMENTS in reasons(found)
    assert "One change is of one document, and its entries stand in MEMORY.md and USER.md." in [
        one.sentence for one in found.findings
    ]


def test_a_removal_from_two_documents_is_one_from_each() -> None:
    item = Item(Op.REMOVE, "", (cites(STANDUP),), "MEMORY.md", replaces=("e1", "e2"), sure=True)
    found = decided([item], STANDUP, TWO_PAGES)
    assert {one.item.document: one.operations for one in found} == {
        one.document: (Remove(one.document, one.sha256),) for one in TWO_PAGES
    }
    assert all(Reason.SEVERAL_DOCUMENTS not in reasons(one) for one in found)


# ---- the limits of a night -------------------------------------------------------------------------------------------


def test_three_changes_land_and_the_rest_is_held_for_another_night() -> None:
    found = decided(REPLACED, sessions(*SAID), KNOWN)
    assert [one.severity for one in found] == [LANDS] * 3 + [Severity.HELD] * 2
    assert found[-1].findings[0].sentence == "The limit of 3 changes for one night is reached."
    assert [one.total for one in found[:3]] == sorted((one.total for one in found), reverse=True)[:3]  # the best first


def test_one_addition_lands() -> None:
    found = decided(ADDED[:2], sessions(*WISHES))
    assert [one.severity for one in found] == [LANDS, Severity.HELD]
    assert found[1].findings[0].sentence == "The limit of 1 addition for one night is reached."
    assert [one.severity for one in decided(ADDED[:2], sessions(*WISHES), limits=Limits(max_adds=2))] == [LANDS, LANDS]


def test_replacements_come_before_additions() -> None:
    found = decided(
        [ADDED[0], *[replace(one, evidence=(cites(SAID[n], f"s{n + 2}"),)) for n, one in enumerate(REPLACED[:3])]],
        sessions(WISHES[0], *SAID[:3]),
        KNOWN[:3],
    )
    assert [one.item.op for one in found] == [Op.REPLACE] * 3 + [Op.ADD]
    assert found[-1].severity is Severity.HELD and "3 changes" in found[-1].findings[0].sentence


def test_so_many_new_characters_land() -> None:
    long = (
        "Please always answer in metric units, with two decimals, a blank before the unit, with a table for over 3 "
        "values, and with the conversion to imperial units in brackets if the reader is in Liberia or in "
        "Myanmar or in the United States of America or abroad."
    )
    assert 250 < len(long) < 400
    (found,) = decided([add(long)], long, gates=Gates(add=0.0))
    assert fates([found]) == [(Severity.HELD, long)]
    assert found.findings[0].sentence == "The limit of 250 new characters for one night is reached."
    assert decided([add(long)], long, gates=Gates(add=0.0), limits=Limits(max_new_chars=400))[0].severity is LANDS


def test_of_a_replacement_only_what_it_grows_counts() -> None:
    (found,) = decided([REPLACED[0]], sessions(SAID[0]), KNOWN, limits=Limits(max_new_chars=0))
    assert found.severity is LANDS and found.new_characters == 0


def test_what_is_held_asks_nobody_and_what_asks_does_not_count_against_the_limits() -> None:
    unsure = replace(ADDED[1], sure=False)
    found = decided([ADDED[0], unsure], sessions(*WISHES))
    assert [one.severity for one in found] == [LANDS, Severity.ASK]


def test_at_most_ten_proposals_are_made_and_the_best_come_first() -> None:
    things = [
        "tables",
        "lists",
        "charts",
        "maps",
        "poems",
        "songs",
        "letters",
        "photos",
        "novels",
        "puzzles",
        "games",
        "plays",
    ]
    said = [f"I prefer {one} from the library in Graz to all others." for one in things]
    found = decided([add(one, cites(one, f"s{n}"), sure=False) for n, one in enumerate(said, 1)], sessions(*said))
    asks = [one for one in found if one.severity is Severity.ASK]
    held = [one for one in found if one.severity is Severity.HELD]
    assert len(asks) == 10 and len(held) == 2
    assert min(one.total for one in asks) >= max(one.total for one in held)
    assert held[0].findings[0].sentence == "10 proposals are enough for one night."
    few = decided(
        [add(one, cites(one, f"s{n}"), sure=False) for n, one in enumerate(said, 1)],
        sessions(*said),
        limits=Limits(max_proposals=2),
    )
    assert sum(one.severity is Severity.ASK for one in few) == 2


def test_of_two_items_on_one_entry_the_second_is_held() -> None:
    other = replace(REPLACED[0], text="Releases are tagged on Mondays now.")
    found = decided([REPLACED[0], other], sessions(SAID[0]), KNOWN)
    assert [one.severity for one in found] == [LANDS, Severity.HELD] and reasons(found[1]) == {Reason.REPEATED}


def test_of_two_items_on_one_entry_that_ask_one_asks() -> None:
    asks = [
        replace(one, sure=False)
        for one in (REPLACED[0], replace(REPLACED[0], text="Releases are tagged on Mondays now."))
    ]
    found = decided(asks, sessions(SAID[0]), KNOWN)
    assert [one.severity for one in found] == [Severity.ASK, Severity.HELD]


def test_the_same_text_twice_lands_once() -> None:
    found = decided(
        [METRIC, replace(METRIC, document="USER.md"), replace(METRIC, text="answer in  METRIC units.")], WISH
    )
    assert [one.severity for one in found] == [LANDS, Severity.HELD, Severity.HELD]


# ---- what lands ------------------------------------------------------------------------------------------------------


def test_what_was_said_as_standing_lands_when_it_was_said_once() -> None:
    assert fates(decided([METRIC], WISH)) == [(LANDS, "Answer in metric units.")]


def test_what_was_said_once_and_in_passing_asks() -> None:
    (found,) = decided([add(PASSING)], PASSING, gates=Gates(add=0.0))
    assert found.severity is Severity.ASK and reasons(found) == {Reason.SAID_ONCE}


def test_of_very_many_additions_nobody_is_sure_of_a_hundred_are_judged_and_the_rest_wait() -> None:
    said = [f"Box {number} holds the samples of week {number}." for number in range(MOST_JUDGED + 3)]
    unsure = [add(one, cites(one, f"s{number}"), sure=False) for number, one in enumerate(said, 1)]
    found = decided(unsure, sessions(*said))
    waiting = [one for one in found if not one.checks]
    assert [one.item.text for one in waiting] == said[MOST_JUDGED:]
    assert all(one.severity is Severity.HELD and reasons(one) == {Reason.MOST_PROPOSALS} for one in waiting)


def test_a_few_words_out_of_what_was_said_as_standing_ask() -> None:
    said = "Nothing came of lesson 9. never touching a violin again, cancel the whole course, sell the stand, I mean it"
    (found,) = decided([add("Nothing came of lesson 9.", cites("Nothing came of lesson 9."))], said)
    assert Reason.SAID_ONCE in reasons(found)
    (found,) = decided([add("Nothing came of lesson 9, cancel the whole course.", cites(said))], said)
    assert Reason.SAID_ONCE not in reasons(found)


@pytest.mark.parametrize("kind", ["user_preference", "communication_preference", "project_decision", "made up"])
def test_what_the_curator_calls_it_does_not_make_it_standing(kind: str) -> None:
    (found,) = decided([add(PASSING, kind=kind)], PASSING, gates=Gates(add=0.0))
    assert Reason.SAID_ONCE in reasons(found)


def test_what_was_said_in_two_sessions_needs_no_standing_words() -> None:
    twice = sessions(PASSING, "Our samples stand on target 12.")
    cited = (cites(PASSING), cites("Our samples stand on target 12.", "s2"))
    assert fates(decided([add(PASSING, *cited)], twice)) == [(LANDS, PASSING)]
    same = session("a", PASSING, "Our samples stand on target 12.")
    (found,) = decided([add(PASSING, cites(PASSING), cites("Our samples stand on target 12.", turn=2))], [same])
    assert Reason.SAID_ONCE in reasons(found)  # twice in one session is once


def test_what_both_curators_say_needs_no_standing_words() -> None:
    (alone,) = decided([add(PASSING)], PASSING, gates=Gates(add=0.2))
    (agreed,) = decided(
        [add(PASSING)], PASSING, second=[add("Samples: target 12.", cites(PASSING))], gates=Gates(add=0.2)
    )
    assert (alone.severity, agreed.severity, agreed.agreed) == (Severity.ASK, LANDS, True)


@pytest.mark.parametrize(
    "second",
    [
        add(PASSING, sure=False),
        add(PASSING, cites("Hello there.", turn=2)),
        replaces(PASSING, cites(PASSING), of="e1"),
    ],
)
def test_another_change_or_other_words_or_an_unsure_second_opinion_do_not_agree(second: Item) -> None:
    said = [session("a", PASSING, "Hello there.")]
    (found,) = decided([add(PASSING)], said, KNOWN[:1], [second], gates=Gates(add=0.5))
    assert not found.agreed and Reason.SAID_ONCE in reasons(found)


def test_what_the_curator_is_not_sure_of_asks_or_is_dropped_where_it_is_also_doubtful() -> None:
    (asks,) = decided([replace(METRIC, sure=False)], WISH)
    assert asks.severity is Severity.ASK and Reason.UNSURE in reasons(asks)
    maybe = "Maybe the office cat is called Miso, not sure."
    (weak,) = decided([add(MISO, cites(maybe), sure=False)], maybe)
    assert weak.severity is Severity.REFUSED and Reason.DOUBTFUL in reasons(weak)
    (leans,) = decided([add("That is the office cat.", sure=False)], "That is the office cat.")
    assert leans.severity is Severity.REFUSED and reasons(leans) >= {Reason.LEANS, Reason.DOUBTFUL}


def test_a_turn_that_was_copied_whole_does_not_land_where_words_have_no_spaces_either() -> None:
    turn = "おはよう。店の前に貼る紙つくって。来週の営業について"
    (copied,) = decided([add(turn)], turn)
    assert copied.case.copied and copied.severity is Severity.ASK


def test_what_was_plainly_meant_to_last_asks_though_it_is_not_put_well() -> None:
    (leans,) = decided([add("It is always in French.", sure=False)], "It is always in French.")
    assert leans.severity is Severity.ASK and reasons(leans) >= {Reason.LEANS, Reason.UNSURE}


@pytest.mark.parametrize(
    ("item", "said", "known", "gates"),
    [
        (METRIC, WISH, (), Gates(add=0.999)),
        (REPLACED[0], SAID[0], KNOWN[:1], Gates(replace=0.999)),
        (
            removes(cites("We stopped tagging releases on Wednesdays.")),
            "We stopped tagging releases on Wednesdays.",
            KNOWN[:1],
            Gates(remove=0.999),
        ),
        (
            merges("Ann wants tables for numbers.", cites("I always want numbers shown as tables.")),
            "I always want numbers shown as tables.",
            entries("Ann wants tables for numbers.", "Ann wants numbers shown as tables."),
            Gates(merge=0.999),
        ),
    ],
)
def test_each_gate_is_its_own_and_what_is_below_asks(
    item: Item, said: str, known: tuple[BriefEntry, ...], gates: Gates
) -> None:
    assert decided([item], said, known)[0].severity is LANDS
    (below,) = decided([item], said, known, gates=gates)
    assert below.severity is Severity.ASK and reasons(below) == {Reason.LOW_SCORE}
    assert f"{below.total:.2f} is below the 1.00" in below.findings[0].sentence
    assert [Gates().of(one) for one in (Op.ADD, Op.REPLACE, Op.REMOVE, Op.MERGE)] == [0.88, 0.80, 0.85, 0.80]


# ---- a curator that is mostly wrong ----------------------------------------------------------------------------------

LIES = [
    add("The API listens on port 1234.", cites(WISH)),
    add("Paul likes tea.", cites("I like tea, says Paul.")),
    replaces("Standup is at 4:44.", cites(WISH), of="e5"),
]


def test_a_curator_whose_sure_answers_mostly_fail_lands_nothing() -> None:
    found = decided([METRIC, *LIES], WISH, KNOWN)
    assert all(one.severity is not LANDS for one in found)
    (good,) = [one for one in found if one.item.text == METRIC.text]
    assert good.severity is Severity.ASK and reasons(good) == {Reason.UNTRUSTED}


def test_answers_it_is_not_sure_of_do_not_count_and_two_bad_ones_are_too_few_to_tell() -> None:
    assert decided([METRIC, *(replace(one, sure=False) for one in LIES)], WISH, KNOWN)[0].severity is LANDS
    assert decided([METRIC, *LIES[:2]], WISH, KNOWN)[0].severity is LANDS


def test_half_of_four_may_fail() -> None:
    found = decided([*REPLACED[:2], *LIES[:2]], sessions(*SAID), KNOWN)
    assert [one.severity for one in found[:2]] == [LANDS, LANDS]


EVERYTHING = [
    "answer in metric units",
    "show prices with VAT",
    "round invoices to cents",
    "name branches after tickets",
    "translate menus into Czech",
    "water the orchids at noon",
    "sort contacts by surname",
    "draw maps with north up",
    "print letters on both sides",
]


def test_a_curator_that_wants_to_change_everything_lands_nothing() -> None:
    said = [f"Please always {wish}." for wish in EVERYTHING]
    items = [add(one, cites(one, turn=n)) for n, one in enumerate(said, 1)]
    wide = Limits(9, 9, 9_000)
    in_one = decided(items, [session("a", *said)], limits=wide)
    assert not any(one.severity is LANDS for one in in_one)
    assert any(reasons(one) == {Reason.UNTRUSTED} for one in in_one)
    fewer = decided(items[:8], [session("a", *said)], limits=wide)
    assert any(one.severity is LANDS for one in fewer)


# ---- operations ------------------------------------------------------------------------------------------------------


def test_what_an_item_does_to_the_document() -> None:
    (added,) = decided([METRIC], WISH)
    assert added.operations == (Add("MEMORY.md", "Answer in metric units."),)
    (changed,) = decided([REPLACED[0]], sessions(SAID[0]), KNOWN)
    assert changed.operations == (Replace("MEMORY.md", KNOWN[0].sha256, "Releases are tagged on Mondays."),)


def test_a_merge_is_one_replacement_and_its_removals_and_counts_by_what_goes() -> None:
    three = entries("Ann wants tables for numbers.", "Ann wants numbers shown as tables.", "Numbers: tables, says Ann.")
    said = "I always want numbers shown as tables."
    (found,) = decided([merges("Ann wants tables for numbers.", cites(said), of=("e1", "e2", "e3"))], said, three)
    assert found.severity is LANDS
    assert found.operations == (
        Replace("MEMORY.md", three[0].sha256, "Ann wants tables for numbers."),
        Remove("MEMORY.md", three[1].sha256),
        Remove("MEMORY.md", three[2].sha256),
    )
    (held,) = decided(
        [merges("Ann wants tables for numbers.", cites(said), of=("e1", "e2", "e3"))],
        said,
        three,
        limits=Limits(max_changes=1),
    )
    assert held.severity is Severity.HELD


def test_entries_that_say_the_same_become_one_though_nobody_spoke_of_them() -> None:
    double = entries("Ann wants tables.", "Ann wants tables", "Ann drinks tea.")
    (merged,) = decided([merges("Ann wants tables.")], "Hello there.", double)
    (removed,) = decided([removes(of="e2")], "Hello there.", double)
    assert merged.severity is removed.severity is LANDS
    assert removed.operations == (Remove("MEMORY.md", double[1].sha256),)
    (other,) = decided([removes(of="e3")], "Hello there.", double)
    assert other.severity is Severity.REFUSED


def test_what_changes_an_entry_goes_where_the_entry_is() -> None:
    there = entry("Releases are tagged on Wednesdays.", "USER.md")
    (found,) = decided([REPLACED[0]], sessions(SAID[0]), (there,))
    assert found.operations == (Replace("USER.md", there.sha256, "Releases are tagged on Mondays."),)


def test_a_matter_of_one_project_names_it_in_a_document_that_is_read_everywhere() -> None:
    said = [session("a", WISH, project="ledgerly")]
    (found,) = decided([replace(METRIC, project="ledgerly")], said)
    assert found.operations == (Add("MEMORY.md", "In ledgerly: Answer in metric units."),)
    (other,) = decided([replace(METRIC, project="elsewhere")], said)  # it was not said there
    assert other.operations == (Add("MEMORY.md", "Answer in metric units."),)


# ---- room ------------------------------------------------------------------------------------------------------------


def test_a_full_document_proposes_which_entry_makes_room() -> None:
    old = entry("The printer stands in room 4.", since=LAST_WEEK.replace(year=2024), name="e1")
    known = (
        old,
        entry("Standup is at 9:30.", name="e2"),
        entry("Fire exits stay free.", since=LAST_WEEK.replace(year=2020), critical=True, name="e3"),
    )
    full = (BriefDocument("MEMORY.md", characters=95, budget=100),)
    (found,) = decided([METRIC], WISH, known, documents=full)
    assert found.severity is Severity.ASK
    assert found.findings[-1].sentence == (
        "MEMORY.md is full: 118 of 100 characters would be used. "
        "To make room, “The printer stands in room 4.” would go."
    )
    assert found.operations == (Remove("MEMORY.md", old.sha256), Add("MEMORY.md", "Answer in metric units."))


def test_where_only_what_is_critical_could_go_nothing_is_proposed_to_go() -> None:
    known = (entry("Fire exits stay free.", critical=True),)
    (found,) = decided([METRIC], WISH, known, documents=(BriefDocument("MEMORY.md", characters=95, budget=100),))
    assert "no entry that is not critical would go" in found.findings[-1].sentence and not found.makes_room


def test_a_shorter_text_fits_where_there_is_no_room() -> None:
    full = (BriefDocument("MEMORY.md", characters=400, budget=100),)
    (found,) = decided([REPLACED[0]], sessions(SAID[0]), KNOWN, documents=full)
    assert found.severity is LANDS


def test_what_lands_first_takes_the_room_of_what_comes_next() -> None:
    tight = (BriefDocument("MEMORY.md", characters=0, budget=60),)
    found = decided(ADDED[:2], sessions(*WISHES), documents=tight, limits=Limits(max_adds=5))
    assert found[0].severity is LANDS and Reason.NO_ROOM in reasons(found[1])


# ---- skills ----------------------------------------------------------------------------------------------------------


def taught(n: int, command: str = "pytest -q") -> Session:
    failed = ran(command, "Error: no module\nexit code 1", failed=True)
    return session(f"L{n}", "Please run it.", *failed, *ran(f"uv run {command}", "3 passed\nexit code 0"))


def lesson(command: str = "pytest -q", *shorts: str) -> Item:
    cited = tuple(cites(f"uv run {command}", short, 4) for short in shorts or ("s1", "s2"))
    return Item(
        Op.SKILL_NEW,
        f"When `{command}` fails.",
        cited,
        skill=f"{command} fails",
        steps=(f"Run `uv run {command}`.",),
        sure=True,
    )


def test_a_new_skill_waits_for_a_person() -> None:
    (found,) = decided([lesson()], [taught(1), taught(2)])
    assert found.severity is Severity.ASK and Reason.SKILL in reasons(found) and found.skill
    assert "Run `uv run pytest -q`." in found.skill.text and found.operations == ()


def test_what_the_agent_did_once_is_held_until_it_is_seen_again() -> None:
    (found,) = decided([lesson("pytest -q", "s1")], [taught(1), taught(2)])
    assert found.severity is Severity.HELD and Reason.SEEN_ONCE in reasons(found)


def test_two_skills_a_night_are_proposed() -> None:
    commands = ["pytest -q", "mypy src", "ruff check", "sphinx docs"]
    said = [taught(n, one) for n, one in enumerate([one for one in commands for _ in range(2)])]
    items = [lesson(one, f"s{2 * n + 1}", f"s{2 * n + 2}") for n, one in enumerate(commands)]
    found = decided(items, said)
    assert [one.severity for one in found] == [Severity.ASK] * 2 + [Severity.HELD] * 2
    assert found[-1].findings[-1].sentence == "The limit of 2 skills for one night is reached."


@pytest.mark.parametrize(
    ("item", "told"),
    [
        (replace(lesson(), steps=()), "a new skill needs steps"),
        (Item(Op.SKILL_AMEND, "Use uv.", (cites("uv run pytest -q", turn=4),), skill="k9"), "there is no skill 'k9'"),
    ],
)
def test_a_skill_that_cannot_be_made_says_why(item: Item, told: str) -> None:
    (found,) = decided([item], [taught(1), taught(2)])
    assert found.severity is Severity.REFUSED and told in found.findings[-1].sentence


# ---- what Light saw --------------------------------------------------------------------------------------------------


def test_every_candidate_of_light_is_in_an_item_or_told_as_left_out() -> None:
    said = sessions(WISH, "The VPN gateway moved to gw2.example.net last month.")
    made = material(said)
    found = decide([METRIC], (), made, Rules(NOW))
    spoken_of = candidates_of(found[0], made)
    left = list(uncovered(found, made))
    assert (
        spoken_of and left and {*spoken_of, *left} == {one.id for one in made.noted} and not set(spoken_of) & set(left)
    )


# ---- scores ----------------------------------------------------------------------------------------------------------

NAMES = [
    "future_usefulness",
    "query_diversity",
    "actionability",
    "compression_value",
    "stability",
    "recurrence",
    "recency",
    "explicitness",
    "correction_signal",
    "character_cost",
    "duplication",
    "volatility",
    "sensitivity",
]
AGAINST = NAMES[-4:]


def scored(text: str, said: str | None = None, *, measure: Measure | None = None, **more: object) -> Score:
    item = add(text, cites(said or text), **more)  # type: ignore[arg-type]
    return score(case(item, sessions(said or text)), measure or Measure(NOW, {}))


def test_a_score_has_thirteen_dimensions_that_explain_themselves_and_add_up() -> None:
    for text in (WISH, MISO, PASSING, "I have diabetes.", "Maybe we use tabs?"):
        found = scored(text)
        assert [part.name for part in found.parts] == NAMES
        assert all(0 <= part.value <= 1 and part.why.endswith(".") for part in found.parts)
        odds = _weights()["bias"]["add"] + sum(part.adds for part in found.parts)
        assert found.total == pytest.approx(1 / (1 + math.exp(-odds)), abs=1e-4)


def test_what_speaks_for_it_raises_the_score_and_what_speaks_against_it_lowers_it() -> None:
    weights = _weights()["weights"]
    assert set(weights) == {*NAMES, "open_questions"} and weights["open_questions"] < 0
    assert all((weights[name] < 0) == (name in AGAINST) for name in NAMES)
    assert weights["explicitness"] > weights["recurrence"] and weights["correction_signal"] >= weights["recurrence"]


def test_what_the_checks_are_not_sure_of_lowers_the_score_and_changes_nothing_else() -> None:
    sure, unsure = (decided([add(WISH, cites(WISH), sure=sure)], WISH)[0] for sure in (True, False))
    assert sure.score is not None and unsure.score is not None
    assert sure.total >= Gates().add > unsure.total
    assert unsure.score.parts[:-1] == sure.score.parts and unsure.score.parts[-1].name == "open_questions"
    assert unsure.severity is Severity.ASK and Reason.LOW_SCORE not in reasons(unsure)


def test_the_name_of_the_office_cat_said_once_is_far_below_the_gate() -> None:
    assert scored(MISO).total < Gates().add - 0.3
    (found,) = decided([add(MISO, kind="project_fact")], MISO)
    assert found.severity is Severity.ASK and Reason.LOW_SCORE in reasons(found)
    assert f"score of {found.total:.2f} is below the 0.88" in found.findings[-1].sentence  # as it is shown


@pytest.mark.parametrize(
    "said",
    [
        WISH,
        "Please remember that our build server has 16 GB.",
        "From now on always give me distances in kilometres.",
        "Ab sofort bitte immer Celsius verwenden.",
        "Responde siempre en español a partir de ahora.",
        "今後は必ず日本語で回答してください。",
        "Never push to the release branch without a tag.",
    ],
)
def test_an_explicit_standing_wish_said_once_is_above_the_gate(said: str) -> None:
    assert scored(said).total >= Gates().add


@pytest.mark.parametrize(
    "said", ["Maybe our build server has 16 GB, not sure.", "If we had 16 GB we would be fine.", "Do we have 16 GB?"]
)
def test_what_is_shaky_is_far_below_what_is_plain(said: str) -> None:
    assert scored("The build server has 16 GB.", said).total < scored("The build server has 16 GB.").total < 0.6


def test_what_was_said_long_ago_and_what_takes_much_room_scores_a_little_less() -> None:
    later = scored(WISH, measure=Measure(NOW.replace(year=2028), {}))
    assert later.total < scored(WISH).total
    assert scored(WISH, measure=Measure(NOW, {"MEMORY.md": 10})).total < scored(WISH).total
    assert scored(WISH, measure=Measure(NOW, {}, asked=3)).total > scored(WISH).total
