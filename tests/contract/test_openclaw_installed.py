"""The whole loop inside the real OpenClaw with its gateway: installed, corrected in three sessions, each queued by the
hook as it ends, a night, and the next session knows.

A turn takes OpenClaw fifteen seconds, so that only a soak has it (`REVERIE_SOAK=short`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from reverie.testing.model_plays import Says
from reverie.testing.model_server import serving
from reverie.testing.model_wires import ReceivedRequest
from tests.peers.agents import call
from tests.peers.installed import LEARNT, SAID, TOOLS, InstalledAgent, expect_answers, expect_proposals
from tests.peers.openclaw import gateway, made, say
from tests.peers.recording import record_request
from tests.sizes import LEVEL

pytestmark = [pytest.mark.peer, pytest.mark.skipif(not LEVEL, reason="not run: a turn of OpenClaw takes 15 seconds")]
ASKED = "Go on, and use the tools of Reverie"


def answer(asked: ReceivedRequest) -> Says:
    """Use the tools of the MCP server, which OpenClaw keeps behind a search, where that is asked for; else agree."""
    messages = asked.body["messages"]
    if ASKED not in json.dumps(messages) or any(one["role"] == "tool" for one in messages):
        return Says("All right.")
    calls = tuple(call("tool_call", at, id=f"reverie__{name}", args=TOOLS[name]) for at, name in enumerate(TOOLS, 1))
    return Says("Looking.", calls, finish="tool_calls")


@pytest.fixture
def openclaw(tmp_path: Path) -> Iterator[InstalledAgent]:
    with serving(answer) as server:
        agent, _ = made(tmp_path / "claw", server)
        yield InstalledAgent(agent, server)


def test_what_a_person_corrects_in_openclaw_is_in_its_next_session(openclaw: InstalledAgent) -> None:
    settings = openclaw.agent.home / ".openclaw/openclaw.json"
    before = settings.read_bytes()
    openclaw.reverie("install", "openclaw", "--no-check")
    openclaw.hold_night()
    with gateway(openclaw.agent):
        for said in SAID:
            say(openclaw.agent, said, "/new")
            assert openclaw.wait_for_queued(1) == 1, "the hook did not queue the session that ended"
            openclaw.reverie("sessions", "add", "--refresh")
            assert not openclaw.queued
        openclaw.let_night_begin()
        say(openclaw.agent, "Thanks, that is all", "/new")
        openclaw.wait_for_night()
        openclaw.approve_all()
        openclaw.add_skill(openclaw.agent.home / ".openclaw/skills")
        openclaw.server.requests.clear()
        say(openclaw.agent, ASKED)

    first, *_, last = [asked.raw.decode() for asked in openclaw.server.asked if '"tools"' in asked.raw.decode()]
    assert first.count(LEARNT) == 1, "what was learnt is not in the next session's first request, or not once"
    record_request("openclaw", first, LEARNT)
    assert "when to propose that something be remembered" in first, "the skill is not listed"
    expect_answers(last)
    expect_proposals(openclaw.told("review", "list")["proposals"], "openclaw")

    openclaw.reverie("uninstall", "openclaw")
    assert settings.read_bytes() == before
    assert not list((openclaw.agent.home / ".openclaw").glob("*/reverie")), "folders that were made for it are gone"


def test_without_a_gateway_a_night_reads_what_was_said_and_begins_by_itself(openclaw: InstalledAgent) -> None:
    """No hook runs then: the end of the MCP server is the end of the session."""
    openclaw.reverie("install", "openclaw", "--no-check")
    openclaw.hold_night()
    local = ("agent", "--local", "--agent", "main", "--session-id")
    for number, said in enumerate(SAID):
        if said == SAID[-1]:
            openclaw.let_night_begin()
        openclaw.agent.run(*local, f"s{number}", "--message", said)
        assert openclaw.queued == []
    openclaw.wait_for_night()
    openclaw.approve_all()
    openclaw.server.requests.clear()
    openclaw.agent.run(*local, "later", "--message", "Go on")
    assert openclaw.server.asked[0].raw.decode().count(LEARNT) == 1
