"""The whole loop inside the real Codex: installed, corrected three times, a night, and the next session knows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from reverie.testing.model_plays import Says
from reverie.testing.model_server import serving
from reverie.testing.model_wires import ReceivedRequest, ToolUse
from tests.peers import CODEX, npm_program
from tests.peers.agents import CodingAgent
from tests.peers.installed import LEARNT, SAID, TOOLS, InstalledAgent, expect_answers, expect_proposals
from tests.peers.recording import record_request

pytestmark = pytest.mark.peer
SERVER = "mcp__reverie"
CONFIG = """\
# mine, with a comment
model = "scripted"
model_provider = "scripted"

[model_providers.scripted]
name = "scripted"   # not aligned
base_url = "{url}"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
"""


def answer(asked: ReceivedRequest) -> Says:
    """Use the tools of the MCP server where that is asked for, once they are there; else agree."""
    history = json.dumps(asked.body.get("input"))
    if "with tools" not in history or "call_1" in history:
        return Says("All right.")
    if SERVER not in json.dumps(asked.body.get("tools")) and "wait_2" not in history:  # a busy machine
        number = 1 + history.count('"function_call_output"')
        return Says("Waiting.", (ToolUse("exec_command", {"cmd": "sleep 4"}, f"wait_{number}"),), finish="tool_calls")
    calls = tuple(ToolUse(name, TOOLS[name], f"call_{at}", SERVER) for at, name in enumerate(TOOLS, 1))
    return Says("Looking.", calls, finish="tool_calls")


@pytest.fixture
def codex() -> Iterator[InstalledAgent]:
    """In a folder on a disk: what Codex runs in its sandbox sees no /dev/shm, where other tests have their folders."""
    program = npm_program(CODEX, "codex")
    with serving(answer) as server, TemporaryDirectory(prefix="codex-", dir="/tmp") as made:
        folder = Path(made)
        agent = CodingAgent(program, folder, {"SCRIPTED_KEY": "sk-test", "CODEX_HOME": str(folder / "home/.codex")})
        agent.write("home/.codex/config.toml", CONFIG.format(url=server.openai_url))
        installed = InstalledAgent(agent, server)
        run(installed, "Hello")  # it unpacks skills of its own once
        yield installed


def run(codex: InstalledAgent, said: str) -> None:
    codex.agent.run("exec", "--skip-git-repo-check", said)


def test_what_a_person_corrects_in_codex_is_in_its_next_session(codex: InstalledAgent) -> None:
    before = codex.files()
    codex.reverie("install", "codex", "--no-check")
    codex.hold_night()
    for said in SAID:
        run(codex, said)
    assert codex.wait_for_queued(len(SAID)) == len(SAID), "notify did not queue each session"

    codex.let_night_begin()
    run(codex, "Thanks, that is all")
    codex.wait_for_night()
    codex.approve_all()
    codex.add_skill()
    codex.server.requests.clear()
    run(codex, "Go on, with tools")
    assert codex.wait_for_queued(1) == 1  # nobody writes there any more when the folder goes

    first, *_, last = [asked.raw.decode() for asked in codex.server.asked]
    assert first.count(LEARNT) == 1, "what was learnt is not in the next session's first request, or not once"
    record_request("codex", first, LEARNT)
    assert "when to propose that something be remembered" in first, "the skill is not listed"
    expect_answers(last)
    expect_proposals(codex.told("review", "list")["proposals"], "codex")

    codex.reverie("uninstall", "codex")
    assert codex.files() == before
