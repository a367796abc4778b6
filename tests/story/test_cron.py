"""Nights by themselves: one line in a crontab that is otherwise left alone, a timer for each target, no night lost."""

from __future__ import annotations

import os
import shlex
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from reverie.app import Home, open_home
from reverie.dreams.dream import Status
from reverie.dreams.dreaming import Due
from reverie.dreams.run.steps import given_up
from tests.conftest import NOON, HomeMaker
from tests.story.test_cli import Cli

CRONTAB = """#!/bin/sh
# A crontab that keeps its lines in a file, as the real one does.
[ -n "$CRON_BROKEN" ] && { echo "$CRON_BROKEN" >&2; exit 1; }
case "$1" in
  -l) cat "$CRON_FILE" 2>/dev/null || { echo "no crontab for ann" >&2; exit 1; } ;;
  -) cat > "$CRON_FILE" ;;
esac
"""
SYSTEMCTL = """#!/bin/sh
# What it is told is written down; one word of it can be made to fail.
echo "$@" >> "$SYSTEMCTL_FILE"
case " $* " in *" $SYSTEMCTL_BROKEN "*) echo "Failed to connect to bus" >&2; exit 1 ;; esac
"""


@pytest.fixture(autouse=True)
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, script in (("crontab", CRONTAB), ("systemctl", SYSTEMCTL)):
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    monkeypatch.setenv("CRON_FILE", str(tmp_path / "cron"))
    monkeypatch.setenv("SYSTEMCTL_FILE", str(tmp_path / "systemctl"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def crontab(tmp_path: Path) -> Path:
    return tmp_path / "cron"


@pytest.fixture
def units(tmp_path: Path) -> Path:
    return tmp_path / "config" / "systemd" / "user"


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path)


def lines(crontab: Path) -> list[str]:
    return crontab.read_text().splitlines()


# ---- the user's own lines --------------------------------------------------------------------------------------------


def test_installing_twice_leaves_one_line_and_every_other_line(cli: Cli, crontab: Path) -> None:
    crontab.write_text("MAILTO=me\n5 4 * * * backup\n")
    cli("cron", "install")
    cli("cron", "install", "--at", "30 2 * * 1-5", "--propose", "--after", "5")
    assert lines(crontab)[:2] == ["MAILTO=me", "5 4 * * * backup"]
    (ours,) = lines(crontab)[2:]
    assert ours.startswith("30 * * * * env ") and " --if-missed --propose --after 5 " in ours
    assert "'REVERIE_DREAMING_SCHEDULE=30 2 * * 1-5'" in ours
    assert "Removed." in cli("cron", "remove") and "nothing to remove" in cli("cron", "remove")
    assert crontab.read_text() == "MAILTO=me\n5 4 * * * backup\n"


def test_other_lines_stay_byte_for_byte(cli: Cli, crontab: Path) -> None:
    theirs = b"# caf\xe9 \x0c here\r\n5 4 * * * backup\r\n\n# \xc2\x85 and \xe2\x80\xa8 too\n"
    crontab.write_bytes(theirs)
    cli("cron", "install")
    assert crontab.read_bytes().startswith(theirs) and crontab.read_bytes().count(b"\n") == theirs.count(b"\n") + 1
    cli("cron", "remove")
    assert crontab.read_bytes() == theirs


@pytest.mark.parametrize("said", ["you (ann) are not allowed to use this program", "crontabs/ann: Permission denied"])
def test_a_crontab_that_cannot_be_read_is_not_an_empty_one(cli: Cli, crontab: Path, said: str) -> None:
    crontab.write_text("5 4 * * * backup\n")
    for words in ("install", "remove"):
        assert said in cli("cron", words, code=2, CRON_BROKEN=said)
    assert crontab.read_text() == "5 4 * * * backup\n"


def test_where_there_is_no_crontab_or_an_empty_one_it_has_our_line_only(cli: Cli, crontab: Path) -> None:
    for before in (None, ""):
        if before is not None:
            crontab.write_text(before)
        cli("cron", "install")
        assert len(lines(crontab)) == 1


# ---- when ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "when",
    [
        "",
        "3 o'clock",
        "0 3 * *",
        "0 3 * * * rm -rf",
        "0 3 * * $(x)",
        "99 99 * * *",
        "75 30 * * *",
        "0 24 * * *",
        "0 3 0 * *",
        "0 3 32 * *",
        "0 3 * 13 *",
        "0 3 * * 8",
        "30-10 3 * * *",
        "*/0 3 * * *",
        "5/10 3 * * *",
        ", 3 * * *",
    ],
)
def test_a_time_that_is_none_is_refused(home: Home, when: str) -> None:
    from reverie.core.clock import schedule
    from reverie.core.errors import BadInput

    with pytest.raises(BadInput, match="five fields"):
        schedule(when)


def test_a_refused_time_writes_nothing_and_one_in_the_settings_is_refused_at_once(
    cli: Cli, crontab: Path, units: Path
) -> None:
    for how in ([], ["--systemd"]):
        assert "99 is no minute" in cli("cron", "install", "--at", "99 99 * * *", *how, code=2)
    assert not crontab.exists() and not units.exists()
    assert "30 is no hour" in cli("status", code=2, REVERIE_DREAMING_SCHEDULE="0 30 * * *")


@pytest.mark.parametrize(
    ("when", "zone", "now", "last"),
    [
        ("0 3 * * *", "UTC", "2026-05-12T12:00", "2026-05-12T03:00"),
        ("0 3 * * *", "UTC", "2026-05-12T02:59", "2026-05-11T03:00"),
        ("0 3 * * *", "UTC", "2026-05-12T03:00", "2026-05-12T03:00"),
        ("0 3 * * *", "Europe/Berlin", "2026-05-12T12:00", "2026-05-12T01:00"),
        ("0 3 * * *", "Europe/Berlin", "2026-01-12T12:00", "2026-01-12T02:00"),
        ("0 3 * * *", "America/Los_Angeles", "2026-05-12T09:00", "2026-05-11T10:00"),
        ("30 2 * * 1-5", "UTC", "2026-05-10T12:00", "2026-05-08T02:30"),  # a Sunday: the Friday before
        ("0 3 * * 7", "UTC", "2026-05-12T12:00", "2026-05-10T03:00"),
        ("0 3 13 * 1", "UTC", "2026-05-12T12:00", "2026-05-11T03:00"),  # either will do, as cron has it
        ("*/20 8-10,22 * * *", "UTC", "2026-05-12T12:00", "2026-05-12T10:40"),
        ("0 3 29 2 *", "UTC", "2026-05-12T12:00", "2024-02-29T03:00"),
        ("0 3 30 2 *", "UTC", "2026-05-12T12:00", None),
    ],
)
def test_when_a_night_was_last_due(when: str, zone: str, now: str, last: str | None) -> None:
    from zoneinfo import ZoneInfo

    from reverie.core.clock import schedule

    found = schedule(when).last(datetime.fromisoformat(now).replace(tzinfo=UTC), ZoneInfo(zone))
    assert found == (datetime.fromisoformat(last).replace(tzinfo=UTC) if last else None)


def test_03_00_is_03_00_in_the_timezone_of_the_settings(cli: Cli, crontab: Path, units: Path) -> None:
    said = cli("cron", "install", REVERIE_TIMEZONE="Europe/Berlin", TZ="UTC")
    assert "at 0 3 * * * (Europe/Berlin)" in said and "REVERIE_TIMEZONE=Europe/Berlin" in crontab.read_text()
    cli("cron", "install", REVERIE_TIMEZONE="Asia/Kolkata", TZ="UTC")
    assert lines(crontab)[0].startswith("30 * * * * ")  # half an hour apart
    cli("cron", "install", "--systemd", REVERIE_TIMEZONE="Europe/Berlin")
    (timer,) = units.glob("*.timer")
    assert "OnCalendar=*-*-* 03:00:00 Europe/Berlin\nPersistent=true\n" in timer.read_text()


# ---- nothing is left to the environment ------------------------------------------------------------------------------


def test_the_line_says_all_that_the_night_needs(cli: Cli, crontab: Path, units: Path, tmp_path: Path) -> None:
    hermes = tmp_path / "hermes"
    (hermes / "memories").mkdir(parents=True)
    (hermes / "memories" / "MEMORY.md").write_text("Standup is at nine.")
    (tmp_path / "notes").mkdir()
    said = {"REVERIE_OWNER": "ann", "REVERIE_SKILLS": "skills", "HERMES_HOME": str(hermes), "CODEX_HOME": "50% off"}
    for how in ([], ["--systemd"]):
        cli("cron", "install", "--database", "sqlite:///own.db", *how, **said)
        cli("cron", "install", "--target", "hermes", "--database", "sqlite:///own.db", *how, **said)
        cli("cron", "install", "--target", "./notes", *how, **said)
    by_name, every = (next(one for one in lines(crontab) if one.endswith(name)) for name in (" hermes", " all-targets"))
    assert "--target" not in every
    words = shlex.split(by_name.replace(r"\%", "%"), comments=True)
    assert words[5] == "env" and "%" not in by_name.replace(r"\%", "")
    expected = {
        "REVERIE_OWNER=ann",
        f"REVERIE_SKILLS={tmp_path / 'skills'}",
        f"HERMES_HOME={hermes}",
        f"REVERIE_DATABASE=sqlite:///{tmp_path / 'own.db'}",
        f"CODEX_HOME={tmp_path / '50% off'}",
        f"HOME={os.environ['HOME']}",
    }
    assert expected <= set(words)
    assert words[words.index("--home") + 1] == str(cli.home) and words[words.index("--target") + 1] == "hermes"
    assert f"--target {tmp_path / 'notes'} " in crontab.read_text()
    service = next(text for path in units.glob("*.service") if '"hermes"' in (text := path.read_text()))
    for one in expected:
        assert f'Environment="{one.replace("%", "%%")}"\n' in service


def test_what_the_line_says_is_what_the_night_does(cli: Cli, crontab: Path, tmp_path: Path) -> None:
    """The command of the line, run as cron runs it: with nearly no environment, somewhere else."""
    (tmp_path / "no%tes").mkdir()
    (tmp_path / "no%tes" / "it's.md").write_text("- Standup is at nine.\n")
    cli("cron", "install", "--target", "./no%tes", "--database", "sqlite:///own.db", "--propose")
    (line,) = lines(crontab)
    command = line.split(maxsplit=5)[5].replace(r"\%", "%")
    environment = {"PATH": "/usr/bin:/bin", "HOME": "/", "SHELL": "/bin/sh", "LOGNAME": "nobody"}
    for expected in ("nothing to read", ""):  # the second has nothing to make up for, and says nothing to be mailed
        done = subprocess.run(
            ["/bin/sh", "-c", command], env=environment, cwd="/", capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert expected in done.stdout.lower() and bool(done.stdout) == bool(expected) and not done.stderr
    (night,) = cli.json("status", "--database", "sqlite:///own.db")["dreams"]
    assert night["target"] == str(tmp_path / "no%tes")


@pytest.mark.parametrize(
    ("how", "variables", "said"),
    [
        (["--database", "postgresql://ann:pearl@db/reverie"], {}, "--database holds a password"),
        ([], {"REVERIE_DATABASE": "postgresql://ann:pearl@db/reverie"}, "REVERIE_DATABASE holds a password"),
        ([], {"REVERIE_DATABASE": "postgresql://db/reverie?user=ann&password=pearl"}, "REVERIE_DATABASE holds"),
        (["--database", "postgresql://ann@db/reverie"], {"PGPASSWORD": "pearl"}, "PGPASSWORD holds a password"),
        ([], {"REVERIE_MODEL": "openai:small", "OPENAI_API_KEY": "pearl"}, "`model_key_file`"),
    ],
)
def test_a_secret_is_never_written_into_a_schedule(
    cli: Cli, crontab: Path, *, how: list[str], variables: dict[str, str], said: str
) -> None:
    for system in ([], ["--systemd"]):
        told = cli("cron", "install", "--target", "home", *how, *system, code=2, **variables)
        assert said in told and "pearl" not in told and "reverie.toml" in told
    assert not crontab.exists() and not (cli.folder / "config").exists()


# ---- one for each home and target ------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", [[], ["--systemd"]])
def test_every_home_and_target_has_a_schedule_of_its_own(
    cli: Cli, crontab: Path, units: Path, tmp_path: Path, how: list[str]
) -> None:
    def found() -> int:
        return len(list(units.glob("*.timer"))) if how else len(lines(crontab))

    (tmp_path / "notes").mkdir()
    other = str(tmp_path / "home2")
    for words in (["--target", "home"], ["--target", "./notes"], ["--home", other], ["--target", "home", "--propose"]):
        cli("cron", "install", *words, *how)
    assert found() == 3
    assert "Removed." in cli("cron", "remove", "--target", "./notes", *how) and found() == 2
    cli("cron", "install", "--target", str(tmp_path / "notes"), *how)
    (tmp_path / "notes").rmdir()
    assert "Removed." in cli("cron", "remove", "--target", "./notes", *how) and found() == 2
    assert "There is no target" in cli("cron", "remove", "--target", "nonsense", *how, code=2) and found() == 2
    assert "Removed." in cli("cron", "remove", *how) and found() == 1
    assert "Removed." in cli("cron", "remove", "--home", other, *how) and found() == 0


def test_a_target_that_is_not_there_is_refused(cli: Cli, crontab: Path, units: Path) -> None:
    for how in ([], ["--systemd"]):
        assert "There is no target" in cli("cron", "install", "--target", "nonsense", *how, code=2)
    assert not crontab.exists() and not units.exists()


# ---- systemd ---------------------------------------------------------------------------------------------------------


def test_with_after_a_timer_looks_every_hour_too(cli: Cli, units: Path) -> None:
    cli("cron", "install", "--systemd", "--after", "5", "--at", "15 3 * * *")
    (timer,) = units.glob("*.timer")
    assert "OnCalendar=*-*-* 03:15:00 UTC\nOnCalendar=*-*-* *:15:00 UTC\n" in timer.read_text()
    assert '"--if-missed" "--after" "5"\n' in timer.with_suffix(".service").read_text()
    assert "not once a day" in cli("cron", "install", "--systemd", "--at", "0 3 * * 1", code=2)


@pytest.mark.parametrize("broken", ["daemon-reload", "enable", "restart"])
def test_what_systemd_does_not_take_is_an_error_and_taken_back(cli: Cli, units: Path, broken: str) -> None:
    said = cli("cron", "install", "--systemd", code=2, SYSTEMCTL_BROKEN=broken)
    assert "Failed to connect to bus" in said and "taken back" in said
    assert not list(units.iterdir())
    cli("cron", "install", "--systemd")
    before = {path: path.read_bytes() for path in units.iterdir()}
    cli("cron", "install", "--systemd", "--at", "0 4 * * *", code=2, SYSTEMCTL_BROKEN=broken)
    assert {path: path.read_bytes() for path in units.iterdir()} == before
    assert "Failed to connect" in cli("cron", "remove", "--systemd", code=2, SYSTEMCTL_BROKEN="disable")
    assert {path: path.read_bytes() for path in units.iterdir()} == before


# ---- due -------------------------------------------------------------------------------------------------------------


def test_a_missed_night_is_made_up_for_once(tmp_path: Path) -> None:
    due = Due(at=NOON - timedelta(hours=9))
    with open_home(tmp_path / "home", now=NOON) as home:
        assert home.dream.if_due(due, "home")
        assert home.dream.if_due(due, "home") is None
    with open_home(tmp_path / "home", now=NOON + timedelta(days=2)) as home:
        assert home.dream.if_due(due, "home") is None
        assert home.dream.if_due(Due(at=NOON + timedelta(days=1, hours=15)), "home")


def test_a_night_that_failed_is_not_tried_again_every_hour(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    due = Due(NOON - timedelta(hours=9), 1)
    home.sessions.add({"id": "s1", "messages": [{"role": "user", "content": "hello"}]})
    night = home.dreams.open("home", "land", home.dreams.asked())
    given_up(home.dreams, night, "the disk is full")
    assert home.dreams.get(night.id).status is Status.FAILED and home.dream.if_due(due, "home") is None
    assert home.dream.if_due(Due(NOON), "home") is None and home.dream.if_due(Due(None, 1), "home")


def test_a_night_under_way_is_left_alone(homes: HomeMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    from reverie.system import file_records

    monkeypatch.setattr(file_records, "PATIENCE_SECONDS", 0.1)
    home = homes()
    with home.dream.shown("home").alone():
        assert home.dream.if_due(Due(NOON), "home") is None


def test_enough_new_sessions_call_for_a_night_too(home: Home) -> None:
    due = Due(NOON - timedelta(hours=9), sessions=2)
    assert home.dream.if_due(due, "home")
    for number in (1, 2):
        assert home.dream.if_due(due, "home") is None
        home.sessions.add({"id": f"s{number}", "messages": [{"role": "user", "content": "hello"}]})
    assert home.dream.new_sessions("home") == 2
    night = home.dream.if_due(due, "home")
    assert night and len(night.sessions) == 2 and home.dream.new_sessions("home") == 0
    assert home.dream.if_due(due, "home") is None


def test_a_night_that_is_not_due_says_nothing_and_one_may_not_name_sessions(cli: Cli) -> None:
    assert cli("dream", "--after", "1") == ""
    assert cli("dream", "--if-missed", REVERIE_DREAMING_ENABLED="false") == ""
    assert "nothing to read" in cli("dream", "--if-missed") and cli("dream", "--if-missed") == ""
    assert "--if-missed and --after" in cli("dream", "--if-missed", "--since", "7d", code=2)
