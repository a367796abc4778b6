"""Nights by themselves: a line in a crontab that is otherwise left alone, a missed night made up for once."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from reverie.home import Home, open_home
from reverie.kernel.errors import BadInput
from tests.conftest import NOON

CRONTAB = """#!/bin/sh
# A crontab that keeps its lines in a file, as the real one does.
case "$1" in
  -l) cat "$CRON_FILE" 2>/dev/null || { echo "no crontab" >&2; exit 1; } ;;
  -) cat > "$CRON_FILE" ;;
esac
"""


@pytest.fixture
def crontab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "bin" / "crontab"
    program.parent.mkdir()
    program.write_text(CRONTAB)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("CRON_FILE", str(tmp_path / "cron"))
    return tmp_path / "cron"


def test_installing_twice_leaves_one_night_and_every_other_line(crontab: Path, home: Home) -> None:
    crontab.write_text("MAILTO=me\n5 4 * * * backup\n")
    for when in ("0 3 * * *", "30 2 * * 1-5"):
        home.schedule().install(when, home.nightly_command("hermes", propose=True, after=5))
    lines = crontab.read_text().splitlines()
    assert lines[:2] == ["MAILTO=me", "5 4 * * * backup"]
    assert len(lines) == 4 and lines[2].startswith("30 2 * * 1-5 ") and "--propose --after 5" in lines[2]
    assert lines[3].startswith("@reboot ") and "--if-missed" in lines[3]
    assert home.schedule().remove() and not home.schedule().remove()
    assert crontab.read_text() == "MAILTO=me\n5 4 * * * backup\n"


@pytest.mark.parametrize("when", ["", "3 o'clock", "0 3 * *", "0 3 * * * rm -rf", "0 3 * * $(x)"])
def test_a_time_that_is_none_is_refused(crontab: Path, home: Home, when: str) -> None:
    with pytest.raises(BadInput, match="five fields"):
        home.schedule().install(when, "reverie dream")
    assert not crontab.exists()


def test_a_timer_is_two_small_files(home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    with open_home(tmp_path / "other") as other:
        other.schedule(systemd=True).install("0 3 * * *", "reverie dream")
        written = tmp_path / "config" / "systemd" / "user" / "reverie-dream.timer"
        assert "OnCalendar=*-*-* 03:00:00" in written.read_text() and "Persistent=true" in written.read_text()
        assert other.schedule(systemd=True).remove() and not written.exists()


def test_a_missed_night_is_made_up_for_once(tmp_path: Path) -> None:
    with open_home(tmp_path / "home", now=NOON) as home:
        assert home.dream.missed("home")
        home.dream(shelf="home")
        assert not home.dream.missed("home")
    with open_home(tmp_path / "home", now=NOON + timedelta(days=2)) as home:
        assert home.dream.missed("home")


def test_new_sessions_are_counted_before_a_night(home: Home) -> None:
    home.sessions.add({"id": "s1", "messages": [{"role": "user", "content": "hello"}]})
    assert home.dream.new_sessions("home") == 1
    home.dream(shelf="home")
    assert home.dream.new_sessions("home") == 0
