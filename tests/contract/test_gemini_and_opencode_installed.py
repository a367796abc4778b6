"""The loop inside the real Gemini CLI and the real opencode: installed, corrected three times, each session queued as
it ends, a night, the next session knows, its tools are used, and it all comes out again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from reverie.testing.model_plays import Says
from reverie.testing.model_server import serving
from reverie.testing.model_wires import ReceivedRequest
from tests.peers import GEMINI, OPENCODE, npm_program
from tests.peers.agents import CodingAgent, call
from tests.peers.installed import LEARNT, SAID, TOOLS, InstalledAgent, expect_answers, expect_proposals
from tests.peers.recording import record_request
from tests.sizes import LEVEL

pytestmark = [pytest.mark.peer, pytest.mark.skipif(not LEVEL, reason="not run: five turns of each take a minute")]


def answer(asked: ReceivedRequest) -> Says:
    """Use the tools of the MCP server where that is asked for, once; else agree."""
    history, tools = asked.raw.decode(), json.dumps(asked.body.get("tools"))
    prefix = next((one for one in ("mcp_reverie_", "reverie_") if f'"{one}search"' in tools), "")
    if "with tools" not in history or not prefix or "Quotations from past" in history:
        return Says("All right.")
    calls = tuple(call(f"{prefix}{name}", at, **TOOLS[name]) for at, name in enumerate(TOOLS, 1))
    return Says("Looking.", calls, finish="tool_calls")


@pytest.fixture
def gemini(tmp_path: Path) -> Iterator[InstalledAgent]:
    with serving(answer) as server:
        variables = {
            "GEMINI_API_KEY": "sk-test",
            "GOOGLE_GEMINI_BASE_URL": server.url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }
        agent = CodingAgent(npm_program(GEMINI, "gemini"), tmp_path / "gemini", variables)
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": False},
        }
        agent.write("home/.gemini/settings.json", f"// mine\n{json.dumps(settings)}\n")
        yield InstalledAgent(agent, server)


@pytest.fixture
def opencode(tmp_path: Path) -> Iterator[InstalledAgent]:
    with serving(answer) as server:
        agent = CodingAgent(npm_program(OPENCODE, "opencode"), tmp_path / "opencode")
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Scripted",
            "options": {"baseURL": server.openai_url, "apiKey": "sk-test"},
            "models": {"scripted": {"name": "Scripted"}},
        }
        settings = {"autoupdate": False, "share": "disabled", "model": "scripted/scripted"}
        told = json.dumps(settings | {"provider": {"scripted": provider}})
        agent.write("home/.config/opencode/opencode.json", f"// mine\n{told}\n")
        yield InstalledAgent(agent, server)


def loop(installed: InstalledAgent, name: str, settings: str, *words: str, transcripts: int) -> None:
    """Three sessions in so many files, a night, and a session that has what was learnt and uses the tools."""
    path = installed.agent.home / settings
    before = path.read_bytes()
    installed.reverie("install", name, "--no-check")
    installed.hold_night()
    for said in SAID:
        installed.agent.run(*words, said)
    assert installed.wait_for_queued(transcripts) == transcripts
    installed.let_night_begin()
    installed.agent.run(*words, "Thanks, that is all")
    installed.wait_for_night()
    installed.approve_all()
    installed.add_skill()
    installed.server.requests.clear()
    installed.agent.run(*words, "Go on, with tools")

    asked = [one for one in installed.server.asked if "with tools" in one.raw.decode() and one.body.get("tools")]
    requests = [one.raw.decode() for one in asked]
    assert requests[0].count(LEARNT) == 1, "what was learnt is not in the next session's first request, or not once"
    record_request(name, requests[0], LEARNT)
    assert "when to propose that something be remembered" in requests[0], "the skill is not listed"
    expect_answers(requests[-1])
    expect_proposals(installed.told("review", "list")["proposals"], name)
    installed.reverie("uninstall", name)
    assert path.read_bytes() == before
    assert not list(path.parent.glob("*/reverie*")), "folders and files that were made for it are gone"


def test_what_a_person_corrects_in_gemini_cli_is_in_its_next_session(gemini: InstalledAgent) -> None:
    loop(gemini, "gemini", ".gemini/settings.json", "--yolo", "-m", "gemini-2.5-flash", "-p", transcripts=3)


def test_what_a_person_corrects_in_opencode_is_in_its_next_session(opencode: InstalledAgent) -> None:
    loop(opencode, "opencode", ".config/opencode/opencode.json", "run", transcripts=1)
