"""The whole loop inside the real Claude Code: installed, corrected three times, a night, and the next session knows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from reverie.testing.model_plays import Says
from reverie.testing.model_server import serving
from reverie.testing.model_wires import ReceivedRequest
from tests.peers import CLAUDE_CODE, npm_program
from tests.peers.agents import CodingAgent, call
from tests.peers.installed import LEARNT, SAID, TOOLS, InstalledAgent, expect_answers, expect_proposals
from tests.peers.recording import record_request

pytestmark = pytest.mark.peer
SETTINGS = '{\n    "cleanupPeriodDays": 90,\n    "hooks": {"Stop": []}\n}\n'


def answer(asked: ReceivedRequest) -> Says:
    """Use the tools of the MCP server where that is asked for, once they are there; else agree."""
    history, tools = json.dumps(asked.body.get("messages")), json.dumps(asked.body.get("tools"))
    if "with tools" not in history or "call_1" in history:
        return Says("All right.")
    if "mcp__reverie__search" not in tools:
        waits = (call("WaitForMcpServers", 0),) if "WaitForMcpServers" in tools and "call_0" not in history else ()
        return Says("Waiting.", waits, finish="tool_calls" if waits else "stop")
    calls = tuple(call(f"mcp__reverie__{name}", at, **TOOLS[name]) for at, name in enumerate(TOOLS, 1))
    return Says("Looking.", calls, finish="tool_calls")


@pytest.fixture
def claude(tmp_path: Path) -> Iterator[InstalledAgent]:
    with serving(answer) as server:
        folder = tmp_path / "claude"
        variables = {
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": "sk-test",
            "CLAUDE_CONFIG_DIR": str(folder / "home/.claude"),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "SHELL": "/bin/bash",
        }
        agent = CodingAgent(npm_program(CLAUDE_CODE, "claude"), folder, variables)
        agent.write("home/.claude/settings.json", SETTINGS)
        agent.run("-p", "Hello")  # it writes its own state once
        yield InstalledAgent(agent, server)


def test_what_a_person_corrects_in_claude_code_is_in_its_next_session(claude: InstalledAgent) -> None:
    claude.add_skill(claude.agent.home / ".claude/skills")
    before = claude.files()
    claude.reverie("install", "claude", "--no-check")
    claude.hold_night()
    for said in SAID:
        claude.agent.run("-p", said)
    assert len(claude.queued) == len(SAID), "the hook did not queue each session that ended"

    claude.let_night_begin()
    claude.agent.run("-p", "Thanks, that is all")
    claude.wait_for_night()
    claude.approve_all()
    claude.server.requests.clear()
    claude.agent.run("--allowedTools", ",".join(f"mcp__reverie__{name}" for name in TOOLS), "-p", "Go on, with tools")

    first, *_, last = [asked.raw.decode() for asked in claude.server.asked if '"tools"' in asked.raw.decode()]
    assert first.count(LEARNT) == 1, "what was learnt is not in the next session's first request, or not once"
    record_request("claude", first, LEARNT)
    assert "when to propose that something be remembered" in first, "the skill is not listed"
    expect_answers(last)
    expect_proposals(claude.told("review", "list")["proposals"], "claude")

    claude.reverie("uninstall", "claude")
    after = claude.files()
    assert {name: after.get(name) for name in before if name != ".claude/.claude.json"} == {
        name: content for name, content in before.items() if name != ".claude/.claude.json"
    }
    assert "reverie" not in after[".claude/.claude.json"].decode(), "it wrote to that one itself, all the time"
    assert after.keys() == before.keys()
