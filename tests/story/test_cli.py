"""The command line as a new user meets it: an empty home, wrong words, a narrow terminal, a broken file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reverie import __version__
from tests.commands import run_command, starts_alike
from tests.terminal import in_terminal


class Cli:
    """Runs the real command in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home = folder / "home"

    def __call__(self, *words: str, code: int = 0, stdin: str = "", **environment: str) -> str:
        done = self.run(*words, stdin=stdin, **environment)
        assert done.returncode == code, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout + done.stderr

    def run(self, *words: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
        from os import environ

        set_here = {"REVERIE_HOME": str(self.home), "REVERIE_OWNER": "sam", "COLUMNS": "80"}
        if starts_alike(environment):
            every = {**environ, **set_here, **environment}
            return run_command(words, environment=every, folder=self.folder, stdin=stdin)
        return subprocess.run(
            [sys.executable, "-m", "reverie", *words],
            capture_output=True,
            text=True,
            check=False,
            input=stdin,
            cwd=self.folder,
            timeout=120,
            env={**environ, **set_here, **environment},
        )

    def json(self, *words: str) -> Any:
        done = self.run(*words, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)


@pytest.fixture
def transcript(tmp_path: Path) -> Path:
    path = tmp_path / "chat.json"
    messages = [
        {"role": "user", "content": "We deployed the containers to registry.shop.example on Tuesday."},
        {"role": "assistant", "content": "Noted."},
    ]
    path.write_text(json.dumps({"id": "chat", "started_at": "2026-03-24T09:30:00Z", "messages": messages}))
    return path


def test_the_version_is_printed(cli: Cli) -> None:
    assert cli("--version").strip() == f"reverie, version {__version__}"


def test_the_demo_needs_nothing_and_leaves_nothing(cli: Cli) -> None:
    said = cli("demo")
    assert "db2.internal" in said
    assert "redacted before storing: 1 url-password" in said
    assert not cli.home.exists()


def test_init_makes_a_home_and_never_overwrites_one(cli: Cli) -> None:
    assert "Made a home" in cli("init")
    assert cli.home.stat().st_mode & 0o777 == 0o700
    (cli.home / "reverie.toml").write_text('owner = "kim"\n')
    assert "nothing was changed" in cli("init")
    assert (cli.home / "reverie.toml").read_text() == 'owner = "kim"\n'


def test_add_then_search_then_show_then_remove(cli: Cli, transcript: Path) -> None:
    assert "1 session (1 new), 2 turns added" in cli("sessions", "add", str(transcript))
    assert "1 session (1 unchanged), 0 turns added" in cli("sessions", "add", str(transcript))
    found = cli("search", "when did we deploy the container?")
    assert "chat turn 1  2026-03-24" in found
    assert "▸ user: We deployed the containers" in found
    assert "assistant: Noted." in found
    assert "2 turns" in cli("sessions", "list")
    assert "1  user (owner)" in cli("sessions", "show", "chat")
    assert "Removed 1 session" in cli("sessions", "remove", "chat", stdin="y\n")
    assert "No sessions" in cli("sessions", "list")


def test_removing_asks_first_and_no_means_no(cli: Cli, transcript: Path) -> None:
    cli("sessions", "add", str(transcript))
    assert "Aborted" in cli("sessions", "remove", "chat", stdin="n\n", code=1)
    assert "chat" in cli("sessions", "list")


def test_everything_can_be_had_as_json(cli: Cli, transcript: Path) -> None:
    added = cli.json("sessions", "add", str(transcript))
    assert added[str(transcript)]["fates"] == {"new": 1}
    assert [session["id"] for session in cli.json("sessions", "list")] == ["chat"]
    assert cli.json("sessions", "show", "chat")["turns"][0]["origin"] == "owner"
    assert cli.json("search", "containers")[0]["turn"] == 1
    assert cli.json("sessions", "sources")[0]["path"] == str(transcript)
    assert cli.json("doctor")["settings"]["owner"] == {"text": "sam", "came_from": "REVERIE_OWNER"}
    assert cli.json("demo")["added"]["fates"] == {"new": 29}
    assert cli.json("sessions", "forget", str(transcript)) == {"forgotten": str(transcript)}
    assert cli.json("sessions", "remove", "chat", "--yes") == {"removed": ["chat"]}
    assert cli.json("init")["new"] is True


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["sessions", "add"], "--all"),
        (["sessions", "add", "nowhere"], "does not exist"),
        (["sessions", "show", "nobody"], "sessions list"),
        (["sessions", "remove", "nobody", "--yes"], "sessions list"),
        (["sessions", "forget", "nowhere"], "sessions sources"),
        (["sessions", "add", ".", "--reader", "nonsense"], "one of"),
        (["search", ""], "empty"),
        (["search", "x", "--since", "someday"], "2026-05-12"),
        (["search", "x", "--limit", "0"], "1<=x<=1000"),
        (["serach", "x"], "No such command"),
        (["search", "x", "--database", "mysql://h/d"], "sqlite:///"),
    ],
)
def test_wrong_words_end_with_code_2_and_a_hint(cli: Cli, words: list[str], hint: str) -> None:
    assert hint in cli(*words, code=2)


def test_an_error_is_json_for_those_who_asked_for_json(cli: Cli) -> None:
    done = cli.run("sessions", "show", "nobody", "--json")
    assert done.returncode == 2
    assert json.loads(done.stderr)["error"]["kind"] == "NotFound"


def test_all_finds_the_harnesses_and_remembers_them(cli: Cli, tmp_path: Path) -> None:
    nobody = tmp_path / "nobody"
    assert "No harness found" in cli("sessions", "add", "--all", HOME=str(nobody))
    project = nobody / ".claude" / "projects" / "-srv-shop"
    project.mkdir(parents=True)
    line = {
        "type": "user",
        "uuid": "u1",
        "parentUuid": None,
        "sessionId": "7b1c",
        "cwd": "/srv/shop",
        "version": "2.0.1",
        "isSidechain": False,
        "timestamp": "2026-03-24T09:30:00.000Z",
        "userType": "external",
        "message": {"role": "user", "content": "Please tag the release"},
    }
    (project / "7b1c.jsonl").write_text(json.dumps(line) + "\n")
    assert "1 session (1 new)" in cli("sessions", "add", "--all", HOME=str(nobody))
    assert str(project.parent) in cli("sessions", "sources")
    with (project / "7b1c.jsonl").open("a") as file:
        file.write(json.dumps(line | {"uuid": "u2", "message": {"role": "user", "content": "and push it"}}) + "\n")
    assert "1 grown" in cli("sessions", "add", "--refresh", HOME=str(nobody))


def test_a_broken_file_is_reported_and_the_rest_is_kept(cli: Cli, transcript: Path) -> None:
    lines = transcript.with_suffix(".jsonl")
    lines.write_text(transcript.read_text() + "\n{broken\n")
    said = cli("sessions", "add", str(lines))
    assert "1 session (1 new)" in said
    assert "chat.jsonl, line 2: not JSON" in said


def test_escape_sequences_in_a_transcript_do_not_reach_the_terminal(cli: Cli, tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "harmless \x1b]0;owned\x07 \x1b[31mwords\u202e"}]
    path = tmp_path / "evil.json"
    path.write_text(json.dumps({"id": "evil\x1b[2J", "title": "t\x1b[2J", "messages": messages}))
    for said in (cli("sessions", "add", str(path)), cli("search", "harmless words"), cli("sessions", "list")):
        assert "\x1b" not in said
        assert "\u202e" not in said


def test_a_narrow_terminal_gets_no_line_longer_than_itself(cli: Cli, transcript: Path) -> None:
    cli("sessions", "add", str(transcript))
    said = in_terminal(["search", "containers", "--home", str(cli.home)], columns=40)
    assert "registry.shop.example" in said and max(map(len, said.splitlines())) <= 40


def test_a_pipe_gets_every_line_whole(cli: Cli, transcript: Path) -> None:
    cli("sessions", "add", str(transcript))
    said = cli("search", "containers", COLUMNS="40")
    assert " ▸ user: We deployed the containers to registry.shop.example on Tuesday.\n" in said


def test_doctor_says_where_each_value_came_from_and_changes_nothing(cli: Cli) -> None:
    said = cli("doctor", REVERIE_TIMEZONE="Europe/Berlin")
    assert "Europe/Berlin  (REVERIE_TIMEZONE)" in said
    assert "(default)" in said
    assert "model_price" not in said and "more have their defaults (--all shows them)" in said
    assert "model_price" in cli("doctor", "--all")
    assert not cli.home.exists()
    cli("init")
    (cli.home / "reverie.toml").write_text('timezone = "Asia/Tokyo"\n')
    assert "Asia/Tokyo  (reverie.toml)" in cli("doctor")


def test_a_night_with_nothing_to_read_names_the_next_command(cli: Cli, transcript: Path) -> None:
    nobody = {"HOME": str(cli.folder / "nobody")}
    for words in (["dream"], ["dream", "--estimate"], ["review"], ["status"]):
        assert "`reverie sessions add --all`" in (said := cli(*words, **nobody)) and said.endswith("\n")
    assert "quiet night" not in cli("dream", **nobody)
    for command in ("rules", "history"):
        assert "`reverie memory add TEXT`" in cli(command, **nobody)
    said = [{"role": "user", "content": "Remember: we never deploy on Fridays."}]
    transcript.write_text(json.dumps({"id": "chat", "messages": said}))
    cli("sessions", "add", str(transcript), **nobody)
    cli("dream", "home", **nobody)
    first = cli("explain", "last", **nobody)
    assert "never deploy on Fridays" in first
    quiet = cli("dream", "home", **nobody)
    assert "nothing new to read" in quiet and "sessions add" not in quiet
    assert "`reverie review`" in quiet or "`reverie explain`" in quiet
    assert cli("explain", "last", **nobody).endswith(first)


def test_a_search_that_finds_nothing_names_the_next_command(cli: Cli, transcript: Path) -> None:
    assert "Nothing found." in (empty := cli("search", "containers")) and "`reverie sessions add --all`" in empty
    assert "`reverie sessions add --all`" in cli("status")
    cli("sessions", "add", str(transcript))
    assert "Try fewer words" in cli("search", "zeppelin")
    assert "Leave out --user" in cli("search", "containers", "--since", "2031-01-01")


def test_a_search_into_a_pipe_is_whole_and_tells_one_exchange_once(cli: Cli, tmp_path: Path) -> None:
    long = (
        f"We moved the staging database in March. {'It was a long day :key: and there is more to tell. ' * 40}The end."
    )
    talk = [("user", "When did we move the staging database?"), ("assistant", long), ("user", "The staging database!")]
    messages = [{"role": role, "content": text} for role, text in talk]
    for name in ("one", "two"):
        (tmp_path / f"{name}.json").write_text(json.dumps({"id": name, "messages": messages}))
        cli("sessions", "add", str(tmp_path / f"{name}.json"))
    found = cli("search", "when did we move the staging database?")
    assert found.count(long) == 2 and "…" not in found
    assert [line.split()[0] for line in found.splitlines() if line[:1].isdigit()] == ["1.", "2."]
    assert found.count(" ▸ ") == 6 and "why turn 2: " in cli("search", "staging database", "--explain")
    assert len(cli.json("search", "when did we move the staging database?", "--limit", "6")) == 6
    shown = in_terminal(["search", "when did we move the staging database?", "--home", str(cli.home)], columns=60)
    assert "The end." not in shown and "…" in shown


def test_doctor_finds_what_is_bad(cli: Cli) -> None:
    cli("init")
    cli.home.chmod(0o755)
    assert "chmod 700" in cli("doctor", code=1)
    cli.home.chmod(0o700)
    (cli.home / "index").write_text("no folder")
    (cli.home / "index").chmod(0o600)
    assert "BAD  index" in cli("doctor", code=1)
    (cli.home / "reverie.db").write_text("no database " * 1000)
    assert "BAD  database" in cli("doctor", code=1)


def test_a_password_in_the_database_url_is_not_shown(cli: Cli) -> None:
    said = cli("doctor", "--database", "postgresql://sam:tangerine@127.0.0.1:1/none", code=1)
    assert "tangerine" not in said


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        ("ownr = 'x'", "Did you mean 'owner'"),
        ("owner = 3", "a text in quotes"),
        ("owner = [", "not TOML"),
        ("timezone = 'Mars/Base'", "Europe/Berlin"),
    ],
)
def test_a_bad_setting_is_explained(cli: Cli, content: str, hint: str) -> None:
    cli.home.mkdir()
    (cli.home / "reverie.toml").write_text(content)
    assert hint in cli("sessions", "list", code=2)


def test_a_damaged_database_ends_with_code_3_and_is_left_alone(cli: Cli) -> None:
    cli.home.mkdir(mode=0o700)
    path = cli.home / "reverie.db"
    path.write_text("no database " * 1000)
    assert "not a database" in cli("sessions", "list", code=3)
    assert path.read_text().startswith("no database")


def test_a_home_that_is_a_file_is_refused(cli: Cli) -> None:
    cli.home.write_text("I am a file")
    assert "is a file" in cli("sessions", "list", code=2)
