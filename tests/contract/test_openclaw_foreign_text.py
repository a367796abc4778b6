"""The real OpenClaw puts webhooks, events, files, attachments and what it tells its subagents beside a person's words;
we tell them apart. It is part of the soak only, as a turn takes it fifteen seconds."""

from __future__ import annotations

import base64
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
import zstandard

from reverie.app import Home
from reverie.core.scope import Origin
from reverie.testing.model_plays import Says
from reverie.testing.model_server import serving
from reverie.testing.model_wires import ReceivedRequest
from tests.peers.agents import FOREIGN, OWN, CodingAgent, call, foreign, owners, turns_of
from tests.peers.openclaw import TOKEN, gateway, made, say, wait_until
from tests.peers.telegram import telegram
from tests.sizes import LEVEL

pytestmark = [pytest.mark.peer, pytest.mark.skipif(not LEVEL, reason="not run: a turn of OpenClaw takes 15 seconds")]


def answer(asked: ReceivedRequest) -> Says:
    """Read a file and begin a subagent where that is asked for, sum up; else agree."""
    messages = asked.body["messages"]
    if not asked.body.get("tools"):
        return Says(f"{FOREIGN} SUMMARY")
    if f"{OWN}, with tools" not in json.dumps(messages) or any(one["role"] == "tool" for one in messages):
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


def test_what_others_say_in_a_chat_of_openclaw_is_not_the_persons(home: Home, tmp_path: Path) -> None:
    """In Telegram, by its bot interface: an answer to somebody, messages that are forwarded, a group, a compaction, and
    a job that is due."""
    bob = {"id": 2, "is_bot": False, "first_name": "Bob"}
    forwarded = {"forward_origin": {"type": "user", "date": 1, "sender_user": bob}}
    with serving(answer) as server, telegram() as chat:
        channel = {
            "enabled": True,
            "botToken": "123456:abc",
            "apiRoot": chat.address,
            "dmPolicy": "allowlist",
            "allowFrom": ["1"],
            "groupPolicy": "open",
            "groups": {"*": {"requireMention": False}},
        }
        owner = {"ownerAllowFrom": ["telegram:1"]}
        agent, _ = made(tmp_path / "claw", server, channels={"telegram": channel}, commands=owner)

        def wait_for_answer(words: str) -> None:
            wait_until(lambda: any(words in one.raw.decode() for one in server.asked))
            wait_until(lambda: words in written(agent))

        with gateway(agent):
            quoted = {"message_id": 77, "date": 1, "from": bob, "chat": {"id": 1, "type": "private"}}
            chat.write("Ann", 1, f"{OWN}, answering", reply_to_message=quoted | {"text": f"{FOREIGN} QUOTED"})
            wait_for_answer(", answering")
            chat.write("Ann", 1, f"{FOREIGN} FORWARDED", **forwarded)
            wait_for_answer("FORWARDED")
            for number in ("FIRST", "SECOND"):
                chat.write("Ann", 1, f"{FOREIGN} {number}", **forwarded)
            wait_for_answer("SECOND")
            chat.write("Bob", 2, f"{FOREIGN} GROUP", group=-5)
            wait_for_answer("GROUP")
            chat.write("Ann", 1, "/compact")
            wait_until(lambda: '"type":"compaction"' in written(agent))
            job = {"name": "job", "schedule": {"kind": "every", "everyMs": 3_600_000}, "enabled": True}
            payload = {"kind": "agentTurn", "message": f"{FOREIGN} JOB"}
            about = job | {
                "sessionTarget": "isolated",
                "wakeMode": "now",
                "payload": payload,
                "delivery": {"mode": "none"},
            }
            added = agent.run("gateway", "call", "cron.add", "--json", "--params", json.dumps(about))
            run = {"id": json.loads(added)["id"], "mode": "force"}
            agent.run("gateway", "call", "cron.run", "--params", json.dumps(run))
            wait_for_answer("JOB")
            chat.write("Ann", 1, f"{OWN}, at length{' and so on' * 200}")
            wait_for_answer(", at length")

    turns = turns_of(home, agent.home / ".openclaw/agents")
    assert [text[:50] for text in owners(turns)] == [f"{OWN}, answering", f"{OWN}, at length"]
    assert foreign(turns, "GROUP") == [Origin.MEMBER]
    for mark in ("QUOTED", "FORWARDED", "FIRST", "SECOND", "SUMMARY", "JOB"):
        assert not set(foreign(turns, mark)) - {Origin.TOOL, Origin.AGENT}, mark


def written(agent: CodingAgent) -> str:
    """All that stands in the transcripts of the agent, which compresses what is long."""
    with closing(sqlite3.connect(agent.home / ".openclaw/agents/main/agent/openclaw-agent.sqlite")) as database:
        rows = database.execute("SELECT event_json, event_zstd FROM transcript_events").fetchall()
    return "\n".join(text or zstandard.decompress(packed).decode() for text, packed in rows)
