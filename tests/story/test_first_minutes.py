"""What people meet first: `dream` on what is there already, over every target, and a try that uses nothing up."""

from __future__ import annotations

import inspect
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from reverie.app import Home
from reverie.changes.proposal import ProposalStatus
from reverie.core.errors import BadInput, BadSetting, SwitchedOff
from reverie.dreams.dream import Night, Status
from tests.conftest import FIXTURES, HomeMaker
from tests.story.test_cli import Cli

ORDER = "Please remember that I always want distances in kilometres."
CHAT = "thanks, that was all"


@pytest.fixture
def hermes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Hermes home with memories and no transcripts yet."""
    folder = tmp_path / "hermes"
    (folder / "memories").mkdir(parents=True)
    (folder / "memories" / "USER.md").write_text("Ann builds boats.")
    monkeypatch.setenv("HERMES_HOME", str(folder))
    return folder


@pytest.fixture
def claude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Claude Code after an hour in each of two projects, with no memory yet."""
    folder = tmp_path / "claude"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder))
    for number, project in enumerate(("shop", "garden")):
        transcript(folder, project, f"s{number}", ORDER if number else CHAT)
    return folder


def transcript(claude: Path, project: str, name: str, words: str) -> None:
    cwd = f"/home/ann/{project}"
    path = claude / "projects" / cwd.replace("/", "-") / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    said = [("user", words), ("assistant", "Done.")]
    lines = [
        {
            "type": role,
            "sessionId": name,
            "uuid": f"{name}-{number}",
            "cwd": cwd,
            "timestamp": f"2026-05-10T09:0{number}:00.000Z",
            "message": {"role": role, "content": text},
        }
        for number, (role, text) in enumerate(said)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))


def session(name: str, words: str = CHAT, day: int = 1) -> dict[str, Any]:
    messages = [{"role": "user", "content": words}, {"role": "assistant", "content": "Noted."}]
    return {"id": name, "user": "ann", "started_at": f"2026-04-{day:02}T09:00:00Z", "messages": messages}


def add(home: Home, *days: int, words: str = CHAT) -> None:
    for day in days:
        home.sessions.add(session(f"d{day:02}", words, day))


def days(night: Night) -> list[list[int]]:
    """The days of the sessions of each dream."""
    return [[int(one.session_id[-2:]) for one in dream.sessions] for dream in night.dreams]


# ---- a fresh home ----------------------------------------------------------------------------------------------------


def test_a_night_reads_what_a_hermes_home_has_without_being_told_where(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, homes: HomeMaker
) -> None:
    shutil.copytree(FIXTURES / "hermes_home", tmp_path / "theirs")
    monkeypatch.setenv("HERMES_HOME", str(tmp_path / "theirs"))
    night = homes().dream()
    assert night.targets == ("hermes",) and night.sessions
    assert all(one.session_id.startswith("hermes:") for one in night.sessions)


def test_a_night_reads_what_claude_code_has_and_each_project_its_own(claude: Path, home: Home) -> None:
    night = home.dream()
    read = {dream.target: sorted(one.session_id for one in dream.sessions) for dream in night.dreams}
    assert read == {
        "claude": ["claude-code:s0", "claude-code:s1"],
        "claude/-home-ann-garden": ["claude-code:s1"],
        "claude/-home-ann-shop": ["claude-code:s0"],
    }
    assert "kilometres" in (claude / "CLAUDE.md").read_text()
    assert not (home.config.home / "memory").exists()
    assert home.dream().sessions == ()


def test_who_wants_only_what_was_added_says_so(claude: Path, homes: HomeMaker) -> None:
    home = homes(sources="added")
    assert home.dream().sessions == () and home.sessions.sources() == []
    with pytest.raises(BadSetting, match="auto or added"):
        homes(sources="everything")


def test_a_hermes_home_without_transcripts_is_a_quiet_night(hermes: Path, home: Home) -> None:
    night = home.dream()
    assert night.targets == ("hermes",) and night.quiet and night.flaws == () and night.status is Status.COMPLETED


def test_a_night_over_one_agent_brings_in_its_own_transcripts_and_nobody_elses(
    hermes: Path, claude: Path, home: Home
) -> None:
    assert home.dream("hermes").sessions == () and list(home.sessions.find()) == []
    assert len(home.dream("claude").sessions) == 2
    assert len(home.dream("hermes").sessions) == 2, "what is there is for everyone"


def test_what_was_added_for_someone_is_not_read_again_as_the_owners(claude: Path, home: Home) -> None:
    home.sessions.add(claude / "projects" / "-home-ann-shop", user="kim")
    home.dream("claude")
    assert sorted((one.user, one.head.id) for one in home.sessions.find()) == [
        ("ann", "claude-code:s1"),
        ("kim", "claude-code:s0"),
    ]


def test_a_place_that_is_read_by_itself_is_listed_and_says_how_to_stop_it(tmp_path: Path, claude: Path) -> None:
    cli = Cli(tmp_path)
    assert f"{claude}/projects  (claude-code, found here, not added)" in cli("sessions", "sources")
    assert 'sources = "added"' in cli("sessions", "forget", str(claude / "projects"), code=2)


# ---- which sessions --------------------------------------------------------------------------------------------------


def test_the_first_night_reads_the_newest_and_later_ones_what_came_since(hermes: Path, home_on: Home) -> None:
    add(home_on, *range(1, 21))
    first = home_on.dream("hermes")
    assert days(first) == [list(range(7, 21))] and (first.left, first.left_out) == (0, 6)
    assert "6 older ones were left out. `reverie dream hermes --all` reads them" in first.diary
    add(home_on, 21)
    assert days(home_on.dream("hermes")) == [[21]]
    home_on.sessions.add(session("d03", CHAT, 3) | {"messages": [{"role": "user", "content": "Hello again."}] * 4})
    assert days(home_on.dream("hermes")) == [[3]], "it grew"


def test_older_sessions_are_read_on_request(hermes: Path, home: Home) -> None:
    from datetime import UTC, datetime

    add(home, *range(1, 21))
    home.dream("hermes")
    assert days(home.dream("hermes", since=datetime(2026, 4, 4, tzinfo=UTC))) == [[4, 5, 6]]
    assert days(home.dream("hermes", everything=True)) == [[1, 2, 3]]
    assert home.dream("hermes", everything=True).sessions == ()


def test_a_night_goes_on_until_all_is_read_oldest_first(hermes: Path, home_on: Home) -> None:
    add(home_on, 1)
    home_on.dream("hermes")
    add(home_on, *range(2, 31))
    night = home_on.dream("hermes")
    assert days(night) == [list(range(2, 16)), list(range(16, 30)), [30]]
    assert [dream.left for dream in night.dreams] == [15, 1, 0] and night.left == 0
    assert night.diary.count("# 12 May 2026") == 3


def test_the_limits_of_a_night_are_for_all_its_dreams(hermes: Path, homes: HomeMaker) -> None:
    home = homes(**{"dreaming.recent_sessions_limit": "1"})
    add(home, 1)
    home.dream("hermes")
    for day, wish in enumerate(("distances in kilometres", "prices without tax", "dates with the year first"), 2):
        add(home, day, words=f"Please remember that I always want {wish}.")
    night = home.dream("hermes")
    assert len(night.dreams) == 3 and len(night.changes) == 1, "one addition a night"


def test_a_few_to_try_it_decide_nothing_about_the_others(hermes: Path, home: Home) -> None:
    add(home, *range(1, 6))
    tried = home.dream("hermes", limit=2)
    assert days(tried) == [[4, 5]] and (tried.left, tried.left_out) == (3, 0)
    assert days(home.dream("hermes", sessions=["d02"])) == [[2]]
    assert days(home.dream("hermes")) == [[1, 3]]


def test_sessions_that_are_named_are_read_in_one_go_up_to_a_hundred(hermes: Path, home: Home) -> None:
    add(home, *range(1, 21))
    assert days(home.dream("hermes", sessions=[f"d{day:02}" for day in range(1, 21)])) == [list(range(1, 21))]
    with pytest.raises(BadInput, match="101 sessions are named"):
        home.dream("hermes", sessions=[f"d{number}" for number in range(101)])


def test_a_worker_goes_on_with_what_a_queued_dream_leaves(hermes: Path, home_on: Home) -> None:
    add(home_on, 1)
    home_on.dream("hermes")
    add(home_on, *range(2, 19))
    first = home_on.dream.later("hermes")
    done = home_on.dream.run(first.id)
    assert (len(done.sessions), done.left) == (14, 3)
    (waiting,) = home_on.dreams.records.queued(home_on.owned)
    assert len(home_on.dream.run(waiting.dream).sessions) == 3
    assert home_on.dreams.records.queued(home_on.owned) == []


# ---- a try -----------------------------------------------------------------------------------------------------------


def test_a_night_that_only_proposes_uses_no_session_up(hermes: Path, home_on: Home) -> None:
    home_on.sessions.add(session("d01", ORDER))
    first = home_on.dream("hermes", mode="propose")
    again = home_on.dream("hermes", mode="propose")
    assert len(first.proposals) == 1 and days(first) == days(again) == [[1]]
    (waiting,) = home_on.review.waiting(every=True)
    assert (hermes / "memories" / "USER.md").read_text() == "Ann builds boats."
    plain = home_on.dream("hermes")
    assert len(plain.changes) == 1 and "kilometres" in (hermes / "memories" / "USER.md").read_text()
    assert home_on.review.waiting(every=True) == []
    landed = home_on.review.get(waiting.id)
    assert (landed.status, landed.change) == (ProposalStatus.LANDED, plain.changes[0])
    assert home_on.dream("hermes").sessions == ()


def test_a_proposal_in_other_words_is_left_to_the_person_who_wrote_them(hermes: Path, home: Home) -> None:
    from dataclasses import replace

    home.sessions.add(session("d01", ORDER))
    home.dream("hermes", mode="propose")
    (waiting,) = home.review.waiting()
    (operation,) = waiting.suggestion.operations
    home.review.edited(waiting, [replace(operation, text="Wants kilometres.")])
    assert home.dream("hermes").changes == ()
    assert [one.id for one in home.review.waiting()] == [waiting.id]


def test_the_first_night_is_the_first_that_is_no_try(hermes: Path, home: Home) -> None:
    add(home, *range(1, 21))
    assert days(home.dream("hermes", mode="propose")) == days(home.dream("hermes")) == [list(range(7, 21))]


def test_a_try_goes_on_until_all_is_read_too(hermes: Path, home: Home) -> None:
    add(home, 1)
    home.dream("hermes")
    add(home, *range(2, 19))
    for _ in range(2):
        assert days(home.dream("hermes", mode="propose")) == [list(range(2, 16)), [16, 17, 18]]


# ---- every target ----------------------------------------------------------------------------------------------------


def test_python_and_the_command_line_ask_for_targets_the_same_way(home: Home) -> None:
    parameters = inspect.signature(home.dream).parameters
    assert next(iter(parameters)) == "target" and parameters["target"].default is None


def test_the_command_covers_every_target_and_says_what(tmp_path: Path, hermes: Path, claude: Path) -> None:
    cli = Cli(tmp_path)
    (tmp_path / "claude" / "projects" / "-home-ann-shop" / "s0.jsonl").unlink()
    said = cli("dream")
    assert "Covered: claude (1 session), claude/-home-ann-garden (1 session), hermes (1 session)." in said
    transcript(claude, "shop", "s0", CHAT)
    said = cli("dream")
    assert "claude/-home-ann-shop (1 session)" in said and "Nothing new for claude/-home-ann-garden." in said
    assert not (cli.home / "memory").exists()


def test_memory_that_no_agent_reads_is_said_to_be_that(tmp_path: Path) -> None:
    cli = Cli(tmp_path)
    (tmp_path / "s1.json").write_text(json.dumps(session("s1", ORDER) | {"user": "sam"}))
    cli("sessions", "add", "s1.json")
    said = cli("dream")
    assert f"No agent reads {cli.home / 'memory'} by itself. `reverie context` prints it" in said


def test_a_target_that_is_not_there_is_refused_with_those_that_are(tmp_path: Path, hermes: Path) -> None:
    cli = Cli(tmp_path)
    for words in (["hermis"], ["--target", "hermis"], ["hermis", "--estimate"], ["hermis", "--queue"]):
        assert "There is no target 'hermis'. Expected one of hermes" in cli("dream", *words, code=2)
    assert "Two targets are named" in cli("dream", "hermes", "--target", "claude", code=2)


def test_a_target_that_cannot_be_written_does_not_hold_up_the_others(
    tmp_path: Path, hermes: Path, claude: Path
) -> None:
    cli = Cli(tmp_path)
    (claude / "CLAUDE.md").symlink_to(tmp_path / "nowhere.md")
    done = cli.run("dream", "--json")
    night = json.loads(done.stdout)
    assert done.returncode == 1
    assert "hermes" in {dream["target"] for dream in night["dreams"]}
    assert "claude" in [one["target"] for one in night["skipped"] if one["failed"]]


# ---- what Hermes' own settings say -----------------------------------------------------------------------------------


def test_dreaming_that_is_switched_off_in_hermes_is_off_there_only(hermes: Path, claude: Path, home: Home) -> None:
    (hermes / "config.yaml").write_text("memory:\n  provider: ''\ndreaming:\n  enabled: false  # not yet\nskills: {}\n")
    night = home.dream()
    assert "hermes" not in night.targets and "claude" in night.targets
    assert [one.target for one in night.skipped] == ["hermes"] and not night.skipped[0].failed
    assert f"hermes was skipped: dreaming is switched off in {hermes / 'config.yaml'}." in night.diary
    with pytest.raises(SwitchedOff, match=r"config\.yaml"):
        home.dream("hermes")
    assert not (hermes / "dreaming").exists()


def test_where_all_is_switched_off_the_command_says_so_and_the_scheduler_nothing(tmp_path: Path, hermes: Path) -> None:
    cli = Cli(tmp_path)
    (hermes / "config.yaml").write_text("dreaming: {enabled: off}\n")
    assert "hermes was skipped: dreaming is switched off" in cli("dream")
    assert "hermes  dreaming is switched off in" in cli("status")
    assert cli("dream", "--if-missed") == cli("dream", "--if-missed", "--target", "hermes") == ""


def test_the_other_keys_of_the_block_are_honoured_for_that_target(hermes: Path, homes: HomeMaker) -> None:
    block = "dreaming:\n  recent_sessions_limit: 3\n  max_adds_per_run: 0\n  schedule: 30 4 * * *\n  other: 1\n"
    (hermes / "config.yaml").write_text(block)
    home = homes()
    add(home, 1, 2, 3, words=CHAT)
    add(home, 4, words=ORDER)
    night = home.dream("hermes")
    assert days(night) == [[2, 3, 4]] and night.changes == ()
    assert home.nightly("hermes").when.text == "30 4 * * *" and home.nightly().when.text == "0 3 * * *"
    assert homes(**{"dreaming.recent_sessions_limit": "9"}).dreaming_on("hermes").recent_sessions_limit == 9


@pytest.mark.parametrize("block", ["dreaming: {add: high}", "dreaming: yes please", "dreaming: {", "dreaming: [1]"])
def test_a_block_that_cannot_be_used_is_named(hermes: Path, home: Home, block: str) -> None:
    (hermes / "config.yaml").write_text(f"{block}\n")
    with pytest.raises(BadSetting, match=r"config\.yaml"):
        home.dream("hermes")
