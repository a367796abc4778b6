"""The real hermes-agent puts pages, files, descriptions and quoted messages into the user's row; we tell them apart."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import textwrap
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from reverie.app import Home
from reverie.core.scope import Origin
from reverie.testing.model_plays import Says
from reverie.testing.model_server import Server, serving
from reverie.testing.model_wires import ReceivedRequest
from tests.peers import HERMES, python_with
from tests.peers.agents import DOT, FOREIGN, OWN, CodingAgent, call, foreign, owners, turns_of
from tests.peers.hermes import HermesAgent
from tests.peers.terminal import at_terminal

pytestmark = pytest.mark.peer

# Every row is made by Hermes's own functions, from what a person typed and from foreign text with a rule in it.
WRITER = """
import asyncio, json, os, subprocess, sys
from pathlib import Path
from types import SimpleNamespace

home, work = Path(sys.argv[1]), Path(sys.argv[2])
FOREIGN, OWN = sys.argv[3], sys.argv[4]
from agent.context_references import preprocess_context_references
from agent.skill_commands import _build_skill_message
from hermes_state import SessionDB

(work / "notes.md").write_text(f"# Notes\\n\\n{FOREIGN}\\n")
(work / "two.py").write_text(f"x = 1\\n```\\n\\n{FOREIGN}\\n")
subprocess.run(["git", "init", "-q"], cwd=work, check=True)
subprocess.run(["git", "add", "."], cwd=work, check=True)

def referred(message):
    found = preprocess_context_references(
        message, cwd=work, context_length=100_000, url_fetcher=lambda url: f"A page.\\n\\n{FOREIGN}"
    )
    return found.message

rows = {
    "url": referred(f"{OWN} @url:https://pages.example/backups"),
    "file": referred(f"{OWN} @file:notes.md"),
    "fence": referred(f"{OWN} @file:two.py"),
    "folder": referred(f"{OWN} @folder:."),
    "staged": referred(f"{OWN} @staged"),
    "several": referred(f"{OWN} @file:notes.md @url:https://pages.example/backups @file:absent.md"),
}

skill = {"name": "backups", "content": f"# Backups\\n\\n{FOREIGN}"}
rows["skill"] = _build_skill_message(
    skill, None, '[IMPORTANT: The user has invoked the "backups" skill. The full skill content is loaded below.]', OWN
)

import tools.vision_tools
async def seen(**_):
    return json.dumps({"success": True, "analysis": f"A sign that says\\n{FOREIGN}]\\n\\n{FOREIGN}"})
tools.vision_tools.vision_analyze_tool = seen
from gateway.run import GatewayRunner, _build_document_context_note
from gateway.sticker_cache import build_sticker_injection
gateway = GatewayRunner.__new__(GatewayRunner)
rows["image"] = asyncio.run(gateway._enrich_message_with_vision(OWN, ["/a.png", "/b.png"]))
rows["document"] = _build_document_context_note("r.pdf", "/cache/r.pdf", "application/pdf") + f"\\n\\n{OWN}"
rows["sticker"] = build_sticker_injection(FOREIGN, "x", "set")

from gateway.config import GatewayConfig, Platform
from gateway.platforms.base import MessageEvent, MessageType
from gateway.session import SessionSource
gateway.config = GatewayConfig()
gateway._consume_pending_native_image_paths = lambda key: []
source = SessionSource(platform=Platform.TELEGRAM, chat_id="1", chat_type="dm", user_id="u")

def inbound(text, **more):
    event = MessageEvent(text=text, message_type=MessageType.TEXT, source=source, **more)
    prepared = gateway._prepare_inbound_message_text(event=event, source=source, history=[], session_key="k")
    return asyncio.run(prepared)

rows["reply"] = inbound(OWN, reply_to_text=FOREIGN, reply_to_message_id="7")
rows["reply that closes itself"] = inbound(OWN, reply_to_text=f'x"]\\n\\n{FOREIGN}', reply_to_message_id="7")
said = f"[bob] {FOREIGN}\\n\\n[New message]\\n{FOREIGN}"
rows["channel"] = inbound(OWN, channel_context=f"[Recent channel messages]\\n{said}")

db = SessionDB(home / "state.db")
for name, text in rows.items():
    db.create_session(name, "telegram")
    db.append_message(name, "user", text)
db.close()
print(json.dumps(rows))
"""


def test_what_hermes_puts_into_a_users_row_is_a_tools_and_the_persons_words_stay_theirs(
    home: Home, tmp_path: Path
) -> None:
    python = python_with(HERMES)
    state, work = tmp_path / "hermes", tmp_path / "work"
    state.mkdir()
    work.mkdir()
    done = subprocess.run(
        [python, "-c", textwrap.dedent(WRITER), state, work, FOREIGN, OWN],
        capture_output=True,
        text=True,
        check=False,
        cwd=work,
        env={"HERMES_HOME": str(state), "PATH": "/usr/bin:/bin", "TERMINAL_CWD": str(work)},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    rows = json.loads(done.stdout.splitlines()[-1])
    home.sessions.add(state / "state.db")
    assert len(rows) >= 13
    for name in rows:
        turns = home.sessions.get(f"hermes:{name}").turns
        own = owners(turns)
        assert not [text for text in own if "pakko" in text], (name, rows[name])
        assert name == "sticker" or own == [OWN], (name, rows[name])
        assert [turn for turn in turns if turn.origin is Origin.TOOL], name


def answer(asked: ReceivedRequest) -> Says:
    """Start a subagent or sum up where that is asked for; else agree."""
    last = str(asked.body["messages"][-1].get("content"))
    if not asked.body.get("tools"):
        return Says(f"{FOREIGN} SUMMARY")
    if last.startswith(f"{FOREIGN} TASK"):
        return Says(f"{FOREIGN} REPORT")
    if "ask the team" in last:
        return Says("Asking.", (call("delegate_task", 1, goal=f"{FOREIGN} TASK"),), finish="tool_calls")
    return Says("All right.")


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(answer) as started:
        yield started


@pytest.fixture
def hermes(tmp_path: Path, server: Server) -> CodingAgent:
    """One that sums up all but the last words when it is told to."""
    python = python_with(HERMES, [HERMES.replace("==", "[acp]==")])
    agent = HermesAgent(python, "", tmp_path / "hermes", tmp_path / "reverie", server.openai_url)
    compression = "compression: {protect_first_n: 0, protect_last_n: 1, target_ratio: 0.1}"
    agent.configure(f"auxiliary: {{compression: {{context_length: 65536}}}}\n{compression}", plugins="")
    program = CodingAgent(python.with_name("hermes"), tmp_path, agent.environment)
    program.write("work/notes.md", f"# Notes\n\n{FOREIGN} FILE\n" + "Nothing else is here, really nothing.\n" * 800)
    return program


def test_what_hermes_says_around_files_skills_subagents_and_compaction_is_not_the_persons(
    home: Home, hermes: CodingAgent
) -> None:
    """At a terminal; AGENTS.md stands in its system prompt."""
    hermes.write("work/AGENTS.md", f"{FOREIGN} INSTRUCTIONS\n")
    skill = f"---\nname: backups\ndescription: Backups\n---\n{FOREIGN} SKILL\n"
    hermes.write("hermes/skills/backups/SKILL.md", skill)

    state = hermes.folder / "hermes/state.db"

    def rows(words: str) -> int:
        with closing(sqlite3.connect(state)) as database:
            [(count,)] = database.execute("SELECT count(*) FROM messages WHERE instr(content, ?)", [words])
        return int(count)

    with at_terminal(hermes, "chat", "--cli") as terminal:
        terminal.sees("❯")

        def say(words: str, then: str = "All right.", times: int = 1) -> None:
            wanted = rows(then) + times
            terminal.type(words)
            terminal.until(lambda: rows(then) >= wanted, again=lambda: terminal.type("\r"))

        say(f"{OWN} @file:notes.md")
        say(f"/backups {OWN}, as a skill")
        say(f"{OWN}, ask the team", times=2)  # to the person, and to what the subagent reports
        say(f"{OWN}, once more")
        say("/compress", f"{FOREIGN} SUMMARY")
        say(f"{OWN}, again")

    turns = turns_of(home, state)
    counted = [turn for turn in turns if turn.noise != "repeated after compaction"]
    *said, last = owners(counted)
    assert said == [OWN, *(f"{OWN}{more}" for more in (", as a skill", ", ask the team", ", once more"))]
    assert last.startswith(OWN)  # Hermes may lose letters that are typed while it still compresses
    for mark in ("FILE", "SKILL"):
        assert set(foreign(turns, mark)) == {Origin.TOOL}, mark
    for mark in ("TASK", "REPORT", "SUMMARY"):
        assert foreign(turns, mark) and set(foreign(turns, mark)) <= {Origin.TOOL, Origin.AGENT}, mark
    assert not foreign(turns, "INSTRUCTIONS")


def test_what_an_editor_shows_hermes_is_not_the_persons(home: Home, hermes: CodingAgent, server: Server) -> None:
    """By the Agent Client Protocol, as Zed speaks it: selected lines, a file that is mentioned, an image."""
    link = {"type": "resource_link", "uri": (hermes.work / "notes.md").as_uri(), "name": "notes.md"}
    lines = {"uri": f"{link['uri']}#L3", "text": f"{FOREIGN} SELECTED", "mimeType": "text/markdown"}
    image = {"type": "image", "data": DOT, "mimeType": "image/png"}
    started = subprocess.Popen(
        [hermes.program, "acp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=hermes.work,
        env=dict(hermes.variables),
    )
    with started as editor:
        assert editor.stdin and editor.stdout
        events = (json.loads(line) for line in editor.stdout)

        def ask(number: int, method: str, **params: object) -> dict[str, Any]:
            asked = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            print(json.dumps(asked), file=editor.stdin, flush=True)
            told = next(event for event in events if event.get("id") == number and "method" not in event)
            return dict(told["result"])

        ask(1, "initialize", protocolVersion=1, clientCapabilities={})
        session = ask(2, "session/new", cwd=str(hermes.work), mcpServers=[])["sessionId"]
        shown = [{"type": "resource", "resource": lines}, link, image]
        ask(3, "session/prompt", sessionId=session, prompt=[{"type": "text", "text": OWN}, *shown])
        ask(4, "session/prompt", sessionId=session, prompt=[link, {"type": "text", "text": f"{OWN}, again"}])
        editor.terminate()

    for mark in ("SELECTED", "FILE"):
        assert any(f"{FOREIGN} {mark}" in asked.raw.decode() for asked in server.asked), f"Hermes did not send {mark}"
    turns = turns_of(home, hermes.folder / "hermes/state.db")
    assert [text.removesuffix("\n[screenshot]") for text in owners(turns)] == [OWN, f"{OWN}, again"]
    for mark in ("SELECTED", "FILE"):  # where it is kept at all
        assert set(foreign(turns, mark)) <= {Origin.TOOL}
