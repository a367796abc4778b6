"""The pages of a memory store as a dream sees and changes them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reverie.changes.stores import page_after
from reverie.dreams.brief.trim import entries_that_matter
from reverie.dreams.items import Item, Op
from reverie.dreams.stores.pages import StorePage, page_statements, target_of_store
from tests.dreaming import WRITTEN, Scripted, session, thought_over

HANDBOOK = """# Handbook

The shop ships with DHL. Parcels leave the warehouse at 16:00 every
day, except on Sundays. Returns are free for 30 days.

| who | what |
|-----|------|
| Ann | boss |

The hotline is open from 9 to 17.
"""
INFRA = "# Infra\n\n- Staging\n  - host: stage-1.internal\n- Production\n  - host: prod-1.internal\n"
SECTIONS = "## Staging\r\n- Host: stage-1.internal\r\n\r\n## Production\r\n- Host: prod-1.internal\r\n"


def dreamt(pages: dict[str, str], *talk: str) -> dict[str, str]:
    """What the pages say after a dream, by the built-in curator."""
    target = target_of_store(
        "store:x", "ann", [StorePage(path, text.encode(), WRITTEN) for path, text in pages.items()]
    )
    after = {path: text.encode() for path, text in pages.items()}
    for one in thought_over(target, [session(0, talk)]).planned:
        if one.suggestion and not one.done:
            path = one.suggestion.subject
            changed = page_after(after.get(path), one.suggestion.operations)
            assert changed is None or isinstance(changed, bytes), changed
            after |= {path: changed or b""}
    return {path: text.decode() for path, text in after.items()}


@pytest.mark.parametrize(
    "prose",
    [
        ["Samples are thawed on ice.", "Jonas calibrates."],
        ["We order at Marlow's.", "Keep it at 3 °C.", "A portion is 280 g.", "Next one."],
        ["Report it to Mrs. Lindqvist.", "Ring no. 12 first.", "J. R. Ewing pays.", "The answer is no.", "Ask again."],
    ],
)
def test_sentences_end_where_people_end_them(prose: list[str]) -> None:
    assert [one.text for one in page_statements(" ".join(prose).encode())] == prose


@pytest.mark.parametrize(
    ("page", "said", "now"),
    [
        ("We deploy on Fridays.", "We deploy on Tuesdays from now on, no longer on Fridays.", "We deploy on Tuesdays."),
        (
            "- Staging is db1.internal.\n- x\n",
            "Staging is db2.internal from today on.",
            "- Staging is db2.internal.\n- x\n",
        ),
        (HANDBOOK, "Returns are free for 60 days now.", HANDBOOK.replace("30 days", "60 days")),
        (INFRA, "The staging host is stage-2.internal now.", INFRA.replace("stage-1", "stage-2")),
        (SECTIONS, "The staging host is stage-2.internal now.", SECTIONS.replace("stage-1", "stage-2")),
    ],
    ids=["a sentence", "an item", "paragraphs", "below an item", "below a heading"],
)
def test_what_is_over_is_exchanged_where_it_stands_and_nothing_else(page: str, said: str, now: str) -> None:
    others = {"/other.md": "Cats sleep a lot.\n", "/data.json": '{"staging": "stage-1.internal"}'}
    assert dreamt({"/page.md": page} | others, said) == {"/page.md": now} | others


def test_what_is_new_goes_to_the_page_that_speaks_of_the_same_or_to_one_of_its_own() -> None:
    pages = {"/mascots.md": "- The mascot of the bakery is called Otto.\n", "/cats.md": "Cats sleep a lot.\n"}
    after = dreamt(pages, "Remember that the mascot of the library is called Miso.", "Remember that I love rye bread.")
    assert "Miso" in after["/mascots.md"] and "rye" in after["/notes.md"]


def test_only_prose_with_statements_is_a_document() -> None:
    pages = {"/a.md": "One. Two.\n", "/code.md": "```\nx = 1\n```\n", "/b.json": "{}", "/notes.md": '{"a": 1}\n'}
    target = target_of_store("s", "ann", [StorePage(path, text.encode(), WRITTEN) for path, text in pages.items()])
    assert [one.name for one in target.documents] == ["/a.md", "/notes-2.md"]
    assert [one.text for one in target.entries] == ["One.", "Two."] and not target.asks
    assert [one.under for one in page_statements(INFRA.encode())] == ["", "Infra: Staging", "", "Infra: Production"]


def test_of_very_many_entries_those_are_shown_that_speak_of_what_was_said() -> None:
    pages = [
        StorePage(f"/{number}.md", f"Target {number} holds nails of {number} mm.\n".encode(), WRITTEN)
        for number in range(2_000)
    ]
    pages.append(StorePage("/host.md", b"Staging is db1.internal.\n", WRITTEN))
    target = target_of_store("s", "ann", pages)
    talk = [session(0, ["Staging is db2.internal from today on."])]
    shown, beside = entries_that_matter(target.entries, talk)
    assert [one.text for one in shown] == ["Staging is db1.internal."] and len(beside) == 2_000
    thought = thought_over(target, talk)
    assert thought.planned[0].judged.text == "Staging is db2.internal." and "of 2,001 entries" in thought.reduced[0]
    few = replace(target, entries=target.entries[:10])
    assert entries_that_matter(few.entries, talk) == (few.entries, ())


@pytest.mark.parametrize("said", ["Good morning.", "From now on we deploy on Tuesdays, no longer on Fridays."])
def test_what_is_there_twice_word_for_word_stays_once(said: str) -> None:
    pages = {"/a.md": "- We deploy on Fridays.\n- x\n", "/b.md": "We deploy on Fridays.\n"}
    after = dreamt(pages, said)
    day = "Tuesdays" if "Tuesdays" in said else "Fridays"
    assert after == {"/a.md": f"- We deploy on {day}.\n- x\n", "/b.md": ""}


def test_what_belongs_to_two_things_stays_twice() -> None:
    pages = {
        "/staging.md": "Port: 5432\n",
        "/production.md": "Port: 5432\n",
        "/infra.md": SECTIONS.replace("prod", "stage"),
    }
    assert dreamt(pages, "Good morning.") == pages
    target = target_of_store("s", "ann", [StorePage(path, text.encode(), WRITTEN) for path, text in pages.items()])
    liar = Scripted(lambda _: [Item(Op.REMOVE, "", (), replaces=("e1",), sure=True)])
    [one] = thought_over(target, [session(0, ["Good morning."])], liar).planned
    assert one.judged.reasons == ("no_quotation",), "nothing says that it is there twice"
