"""Where what a managed memory learned goes: a skill by what stands beside it, a new skill, a place a reviewer chose."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from reverie.app import Home, open_home
from reverie.bridge.diff import Difference, DiffKind
from reverie.bridge.draft import Curation, Drafted, Worded
from reverie.bridge.route import Kept, KeptOut, Route
from reverie.bridge.statements import StoreStatement
from reverie.changes.proposal import Proposal
from reverie.cli import reverie
from reverie.memory.operation import Add
from tests.conftest import NOON

BREWING = (
    "Always rinse the filter before you brew.",
    "Grind the beans right before brewing, never the day before.",
    "Use water of 94 degrees for light roasts.",
    "Never let the kettle boil dry while brewing.",
)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with open_home(tmp_path / "home", now=NOON, settings={"owner": "ann"}) as opened:
        yield opened


def proposed(home: Home, folder: Path, old: str, new: str) -> list[Proposal]:
    for name, text in (("old", old), ("new", new)):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "coffee.md").write_text(f"# Coffee\n\n{text}\n")
    home.bridge.propose(str(folder / "old"), str(folder / "new"), target="home")
    return home.review.waiting()


def lines(texts: tuple[str, ...]) -> str:
    return "".join(f"- {one}\n" for one in texts)


def test_several_related_matters_without_a_home_become_one_new_skill(home: Home, tmp_path: Path) -> None:
    (proposal,) = proposed(home, tmp_path, "- Nothing.\n", f"- Nothing.\n{lines(BREWING)}")
    assert proposal.kind == "amendment" and len(proposal.suggestion.evidence) == len(BREWING)
    home.review.approve(proposal)
    made = (home.config.home / "skills" / "coffee" / "SKILL.md").read_text()
    assert all(f"- {one}\n" in made for one in BREWING) and "description:" in made


def test_a_page_on_which_everything_is_noted_becomes_no_skill(home: Home, tmp_path: Path) -> None:
    many = tuple(f"Always check machine {number} before you start it." for number in range(31))
    waiting = proposed(home, tmp_path, "- Nothing.\n", f"- Nothing.\n{lines(many)}")
    assert {one.suggestion.subject for one in waiting} == {"MEMORY.md"}


def test_what_dreams_note_without_a_page_makes_a_skill_only_of_what_is_about_one_matter(
    home: Home, tmp_path: Path
) -> None:
    checks = tuple(f"Always run `make check-{name}` before you push." for name in ("api", "web", "docs"))
    others = ("Invoices go out on Mondays.", "The fridge is emptied on Fridays.", "Visitors sign in at the desk.")
    for name, text in (("old", "- Nothing.\n"), ("new", f"- Nothing.\n{lines((*others, *checks))}")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "notes.md").write_text(text)
    home.bridge.propose(str(tmp_path / "old"), str(tmp_path / "new"), target="home")
    skill, *rest = home.review.waiting()
    assert skill.suggestion.subject == "run-check-before-push" and len(skill.suggestion.evidence) == len(checks)
    assert {one.suggestion.subject for one in rest} == {"MEMORY.md"} and len(rest) == len(others)


def test_a_new_skill_says_where_its_rules_come_from(home: Home, tmp_path: Path) -> None:
    (proposal,) = proposed(home, tmp_path, "- Nothing.\n", f"- Nothing.\n{lines(BREWING)}")
    assert f"({tmp_path / 'new'}/coffee.md)" in proposal.suggestion.reason


def test_a_new_skill_is_called_like_its_heading_without_the_number_of_it(home: Home, tmp_path: Path) -> None:
    new = f"- Nothing.\n\n## 2. Brewing by hand\n\n{lines(BREWING)}"
    (proposal,) = proposed(home, tmp_path, "- Nothing.\n", new)
    assert proposal.suggestion.subject == "brewing-by-hand"


def test_what_stands_beside_rules_of_a_skill_goes_to_that_skill(home: Home, tmp_path: Path) -> None:
    skill = home.config.home / "skills" / "barista" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(
        f"---\nname: barista\ndescription: Hot drinks.\n---\n\n# Barista\n\n## Rules\n{lines(BREWING[:3])}"
    )
    cups = "Cups are warmed up first."
    (proposal,) = proposed(home, tmp_path, lines(BREWING[:3]), lines((*BREWING[:3], cups)))
    assert proposal.suggestion.subject == "barista" and "rules of barista" in proposal.suggestion.reason


def test_a_place_that_a_reviewer_chose_is_remembered_told_and_forgotten_on_request(home: Home, tmp_path: Path) -> None:
    where = ("--home", str(home.config.home), "--json")
    (first,) = proposed(home, tmp_path, "- Nothing.\n", "- Nothing.\n- Beans come from Lisbon.\n")
    assert first.suggestion.subject == "MEMORY.md"
    learned, _ = home.bridge.reroute(first.id, "user", by="ann", target="home")
    (moved,) = home.review.waiting()
    assert moved.suggestion.subject == "USER.md"
    assert "ann put “Beans come from Lisbon.” there" in moved.suggestion.reason
    second = [
        one
        for one in proposed(home, tmp_path, "- Nothing.\n", "- Nothing.\n- Beans come from Porto, too.\n")
        if one.id != moved.id
    ]
    assert [one.suggestion.subject for one in second] == ["USER.md"]
    assert learned.id in second[0].suggestion.reason
    listed = json.loads(CliRunner().invoke(reverie, ["bridge", "routes", *where]).stdout)
    assert [(one["id"], one["to"], one["by"]) for one in listed] == [(learned.id, "user", "ann")]
    emptied = CliRunner().invoke(reverie, ["bridge", "routes", "--remove", learned.id, *where])
    assert json.loads(emptied.stdout) == []


def test_what_a_reviewer_wanted_nothing_of_is_kept_out(home: Home, tmp_path: Path) -> None:
    (first,) = proposed(home, tmp_path, "- Nothing.\n", "- Nothing.\n- Beans come from Lisbon.\n")
    home.bridge.reroute(first.id, "nothing", by="ann", target="home")
    (tmp_path / "new" / "coffee.md").write_text("# Coffee\n\n- Nothing.\n- Beans come from Porto.\n")
    batch = home.bridge.propose(str(tmp_path / "old"), str(tmp_path / "new"), target="home")
    assert [one.reason for one in batch.results if isinstance(one, KeptOut)] == [Kept.REROUTED]
    assert home.review.waiting() == []


def test_a_proposal_that_was_moved_in_the_inbox_teaches_the_bridge_too(home: Home, tmp_path: Path) -> None:
    home.review.write("home", "USER.md", [Add("USER.md", "Ann drinks tea.")], "she said so")
    (first,) = proposed(home, tmp_path, "- Nothing.\n", "- Nothing.\n- Beans come from Lisbon.\n")
    moved = home.inbox.move(first.id, first.hash, "home/USER.md")
    assert moved.done and [one.to for one in home.bridge.routes.all()] == ["user"], moved
    (tmp_path / "new" / "coffee.md").write_text("# Coffee\n\n- Nothing.\n- Beans come from Porto, too.\n")
    batch = home.bridge.propose(str(tmp_path / "old"), str(tmp_path / "new"), target="home")
    assert [one.route.document for one in batch.results if isinstance(one, Drafted)] == ["USER.md"]


def barista(home: Home, rules: tuple[str, ...]) -> None:
    skill = home.config.home / "skills" / "coffee-bar" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(f"---\nname: coffee-bar\ndescription: Hot drinks.\n---\n\n# Bar\n\n## Rules\n{lines(rules)}")


def test_what_stands_on_a_page_that_is_named_like_a_skill_goes_to_that_skill(home: Home, tmp_path: Path) -> None:
    barista(home, ("Use water of 94 degrees for light roasts.",))
    (proposal,) = proposed(home, tmp_path, "- Nothing.\n", "- Nothing.\n- Spoons are counted every evening.\n")
    assert proposal.suggestion.subject == "coffee-bar" and "named like coffee-bar" in proposal.suggestion.reason


def test_what_stands_in_a_folder_that_a_skill_is_named_after_goes_to_that_skill(home: Home, tmp_path: Path) -> None:
    barista(home, ("Use water of 94 degrees for light roasts.",))
    for name, text in (("old", "Nothing."), ("new", "Nothing.\n- Spoons are counted every evening.")):
        (tmp_path / name / "bar").mkdir(parents=True)
        (tmp_path / name / "bar" / "replies.md").write_text(f"- {text}\n")
    home.bridge.propose(str(tmp_path / "old"), str(tmp_path / "new"), target="home")
    assert [one.suggestion.subject for one in home.review.waiting()] == ["coffee-bar"]


@pytest.mark.parametrize(
    ("said", "subject"),
    [
        ("Dark roasts are ground coarser before brewing.", "hot-drinks"),
        ("Guests sign the book at the door.", "MEMORY.md"),
    ],
)
def test_a_sentence_alone_goes_to_the_skill_whose_rules_it_is_like(
    home: Home, tmp_path: Path, said: str, subject: str
) -> None:
    for name, rules in (
        ("hot-drinks", BREWING),
        ("invoices", ("Payment is due after 14 days.", "Send them on Mondays.")),
    ):
        skill = home.config.home / "skills" / name / "SKILL.md"
        skill.parent.mkdir(parents=True)
        skill.write_text(f"---\nname: {name}\ndescription: Our ways.\n---\n\n# Us\n\n## Rules\n{lines(rules)}")
    for name, text in (("old", "Nothing."), ("new", f"Nothing.\n- {said}")):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "inbox.md").write_text(f"- {text}\n")
    home.bridge.propose(str(tmp_path / "old"), str(tmp_path / "new"), target="home")
    assert [one.suggestion.subject for one in home.review.waiting()] == [subject]


def test_what_one_person_wants_does_not_change_a_skill_that_others_follow(home: Home, tmp_path: Path) -> None:
    barista(home, BREWING)
    mine = BREWING[2].replace("Use water of 94", "The user wants water of 85")
    for name, text in (("old", BREWING[2]), ("new", mine)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "coffee.md").write_text(f"# Coffee\n\n- {text}\n")
    batch = home.bridge.propose(str(tmp_path / "old"), str(tmp_path / "new"), target="home")
    assert [one.reason for one in batch.results if isinstance(one, KeptOut)] == [Kept.ONE_PERSON], batch.results
    assert home.review.waiting() == []


NOTES = ("Release notes are written in the past tense.", "Every release is marked in Grafana.")


def of_release(home: Home, folder: Path, said: str) -> Proposal:
    """What becomes of a sentence that stands beside the rules of a skill."""
    skill = home.config.home / "skills" / "release" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(f"---\nname: release\ndescription: How we release.\n---\n\n# Release\n\n## Rules\n{lines(NOTES)}")
    (proposal,) = proposed(home, folder, lines(NOTES), lines((*NOTES, said)))
    return proposal


NOTED = (
    "The printer is on the second floor.",
    "Lunch is at noon.",
    "Invoices are kept for ten years.",
    "The heating starts in October.",
    "Rabbits get the first slot of the morning.",
)


def test_a_page_on_which_everything_is_noted_is_about_no_skill(home: Home, tmp_path: Path) -> None:
    skill = home.config.home / "skills" / "release" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(f"---\nname: release\ndescription: How we release.\n---\n\n# Release\n\n## Rules\n{lines(NOTES)}")
    stood = (*NOTES, *NOTED)
    (proposal,) = proposed(home, tmp_path, lines(stood), lines((*stood, "Visitors sign in at the desk.")))
    assert proposal.suggestion.subject == "MEMORY.md"


@pytest.mark.parametrize(
    "said",
    [
        "Bob wants his release notes in pink.",
        "Karolina hates bullet points in her changelog.",
        "Giovanni preferisce le sue note in inglese.",
    ],
)
def test_what_tells_one_persons_wish_is_not_put_into_a_skill(home: Home, tmp_path: Path, said: str) -> None:
    proposal = of_release(home, tmp_path, said)
    assert proposal.suggestion.subject == "MEMORY.md" and "it is about one person" in proposal.suggestion.reason


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("Frau Özdemir möchte ihre Versionshinweise per Post.", "Özdemir"),
        ("Davide vuole le note di rilascio il lunedì.", "Davide"),
        ("When Oskar asks for a changelog, leave out the ticket numbers.", "Oskar"),
        ("Hotfix notes for ann are kept short, and Ann reads them first.", "Ann"),
    ],
)
def test_a_name_that_may_be_one_persons_is_told_before_it_goes_into_a_skill(
    home: Home, tmp_path: Path, said: str, name: str
) -> None:
    told = of_release(home, tmp_path, said).suggestion
    assert told.subject == "release" and f"names {name}: what is about one person" in told.reason


@pytest.mark.parametrize(
    "said",
    [
        "The reviewer wants a screenshot with every release.",
        "Every developer signs her tags.",
        "Grafana wants its tokens renewed every quarter.",
        "Der Kunde möchte jede Änderung mit Bild sehen.",
        "Releases go out on Tuesdays.",
        "Raporlar her zaman kısa olur.",
    ],
)
def test_a_rule_about_a_role_or_a_known_product_goes_into_a_skill_without_a_question(
    home: Home, tmp_path: Path, said: str
) -> None:
    told = of_release(home, tmp_path, said).suggestion
    assert told.subject == "release" and "one person" not in told.reason


def test_a_model_puts_nobodys_wish_into_a_skill_and_is_heard_where_it_would_rather_have_memory(home: Home) -> None:
    barista(home, BREWING)
    places = home.bridge.amending.places("home")
    said = StoreStatement("Bob wants his coffee weak.", "Bob wants his coffee weak.", "/inbox.md")
    came = Difference(DiffKind.ADDED, (), (said,), 0.0)
    kept = Curation("model", {id(came): Worded("Make Bob's coffee weak.", "coffee-bar")}).applied(
        Route(came, said.text, document="MEMORY.md", one_person=True), places
    )
    assert isinstance(kept, Route) and kept.skill is None and kept.document == "MEMORY.md"
    told = Curation("model", {id(came): Worded("Bob's coffee is weak.")}).applied(
        Route(came, said.text, skill=places.skills[0], section="Rules", why="it names coffee-bar"), places
    )
    assert isinstance(told, Route) and told.why.endswith("worded by model, who would put it into memory")


@pytest.mark.parametrize(("page", "document"), [("user_preferences.md", "USER.md"), ("user-service.md", "MEMORY.md")])
def test_what_stands_on_a_page_about_a_person_is_about_that_person(
    home: Home, tmp_path: Path, page: str, document: str
) -> None:
    for name, text in (("old", "Nothing."), ("new", "Nothing.\n- Aisle seats only.")):
        (tmp_path / name).mkdir()
        (tmp_path / name / page).write_text(f"- {text}\n")
    home.bridge.propose(str(tmp_path / "old"), str(tmp_path / "new"), target="home")
    assert [one.suggestion.subject for one in home.review.waiting()] == [document]
