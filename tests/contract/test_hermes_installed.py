"""The whole loop inside a real hermes-agent without Reverie beside it: `reverie install hermes`, corrected in three
sessions, a night, the next session knows and uses the tools, and all comes out again."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from reverie.testing.model_plays import Says
from reverie.testing.model_server import Server, serving
from reverie.testing.model_wires import ReceivedRequest
from tests.commands import run_command
from tests.peers.agents import call
from tests.peers.hermes import HermesAgent, installed
from tests.peers.installed import LEARNT, SAID, SKILL, TOOLS, expect_answers, expect_proposals
from tests.peers.recording import record, record_request

pytestmark = pytest.mark.peer


STAGED = "Invoices are paid on Fridays."
STAGE = """
import sys
from tools.memory_tool import MemoryStore, memory_tool
store = MemoryStore()
store.load_from_disk()
print(memory_tool(action="add", target="memory", content=sys.argv[1], store=store))
"""


def answer(asked: ReceivedRequest) -> Says:
    """Load a skill, then use the tools of the MCP server, where that is asked for; else agree."""
    messages = asked.body.get("messages", [])
    answered = sum(1 for one in messages if one["role"] == "tool")
    if not asked.body.get("tools") or "with tools" not in json.dumps(messages) or answered > 1:
        return Says("All right.")
    if not answered:
        return Says("Loading.", (call("skill_view", 9, name="release-notes"),), finish="tool_calls")
    calls = tuple(call(f"mcp__reverie__{name}", at, **TOOLS[name]) for at, name in enumerate(TOOLS, 1))
    return Says("Looking.", calls, finish="tool_calls")


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(answer) as started:
        yield started


@pytest.fixture
def hermes(tmp_path: Path, server: Server) -> HermesAgent:
    """A fresh home, with a model, that wants every write of its memory approved and is offered skills that fit."""
    python, _ = installed(tmp_path / "site")
    agent = HermesAgent(python, "", tmp_path / "hermes", tmp_path / "reverie", server.openai_url)
    agent.configure("memory: {write_approval: true}\ndreaming: {skills: 100}", plugins="other")
    skill = agent.home / "skills/release-notes/SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(SKILL)
    return agent


def reverie(agent: HermesAgent, *words: str) -> str:
    path = f"{agent.python.parent}{os.pathsep}{os.environ['PATH']}"
    variables = {**agent.environment, "PATH": path, "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    done = run_command([*words, "--home", str(agent.reverie)], environment=variables, folder=agent.home)
    assert done.returncode == 0, f"{words}: {done.stdout[-1500:]}\n{done.stderr[-1500:]}"
    if "--json" not in words:
        record("hermes", ["reverie", *words], done.stdout, agent.places)
    return done.stdout


def test_what_a_person_corrects_in_hermes_is_in_its_next_session(hermes: HermesAgent, server: Server) -> None:
    before = (hermes.home / "config.yaml").read_bytes()
    reverie(hermes, "install", "hermes", "--no-check")
    look, log = hermes.home / "dreaming/next-look", hermes.home / "dreaming/night.log"
    look.parent.mkdir()
    look.touch()
    os.utime(look, (time.time(), time.time() + 3_000))  # as if Hermes had just looked whether a night is due
    assert "install-cron" in hermes.run("dreaming", "--help")
    for said in SAID:
        hermes.run("chat", "-Q", "-q", said)
    status = hermes.run("dreaming", "status")
    assert "3 sessions ended since the last night" in status and "The end of a session begins a night" in status
    assert not log.exists()
    look.unlink()
    hermes.run("chat", "-Q", "-q", "Thanks, that is all")
    end = time.monotonic() + 60
    while not (log.exists() and log.read_text()):
        assert time.monotonic() < end, "the end of a session began no night"
        time.sleep(0.05)
    for proposal in json.loads(reverie(hermes, "review", "list", "--json"))["proposals"]:
        hermes.run("dreaming", "review", "approve", proposal["id"])
    server.requests.clear()
    hermes.run("chat", "-Q", "-q", "Go on with the release notes, with tools")

    requests = [asked for asked in server.asked if asked.body.get("tools") and "with tools" in asked.raw.decode()]
    first = requests[0].raw.decode()
    assert first.count(LEARNT) == 1, "what was learnt is not in the next session's first request, or not once"
    record_request("hermes", first, LEARNT)
    assert "When to look up what this person told agents" in first, "the skill is not listed"
    offered = str(requests[0].body["messages"][-1]["content"]).partition("with tools")[2]
    assert "- release-notes: How release notes are written." in offered and len(offered) <= 100 * 4 + 20
    expect_answers(requests[-1].raw.decode())

    assert "it went well 1 of 1 times" in reverie(hermes, "skills", "list")
    assert '"staged": true' in hermes.script(STAGE, STAGED), "as where nobody can be asked, in a gateway"
    waiting = json.loads(reverie(hermes, "review", "list", "--json"))["proposals"]
    [staged] = [one for one in waiting if one["suggestion"]["proposer"].startswith("hermes/")]
    assert f"+{STAGED}" in staged["diff"] and staged["suggestion"]["spoken_by"] == "agent"
    expect_proposals([one for one in waiting if one is not staged], "hermes")
    hermes.run("dreaming", "review", "approve", staged["id"])
    assert hermes.memory.read_text().endswith(f"\n§\n{STAGED}")
    assert list((hermes.home / "pending/memory").iterdir()) == [], "it still waits in Hermes' own queue"

    reverie(hermes, "uninstall", "hermes")
    assert (hermes.home / "config.yaml").read_bytes() == before
    assert not (hermes.home / "plugins/reverie").exists() and not (hermes.home / "skills/reverie").exists()
