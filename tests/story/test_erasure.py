"""What was erased stands nowhere any more, and does not come back. On SQLite and on a real Postgres."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text, update
from sqlalchemy.engine import make_url

from reverie.app import Home, restore_home
from reverie.changes.land import Landed
from reverie.changes.ledger import broken_links
from reverie.changes.proposal import Suggestion
from reverie.changes.queue import Waiting
from reverie.config import load
from reverie.core.errors import BadInput, NotFound
from reverie.core.ids import sha256
from reverie.erasure.records import Erasure, ErasureKind
from reverie.memory.operation import Add
from reverie.memory.store import Author
from reverie.storage import schema
from reverie.storage.database import engine as make_engine
from reverie.storage.database import reading_across, writing_across
from reverie.transcripts.session import quote
from tests.canaries import CANARY, FORMS, left_in_files, left_in_rows, planted
from tests.conftest import HomeMaker

RULE = f"Always deploy {CANARY} with the blue script on Tuesdays."
OTHER = "The office plants are watered on Mondays."


def session(name: str, *said: str, user: str = "ann", **more: Any) -> dict[str, Any]:
    turns = [{"role": role, "content": one} for one in said for role in ("user",)]
    answers = [{"role": "assistant", "content": "Noted, I will keep to that from now on."}]
    return {"id": name, "user": user, "started_at": "2026-05-11T10:00:00Z", "messages": [*turns, *answers], **more}


def lived_in(home: Home) -> Home:
    """Two sessions and a night over them; a rule of each landed, and everything is indexed and in git."""
    for name, rule in (("plain:canary", RULE), ("plain:plants", OTHER)):
        home.sessions.add(session(name, f"Remember: {rule[0].lower()}{rule[1:]}"))
    home.dream()
    for name, rule in (("plain:canary", RULE), ("plain:plants", OTHER)):  # a night adds one of the two
        evidence = (quote(home.sessions.get(name), 1, rule[1:-1]),)
        add = (Add("MEMORY.md", rule),)
        home.review.propose(Suggestion("home", "MEMORY.md", add, evidence=evidence, proposer="ann"))
    for proposal in home.review.waiting():
        home.review.approve(proposal)
    home.context()
    home.index.catch_up()
    assert {entry.text for entry in home.memory.entries("home")} == {RULE, OTHER}
    return home


def whole(home: Home) -> bool:
    return [check.said for check in home.verify() if not check.ok] == []


def gone(home: Home, done: Erasure) -> None:
    """From every row, every file, every free page and every object of git."""
    assert done.ended_at is not None and left_in_rows(home.engine) == []
    assert left_in_files(home.config.home) == []
    assert whole(home)


# ---- what goes -------------------------------------------------------------------------------------------------------


def test_a_text_goes_from_every_column_of_every_table_and_every_file_in_every_form(home_on: Home) -> None:
    home = lived_in(home_on)
    (home.config.home / "dreaming" / "home" / "before-reverie").mkdir()
    for number, form in enumerate(FORMS.values()):
        (home.config.home / "dreaming" / "home" / "before-reverie" / f"{number}.txt").write_text(form)
    for encoding in ("utf-16", "utf-32", "utf-32-be", "latin-1"):
        (home.config.home / f"notes-{encoding}.txt").write_bytes(CANARY.encode(encoding))
    (home.config.home / "dreaming" / "home" / f"{CANARY}.txt").write_text("named so")
    (home.config.home / "dreaming" / "home" / f"{CANARY.upper()}.txt").write_text("named alike")
    assert planted(home.engine) > 60
    done = home.erase.text(CANARY)
    assert left_in_rows(home.engine) == [] and left_in_files(home.config.home) == []
    assert list(broken_links(home.history_records.rows(home.owned))) == []
    assert done.counts["turns of transcripts"] >= 1 and done.counts["files"] >= len(FORMS)
    assert not [path for path in home.config.home.rglob("*") if "zebraquartz" in path.name.lower()]
    for path in home.config.home.glob("notes-*.txt"):
        assert CANARY not in path.read_bytes().decode(path.stem.removeprefix("notes-"))
    assert [entry.text for entry in home.memory.entries("home")] == [OTHER]


def test_a_session_takes_along_what_rests_on_it_alone_and_nothing_else(home_on: Home) -> None:
    home = lived_in(home_on)
    gone(home, home.erase.session("plain:canary"))
    assert [entry.text for entry in home.memory.entries("home")] == [OTHER]
    assert [stored.head.id for stored in home.sessions.find()] == ["plain:plants"]
    assert "plants" in home.dream.runner.records.find(home.owned)[0].diary, "what others said is still told"
    assert home.search("deploy script Tuesdays") == [] and home.search("office plants")


def test_a_rule_that_another_session_supports_stays_and_loses_the_quotation(home: Home) -> None:
    home.sessions.add(session("plain:one", "Please water the office plants on Mondays."))
    home.sessions.add(session("plain:two", f"The {CANARY} plants get their water on Mondays, too."))
    words = {"plain:one": "water the office plants", "plain:two": f"The {CANARY} plants get their water"}
    evidence = tuple(quote(home.sessions.get(name), 1, said) for name, said in words.items())
    wanted = Suggestion("home", "MEMORY.md", (Add("MEMORY.md", OTHER),), evidence=evidence, proposer="ann")
    proposed = home.review.propose(wanted, land=False)
    assert isinstance(proposed, Waiting) and isinstance(home.review.approve(proposed.proposal), Landed)
    home.erase.session("plain:two")
    assert [entry.text for entry in home.memory.entries("home")] == [OTHER] and left_in_rows(home.engine) == []
    assert {one.session_id for one in home.history.changes()[0].grounds.evidence} == {"plain:one"} and whole(home)


def test_a_person_goes_with_all_their_rows_and_from_what_others_keep(home_on: Home) -> None:
    home = lived_in(home_on)
    home.sessions.add(session("plain:bobs", f"Remember: the {CANARY} is mine and nobody else may see it.", user="bob"))
    home.dream()
    home.keys.create("bob's key", ["write"], "bob")  # type: ignore[list-item]
    done = home.erase.person("bob")
    assert done.counts["sessions"] == 1 and done.counts["API keys"] == 1
    with home.engine.execution_options(errand="upkeep").connect() as connection:
        for table in schema.metadata.sorted_tables:
            if "user" in table.c:
                rows = connection.execute(text(f'select count(*) from "{table.name}" where "user" = \'bob\'')).scalar()
                assert rows == 0, table.name
        assert "bob" not in str(connection.execute(text("select body from ledger")).all())
    assert {stored.user for stored in home.sessions.find()} == {"ann"} and whole(home)


def test_what_a_person_said_in_the_sessions_of_others_goes_too(home: Home) -> None:
    said = [{"role": "user", "name": "Bob", "content": RULE}, {"role": "user", "content": "Thanks, Bob."}]
    home.sessions.add({"id": "plain:anns", "user": "ann", "messages": said})
    home.erase.person("bob")
    assert [turn.text for turn in home.sessions.get("plain:anns").turns] == ["[erased]", "Thanks, Bob."]


def test_the_owner_goes_with_all_history_and_what_was_learned(home: Home) -> None:
    lived_in(home)
    home.erase.person("ann")
    assert left_in_rows(home.engine) == [] and left_in_files(home.config.home) == []
    assert "plants" not in "".join(path.read_text() for path in home.config.home.rglob("*.md")) and whole(home)


def test_a_target_named_by_its_path_is_gone_through_as_well(home: Home, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    rules = tmp_path / "project" / "rules.md"
    rules.write_text(f"# Rules\n\n- {OTHER}\n")
    home.review.write(str(rules), "rules.md", [Add("rules.md", RULE)])
    assert RULE in rules.read_text()
    home.erase.text(CANARY)
    assert rules.read_text() == f"# Rules\n\n- {OTHER}\n" and left_in_rows(home.engine) == []


def test_a_skill_loses_the_step_and_so_does_its_git(home: Home) -> None:
    folder = home.config.home / "skills" / "deploy"
    folder.mkdir(parents=True)
    page = (
        "---\nname: deploy\ndescription: How to deploy the shop.\n---\n# Deploy\n\n1. Build.\n2. {}3. Tell the team.\n"
    )
    (folder / "SKILL.md").write_text(page.format(f"{RULE}\n"))
    (folder / "notes.txt").write_text(f"said on the phone: {CANARY}")
    list(home.skills.every())
    (folder / "SKILL.md").write_text(page.format(f"{RULE}\n") + "4. Rest.\n")
    list(home.skills.every())
    home.projection.catch_up()
    assert left_in_files(home.config.home / "skills")
    home.erase.text(CANARY)
    assert (folder / "SKILL.md").read_text() == page.format("").replace("2. 3. ", "3. ") + "4. Rest.\n"
    assert (folder / "notes.txt").read_text() == "said on the phone: [erased]"
    assert left_in_files(home.config.home) == [] and left_in_rows(home.engine) == [] and whole(home)


def test_a_skill_whose_folder_is_named_by_it_gets_another_name_in_git_too(home: Home) -> None:
    folder = home.config.home / "skills" / "zebraquartz-7f3a" / "references" / "zebraquartz"
    folder.mkdir(parents=True)
    (folder.parents[1] / "SKILL.md").write_text("---\nname: bake\ndescription: How to bake.\n---\n# Bake\n\n1. Stir.\n")
    (folder / "eggs.md").write_text("Three of them.")
    list(home.skills.every())
    home.projection.catch_up()
    home.erase.text("zebraquartz")
    names = [str(path.relative_to(home.config.home)) for path in (home.config.home / "skills").rglob("*")]
    assert (
        not [name for name in names if "zebra" in name] and "skills/[erased]-7f3a/references/[erased]/eggs.md" in names
    )
    assert left_in_files(home.config.home) == [] and left_in_rows(home.engine) == [] and whole(home)


def test_a_queued_transcript_whose_name_says_it_waits_no_longer(home: Home, tmp_path: Path) -> None:
    home.ended.put("claude-code", tmp_path / "the heron contract of June" / "1.jsonl")
    home.ended.put("claude-code", tmp_path / "another" / "2.jsonl")
    home.erase.text("the heron contract of June")
    assert [Path(one.path).name for one in home.ended.waiting()] == ["2.jsonl"]


def hermes_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "hermes"
    (folder / "memories").mkdir(parents=True)
    (folder / "config.yaml").write_text("{}")
    (folder / "memories/MEMORY.md").write_text(f"{RULE}\n§\n{OTHER}\n")
    monkeypatch.setenv("HERMES_HOME", str(folder))
    return folder


def test_a_file_that_an_editor_holds_open_loses_it_and_what_the_editor_adds_is_not_lost(
    homes: HomeMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, home = hermes_home(tmp_path, monkeypatch), homes()
    with (folder / "memories/MEMORY.md").open("a") as editor:
        waiting = home.review.propose(Suggestion("hermes", "MEMORY.md", (Add("MEMORY.md", "Coffee is at ten."),)))
        assert isinstance(waiting, Waiting) and isinstance(home.review.approve(waiting.proposal), Landed)
        assert any(path.suffix == ".kept" for path in (folder / "memories").iterdir())
        done = home.erase.text(CANARY)
        assert left_in_files(folder, home.config.home) == [] and left_in_rows(home.engine) == []
        assert done.counts["files that an editor holds open"] == 1
        editor.write("\n§\nTea is at four.\n")
    assert {entry.text for entry in home.memory.entries("hermes")} == {OTHER, "Coffee is at ten.", "Tea is at four."}


def test_what_the_plugin_noted_before_the_first_night_goes_too(
    homes: HomeMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, home = hermes_home(tmp_path, monkeypatch) / "dreaming", homes()
    folder.mkdir()
    for name in ("finished.jsonl", "outcomes.jsonl", "night.log"):
        (folder / name).write_text(json.dumps({"session": "x", "path": f"/home/ann/{CANARY}/x.json"}) + "\n")
    (folder / "notes.txt").write_text("of another tool")
    home.erase.text(CANARY)
    assert left_in_files(folder) == [] and (folder / "notes.txt").read_text() == "of another tool"


def test_a_project_goes_by_name_or_by_path(home: Home) -> None:
    for number, folder in enumerate(("/srv/shop", "/srv/shop/cart", "/srv/other")):
        one = session(f"plain:{number}", f"The {CANARY} of {number} is blue.", cwd=folder)
        home.sessions.add(one)
    stored = {one.head.id: one.head.project for one in home.sessions.find()}
    project = stored["plain:0"]
    if project is None:
        pytest.skip("plain sessions carry no project")
    home.erase.project(project)
    assert "plain:0" not in {one.head.id for one in home.sessions.find()}


def test_a_whole_workspace_goes_and_its_ledger_still_holds(home_on: Home) -> None:
    home = lived_in(home_on)
    done = home.erase.workspace("local")
    assert list(home.sessions.find()) == [] and left_in_rows(home.engine) == []
    assert left_in_files(home.config.home) == [] and done.counts["sessions"] == 2
    rows = list(home.history_records.rows(home.owned))
    assert list(broken_links(rows)) == [] and {row.erased for row in rows if row.kind != "erasure"} == {True}


def test_another_workspace_keeps_what_is_erased_in_this_one(home_on: Home) -> None:
    there = home_on.tenants.sessions_in("acme")
    there.add(session("plain:canary", RULE))
    home_on.sessions.add(session("plain:canary", RULE))
    home_on.erase.text(CANARY)
    assert CANARY in there.get("plain:canary").turns[0].text
    assert CANARY not in home_on.sessions.get("plain:canary").turns[0].text
    home_on.erase.workspace("acme")
    assert left_in_rows(home_on.engine) == []


def test_memory_stores_and_their_versions_lose_the_statement_and_keep_the_rest(home_on: Home) -> None:
    storing = home_on.tenants.writes(home_on.owned, Author("user", "ann"))
    store = home_on.tenants.stores(home_on.owned).create("Notes")
    made = storing.create(store.id, "/a.md", f"# Deploy\n\n- {RULE}\n- {OTHER}\n")
    home_on.erase.text(CANARY)
    assert left_in_rows(home_on.engine) == []
    stores = home_on.tenants.stores(home_on.owned)
    page = stores.memory(store.id, made.id)
    assert page.content == f"# Deploy\n\n- {OTHER}\n".encode()
    with reading_across(home_on.engine, "upkeep") as connection:
        row = connection.execute(select(schema.memories)).one()
    assert (row.sha256, row.size) == (sha256(page.content), len(page.content))


# ---- how it goes -----------------------------------------------------------------------------------------------------


def test_a_dry_run_lists_the_places_and_changes_not_one_byte_of_a_row(home_on: Home) -> None:
    home = lived_in(home_on)
    before = _dump(home)
    plan = home.erase.plan(ErasureKind.SESSION, "plain:canary")
    assert _dump(home) == before and plan.rules == (RULE,)
    assert {place.where for place in plan.places} >= {"turns", "sessions", "changes", "blobs", "home/MEMORY.md"}


def _dump(home: Home) -> list[str]:
    with home.engine.execution_options(errand="upkeep", reads=True).connect() as connection:
        return [
            f"{table.name} {row}"
            for table in schema.metadata.sorted_tables
            for row in connection.execute(table.select())
        ]


def test_it_is_not_imported_again_under_its_own_name_or_another(home_on: Home) -> None:
    home = lived_in(home_on)
    long = session("plain:long", f"{RULE} " * 5, "And a second turn, so that it is long enough to be known.")
    home.sessions.add(long)
    home.erase.session("plain:canary")
    home.erase.session("plain:long")
    assert home.sessions.add(session("plain:canary", RULE)).fates == {"erased before": 1}
    assert home.sessions.add(long | {"id": "plain:copy"}).fates == {"erased before": 1}
    assert left_in_rows(home.engine) == [] and len(list(home.sessions.find())) == 1


def test_a_text_is_taken_out_of_what_is_imported_later(home_on: Home) -> None:
    home = lived_in(home_on)
    home.erase.text(CANARY)
    home.sessions.add(session("plain:new", f"Did I tell you about {CANARY.upper()}, by the way?"))
    assert left_in_rows(home.engine) == []
    assert "[erased]" in home.sessions.get("plain:new").turns[0].text
    assert home.sessions.add(session("plain:new", f"Did I tell you about {CANARY.upper()}, by the way?")).fates == {
        "unchanged": 1
    }


def test_what_is_written_while_it_is_erased_does_not_stay_either(home_on: Home) -> None:
    home, stop = lived_in(home_on), threading.Event()
    failed: list[Exception] = []

    def write() -> None:
        number = 0
        try:
            while not stop.is_set():
                home.sessions.add(session(f"plain:w{number % 7}", f"{number} {RULE}"))
                number += 1
        except Exception as error:  # noqa: BLE001 - the test says which
            failed.append(error)

    writers = [threading.Thread(target=write) for _ in range(2)]
    for one in writers:
        one.start()
    home.erase.text(CANARY)
    stop.set()
    for one in writers:
        one.join()
    assert failed == [] and left_in_rows(home.engine) == []
    home.erase.text(CANARY)  # and once more, when nobody holds an older state of the log
    assert left_in_files(home.config.home) == []


def test_a_proposal_that_would_say_it_does_not_wait_with_a_gap_in_it(home: Home) -> None:
    home.sessions.add(session("plain:canary", f"We could deploy {CANARY} on Tuesdays, perhaps."))
    evidence = (quote(home.sessions.get("plain:canary"), 1, CANARY),)
    for name, rule in (("MEMORY.md", RULE), ("USER.md", OTHER)):
        wanted = Suggestion("home", name, (Add(name, rule),), evidence=evidence, proposer="ann")
        assert isinstance(home.review.propose(wanted, land=False), Waiting)
    home.erase.text(CANARY)
    waiting = home.review.waiting()
    assert len(waiting) == 1 and OTHER in waiting[0].diff
    assert waiting[0].suggestion.evidence[0].quote == "[erased]"


def test_a_short_rule_goes_without_the_longer_ones_that_have_its_words(home: Home) -> None:
    home.sessions.add(session("plain:canary", f"Use tabs. {CANARY}"))
    evidence = (quote(home.sessions.get("plain:canary"), 1, "Use tabs."),)
    wanted = Suggestion("home", "MEMORY.md", (Add("MEMORY.md", "Use tabs."),), evidence=evidence, proposer="ann")
    proposed = home.review.propose(wanted, land=False)
    assert isinstance(proposed, Waiting) and isinstance(home.review.approve(proposed.proposal), Landed)
    home.review.write("home", "MEMORY.md", [Add("MEMORY.md", "Use tabs in Makefiles, spaces elsewhere.")])
    home.erase.session("plain:canary")
    assert [entry.text for entry in home.memory.entries("home")] == ["Use tabs in Makefiles, spaces elsewhere."]


def test_rules_can_be_asked_about_and_a_critical_one_always_is(home: Home) -> None:
    lived_in(home)
    entry = next(entry for entry in home.memory.entries("home") if entry.text == RULE)
    home.review.mark(entry.id, critical=True)
    plan = home.erase.plan(ErasureKind.SESSION, "plain:canary")
    assert plan.rules == () and plan.sought.asked == (RULE,)
    home.erase(plan)
    assert RULE in [entry.text for entry in home.memory.entries("home")]
    waiting = home.review.waiting()
    assert len(waiting) == 1 and isinstance(home.review.approve(waiting[0]), Landed)
    assert RULE not in [entry.text for entry in home.memory.entries("home")]


def test_what_a_person_wrote_by_hand_in_the_same_words_as_a_transcript_stays(home: Home) -> None:
    home.review.write("home", "USER.md", [Add("USER.md", "I live in Graz and like short answers.")])
    home.sessions.add(session("plain:canary", f"Remember: I live in Graz and like short answers. {CANARY}"))
    home.erase.session("plain:canary")
    assert [entry.text for entry in home.memory.entries("home")] == ["I live in Graz and like short answers."]


def test_a_row_of_the_ledger_that_is_emptied_by_hand_is_told_from_one_that_was_erased(home_on: Home) -> None:
    home = lived_in(home_on)
    home.erase.session("plain:canary")
    assert list(broken_links(home.history_records.rows(home.owned))) == []
    last = list(home.history_records.rows(home.owned))[-1].number
    home.review.write("home", "USER.md", [Add("USER.md", "I like tea.")])
    with writing_across(home.engine, "upkeep") as connection:
        row = update(schema.ledger).filter_by(workspace="local", number=last + 1)
        connection.execute(row.values(body="", user="", salt=None))
    assert list(broken_links(home.history_records.rows(home.owned))) == [
        f"row {last + 1} was emptied, and no erasure says so"
    ]


def test_rows_of_the_ledger_from_before_can_be_erased_and_the_chain_still_holds(home: Home) -> None:
    lived_in(home)
    rows = list(home.history_records.rows(home.owned))
    with writing_across(home.engine, "upkeep") as connection:
        connection.execute(text("drop trigger ledger_no_update"))
        previous = "0" * 64
        for row in rows:
            old = replace(row, previous=previous, salt=None, details=None).sealed()
            values = {"previous": previous, "hash": old.hash, "salt": None, "details": None}
            connection.execute(update(schema.ledger).filter_by(number=row.number).values(**values))
            previous = old.hash
    assert list(broken_links(home.history_records.rows(home.owned))) == []
    home.erase.session("plain:canary")
    assert list(broken_links(home.history_records.rows(home.owned))) == [] and left_in_rows(home.engine) == []


def test_a_search_on_another_node_forgets_it_as_well(homes: HomeMaker, database: str, tmp_path: Path) -> None:
    one, other = homes(tmp_path / "one", database=database), homes(tmp_path / "other", database=database)
    one.sessions.add(session("plain:canary", RULE))
    for home in (one, other):
        home.index.catch_up()
        assert home.search("deploy script Tuesdays")
    one.erase.session("plain:canary")
    assert other.search("deploy script Tuesdays") == []
    assert left_in_files(tmp_path / "other" / "index") == []


@pytest.mark.parametrize("short", ["a", "…", "  ", "x1"])
def test_a_text_that_would_stand_anywhere_is_refused(home: Home, short: str) -> None:
    with pytest.raises(BadInput, match=r"too short|No text"):
        home.erase.plan(ErasureKind.TEXT, short)


def test_a_session_there_is_not_is_refused_and_nothing_is_begun(home: Home) -> None:
    with pytest.raises(NotFound, match="no session plain:nobody"):
        home.erase.plan(ErasureKind.SESSION, "plain:nobody")
    assert home.erasures.open() == []


# ---- copies ----------------------------------------------------------------------------------------------------------


def test_backups_that_hold_it_are_listed_and_a_restore_leaves_it_out(homes: HomeMaker, tmp_path: Path) -> None:
    home = lived_in(homes())
    held, clean = tmp_path / "held.tar.gz", tmp_path / "clean.tar.gz"
    home.backup(held)
    done = home.erase.session("plain:canary")
    assert [one.where for one in done.left] == [str(held)] and "a backup of" in done.left[0].why
    home.backup(clean)
    again = home.erase.plan(ErasureKind.TEXT, CANARY)
    assert [one.where for one in again.left] == [str(held)], "one that was made later does not hold it"
    said = json.loads(Path(f"{held}.erased.json").read_text())
    assert CANARY not in json.dumps(said) and "plain:canary" not in json.dumps(said)
    made, erased = restore_home(load(tmp_path / "back", {"owner": "ann"}), held)
    assert len(erased) == 1 and made.home == tmp_path / "back"
    back = homes(tmp_path / "back")
    assert left_in_rows(back.engine) == [] and left_in_files(tmp_path / "back") == []
    assert [stored.head.id for stored in back.sessions.find()] == ["plain:plants"]
    assert back.sessions.add(session("plain:canary", RULE)).fates == {"erased before": 1}


def test_the_harnesss_own_transcript_is_listed_and_deleted_only_if_asked(home: Home, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.json").write_text(json.dumps(session(f"plain:{name}", RULE)))
        home.sessions.add(tmp_path / f"{name}.json")
    done = home.erase.session("plain:one")
    assert [one.where for one in done.left] == [str(tmp_path / "one.json")] and (tmp_path / "one.json").exists()
    assert home.sessions.refresh().fates == {"erased before": 1}
    done = home.erase(home.erase.plan(ErasureKind.SESSION, "plain:two"), transcripts=True)
    assert done.left == () and not (tmp_path / "two.json").exists()


def test_transcripts_older_than_their_workspace_keeps_them_go_and_what_was_learned_stays(homes: HomeMaker) -> None:
    home = lived_in(homes(retention="30d acme=1d"))
    old = session("plain:old", f"Something about {CANARY}.") | {"started_at": "2026-01-02T10:00:00Z"}
    home.sessions.add(old)
    home.tenants.sessions_in("acme").add(session("plain:acme", "Hello there."))
    done = home.erase.expire()
    assert [one.counts["sessions"] for one in done] == [1, 1]
    assert {stored.head.id for stored in home.sessions.find()} == {"plain:canary", "plain:plants"}
    assert list(home.tenants.sessions_in("acme").find()) == [] and home.erase.expire() == []
    assert RULE in [entry.text for entry in home.memory.entries("home")]
    with pytest.raises(BadInput, match="retention"):
        homes(home.config.home.parent / "bad", retention="soon")


@pytest.mark.parametrize("database", ["postgres"], indirect=True)
def test_the_samples_that_postgres_keeps_of_columns_are_forgotten(home_on: Home, postgres_server: str) -> None:
    name = make_url(home_on.config.database).database
    admin = make_engine(make_url(postgres_server).set(database=name).render_as_string(hide_password=False))

    def sampled() -> list[tuple[str, str]]:
        asked = text(
            "select tablename, attname from pg_stats where schemaname = 'public'"
            " and concat(most_common_vals, histogram_bounds) ilike '%zebraquartz%'"
        )
        with admin.connect() as connection:
            return [(row.tablename, row.attname) for row in connection.execute(asked)]

    try:
        for number in range(3):
            home_on.sessions.add(session(f"plain:{CANARY}-{number}", f"{number}: {RULE}"))
        home_on.sessions.add(session("plain:plants", OTHER))
        with admin.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("analyze"))
        assert ("turns", "text") in sampled()
        home_on.erase.text(CANARY)
        assert sampled() == []
        home_on.sessions.add(session("plain:other", "Hello there."))
        with admin.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text("analyze"))
        home_on.erase.workspace("local")
        with admin.connect() as connection:
            kept = text("select count(*) from pg_stats where schemaname = 'public' and tablename = 'turns'")
            assert connection.execute(kept).scalar() in (0, 1), "of the name of the workspace, at most"
    finally:
        admin.dispose()
