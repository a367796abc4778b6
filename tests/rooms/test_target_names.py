"""How a name finds its target, and which targets stand on a machine."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from reverie.config import load
from reverie.core.errors import BadInput
from reverie.harnesses.any_path import by_path
from reverie.memory.targets import Targets, targets

STRANGER = """
from reverie.memory.target import Place

class NotebookTarget:
    name, key, reach = "notebook", "notebook:1", "nobody"

    def __init__(self, folder):
        self.folder = folder

    def places(self):
        return [Place("notes", "whole")]

    def read(self, document):
        return (self.folder / document).read_bytes()

def notebook_targets(where):
    yield NotebookTarget(where.place("${NOTEBOOK_HOME:-~/.notebook}"))
"""


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for path in (
        ".claude/CLAUDE.md",
        ".claude/projects/-shop/memory/MEMORY.md",
        ".hermes/memories/USER.md",
        ".hermes/profiles/coder/memories/MEMORY.md",
        ".hermes/profiles/odd name/memories/MEMORY.md",
        ".hermes/profiles/..x/memories/MEMORY.md",
        ".openclaw/workspace/MEMORY.md",
        "reverie/memory/MEMORY.md",
    ):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text("- one\n")
    (tmp_path / ".claude/projects/-without").mkdir()
    (tmp_path / ".hermes/profiles/empty").mkdir()
    return tmp_path


def all_of(machine: Path) -> Targets:
    return targets(load(machine / "reverie"), by_path)


def test_every_target_that_stands_on_the_machine_is_found(machine: Path) -> None:
    known = all_of(machine)
    expected = ["claude", "claude/-shop", "hermes", "hermes/coder", "home", "openclaw"]
    assert [target.name for target in known.available()] == list(known) == expected
    assert len(known) == 6
    assert {name: known[name].key for name in known} == {target.name: target.key for target in known.available()}
    assert all(target.reach and target.places() for target in known.available())


def test_on_an_empty_machine_nothing_is_found_and_nothing_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    known = all_of(tmp_path)
    assert known.available() == []
    for name in ("hermes", "home", "claude", "codex", "openclaw"):
        target = known.named(name)
        assert [target.read(place.document) for place in target.places()] == [None] * len(target.places())
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_name_is_told_the_known_ones_and_that_a_path_will_do(machine: Path) -> None:
    known = all_of(machine)
    with pytest.raises(BadInput) as caught:
        known.named("hermis")
    said = str(caught.value)
    assert said.startswith("There is no target 'hermis'. Expected one of claude, claude/-shop, hermes, ")
    assert "a path" in said
    assert "hermis" not in known
    assert known.get("hermis") is None


@pytest.mark.parametrize(
    "name", ["hermes/odd name", "hermes/..x", "hermes/..", "hermes/", "hermes/none", "hermes/Coder"]
)
def test_a_profile_hermes_would_not_make_is_not_offered(machine: Path, name: str) -> None:
    known = all_of(machine)
    with pytest.raises(BadInput):
        known.named(name)


def test_without_paths_only_names_count(machine: Path) -> None:
    rules = machine / "rules.md"
    rules.write_text("- one\n")
    assert all_of(machine).named(str(rules)).read("rules.md") == b"- one\n"
    names_only = targets(load(machine / "reverie"))
    for name in (str(rules), f"agents:{machine}", str(machine)):
        with pytest.raises(BadInput) as caught:
            names_only.named(name)
        assert "a path" not in str(caught.value)


def test_a_name_goes_before_a_path_of_the_same_spelling(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(machine)
    (machine / "hermes" / "coder").mkdir(parents=True)
    (machine / "hermes" / "plain").mkdir()
    known = all_of(machine)
    assert known.named("hermes/coder").key == f"hermes:{machine / '.hermes' / 'profiles' / 'coder'}"
    assert known.named("hermes/plain").key == f"markdown:{machine / 'hermes' / 'plain'}"


def test_a_place_with_two_names_is_listed_once(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (machine / ".hermes" / "profiles" / "same").symlink_to(machine / ".hermes")
    known = all_of(machine)
    assert known.named("hermes/same").key == known.named("hermes").key
    assert "hermes/same" not in list(known)
    monkeypatch.setenv("HERMES_HOME", str(machine / ".hermes" / "profiles" / "coder"))
    assert all_of(machine).named("hermes").key == known.named("hermes/coder").key


def test_a_folder_nobody_may_look_into_hides_what_is_in_it_and_nothing_else(machine: Path) -> None:
    (machine / ".claude" / "projects").rename(machine / "kept")
    (machine / ".claude" / "projects").write_text("not a folder")
    (machine / ".hermes" / "profiles" / "loop").symlink_to(machine / ".hermes" / "profiles" / "loop")
    assert list(all_of(machine)) == ["claude", "hermes", "hermes/coder", "home", "openclaw"]


def test_a_key_finds_its_place_again_and_every_document_in_it(machine: Path) -> None:
    known = all_of(machine)
    for target in known.offered():
        again = known[target.key]
        assert (again.name, again.key) == (target.name, target.key)
        assert set(target.places()) <= set(again.places())
    rules = machine / ".claude" / "rules.md"
    rules.write_text("- two\n")
    pathed = known.named(str(rules))
    again = known[pathed.key]
    assert [place.document for place in pathed.places()] == ["rules.md"]
    assert again.read("rules.md") == b"- two\n"
    with again.held("rules.md") as held:
        assert held.write("rules.md", b"- three\n", b"- two\n")
    assert rules.read_text() == "- three\n"


def test_a_place_where_nothing_stands_yet_is_found_by_its_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    known = all_of(tmp_path)
    for name in ("hermes", "home", "claude", "codex", "openclaw"):
        target = known.named(name)
        assert known[target.key].places() == target.places()
    (tmp_path / "project").mkdir()
    project = known.named(f"agents:{tmp_path / 'project'}")
    assert [place.document for place in known[project.key].places()] == ["AGENTS.md"]


def test_the_path_of_a_known_document_means_the_target_that_knows_its_limits(machine: Path) -> None:
    known = all_of(machine)
    for path, name in {
        ".openclaw/workspace/MEMORY.md": "openclaw",
        "reverie/memory": "home",
        ".claude/projects/-shop/memory": "claude/-shop",
        ".hermes/memories/USER.md": "hermes",
    }.items():
        (machine / ".hermes" / "SOUL.md").touch()
        assert known.named(str(machine / path)).name == name


def test_a_strangers_target_is_used_like_ours(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = machine / "site"
    (site / "notebook-1.0.dist-info").mkdir(parents=True)
    (site / "strangers_notebook.py").write_text(STRANGER)
    (site / "notebook-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: notebook\nVersion: 1.0\n")
    (site / "notebook-1.0.dist-info" / "entry_points.txt").write_text(
        "[reverie.targets]\nnotebook = strangers_notebook:notebook_targets\n"
    )
    monkeypatch.syspath_prepend(str(site))
    (machine / ".notebook").mkdir()
    (machine / ".notebook" / "notes").write_text("all of it")
    known = all_of(machine)
    assert "notebook" in list(known)
    assert known["notebook"].read("notes") == b"all of it"
    sys.modules.pop("strangers_notebook")
