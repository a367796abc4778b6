"""Every rule an agent operates under, wherever it stands: listed, traced to its change, held against what is proposed,
and never weakened without a person where it is marked critical."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import text as sql

from reverie.app import Home, open_home
from reverie.changes.history import Rule
from reverie.changes.land import Landed
from reverie.changes.queue import Proposed, Waiting
from reverie.cli.history import blame, rules, undo
from reverie.cli.memory import memory
from reverie.cli.skills import skills as skills_command
from reverie.core.scope import Origin
from reverie.memory.operation import Add, Remove, entry_hash
from reverie.memory.store import Author, StoredMemory
from reverie.transcripts.session import Evidence
from tests.conftest import NOON, HomeMaker
from tests.serving import serving
from tests.story.test_api_dreams import PAGES, TALK, content, dreamt, filled, of_ann, recorded

RULE = "Never deploy on Fridays."
AGAINST = "Always deploy on Fridays."
POLICY = """\
[skills]
create = "land"
patch = "land"
merge = "land"
retire = "land"
revert = "land"
"""
DEPLOY = f"""\
---
name: deploy
description: Use when deploying the shop.
version: 1.0.0
---
# Deploy

## Steps

1. Run the tests.
2. {RULE}

## Gotchas

- Warm the cache.
"""
OTHER = "---\nname: rollback\ndescription: Use when rolling back.\nversion: 1.0.0\n---\n## Steps\n\n1. Tell the team.\n"


@pytest.fixture(autouse=True)
def owner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REVERIE_OWNER", "ann")


@pytest.fixture
def lenient(tmp_path: Path, homes: HomeMaker) -> Home:
    """A home whose policy would let every change of a skill land on the owner's words."""
    for name, text in {"deploy": DEPLOY, "rollback": OTHER}.items():
        folder = tmp_path / "home" / "skills" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(text)
    (tmp_path / "home" / "policy.toml").write_text(POLICY)
    return homes()


def said(words: str = "do it so") -> list[Evidence]:
    return [Evidence("plain:s1", 1, words, Origin.OWNER)]


def the_rule(home: Home, text: str = RULE) -> Rule:
    list(home.skills.every())
    (found,) = (rule for history in home.histories() for rule in history.rules() if rule.text.strip() == text)
    return found


def ran(command: Any, *words: str, home: Path, answer: str = "") -> Any:
    result = CliRunner().invoke(command, [*words, "--home", str(home)], input=answer, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout) if "--json" in words else result.output


# ---- listed and traced, on every surface -----------------------------------------------------------------------------


def in_memory(home: Home, tmp_path: Path) -> str:
    assert isinstance(home.review.write("home", "MEMORY.md", [Add("MEMORY.md", RULE)]), Landed)
    return "home/MEMORY.md"


def in_a_skill(home: Home, tmp_path: Path) -> str:
    folder = tmp_path / "home" / "skills" / "deploy"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(DEPLOY)
    return "skills/deploy/SKILL.md"


def in_a_store(home: Home, tmp_path: Path) -> str:
    store = home.tenants.stores(home.owned).create("Notes").id
    made = home.tenants.writes(home.owned, Author("user", "ann"), "ann").create(store, "/deploys.md", RULE)
    assert isinstance(made, StoredMemory)
    return f"{store}/deploys.md"


def over_the_api(home: Home, tmp_path: Path) -> str:
    """With a key that is bound to nobody: the store is nobody's."""
    with serving(home, dreams=False) as served:
        store = served.store()
        served.memory(store, "/deploys.md", RULE)
    return f"{store}/deploys.md"


SURFACES: dict[str, Callable[[Home, Path], str]] = {
    "memory": in_memory,
    "a skill": in_a_skill,
    "a store": in_a_store,
    "a store over the API": over_the_api,
}


@pytest.mark.parametrize("surface", SURFACES)
def test_rules_and_blame_name_the_change_that_brought_it(home: Home, tmp_path: Path, surface: str) -> None:
    where = SURFACES[surface](home, tmp_path)
    (listed,) = (row for row in ran(rules, "--json", home=tmp_path / "home") if row["rule"].strip() == RULE)
    assert listed["where"] == where and listed["change"].startswith("chg_")
    assert listed["user"] == ("" if surface == "a store over the API" else "ann")
    (traced,) = (row for row in ran(blame, where, "--json", home=tmp_path / "home") if row["rule"].strip() == RULE)
    assert traced == listed
    assert RULE in ran(blame, where, home=tmp_path / "home")


def test_rules_of_another_workspace_are_listed_by_who_runs_the_server(home_on: Home, tmp_path: Path) -> None:
    with serving(home_on, dreams=False) as served:
        key = served.new_key("read", "write", workspace="acme", user="bob")
        store = served.store(key=key)
        served.memory(store, "/deploys.md", RULE, key=key)
    assert not [rule for history in home_on.histories() for rule in history.rules()]
    (found,) = (rule for history in home_on.histories("acme") for rule in history.rules())
    assert (found.text, found.where, found.user) == (RULE, f"{store}/deploys.md", "bob")
    assert not [rule for history in home_on.histories("acme", "carol") for rule in history.rules()]


@pytest.mark.parametrize("name", ["AGENTS.md", "CLAUDE.md", ".hermes.md", "GEMINI.md", ".claude/rules/deploys.md"])
def test_an_instruction_file_is_listed_and_said_to_have_no_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    file = tmp_path / "shop" / name
    file.parent.mkdir(parents=True)
    file.write_text(f"# Rules\n\n- {RULE}\n")
    monkeypatch.setenv("REVERIE_INSTRUCTIONS", str(tmp_path / "shop"))
    for found in (
        ran(rules, "--json", home=tmp_path / "home"),
        ran(blame, str(file), "--json", home=tmp_path / "home"),
        ran(blame, name, "--json", home=tmp_path / "home"),
    ):
        assert [(row["rule"], row["where"], row["change"]) for row in found] == [(RULE, str(file), None)]
    assert "Reverie does not change it" in ran(blame, name, home=tmp_path / "home")


@pytest.mark.parametrize("name", ["SOUL.md", "TOOLS.md", "AGENTS.md"])
def test_what_a_harness_reads_beside_its_memory_is_listed(
    homes: HomeMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    workspace = tmp_path / "claw"
    workspace.mkdir()
    (workspace / "MEMORY.md").write_text("- The shop is in Graz.\n")
    (workspace / name).write_text(f"- {RULE}\n")
    monkeypatch.setenv("OPENCLAW_WORKSPACE_DIR", str(workspace))
    assert [(one.text, one.file) for one in homes().instructions()] == [(RULE, str(workspace / name))]


@pytest.mark.parametrize("surface", [*SURFACES, "AGENTS.md"])
@pytest.mark.parametrize("kind", ["memory", "a skill"])
def test_a_refinement_shows_the_rule_it_contradicts(
    homes: HomeMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, surface: str, kind: str
) -> None:
    rollback = tmp_path / "home" / "skills" / "rollback"
    rollback.mkdir(parents=True)
    (rollback / "SKILL.md").write_text(OTHER)
    if surface == "AGENTS.md":
        (tmp_path / "AGENTS.md").write_text(f"- {RULE}\n")
        monkeypatch.setenv("REVERIE_INSTRUCTIONS", str(tmp_path / "AGENTS.md"))
    home = homes()
    where = str(tmp_path / "AGENTS.md") if surface == "AGENTS.md" else SURFACES[surface](home, tmp_path)
    if kind == "memory":
        from reverie.changes.proposal import Suggestion

        wanted = Suggestion("home", "MEMORY.md", (Add("MEMORY.md", AGAINST),))
        proposed: Proposed = home.review.propose(wanted)
    else:
        proposed = home.refining.refine_skill("rollback", section="Steps", add=[AGAINST])
    assert isinstance(proposed, Waiting)
    shown = [one.surface for one in proposed.proposal.related if one.relation == "contradicts" and one.text == RULE]
    assert shown == [where.removesuffix("/SKILL.md")]


def test_a_dream_over_a_store_withholds_what_would_change_a_critical_memory(home_on: Home) -> None:
    with serving(home_on) as server:
        served = of_ann(server)
        store, session = filled(served), recorded(served, *TALK[:2])
        history = home_on.history_of(home_on.owned)
        home_on.review.mark(history.rule(store, "We deploy on Fridays"), critical=True)
        dream = dreamt(served, store, session)
        withheld = served.call("GET", f"/v1/dreams/{dream['id']}/withheld").json["data"]
        assert content(served, dream["output_memory_store_id"]) == PAGES
    assert {reason for one in withheld for reason in one["reasons"]} >= {"critical"}


# ---- critical rules of a skill ---------------------------------------------------------------------------------------

CHANGES: dict[str, Callable[[Home], Proposed]] = {
    "dropped": lambda home: home.refining.refine_skill("deploy", section="Steps", remove=[RULE], evidence=said()),
    "weakened": lambda home: home.refining.refine_skill(
        "deploy", section="Steps", replace={RULE: "Avoid to deploy on Fridays."}, evidence=said()
    ),
    "left out of a new text": lambda home: home.refining.refine_skill(
        "deploy", text="## Steps\n\n1. Run the tests.\n", evidence=said()
    ),
    "taken out by a diff": lambda home: home.refining.refine_skill(
        "deploy", diff=f"--- a\n+++ b\n@@ -9,2 +9,1 @@\n 1. Run the tests.\n-2. {RULE}\n", evidence=said()
    ),
    "taken in by another skill": lambda home: home.refining.merge_skills(
        "rollback", "deploy", f"## Steps\n\n1. Tell the team.\n2. {RULE}\n"
    ),
    "contradicted": lambda home: home.refining.refine_skill(
        "rollback", section="Steps", add=[AGAINST], evidence=said()
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_touches_a_critical_rule_of_a_skill_asks_whatever_the_policy_says(lenient: Home, change: str) -> None:
    lenient.refining.mark_rule("deploy", "fridays")
    proposed = CHANGES[change](lenient)
    assert isinstance(proposed, Waiting), proposed
    assert "marked critical" in proposed.proposal.asks_because and RULE in proposed.proposal.asks_because


def test_what_does_not_touch_it_lands_and_so_does_all_of_it_where_nothing_is_marked(lenient: Home) -> None:
    add = lenient.refining.refine_skill("deploy", section="Gotchas", add=["Tag first."], evidence=said("tag first"))
    assert isinstance(add, Landed)
    assert isinstance(CHANGES["weakened"](lenient), Landed)
    lenient.refining.mark_rule("deploy", "avoid")
    step = lenient.refining.refine_skill("deploy", section="Steps", add=["Look at the graphs."], evidence=said("look"))
    assert isinstance(step, Landed)
    lenient.refining.mark_rule("deploy", "avoid", critical=False)
    gone = "Avoid to deploy on Fridays."
    assert isinstance(
        lenient.refining.refine_skill("deploy", section="Steps", remove=[gone], evidence=said("drop it")), Landed
    )


def test_a_critical_rule_stays_so_when_it_is_reworded_with_a_persons_yes(lenient: Home) -> None:
    lenient.refining.mark_rule("deploy", RULE)
    proposed = CHANGES["weakened"](lenient)
    assert isinstance(proposed, Waiting)
    assert isinstance(lenient.review.approve(proposed.proposal), Landed)
    assert the_rule(lenient, "Avoid to deploy on Fridays.").critical


def test_a_critical_rule_stays_so_in_the_skill_that_takes_it_in(lenient: Home) -> None:
    lenient.refining.mark_rule("deploy", RULE)
    proposed = CHANGES["taken in by another skill"](lenient)
    assert isinstance(proposed, Waiting)
    assert isinstance(lenient.review.approve(proposed.proposal), Landed)
    found = the_rule(lenient)
    assert (found.where, found.critical) == ("skills/rollback/SKILL.md", True)


def test_a_critical_rule_that_someone_took_out_by_hand_is_critical_when_it_is_back(
    lenient: Home, tmp_path: Path
) -> None:
    lenient.refining.mark_rule("deploy", RULE)
    file = tmp_path / "home" / "skills" / "deploy" / "SKILL.md"
    file.write_text(DEPLOY.replace(f"2. {RULE}\n", ""))
    list(lenient.skills.every())
    file.write_text(DEPLOY)
    assert the_rule(lenient).critical
    assert all(check.ok for check in lenient.verify())


def test_a_persons_own_act_on_a_critical_rule_has_to_be_confirmed(lenient: Home, tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert "critical" in ran(skills_command, "critical", "deploy", "fridays", home=home)
    no = CliRunner().invoke(skills_command, ["archive", "deploy", "--home", str(home)], input="n\n")
    assert no.exit_code == 1 and "critical rule" in no.output
    assert (home / "skills" / "deploy" / "SKILL.md").exists()
    script = CliRunner().invoke(skills_command, ["archive", "deploy", "--json", "--home", str(home)])
    assert script.exit_code == 1 and json.loads(script.stdout)["outcome"] == "conflicted"
    ran(skills_command, "archive", "deploy", home=home, answer="y\n")
    ran(undo, home=home)
    assert the_rule(lenient).critical


def test_an_undo_that_would_take_a_critical_rule_away_has_to_be_confirmed(home: Home, tmp_path: Path) -> None:
    in_memory(home, tmp_path)
    ran(memory, "critical", "Fridays", home=tmp_path / "home")
    no = CliRunner().invoke(undo, ["--home", str(tmp_path / "home")], input="n\n")
    assert no.exit_code == 1 and the_rule(home).critical
    ran(undo, "--yes", home=tmp_path / "home")
    assert not list(home.memory.entries("home"))


def test_a_critical_rule_of_memory_is_critical_again_when_its_removal_is_undone(home: Home, tmp_path: Path) -> None:
    in_memory(home, tmp_path)
    entry = home.memory.entry("home", "Fridays")
    home.review.mark(entry.id, critical=True)
    removed = home.review.write("home", "MEMORY.md", [Remove("MEMORY.md", entry.sha256)], even_critical=True)
    assert isinstance(removed, Landed)
    assert isinstance(home.review.undo(removed.change.id), Landed)
    assert home.memory.entry("home", "Fridays").critical


def test_a_skill_amended_before_it_could_be_marked_can_be_marked_afterwards(lenient: Home, tmp_path: Path) -> None:
    """Rows are made when a rule is marked: what a home knows of its skills from earlier versions is enough."""
    assert isinstance(CHANGES["weakened"](lenient), Landed)
    lenient.close()
    with open_home(tmp_path / "home", now=NOON, settings={"owner": "ann"}) as again:
        marked = again.refining.mark_rule("deploy", "avoid to deploy")
        again.refining.mark_rule("deploy", "avoid to deploy")
        assert marked.since == NOON
        assert len(again.history_records.critical(again.owned)) == 1


def test_a_critical_rule_that_is_erased_leaves_no_hash_of_itself(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "home" / "skills" / "deploy"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"{DEPLOY}\nThe door code is 4711 for everyone.\n")
    (folder / "notes.bin").write_bytes(gzip.compress(b"4711 is the door code"))
    home.refining.mark_rule("deploy", "door code")
    home.refining.mark_rule("deploy", "fridays")
    assert not home.erase.text("door code is 4711").left
    assert home.history_records.critical(home.owned) == {entry_hash(RULE), entry_hash("The [erased] for everyone.")}
    with home.engine.connect() as connection:
        hashes = set(connection.execute(sql("select sha256 from entries")).scalars())
    assert entry_hash("The door code is 4711 for everyone.") not in hashes
    assert all(check.ok for check in home.verify()), home.verify()
