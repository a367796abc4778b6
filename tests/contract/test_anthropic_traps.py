"""The twelve traps of the wire protocol that an unmodified `anthropic` SDK 2.8.0 speaks, each by its number."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from sqlalchemy import text

from reverie.app import Home, open_home
from tests.peers import ANTHROPIC, python_with
from tests.serving import serving

PEER = Path(__file__).with_name("anthropic_traps_peer.py")
TRAPS = re.findall(r"^async def (trap_\d+_\w+)", PEER.read_text(), re.MULTILINE)
WAITING = ("trap_4_", "trap_6_")  # nobody dreams: what is asked for stays as it is
BREAKS = "create trigger breaks_{table} before insert on {table} {when} begin select raise(abort, 'disk full'); end"


def test_there_are_twelve() -> None:
    assert [int(name.split("_")[1]) for name in TRAPS] == list(range(1, 13))


@pytest.mark.peer
@pytest.mark.parametrize("trap", TRAPS)
def test_the_server_does_not_fall_into(tmp_path: Path, trap: str) -> None:
    with (
        open_home(tmp_path / "home", settings={"owner": "ann"}) as home,
        serving(home, dreams=not trap.startswith(WAITING)) as served,
    ):
        if trap.startswith("trap_7_"):
            _break_the_last_statement(home)
        command = [str(python_with(ANTHROPIC)), str(PEER), trap, served.url, served.key]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stderr[-3000:]


def _break_the_last_statement(home: Home) -> None:
    """Of a memory's transaction, of a session's with its first events, of a dream's."""
    with home.engine.begin() as connection:
        for table, when in (("ledger", "when new.kind = 'change'"), ("turns", ""), ("dreams", "")):
            connection.execute(text(BREAKS.format(table=table, when=when)))
