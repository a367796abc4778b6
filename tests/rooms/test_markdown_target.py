"""The memory of Claude Code, OpenClaw, AGENTS.md, the Home and any Markdown list, on real folders."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from reverie.config import load
from reverie.core.errors import BadInput, NotPermitted
from reverie.harnesses.any_path import by_path
from reverie.harnesses.claude_code.folder import claude_targets
from reverie.harnesses.markdown import home_targets
from reverie.harnesses.openclaw.folder import OpenClawInstaller, openclaw_targets
from reverie.harnesses.openclaw.reader import OpenClawReader
from reverie.memory.operation import Add, Applied, Remove, Replace, applied, entry_hash
from reverie.memory.target import Target
from reverie.memory.targets import HomePlaces, Offer

CLAUDE = (
    b"# How I work\r\n\r\n@~/shared/style.md\r\n\r\n"
    b"- Answer in German\r\n- Use uv, never pip\r\n\r\n```sh\n- not an item\n```\n"
)


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HomePlaces:
    monkeypatch.setenv("HOME", str(tmp_path))
    return load(tmp_path / "reverie")


def file(path: Path, content: bytes = b"- one\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def rewrite(target: Target, document: str, change: Callable[[bytes], bytes | None]) -> None:
    with target.held(document) as held:
        before = held.read(document)
        assert held.write(document, change(before or b""), before)


def required(target: Target | None) -> Target:
    assert target is not None
    return target


def one_of(offer: Offer, where: HomePlaces, name: str) -> Target:
    return next(target for target in offer(where) if target.name == name)


def documents(target: Target | None) -> list[str]:
    return [place.document for place in required(target).places()]


# ---- Claude Code ------------------------------------------------------------------------------------------------


def test_headings_imports_and_code_of_a_claude_md_stay_as_they_are(where: HomePlaces, tmp_path: Path) -> None:
    path = file(tmp_path / ".claude" / "CLAUDE.md", CLAUDE)
    operations = [
        Replace("CLAUDE.md", entry_hash("Answer in German"), "Answer in English"),
        Remove("CLAUDE.md", entry_hash("Use uv, never pip")),
    ]

    def change(before: bytes) -> bytes:
        outcome = applied(before, "list", operations)
        assert isinstance(outcome, Applied)
        return outcome.after

    rewrite(one_of(claude_targets, where, "claude"), "CLAUDE.md", change)
    assert path.read_bytes() == CLAUDE.replace(b"German", b"English").replace(b"- Use uv, never pip\r\n", b"")
    assert [one.name for one in path.parent.iterdir()] == ["CLAUDE.md"]


def test_a_project_has_an_index_and_topics_beside_it(where: HomePlaces, tmp_path: Path) -> None:
    notes = tmp_path / ".claude" / "projects" / "-home-me-shop" / "memory"
    for name in ("zebra.md", "MEMORY.md", "debugging.md", "notes.txt", ".hidden.md", "bad\nname.md"):
        file(notes / name)
    (notes / "linked.md").symlink_to(notes / "zebra.md")
    target = one_of(claude_targets, where, "claude/-home-me-shop")
    assert documents(target) == ["MEMORY.md", "debugging.md", "zebra.md"]
    assert [place.budget for place in target.places()] == [25_000, None, None]
    assert target.key == f"markdown:{notes}"


def test_every_project_is_offered_and_claude_config_dir_is_honoured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "elsewhere"))
    for name in ("-a", "-b", "bad name", "..."):
        (tmp_path / "elsewhere" / "projects" / name).mkdir(parents=True)
    file(tmp_path / "elsewhere" / "projects" / "settings.json")
    offered = list(claude_targets(load(tmp_path / "reverie")))
    assert [target.name for target in offered] == ["claude", "claude/-a", "claude/-b"]
    assert [documents(target) for target in offered] == [["CLAUDE.md"], ["MEMORY.md"], ["MEMORY.md"]]


def test_the_first_note_on_a_project_makes_its_folder(where: HomePlaces, tmp_path: Path) -> None:
    project = tmp_path / ".claude" / "projects" / "-shop"
    project.mkdir(parents=True)
    rewrite(one_of(claude_targets, where, "claude/-shop"), "MEMORY.md", lambda before: before + b"- first\n")
    assert (project / "memory" / "MEMORY.md").read_bytes() == b"- first\n"


def test_a_claude_md_that_is_a_link_is_refused_with_a_way_out(where: HomePlaces, tmp_path: Path) -> None:
    linked = file(tmp_path / "dotfiles" / "CLAUDE.md")
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "CLAUDE.md").symlink_to(linked)
    target = one_of(claude_targets, where, "claude")
    with pytest.raises(NotPermitted, match="name what it points to"):
        target.read("CLAUDE.md")
    with pytest.raises(NotPermitted, match="name what it points to"):
        rewrite(target, "CLAUDE.md", lambda before: b"- other\n")
    assert required(by_path(str(linked))).read("CLAUDE.md") == linked.read_bytes() == b"- one\n"


# ---- OpenClaw and the Home --------------------------------------------------------------------------------------


def test_openclaw_workspaces_are_found_where_openclaw_looks(where: HomePlaces, tmp_path: Path) -> None:
    state = tmp_path / ".openclaw"
    file(state / "workspace" / "MEMORY.md")
    file(state / "workspace" / "USER.md")
    (state / "workspace-work").mkdir()
    (state / "workspace-Odd Name").mkdir()
    offered = {target.name: documents(target) for target in openclaw_targets(where)}
    assert offered == {"openclaw": ["MEMORY.md", "USER.md"], "openclaw/work": ["MEMORY.md"]}


@pytest.mark.parametrize(
    ("variables", "state", "folder"),
    [
        ({}, ".openclaw", ".openclaw/workspace"),
        ({"OPENCLAW_HOME": "svc"}, "svc/.openclaw", "svc/.openclaw/workspace"),
        ({"OPENCLAW_HOME": "svc", "OPENCLAW_STATE_DIR": "state"}, "state", "state/workspace"),
        ({"OPENCLAW_STATE_DIR": "state", "OPENCLAW_WORKSPACE_DIR": "desk"}, "state", "desk"),
    ],
)
def test_the_variables_of_openclaw_are_honoured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], state: str, folder: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, value in variables.items():
        monkeypatch.setenv(name, str(tmp_path / value))
    config = load(tmp_path / "reverie")
    assert one_of(openclaw_targets, config, "openclaw").key == f"markdown:{tmp_path / folder}"
    assert config.place(OpenClawReader.places[0]) == tmp_path / state / "agents"
    assert OpenClawInstaller().folder(config) == tmp_path / state
    assert config.handed_to_agents() == {name: str(tmp_path / value) for name, value in variables.items()}


def test_the_homes_own_memory_is_made_when_it_is_first_written(where: HomePlaces) -> None:
    target = one_of(home_targets, where, "home")
    assert [(place.document, place.budget) for place in target.places()] == [("MEMORY.md", 2200), ("USER.md", 1375)]
    assert target.read("MEMORY.md") is None
    rewrite(target, "MEMORY.md", lambda before: b"- Money is Decimal\n")
    folder = where.home / "memory"
    assert sorted(one.name for one in folder.iterdir()) == ["MEMORY.md", "MEMORY.md.lock"]
    assert {folder.stat().st_mode & 0o777, (folder / "MEMORY.md").stat().st_mode & 0o777} == {0o700, 0o600}


# ---- paths ------------------------------------------------------------------------------------------------------


def test_a_project_has_the_instructions_that_are_there(tmp_path: Path) -> None:
    project = tmp_path / "shop"
    project.mkdir()
    name = f"agents:{project}"
    assert documents(by_path(name)) == ["AGENTS.md"]
    file(project / "CLAUDE.md")
    assert documents(by_path(name)) == ["CLAUDE.md"]
    file(project / "AGENTS.md")
    file(project / "CLAUDE.local.md")
    assert documents(by_path(name)) == ["AGENTS.md", "CLAUDE.md", "CLAUDE.local.md"]
    (project / "CLAUDE.md").unlink()
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    assert documents(by_path(name)) == ["AGENTS.md", "CLAUDE.local.md"]


def test_a_path_is_the_same_place_from_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = file(tmp_path / "notes" / "rules.md")
    file(tmp_path / "notes" / "more.md")
    (tmp_path / "link").symlink_to(tmp_path / "notes")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    ways = ["notes/rules.md", "./notes/rules.md", "~/notes/rules.md", "link/rules.md", "notes/../notes/rules.md"]
    targets = [required(by_path(name)) for name in ways]
    assert {target.name for target in targets} == {str(rules)}
    folder = required(by_path("./notes"))
    assert {target.key for target in [*targets, folder]} == {f"markdown:{tmp_path / 'notes'}"}
    assert (documents(targets[0]), documents(folder)) == (["rules.md"], ["more.md", "rules.md"])
    monkeypatch.chdir(tmp_path / "notes")
    assert documents(by_path("rules.md")) == ["rules.md"]
    assert required(by_path(".")).key == folder.key


def test_one_place_under_two_names_has_one_lock(where: HomePlaces, tmp_path: Path) -> None:
    target, order = one_of(home_targets, where, "home"), list[str]()
    rewrite(target, "MEMORY.md", lambda before: b"- one\n")
    same = required(by_path(str(where.home / "memory" / "MEMORY.md")))
    assert same.key == target.key

    def other() -> None:
        with same.held("MEMORY.md"):
            order.append("second")

    with target.held("MEMORY.md"):
        thread = threading.Thread(target=other)
        thread.start()
        time.sleep(0.2)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"]


@pytest.mark.parametrize("way", ["", "memories", "memories/MEMORY.md"])
def test_a_path_into_a_hermes_home_is_read_as_hermes_writes_it(tmp_path: Path, way: str) -> None:
    home = tmp_path / "profile"
    file(home / "memories" / "MEMORY.md", b"one\n\xc2\xa7\ntwo")
    file(home / "config.yaml", b"memory: {memory_char_limit: 5000}\n")
    target = required(by_path(str(home / way)))
    assert [(place.document, place.form, place.budget) for place in target.places()] == [
        ("MEMORY.md", "hermes", 5000),
        ("USER.md", "hermes", 1375),
    ]
    assert target.key == f"hermes:{home}"


@pytest.mark.parametrize(
    "name",
    [
        "notes",
        "",
        "agents",
        "agents:",
        "agents:/nowhere",
        "/nowhere/at/all",
        "/nowhere/rules.md",
        "rules.txt",
        "./rules.txt",
        "./notes/typo.md",
        "hermes:",
        "hermes:notes",
        "markdown:/nowhere",
        "a\0.md",
        "a\n/b.md",
        "~nobody-has-this-name/rules.md",
        "/" + "x" * 300 + "/y.md",
        "x/" * 3000 + "y.md",
    ],
)
def test_what_leads_nowhere_is_no_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (tmp_path / "notes").mkdir()
    monkeypatch.chdir(tmp_path)
    assert by_path(name) is None


@pytest.mark.parametrize(
    "document", ["../x.md", "/etc/x.md", "a/b.md", "x.txt", ".md", ".x.md", "x\0.md", "x\n.md", "", "y" * 300 + ".md"]
)
def test_a_document_is_a_file_of_its_folder_and_of_no_other(tmp_path: Path, document: str) -> None:
    target = required(by_path(f"{tmp_path}/"))
    with pytest.raises(BadInput, match="cannot be named"):
        target.read(document)
    with pytest.raises(BadInput, match="cannot be named"), target.held(document):
        raise AssertionError("held")


def test_an_item_added_to_an_empty_document_is_read_back(tmp_path: Path) -> None:
    target = required(by_path(str(file(tmp_path / "rules.md", b""))))

    def change(before: bytes) -> bytes:
        outcome = applied(before, "list", [Add("rules.md", "Deploy on Tuesdays")])
        assert isinstance(outcome, Applied)
        return outcome.after

    rewrite(target, "rules.md", change)
    assert target.read("rules.md") == b"- Deploy on Tuesdays\n"
