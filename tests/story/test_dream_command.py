"""`reverie dream` as a person types it: which sessions, whose, since when, over which target."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.story.test_cli import Cli

KILOMETRES = "Please remember that I always want distances in kilometres."
CELSIUS = "Please remember that I always want temperatures in Celsius."


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)


def say(cli: Cli, name: str, words: str, at: str = "2026-05-10T09:00:00Z", user: str = "sam") -> None:
    path = cli.folder / f"{name}.json"
    turns = [("user", "Can you look at this?"), ("assistant", "Here it is."), ("user", words), ("assistant", "Noted.")]
    messages = [{"role": role, "content": text} for role, text in turns]
    path.write_text(json.dumps({"id": name, "user": user, "started_at": at, "messages": messages}))
    cli("sessions", "add", str(path))


def read(night: Any) -> list[str]:
    """The sessions of a night, as `--json` tells them."""
    return [one["session_id"] for dream in night["dreams"] for one in dream["sessions"]]


def nights(cli: Cli) -> int:
    return len(cli.json("status")["dreams"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--session", "s-one"], "There is no session 's-one'."),
        (["--session", ""], "There is no session ''."),
        (["--session", "s1", "--session", "s-one", "--session", "s-two"], "There is no session 's-one', 's-two'."),
        (["--user", "bob"], "There is no user 'bob'."),
        (["--user", "kim", "--session", "s1"], "There is no session 's1' of kim."),
    ],
)
def test_who_or_what_is_not_there_is_an_error_and_no_quiet_night(cli: Cli, words: list[str], said: str) -> None:
    say(cli, "s1", KILOMETRES)
    say(cli, "s2", "Hello.", user="kim")
    for how in ([], ["--queue"], ["--estimate"]):
        assert said in cli("dream", *words, *how, code=2)
    assert nights(cli) == 0 and not (cli.home / "memory").exists() and not (cli.home / "dreaming").exists()


def test_a_user_who_has_nothing_new_has_a_quiet_night(cli: Cli) -> None:
    assert "There is nothing to read." in cli("dream", "--user", "sam")
    say(cli, "s1", KILOMETRES, user="kim")
    cli("dream", "--user", "kim")
    assert "quiet" in cli("dream", "--user", "kim").lower()


def test_a_session_that_lies_in_a_source_and_was_not_brought_in_yet_can_be_named(cli: Cli) -> None:
    folder = cli.folder / "chats"
    folder.mkdir()
    cli("sessions", "add", str(folder))
    say(cli, "s1", KILOMETRES)
    (cli.folder / "s1.json").rename(folder / "s9.json")
    (folder / "s9.json").write_text((folder / "s9.json").read_text().replace('"s1"', '"s9"'))
    assert read(cli.json("dream", "--session", "s9")) == ["s9"]


def test_since_reaches_back_to_a_date_and_all_to_the_first_session(cli: Cli) -> None:
    say(cli, "old", CELSIUS, at="2026-01-10T09:00:00Z")
    say(cli, "new", KILOMETRES, at="2026-05-10T09:00:00Z")
    night = cli.json("dream", "--since", "2026-05-01")
    assert read(night) == ["new"] and night["left_out"] == 1
    assert "kilometres" in (text := (cli.home / "memory" / "USER.md").read_text()) and "Celsius" not in text
    assert read(cli.json("dream", "--since", "2026-05-01")) == [] and read(cli.json("dream")) == []
    assert read(cli.json("dream", "--all")) == ["old"] and read(cli.json("dream", "--all")) == []
    assert "is not a date" in cli("dream", "--since", "yesterdayish", code=2)


def test_a_night_on_the_claude_target_writes_into_claude_md_and_is_taken_back(cli: Cli) -> None:
    claude = cli.folder / "claude"
    claude.mkdir()
    (claude / "CLAUDE.md").write_text("# Mine\n\n- Standup is at nine.\n")
    say(cli, "s1", KILOMETRES)
    done = cli("dream", "--target", "claude", CLAUDE_CONFIG_DIR=str(claude))
    assert "kilometres" in done
    assert (claude / "CLAUDE.md").read_text() == (
        "# Mine\n\n- Standup is at nine.\n- I always want distances in kilometres.\n"
    )
    assert (cli.home / "dreaming" / "claude" / "DREAMS.md").exists()
    cli("undo", cli.json("history")[0]["id"], CLAUDE_CONFIG_DIR=str(claude))
    assert (claude / "CLAUDE.md").read_text() == "# Mine\n\n- Standup is at nine.\n"


def test_a_night_on_a_folder_writes_into_its_list_and_reads_nothing_twice(cli: Cli) -> None:
    notes = cli.folder / "notes"
    notes.mkdir()
    (notes / "rules.md").write_text("- Standup is at nine.\n")
    say(cli, "s1", KILOMETRES)
    cli("dream", "--target", "./notes")
    assert (notes / "rules.md").read_text() == "- Standup is at nine.\n- I always want distances in kilometres.\n"
    assert read(cli.json("dream", "--target", str(notes))) == []
    assert "There is no target" in cli("dream", "--target", "./nonsense", code=2)
