"""The real OpenClaw puts webhooks, events, files, attachments and what it tells its subagents beside a person's words;
we tell them apart. It is part of the soak only, as a turn takes it fifteen seconds."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from reverie.app import Home
from reverie.core.origin import Origin
from reverie.testing.model_plays import Says
from reverie.testing.model_server import serving
from reverie.testing.model_wires import ReceivedRequest
from tests.peers.agents import FOREIGN, OWN, call, foreign, owners, turns_of
from tests.peers.openclaw import TOKEN, gateway, made, say, wait_until
from tests.sizes import LEVEL

pytestmark = [pytest.mark.peer, pytest.mark.skipif(not LEVEL, reason="not run: a turn of OpenClaw takes 15 seconds")]


def answer(asked: ReceivedRequest) -> Says:
    """Read a file and begin a subagent where that is asked for; else agree."""
    messages = asked.body["messages"]
    if "with tools" not in json.dumps(messages) or any(one["role"] == "tool" for one in messages):
        return Says("All right.")
    spawned = call("tool_call", 2, id="sessions_spawn", args={"task": f"{FOREIGN} SUBAGENT"})
    return Says("Looking.", (call("read", 1, path="notes.md"), spawned), finish="tool_calls")


def test_what_openclaw_puts_beside_the_persons_words_is_not_theirs(home: Home, tmp_path: Path) -> None:
    with serving(answer) as server:
        agent, address = made(tmp_path / "claw", server, hooks={"enabled": True, "token": TOKEN, "path": "/hooks"})
        agent.write("home/.openclaw/workspace/notes.md", f"# Notes\n\n{FOREIGN} FILE\n")

        def post(path: str, **body: object) -> None:
            headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
            with urlopen(Request(f"{address}{path}", json.dumps(body).encode(), headers), timeout=120) as answered:
                assert answered.status == 200

        def asked_about(words: str) -> bool:
            return any(words in one.raw.decode() for one in server.asked)

        with gateway(agent):
            say(agent, f"{OWN}, with tools")
            wait_until(lambda: any("with tools" not in one.raw.decode() for one in server.asked))  # the subagent
            post("/hooks/agent", message=f"{FOREIGN} WEBHOOK", name="Mail", deliver=False, waitForCompletion=True)
            post("/hooks/wake", text=f"{FOREIGN} EVENT", mode="next-heartbeat")
            say(agent, f"{OWN}, again")
            text = base64.b64encode(f"one\n{FOREIGN} ATTACHED\n".encode()).decode()
            attached = {"type": "file", "mimeType": "text/plain", "fileName": "notes.txt", "content": text}
            sent = {"sessionKey": "agent:main:main", "message": f"{OWN}, attached", "attachments": [attached]}
            agent.run("gateway", "call", "chat.send", "--params", json.dumps(sent | {"idempotencyKey": "once"}))
            wait_until(lambda: asked_about(", attached"))
        for mark in ("FILE", "SUBAGENT", "WEBHOOK", "EVENT", "ATTACHED"):
            assert asked_about(f"{FOREIGN} {mark}"), f"OpenClaw did not send {mark}"

    turns = turns_of(home, agent.home / ".openclaw/agents")
    assert sorted(owners(turns)) == [f"{OWN}, again", f"{OWN}, attached", f"{OWN}, with tools"]
    assert set(foreign(turns, "FILE")) == set(foreign(turns, "WEBHOOK")) == {Origin.TOOL}
    assert set(foreign(turns, "SUBAGENT")) == {Origin.AGENT}
    for mark in ("EVENT", "ATTACHED"):  # where it is kept at all
        assert set(foreign(turns, mark)) <= {Origin.TOOL}
