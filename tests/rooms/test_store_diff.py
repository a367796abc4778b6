"""Two copies of a memory store: what an agent would do otherwise, and what only reads differently."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.store_edits import BEHAVIOUR, cases, read_edits
from reverie.bridge.diff import DiffKind, StoreDiff, store_diff
from reverie.bridge.source import Snapshot
from reverie.bridge.statements import statements_in

ROOT = Path(__file__).parents[2]
PAIRS = ROOT / "training" / "data" / "relate-b.jsonl"
DUTIES = ROOT / "benchmarks" / "labelled" / "store_duties.jsonl"
RELEASES = """\
# Releases

- Deploys go out on Tuesdays after the standup.
- Tag every release with the ticket number.
- Ask Priya before touching the billing schema.
"""


def compared(old: dict[str, str] | str, new: dict[str, str] | str) -> StoreDiff:
    before, after = ({"/notes.md": one} if isinstance(one, str) else one for one in (old, new))
    return store_diff(Snapshot("old", before), Snapshot("new", after))


def kinds(diff: StoreDiff) -> list[tuple[str, str, str]]:
    return [(one.kind, one.before, one.after) for one in diff.differences]


def test_a_store_compared_with_itself_has_no_differences() -> None:
    diff = compared(RELEASES, RELEASES)
    assert (diff.differences, diff.unchanged) == ((), 3)


def test_a_changed_value_is_shown_with_what_stood_there_before() -> None:
    diff = compared(RELEASES, RELEASES.replace("Tuesdays", "Thursdays"))
    old, new = (f"Deploys go out on {day} after the standup." for day in ("Tuesdays", "Thursdays"))
    assert kinds(diff) == [("changed", old, new)]


def test_what_came_and_what_went_are_told_apart() -> None:
    new = RELEASES.replace("- Tag every release with the ticket number.\n", "") + "- Never promise a delivery date.\n"
    diff = compared(RELEASES, new)
    assert kinds(diff) == [
        ("added", "", "Never promise a delivery date."),
        ("removed", "Tag every release with the ticket number.", ""),
    ]


@pytest.mark.parametrize(
    "new",
    [
        "Each release gets a tag that carries its ticket number.",
        "tag every release with the **ticket number**",
        "Tag each and every release with the ticket number!",
    ],
)
def test_other_words_for_the_same_are_no_change(new: str) -> None:
    diff = compared("Tag every release with the ticket number.", new)
    assert diff.behaviour == []


@pytest.mark.parametrize(
    "new",
    [
        "Do not tag every release with the ticket number.",
        "Tag every release with the build number.",
        "Never tag releases with the ticket number.",
    ],
)
def test_a_denial_or_another_thing_in_its_place_is_a_change(new: str) -> None:
    diff = compared("Tag every release with the ticket number.", new)
    assert [one.kind for one in diff.differences] == [DiffKind.CHANGED]


def test_two_things_that_change_places_around_a_preference_are_a_change() -> None:
    diff = compared("Prefer dataclasses over dictionaries.", "Prefer dictionaries over dataclasses.")
    assert [one.kind for one in diff.differences] == [DiffKind.CHANGED]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The rent is 1,150 euros.", "The rent is eleven hundred and fifty euros."),
        ("Die Kündigungsfrist ist 21 Tage.", "Die Kündigungsfrist ist einundzwanzig Tage."),
        ("El plazo es de 35 días.", "El plazo es de treinta y cinco días."),
        ("Read the settings from /etc/shop/main.toml.", "Read the settings from main.toml in /etc/shop."),
        ("The flag `new_checkout` is off.", "The flag new-checkout is off."),
        ("A contract may run for at most three years.", "A contract may run for no more than three years."),
    ],
)
def test_a_value_or_a_name_in_another_spelling_is_no_change(old: str, new: str) -> None:
    assert not compared(f"- {old}\n", f"- {new}\n").behaviour


def test_a_value_that_is_another_one_in_words_is_a_change() -> None:
    assert compared("- The rent is 1,150 euros.\n", "- The rent is eleven hundred and sixty euros.\n").behaviour
    assert compared("- Read src/a/b.py first.\n", "- Read src/b/a.py first.\n").behaviour


def test_a_statement_in_another_language_is_doubtful_even_without_a_common_word() -> None:
    diff = compared(
        "- The user is allergic to nuts.\n", "- Sie darf keine Erdnüsse und auch nichts mit Mandeln essen.\n"
    )
    assert [one.kind for one in diff.differences] == [DiffKind.DOUBTFUL]


@pytest.mark.parametrize("new", ["Les clients japonais ne paient plus en yens.", "Discounts need no approval."])
def test_a_denial_is_never_folded_away(new: str) -> None:
    old = "Les clients japonais paient en yens." if new.startswith("Les") else "Ms. Adeyemi approves every discount."
    assert compared(f"- {old}\n", f"- {new}\n").differences[0].kind not in (DiffKind.REWORDED, DiffKind.REPEATED)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Essays are read by a second marker.", "Essays can be read by a second marker."),
        ("Les factures doivent être signées.", "Les factures peuvent être signées."),
        ("Der Aufzug muss jährlich geprüft werden.", "Der Aufzug sollte jährlich geprüft werden."),
        ("Bisogna chiudere il gas.", "Si può chiudere il gas."),
        ("No merge without a green build.", "A green build is good for merging."),
    ],
)
def test_a_duty_that_becomes_a_choice_is_never_folded_away(old: str, new: str) -> None:
    for before, after in ((old, new), (new, old)):
        told = compared(f"- {before}\n", f"- {after}\n").differences
        assert not {one.kind for one in told} & {DiffKind.REWORDED, DiffKind.REPEATED}, told


def test_duties_in_other_words_are_told_from_choices() -> None:
    folded = {"weakened": 0, "same": 0}
    for row in map(json.loads, DUTIES.read_text("utf-8").splitlines()):
        folded[row["kind"]] += compared(row["old"], row["new"]).differences[0].kind is DiffKind.REWORDED
    assert folded["weakened"] <= 1 and folded["same"] >= 20, folded


def test_a_renamed_memory_says_what_it_said() -> None:
    diff = compared({"/releases.md": RELEASES}, {"/engineering/how-we-ship.md": RELEASES})
    assert diff.behaviour == [] and {one.kind for one in diff.differences} == {DiffKind.MOVED}


def test_a_memory_split_in_two_says_what_it_said() -> None:
    first, second, third = RELEASES.splitlines()[2:]
    diff = compared(RELEASES, {"/a.md": f"# Shipping\n\n{third}\n", "/b.md": f"# Tags\n\n{second}\n{first}\n"})
    assert diff.behaviour == []


def test_two_sentences_that_became_one_say_what_they_said() -> None:
    joined = "Deploys go out on Tuesdays after the standup; tag every release with the ticket number."
    diff = compared(RELEASES, f"# Releases\n\n- {joined}\n- Ask Priya before touching the billing schema.\n")
    assert diff.behaviour == []
    assert compared(f"- {joined}", RELEASES.rpartition("- Ask")[0]).behaviour == []


def test_one_of_two_lines_that_say_the_same_can_go_without_a_loss() -> None:
    doubled = RELEASES + "\nEvery release is tagged with the ticket number.\n"
    assert [one.kind for one in compared(doubled, RELEASES).differences] == [DiffKind.REPEATED]


def test_a_line_that_went_and_may_be_said_by_another_is_shown_beside_it() -> None:
    doubled = RELEASES + "\nPut the ticket number into the tag of every release.\n"
    (one,) = compared(doubled, RELEASES).differences
    assert one.kind is DiffKind.DOUBTFUL and one.after == "Tag every release with the ticket number."


def test_code_tables_labels_and_json_are_read_as_statements() -> None:
    page = "Hosts:\n\n- db1\n- db2\n\n| port | 5432 |\n|---|---|\n\n```sh\nmake deploy\n```\n"
    assert [one.text for one in statements_in("/a.md", page)] == [
        "Hosts: db1",
        "Hosts: db2",
        "port | 5432",
        "make deploy",
    ]
    stored = '{"deploy": {"day": "Tuesday", "approvals": 2}}'
    assert [one.text for one in statements_in("/a.json", stored)] == ["deploy day: Tuesday", "deploy approvals: 2"]


def test_a_page_that_was_given_back_as_one_block_of_markdown_is_read_as_a_page() -> None:
    page = "# Hosts\n\nStaging is db1.\n\n- Deploys go out on Tuesdays.\n"
    plain = statements_in("/a.md", page)
    assert statements_in("/a.md", f"```markdown\n{page}```\n") == plain and len(plain) == 2
    sample = "```md\n- An example.\n```\n\nWrite it like that.\n\n```sh\nmake\n```\n"
    assert [(one.text, one.code) for one in statements_in("/a.md", sample)] == [
        ("- An example.", True),
        ("Write it like that.", False),
        ("make", True),
    ]


def test_a_label_is_said_with_the_items_below_it_and_with_no_others() -> None:
    page = """\
In the shop folder. Run these first:

- Names begin with shop. For example, shop-core.
- When you cannot, follow the convention:
  - Say the name.
  - Say it twice.
- Keep modules small.

Other matters.
"""
    label, inner = "Run these first:", "When you cannot, follow the convention:"
    assert [one.text for one in statements_in("/a.md", page)] == [
        "In the shop folder.",
        f"{label} Names begin with shop.",
        f"{label} For example, shop-core.",
        f"{inner} Say the name.",
        f"{inner} Say it twice.",
        f"{label} Keep modules small.",
        "Other matters.",
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "Never touch code about `SHOP_NETWORK_OFF_VAR`.",
            "Never touch code about `SHOP_NETWORK_OFF_VAR` or `SHOP_VAR`.",
        ),
        ("Before a push run `cargo test -p shop`.", "Before a push run `just test -p shop`."),
    ],
)
def test_a_name_or_a_command_of_code_that_came_is_a_change(old: str, new: str) -> None:
    assert compared(f"- {old}\n", f"- {new}\n").behaviour


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Before finishing a change, run `just fix`.", "Before finishing a large change, run `just fix`."),
        (
            "After making changes to the code run `just fmt` (in the folder `shop`) to format the code and `just fix` "
            "(in the folder `shop`) to mend whatever the linter finds in the code.",
            "Before opening a pull request run `just fmt` (in the folder `shop`) to format the code and `just fix` "
            "(in the folder `shop`) to mend whatever the linter finds in the code.",
        ),
    ],
)
def test_a_small_part_that_says_something_else_is_not_folded_away(old: str, new: str) -> None:
    (one,) = compared(f"- {old}\n", f"- {new}\n").differences
    assert one.kind in (DiffKind.CHANGED, DiffKind.DOUBTFUL)


def test_a_label_that_is_partly_bold_is_said_without_its_marks() -> None:
    (one,) = statements_in("/a.md", "**Hosts:** these are ours:\n\n* db1\n")
    assert one.text == "Hosts: these are ours: db1"


def test_one_changed_character_of_code_is_a_change() -> None:
    diff = compared("```sh\nmake deploy\n```\n", "```sh\nmake deploy-all\n```\n")
    assert [one.kind for one in diff.differences] == [DiffKind.CHANGED]


def test_the_figures_of_the_documentation_hold_on_generated_stores() -> None:
    """A few stores of statements that were set aside; benchmarks/store_diff.py has the rest."""
    found = reported = edits = rewordings = 0
    for case in cases([one for one in read_edits() if one.set_aside], 12, 11):
        diff = store_diff(Snapshot("old", case.before), Snapshot("new", case.after))
        told = {part.text for one in diff.behaviour for part in (*one.old, *one.new)}
        for kind, old, new in case.done:
            edits, found = edits + (kind in BEHAVIOUR), found + (kind in BEHAVIOUR and bool({old, new} & told))
            rewordings, reported = rewordings + (kind == "reword"), reported + (kind == "reword" and new in told)
    assert found >= 0.8 * edits and reported <= 0.1 * rewordings, (found, edits, reported, rewordings)


def test_what_another_hand_says_in_a_chat_is_rather_doubtful_than_a_change() -> None:
    """Every fifth pair of training/data/relate-b.jsonl, by which nothing here was fitted."""
    told: dict[str, list[bool]] = {"same": [], "supersedes": []}
    for row in map(json.loads, PAIRS.read_text("utf-8").splitlines()[::5]):
        if row["kind"] in told:
            told[row["kind"]].append(bool(compared(row["old"], row["new"]).behaviour))
    assert sum(told["same"]) <= 0.2 * len(told["same"]) and sum(told["supersedes"]) >= 0.75 * len(told["supersedes"])
