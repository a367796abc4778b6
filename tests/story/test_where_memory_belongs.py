"""Where a memory belongs, as a user meets it: sessions know their project, and each target learns from its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import text

from reverie.app import Home
from reverie.memory.target import sees
from reverie.storage import migrations
from reverie.storage.database import engine as make_engine
from reverie.storage.database import reading_across, writing_across
from tests.conftest import HomeMaker
from tests.rooms.test_projects import claude_transcript, git
from tests.serving import serving
from tests.story.test_api_sessions import IMPORT, begun, message, send
from tests.story.test_cli import Cli


@pytest.fixture
def claude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Claude Code after a day's work in two projects."""
    config = tmp_path / "claude"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(config))
    for cwd in ("/home/dana/ledgerly", "/home/dana/orchard"):
        claude_transcript(config, cwd)
    return config


@pytest.fixture
def used(homes: HomeMaker, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], Home]:
    """A home on a machine on which the folder of an agent is elsewhere, as a variable says."""

    def opened(variable: str, folder: str) -> Home:
        monkeypatch.setenv(variable, folder)
        return homes()

    return opened


def kept(home: Home) -> list[tuple[str | None, str | None]]:
    return sorted((one.head.project, one.head.project_path) for one in home.sessions.find())  # type: ignore[type-var]


def test_each_targets_sessions_are_those_of_its_project(claude: Path, home_on: Home) -> None:
    home_on.sessions.add(claude)
    home_on.sessions.add({"id": "chat", "messages": [{"role": "user", "content": "I like tea."}]})

    def learns_from(target: str) -> set[str | None]:
        places = home_on.memory.target(target).places()
        return {one.head.project for one in home_on.sessions.find() if sees(places, one.head)}

    assert learns_from("claude/-home-dana-ledgerly") == {"ledgerly"}
    assert learns_from("claude/-home-dana-orchard") == {"orchard"}
    assert learns_from("claude") == learns_from("hermes") == {"ledgerly", "orchard", None}


def test_work_in_a_subfolder_is_kept_as_work_in_its_repository(home: Home, tmp_path: Path) -> None:
    repository = tmp_path / "code" / "ledgerly"
    (repository / "src").mkdir(parents=True)
    git(repository, "init", "-q")
    home.sessions.add(claude_transcript(tmp_path / "claude", str(repository / "src")))
    assert kept(home) == [("ledgerly", str(repository))]


def test_a_stranger_who_sends_a_transcript_learns_nothing_about_our_disk(home: Home, tmp_path: Path) -> None:
    """Whoever imports over the API could otherwise ask where repositories are by naming folders."""
    (tmp_path / "secret" / "deep").mkdir(parents=True)
    (tmp_path / "secret" / ".git").mkdir()
    path = claude_transcript(tmp_path / "claude", str(tmp_path / "secret" / "deep"))
    with serving(home) as served:
        assert served.call("POST", f"{IMPORT}?filename={path.name}", path.read_bytes()).json["new"] == 1
    assert kept(home) == [("deep", str(tmp_path / "secret" / "deep"))]


def test_a_session_over_the_api_says_its_project_in_its_metadata(home_on: Home) -> None:
    with serving(home_on) as served:
        session = begun(served, metadata={"project": "ledgerly"})
        send(served, session, message("We use Postgres 16 here."))
    assert kept(home_on) == [("ledgerly", None)]


def test_the_list_says_the_project_and_can_be_narrowed_to_it(tmp_path: Path, claude: Path) -> None:
    cli = Cli(tmp_path)
    cli("sessions", "add", str(claude))
    assert "    ledgerly\n" in cli("sessions", "list") and "    orchard\n" in cli("sessions", "list")
    (one,) = cli.json("sessions", "list", "--project", "ledgerly")
    assert (one["project"], one["project_path"]) == ("ledgerly", "/home/dana/ledgerly")
    assert "orchard" not in cli("sessions", "list", "--project", "ledgerly")
    assert cli("sessions", "show", one["id"]).splitlines()[1] == "project ledgerly"


def test_projects_without_notes_are_no_clutter_in_the_list_of_memory(tmp_path: Path, claude: Path) -> None:
    cli = Cli(tmp_path)
    (claude / "CLAUDE.md").write_text("- Answer in German.\n")
    assert [line for line in cli("memory", "list").splitlines() if not line.startswith(" ")] == [
        "claude/CLAUDE.md  20 of 40,000 characters"
    ]
    cli("memory", "add", "Postgres is version 16.", "--target", "claude/-home-dana-ledgerly")
    notes = claude / "projects" / "-home-dana-ledgerly" / "memory" / "MEMORY.md"
    assert notes.read_text() == "- Postgres is version 16.\n"
    assert "claude/-home-dana-ledgerly/MEMORY.md" in cli("memory", "list")


def test_a_removed_session_leaves_no_trace_of_its_project(home_on: Home, claude: Path) -> None:
    home_on.sessions.add(claude)
    (ledgerly,) = [one.head.id for one in home_on.sessions.find() if one.head.project == "ledgerly"]
    home_on.sessions.remove(ledgerly)
    stored = home_on.sessions.records.known(home_on.owned, ledgerly)
    assert stored is not None and (stored.head.project, stored.head.project_path) == (None, None)


# ---- homes made before -----------------------------------------------------------------------------------------------

OLD = """insert into sessions (workspace, "user", id, harness, facts, revision, turns, added_at, changed)
         values ('local', :user, :id, :harness, :facts, 1, 1, 0, :changed)"""
SAID = """insert into turns (workspace, "user", session_id, revision, number, role, origin, text)
          values ('local', :user, :id, 1, 1, 'user', 'owner', 'We use Postgres 16 here.')"""


def old_database(url: str, sessions: dict[str, tuple[str, str | None]]) -> None:
    """As the version before left it: no session says its project."""
    engine = make_engine(url)
    migrations.migrate(engine, "0009")
    with writing_across(engine, "upkeep") as connection:
        for place, (name, (harness, cwd)) in enumerate(sessions.items(), 1):
            facts = json.dumps({"cwd": cwd, "model": "m"}, sort_keys=True) if cwd else None
            row = {"id": name, "user": "ann" if place % 2 else "bob"}
            connection.execute(text(OLD), row | {"harness": harness, "facts": facts, "changed": place})
            connection.execute(text(SAID), row)
    engine.dispose()


def test_an_old_home_opens_and_its_sessions_say_their_project(homes: HomeMaker, empty_database: str) -> None:
    many = {f"claude-code:{number:04}": ("claude-code", f"/srv/p{number % 3}") for number in range(2_100)}
    old_database(
        empty_database,
        {
            "claude-code:a": ("claude-code", "/home/dana/ledgerly"),
            "codex:b": ("codex", r"C:\code\kiln"),
            "hermes:c": ("hermes", "/home/dana"),
            "openclaw:d": ("openclaw", "/home/dana/.openclaw/workspace"),
            "plain:e": ("plain", None),
        }
        | many,
    )
    home = homes(database=empty_database)
    found = {one.head.id: (one.head.project, one.head.project_path) for one in home.sessions.find()}
    assert {name: found[name] for name in found if name[-1] in "abcde"} == {
        "claude-code:a": ("ledgerly", "/home/dana/ledgerly"),
        "codex:b": ("kiln", r"C:\code\kiln"),
        "hermes:c": (None, "/home/dana"),
        "openclaw:d": (None, None),
        "plain:e": (None, None),
    }
    assert all(found[name] == (cwd.rpartition("/")[2], cwd) for name, (_, cwd) in many.items())
    with reading_across(home.engine, "upkeep") as connection:
        assert migrations.schema_version(connection) == migrations.CURRENT


def test_reading_an_old_transcript_again_fills_the_project_in_and_makes_no_new_revision(
    homes: HomeMaker, empty_database: str, tmp_path: Path
) -> None:
    repository = tmp_path / "code" / "ledgerly"
    (repository / "src").mkdir(parents=True)
    git(repository, "init", "-q")
    path = claude_transcript(tmp_path / "claude", str(repository / "src"))
    name = f"claude-code:{path.stem}"
    old_database(empty_database, {name: ("claude-code", None)})
    home = homes(database=empty_database)
    with writing_across(home.engine, "upkeep") as connection:  # the words as this reader gives them
        connection.execute(text("update turns set at = 1778490000000000"))
    assert home.sessions.add(path).fates == {"unchanged": 1}
    (stored,) = home.sessions.find()
    assert (stored.head.project, stored.head.project_path) == ("ledgerly", str(repository))
    assert (stored.revision, stored.turns) == (1, 1)
    before = stored.changed
    home.sessions.add(path, again=True)
    assert next(home.sessions.find()).changed == before, "a second reading has nothing to say"


@pytest.mark.parametrize(
    ("target", "variable", "skills"),
    [
        ("codex", "CODEX_HOME", "skills"),
        ("claude", "CLAUDE_CONFIG_DIR", "skills"),
        ("gemini", "GEMINI_CLI_HOME", ".gemini/skills"),
        ("openclaw", "OPENCLAW_STATE_DIR", "skills"),
        ("opencode", "XDG_CONFIG_HOME", "opencode/skills"),
    ],
)
def test_a_new_skill_goes_where_the_agent_of_the_target_reads_skills(
    used: Callable[[str, str], Home], tmp_path: Path, target: str, variable: str, skills: str
) -> None:
    folder = tmp_path / "agent" / skills
    folder.parent.mkdir(parents=True)
    home = used(variable, str(tmp_path / "agent"))
    said = "Every release goes like this: bump the version. Write the changelog. Tag it. Then tell Piet in the chat."
    home.sessions.add({"id": "r", "messages": [{"role": "user", "content": said}]})
    home.dream(target)
    (proposal,) = [one for one in home.review.waiting() if one.kind == "amendment"]
    home.review.approve(proposal)
    (skill,) = folder.glob("*/SKILL.md")
    assert "Write the changelog." in skill.read_text()
    assert [found.skill.subject for found in home.skills.every()] == [skill.parent.name]
