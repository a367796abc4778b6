"""The bridge: copies of a managed memory, what they say differently, and what becomes of it here."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from reverie.app import Home, open_home
from reverie.bridge.source import RemoteVersion
from reverie.core.errors import BadInput, NotFound, NotPermitted, NotReached
from reverie.harnesses.memory_stores.anthropic import AnthropicServer
from tests.conftest import NOON
from tests.serving import Served, serving

RULES = "# Releases\n\n- Deploys go out on Tuesdays after the standup.\n- Tag every release with the ticket number.\n"


@pytest.fixture
def managed(tmp_path: Path) -> Iterator[Served]:
    """The managed side: a server of ours with a home of its own."""
    with open_home(tmp_path / "managed", settings={"owner": "them"}) as home, serving(home, dreams=False) as server:
        yield server


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with open_home(tmp_path / "home", now=NOON, settings={"owner": "ann"}) as opened:
        yield opened


def source(served: Served) -> AnthropicServer:
    return AnthropicServer(served.url, served.key)


def changed(served: Served, store: str, memory: str, content: str) -> None:
    answer = served.call("POST", f"/v1/memory_stores/{store}/memories/{memory}", {"content": content})
    assert answer.status == 200, answer.text


# ---- pull ------------------------------------------------------------------------------------------------------------


def test_a_pulled_store_can_be_compared_with_itself_at_an_earlier_version(managed: Served, home: Home) -> None:
    store = managed.store()
    first = managed.memory(store, "/releases.md", RULES)
    changed(managed, store, first["id"], RULES.replace("Tuesdays", "Thursdays"))
    (pulled,) = home.bridge.pull(source(managed))
    assert (pulled.store.id, pulled.versions) == (store, 2)
    diff = home.bridge.diff(f"{store}@{first['memory_version_id']}", store)
    assert [(one.kind, one.after) for one in diff.differences] == [
        ("changed", "Deploys go out on Thursdays after the standup.")
    ]
    assert diff.new.origin_of("/releases.md").store == store


def test_a_second_pull_brings_only_what_is_new(managed: Served, home: Home) -> None:
    store = managed.store()
    first = managed.memory(store, "/releases.md", RULES)
    home.bridge.pull(source(managed))
    assert [one.versions for one in home.bridge.pull(source(managed))] == [0]
    changed(managed, store, first["id"], "Deploys stopped.\n")
    managed.call("DELETE", f"/v1/memory_stores/{store}/memories/{managed.memory(store, '/b.md', 'x')['id']}")
    assert [one.versions for one in home.bridge.pull(source(managed))] == [3]
    assert home.bridge.snapshot(store).texts == {"/releases.md": "Deploys stopped.\n"}


def test_a_pull_that_was_cut_off_goes_on_where_it_stopped(
    managed: Served, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reverie.bridge.pull.AT_ONCE", 2)
    store = managed.store()
    for number in range(7):
        managed.memory(store, f"/{number}.md", f"Rule {number}.")

    class CutOff(AnthropicServer):
        def text(self, store: str, version: RemoteVersion) -> str | None:
            if version.path == "/5.md":
                raise NotReached("The cable is out.")
            return super().text(store, version)

    with pytest.raises(NotReached):
        home.bridge.pull(CutOff(managed.url, managed.key))
    assert sorted(home.bridge.snapshot(store).texts) == [f"/{number}.md" for number in range(4)]
    assert [one.versions for one in home.bridge.pull(source(managed))] == [3]
    assert sorted(home.bridge.snapshot(store).texts) == [f"/{number}.md" for number in range(7)]


def test_half_a_line_left_by_a_kill_is_written_over(managed: Served, home: Home) -> None:
    store = managed.store()
    managed.memory(store, "/a.md", "One.")
    home.bridge.pull(source(managed))
    (lines,) = (home.config.home / "bridge").rglob("versions.jsonl")
    with lines.open("ab") as file:
        file.write(b'{"id": "memver_half')
    managed.memory(store, "/b.md", "Two.")
    home.bridge.pull(source(managed))
    assert home.bridge.snapshot(store).texts == {"/a.md": "One.", "/b.md": "Two."}


def test_pulling_changes_nothing_on_the_server(managed: Served, home: Home) -> None:
    store = managed.store()
    managed.memory(store, "/releases.md", RULES)
    before = managed.call("GET", f"/v1/memory_stores/{store}/memory_versions").text
    reader = managed.new_key("read")
    home.bridge.pull(AnthropicServer(managed.url, reader))
    assert managed.call("GET", f"/v1/memory_stores/{store}/memory_versions").text == before


def test_a_secret_in_a_managed_store_is_not_kept_here(managed: Served, home: Home) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    managed.memory(managed.store(), "/ci.md", f"The token is {secret}.\n")
    home.bridge.pull(source(managed))
    held = [path for path in (home.config.home / "bridge").rglob("*") if path.is_file()]
    assert held and not [path for path in held if secret.encode() in path.read_bytes()]
    assert not [path for path in held if managed.key.encode() in path.read_bytes()]


def test_a_folder_is_pulled_like_a_store_and_remembers_what_it_said(home: Home, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    folder.mkdir()
    (folder / "a.md").write_text(RULES)
    (folder / "b.md").write_text("Never promise a delivery date.\n")
    (first,) = home.bridge.pull(home.managed(str(folder)))
    (folder / "a.md").write_text(RULES.replace("ticket", "build"))
    (folder / "b.md").unlink()
    (again,) = home.bridge.pull(home.managed(str(folder)))
    assert (first.versions, again.versions) == (2, 2)
    assert set(home.bridge.snapshot(first.store.id).texts) == {"/a.md"}


def test_a_wrong_key_and_a_server_that_is_not_there_are_told_apart(managed: Served, home: Home) -> None:
    with pytest.raises(NotPermitted, match="Check the key"):
        home.bridge.pull(AnthropicServer(managed.url, "sk-wrong"))
    with pytest.raises(NotReached, match="cannot be reached"):
        home.bridge.pull(AnthropicServer("http://127.0.0.1:9", "key", wait=lambda seconds: None))
    with pytest.raises(BadInput, match="not encrypted"):
        AnthropicServer("http://example.org", "key")
    with pytest.raises(NotFound, match="no copy of memstore_x"):
        home.bridge.snapshot("memstore_x")


# ---- the command -----------------------------------------------------------------------------------------------------


def test_exported_json_is_compared_with_an_exported_folder(home: Home, tmp_path: Path) -> None:
    rows = {
        "data": [{"type": "memory", "path": "/releases.md", "content": RULES}, {"type": "memory_prefix", "path": "/"}]
    }
    (tmp_path / "old.json").write_text(json.dumps(rows))
    folder = tmp_path / "new" / "notes"
    folder.mkdir(parents=True)
    (folder / "shipping.md").write_text(RULES.replace("ticket", "build"))
    diff = home.bridge.diff(str(tmp_path / "old.json"), str(tmp_path / "new"))
    assert [one.after for one in diff.behaviour] == ["Tag every release with the build number."]
    assert [one.after for one in diff.of(*[one.kind for one in diff.differences if one.kind == "moved"])] == [
        "Deploys go out on Tuesdays after the standup."
    ]
