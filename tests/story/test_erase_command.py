"""`reverie erase` and the DELETEs of the server: what is said before, what is said after, who may."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from reverie.app import Home
from reverie.cli import reverie
from tests.canaries import CANARY, left_in_rows
from tests.conftest import HomeMaker
from tests.serving import Served, serving
from tests.story.test_erasure import RULE, session


def run(home: Path, *arguments: str, said: str = "") -> tuple[int, str]:
    done = CliRunner().invoke(reverie, [*arguments, "--home", str(home)], input=said)
    return done.exit_code, done.output


@pytest.fixture
def folder(homes: HomeMaker, tmp_path: Path) -> Path:
    home = homes()
    for name in ("one", "two"):
        home.sessions.add(session(f"plain:{name}", f"{name}: {RULE}"))
    home.close()
    return home.config.home


def test_it_shows_every_place_and_asks_before_it_erases(folder: Path) -> None:
    code, said = run(folder, "erase", "--session", "plain:one", said="n\n")
    assert code == 1 and "turns of transcripts: 2" in said and "Erase all of this? It cannot be undone." in said
    assert run(folder, "sessions", "show", "plain:one")[0] == 0
    code, said = run(folder, "erase", "--session", "plain:one", "--yes")
    assert code == 0 and "Erased (era_" in said and "1 erasure done; the ledger says that, and not what it was." in said
    assert run(folder, "sessions", "show", "plain:one")[0] != 0
    assert CANARY in run(folder, "sessions", "show", "plain:two")[1]


def test_a_dry_run_says_in_json_what_would_go_and_erases_nothing(folder: Path) -> None:
    code, said = run(folder, "erase", "--text", CANARY, "--dry-run", "--json")
    told = json.loads(said)
    assert code == 0 and told["dry_run"] and {"kind", "where", "count"} == set(told["places"][0])
    assert CANARY in run(folder, "sessions", "show", "plain:one")[1]


def test_one_thing_is_named_at_a_time(folder: Path) -> None:
    for wrong in ([], ["--text", CANARY, "--person", "bob"], ["--person", "bob", "--expired"]):
        code, said = run(folder, "erase", *wrong, "--yes")
        assert code == 2 and "Say what is to go" in said


def test_a_workspace_is_erased_whole_or_only_something_in_it(homes: HomeMaker, folder: Path) -> None:
    with homes(folder) as home:
        home.tenants.sessions_in("acme").add(session("plain:theirs", RULE))
        home.tenants.sessions_in("acme").add(session("plain:more", RULE))
    assert "plain:theirs" in run(folder, "sessions", "list", "--workspace", "acme")[1]
    assert run(folder, "erase", "--session", "plain:theirs", "--workspace", "acme", "--yes")[0] == 0
    assert "plain:theirs" not in run(folder, "sessions", "list", "--workspace", "acme")[1]
    assert run(folder, "erase", "--workspace", "acme", "--yes")[0] == 0
    assert "No sessions" in run(folder, "sessions", "list", "--workspace", "acme")[1]
    assert "plain:one" in run(folder, "sessions", "list")[1]


def test_a_dry_run_of_what_is_expired_erases_nothing(homes: HomeMaker, folder: Path) -> None:
    (folder / "reverie.toml").write_text('retention = "1d"\n')
    with homes(folder) as home:
        old = session("plain:old", "Hello there.") | {"started_at": "2026-01-02T10:00:00Z"}
        home.sessions.add(old)
        home.tenants.sessions_in("acme").add(old)
    code, said = run(folder, "erase", "--expired", "--workspace", "acme", "--dry-run", "--json")
    assert code == 0 and [plan["sessions"] for plan in json.loads(said)] == [["plain:old"]]
    assert "sessions: 1" in run(folder, "erase", "--expired", "--dry-run")[1]
    assert "plain:old" in run(folder, "sessions", "list", "--workspace", "acme")[1]
    assert run(folder, "erase", "--expired", "--workspace", "acme")[0] == 0
    assert "No sessions" in run(folder, "sessions", "list", "--workspace", "acme")[1]
    assert "plain:old" in run(folder, "sessions", "list")[1], "only that workspace was named"


def test_removing_and_forgetting_keep_their_meaning_and_point_to_erasing(folder: Path) -> None:
    code, said = run(folder, "sessions", "remove", "plain:one", "--yes")
    assert code == 0 and "`reverie erase`" in said
    assert "reverie erase" in run(folder, "sessions", "forget", "--help")[1]
    with_words = {"id": "plain:one", "user": "ann", "messages": [{"role": "user", "content": "Hello again."}]}
    (folder / "one.json").write_text(json.dumps(with_words))
    assert "1 new" in run(folder, "sessions", "add", str(folder / "one.json"))[1], "what was removed can come back"


# ---- over the API ----------------------------------------------------------------------------------------------------


@pytest.fixture
def served(home_on: Home) -> Iterator[Served]:
    with serving(home_on, dreams=False) as server:
        yield server


def test_imported_sessions_users_agents_and_workspaces_are_deleted_over_the_api(served: Served) -> None:
    writer, admin = served.new_key("write", workspace="acme"), served.new_key("admin", workspace="acme")
    for name, user in (("one", "ann"), ("two", "bob"), ("three", "cleo")):
        said = json.dumps(session(f"plain:{name}", RULE, user=user)).encode()
        assert served.call("POST", f"/v1/reverie/sessions/import?filename={name}.json", said, key=writer).status == 200
    gone = served.call("DELETE", "/v1/sessions/plain:one", key=writer)
    assert gone.json == {"id": "plain:one", "type": "session_deleted"}
    assert served.call("DELETE", "/v1/sessions/plain:one", key=writer).status == 404
    assert served.call("DELETE", "/v1/reverie/users/bob", key=writer).status == 403
    person = served.call("DELETE", "/v1/reverie/users/bob", key=admin)
    assert person.status == 200 and person.json["counts"]["sessions"] == 1
    agent = served.call("POST", "/v1/agents", {"name": CANARY, "model": "x"}, key=writer).json["id"]
    assert served.call("DELETE", f"/v1/agents/{agent}", key=writer).json["type"] == "agent_deleted"
    assert served.call("GET", f"/v1/agents/{agent}", key=writer).status == 404
    assert served.call("DELETE", "/v1/reverie/workspaces/local", key=admin).status == 403
    assert served.call("DELETE", "/v1/reverie/workspaces/acme", key=admin).status == 200
    assert served.call("GET", "/v1/sessions", key=admin).status == 401, "the keys of a workspace go with it"
    assert left_in_rows(served.house.home.engine) == []


def test_only_an_administrator_of_the_same_workspace_erases_people_and_workspaces(served: Served) -> None:
    home = served.house.home
    home.sessions.add(session("plain:bobs", RULE, user="bob"))
    others = served.new_key("read", "write", "dream", "review")
    bound = served.new_key("admin", user="ann")
    for path in ("/v1/reverie/users/bob", "/v1/reverie/workspaces/local"):
        assert served.call("DELETE", path, key=others).status == 403
        assert served.call("DELETE", path, key=bound).status == 403
    elsewhere = served.new_key("admin", workspace="acme")
    assert served.call("DELETE", "/v1/reverie/users/bob", key=elsewhere).json["counts"].get("sessions", 0) == 0
    assert [stored.head.id for stored in home.sessions.find()] == ["plain:bobs"]


def test_a_key_bound_to_a_person_deletes_nobody_elses_session(served: Served) -> None:
    writer, bobs = served.new_key("write"), served.new_key("write", user="bob")
    said = json.dumps(session("plain:anns", RULE, user="ann")).encode()
    assert served.call("POST", "/v1/reverie/sessions/import?filename=a.json", said, key=writer).status == 200
    assert served.call("DELETE", "/v1/sessions/plain:anns", key=bobs).status == 404
    assert served.call("DELETE", "/v1/sessions/plain:anns", key=writer).status == 200
