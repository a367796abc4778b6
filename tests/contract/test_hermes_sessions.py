"""The real hermes-agent 0.19 writes; we read, while it holds its database open."""

from __future__ import annotations

import subprocess
import textwrap
from pathlib import Path

import pytest

from reverie.app import Home
from tests.peers import HERMES, python_with

WRITER = """
import sys
from pathlib import Path
from hermes_state import SessionDB

db = SessionDB(Path(sys.argv[1]))
db.create_session("alice-1", "telegram", user_id="alice")
db.append_message("alice-1", "user", "the staging database moved to db2.internal")
db.append_message("alice-1", "assistant", "", tool_calls=[
    {"id": "c1", "type": "function", "function": {"name": "terminal", "arguments": '{"command": "ls /nowhere"}'}}])
db.append_message("alice-1", "tool", '{"output": "", "exit_code": 2, "error": null}', tool_name="terminal",
                  tool_call_id="c1")
db.create_session("bob-1", "telegram", user_id="bob")
db.append_message("bob-1", "user", [{"type": "text", "text": "a picture of the staging rack"},
                                    {"type": "image_url", "image_url": {"url": "data:,"}}])
undone = db.append_message("bob-1", "user", "take this back")
db.rewind_to_message("bob-1", undone)
print("ready", flush=True)
sys.stdin.readline()
db.append_message("alice-1", "user", "and its port is 6432")
print("grown", flush=True)
sys.stdin.readline()
db.close()
"""


@pytest.mark.peer
def test_what_hermes_wrote_is_read_per_person_and_grows(home: Home, tmp_path: Path) -> None:
    python = python_with(HERMES)
    state = tmp_path / "hermes" / "state.db"
    state.parent.mkdir()
    with subprocess.Popen(
        [python, "-c", textwrap.dedent(WRITER), state],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={"HERMES_HOME": str(state.parent)},
    ) as hermes:
        assert hermes.stdin is not None
        assert hermes.stdout is not None
        assert hermes.stdout.readline() == "ready\n"
        first = home.sessions.add(state)
        assert (first.fates, first.flaws) == ({"new": 2}, [])
        hermes.stdin.write("\n")
        hermes.stdin.flush()
        assert hermes.stdout.readline() == "grown\n"
        assert home.sessions.refresh().fates == {"grown": 1, "unchanged": 1}
        hermes.stdin.write("\n")
    alice = home.sessions.get("hermes:alice-1", user="alice")
    assert [turn.role for turn in alice.turns] == ["user", "assistant", "tool", "user"]
    assert alice.turns[1].said.calls[0].name == "terminal"
    assert alice.turns[2].said.failed is True
    bob = home.sessions.get("hermes:bob-1", user="bob")
    assert [turn.text for turn in bob.turns] == ["a picture of the staging rack\n[image_url]"]
