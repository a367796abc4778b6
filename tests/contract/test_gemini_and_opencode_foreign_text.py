"""The real Gemini CLI and opencode put files, instructions, commands and what is piped into them beside a person's
words; we tell them apart. Each foreign text has a rule and a mark in it, so that it can be found wherever it went."""

from __future__ import annotations

import base64
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from reverie.app import Home
from reverie.core.scope import Origin
from reverie.testing.model_plays import Says
from reverie.testing.model_server import serving
from reverie.testing.model_wires import ReceivedRequest
from tests.peers import GEMINI, OPENCODE, npm_program
from tests.peers.agents import DOT, FOREIGN, OWN, CodingAgent, call, foreign, owners, turns_of
from tests.peers.editors import claude_editor
from tests.peers.openclaw import wait_until
from tests.peers.terminal import at_terminal
from tests.sizes import LEVEL

pytestmark = [pytest.mark.peer, pytest.mark.skipif(not LEVEL, reason="not run: three turns of each take a minute")]
NOTES = f"# Notes\n\n{FOREIGN} FILE\n"
OPENCODES_AGENT = {"subagent_type": "general", "description": "Look"}
EDITOR = """
import json, sys

def send(**told):
    print(json.dumps({"jsonrpc": "2.0", **told}), flush=True)

for asked in map(json.loads, sys.stdin):
    if asked["method"] == "initialize":
        about = {"capabilities": {"tools": {}}, "serverInfo": {"name": "editor", "version": "1"}}
        send(id=asked["id"], result={"protocolVersion": asked["params"]["protocolVersion"], **about})
    elif "id" in asked:
        send(id=asked["id"], result={"tools": []})
    else:
        file = {"path": sys.argv[1], "timestamp": 1, "isActive": True, "selectedText": sys.argv[2]}
        send(method="ide/contextUpdate", params={"workspaceState": {"openFiles": [file], "isTrusted": True}})
"""


def answer(asked: ReceivedRequest) -> Says:
    """Read a file or start a subagent where that is asked for, sum up, report; else agree."""
    history, tools = asked.raw.decode(), json.dumps(asked.body.get("tools") or "")
    gemini = "functionDeclarations" in tools
    if '"complete_task"' in tools:
        return Says("Done.", (call("complete_task", 3, result={"response": f"{FOREIGN} REPORT"}),), finish="tool_calls")
    if not asked.body.get("tools") and ("<state_snapshot>" in history or "context summarization agent" in history):
        return Says(f"{FOREIGN} SUMMARY")
    if f"{FOREIGN} TASK" in history and "ask the team" not in history:
        return Says(f"{FOREIGN} REPORT")
    if tools and "ask the team" in history and f"{FOREIGN} TASK" not in history:
        name, about = ("invoke_agent", {"agent_name": "generalist"}) if gemini else ("task", OPENCODES_AGENT)
        return Says("Asking.", (call(name, 2, prompt=f"{FOREIGN} TASK", **about),), finish="tool_calls")
    if "with tools" not in history or "call_1" in history or '"functionResponse"' in history:
        return Says("All right.")
    name, argument = ("read_file", "file_path") if gemini else ("read", "filePath")
    return Says("Looking.", (call(name, 1, **{argument: "notes.md"}),), finish="tool_calls")


@pytest.fixture
def gemini(tmp_path: Path) -> Iterator[CodingAgent]:
    with serving(answer) as server:
        variables = {"GEMINI_API_KEY": "sk-test", "GOOGLE_GEMINI_BASE_URL": server.url}
        agent = CodingAgent(
            npm_program(GEMINI, "gemini"), tmp_path / "gemini", variables | {"GEMINI_CLI_TRUST_WORKSPACE": "true"}
        )
        auth = {"auth": {"selectedType": "gemini-api-key"}}
        agent.write("home/.gemini/settings.json", {"security": auth, "privacy": {"usageStatisticsEnabled": False}})
        agent.write("work/notes.md", NOTES)
        agent.write("work/GEMINI.md", f"{FOREIGN} INSTRUCTIONS\n")
        agent.write("work/.gemini/commands/check.toml", f'prompt = "{FOREIGN} COMMAND {{{{args}}}} @{{notes.md}}"\n')
        yield agent


@pytest.fixture
def opencode(tmp_path: Path) -> Iterator[CodingAgent]:
    with serving(answer) as server:
        agent = CodingAgent(npm_program(OPENCODE, "opencode"), tmp_path / "opencode")
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Scripted",
            "options": {"baseURL": server.openai_url, "apiKey": "sk-test"},
            "models": {"scripted": {"name": "Scripted"}},
        }
        settings = {"autoupdate": False, "share": "disabled", "model": "scripted/scripted"}
        agent.write("home/.config/opencode/opencode.json", settings | {"provider": {"scripted": provider}})
        agent.write("work/notes.md", NOTES)
        agent.write("work/AGENTS.md", f"{FOREIGN} INSTRUCTIONS\n")
        agent.write("work/.opencode/command/check.md", f"{FOREIGN} COMMAND $ARGUMENTS\n")
        yield agent


def test_what_gemini_cli_puts_beside_the_persons_words_is_not_theirs(home: Home, gemini: CodingAgent) -> None:
    """Mentioned files, GEMINI.md, commands with files, what a tool reads, what is piped in."""
    words = ("--yolo", "-m", "gemini-2.5-flash", "-p")
    gemini.run(*words, f"{OWN} @notes.md with tools")
    gemini.run(*words, f"/check {OWN}")
    gemini.run(*words, OWN, piped=f"one\n\n{FOREIGN} PIPED\n")
    turns = turns_of(home, gemini.home / ".gemini/tmp")
    assert sorted(owners(turns)) == [f"/check {OWN}", f"{OWN} @notes.md with tools"]
    assert set(foreign(turns, "FILE")) == {Origin.TOOL}
    assert set(foreign(turns, "COMMAND")) <= {Origin.TOOL}
    assert set(foreign(turns, "INSTRUCTIONS")) <= {Origin.TOOL}
    assert set(foreign(turns, "PIPED")) == {Origin.MEMBER}


def test_what_the_editor_shows_gemini_cli_is_not_the_persons(home: Home, gemini: CodingAgent) -> None:
    """An open file and what is selected in it, as the extension of VS Code tells them to the program at a terminal."""
    settings = gemini.home / ".gemini/settings.json"
    gemini.write("home/.gemini/settings.json", json.loads(settings.read_text()) | {"ide": {"enabled": True}})
    gemini.write("home/.gemini/state.json", {"terminalSetupPromptShown": True})
    words = [str(gemini.write("editor.py", EDITOR)), str(gemini.work / "notes.md"), f"{FOREIGN} SELECTED"]
    editor = {
        "TERM_PROGRAM": "vscode",
        "GEMINI_CLI_IDE_WORKSPACE_PATH": str(gemini.work),
        "GEMINI_CLI_IDE_SERVER_STDIO_COMMAND": sys.executable,
        "GEMINI_CLI_IDE_SERVER_STDIO_ARGS": json.dumps(words),
    }
    agent = replace(gemini, variables={**gemini.variables, **editor})
    with at_terminal(agent, "-m", "gemini-2.5-flash") as terminal:
        terminal.sees("1 open file")
        terminal.say(OWN)

    written = "".join(path.read_text() for path in (gemini.home / ".gemini/tmp").rglob("*.jsonl"))
    assert f"{FOREIGN} SELECTED" in written, "Gemini CLI did not write down what the editor showed"
    turns = turns_of(home, gemini.home / ".gemini/tmp")
    assert owners(turns) == [OWN]
    assert set(foreign(turns, "SELECTED")) <= {Origin.TOOL}


def test_what_gemini_cli_says_around_its_hooks_subagents_and_compression_is_not_the_persons(
    home: Home, gemini: CodingAgent
) -> None:
    """Also a command run with `!`, and an image. What is kept of the words before a compression counts once."""
    settings, events = gemini.home / ".gemini/settings.json", ("SessionStart", "BeforeAgent", "AfterTool")
    says = {event: {"hookEventName": event, "additionalContext": f"{FOREIGN} {event}"} for event in events}
    hooks = {
        event: [{"hooks": [{"type": "command", "command": f"echo '{json.dumps({'hookSpecificOutput': said})}'"}]}]
        for event, said in says.items()
    }
    gemini.write("home/.gemini/settings.json", json.loads(settings.read_text()) | {"hooks": hooks})
    gemini.write("home/.gemini/state.json", {"terminalSetupPromptShown": True})
    (gemini.work / "dot.png").write_bytes(base64.b64decode(DOT))
    gemini.run("--yolo", "-m", "gemini-2.5-flash", "-p", f"{OWN} @dot.png")
    with at_terminal(gemini, "-m", "gemini-2.5-flash", "--yolo") as terminal:
        terminal.sees("Type your message")
        terminal.say(f"{OWN}, ask the team")
        terminal.type("!")
        terminal.sees("shell mode")
        terminal.say("cat notes.md", "FILE")
        terminal.type("\x1b")
        terminal.sees("Type your message")
        terminal.say(f"{OWN}, once more")
        terminal.say("/compress", "compressed")
        terminal.say(f"{OWN}, again")

    turns = turns_of(home, gemini.home / ".gemini/tmp")
    own = [f"{OWN} @dot.png", f"{OWN}, again", f"{OWN}, ask the team", f"{OWN}, once more"]
    assert sorted(owners(turns)) == own
    for mark in (*events, "FILE", "SUMMARY"):
        assert set(foreign(turns, mark)) == {Origin.TOOL}, mark
    assert set(foreign(turns, "TASK")) == {Origin.AGENT}
    assert foreign(turns, "REPORT") and set(foreign(turns, "REPORT")) <= {Origin.TOOL, Origin.AGENT}


def test_what_opencode_puts_beside_the_persons_words_is_not_theirs(home: Home, opencode: CodingAgent) -> None:
    """Attached files, AGENTS.md, commands, what a tool reads, what is piped in."""
    opencode.run("run", f"{OWN} with tools", "-f", "notes.md")
    opencode.run("run", "--command", "check", OWN)
    opencode.run("run", OWN, piped=f"one\n\n{FOREIGN} PIPED\n")
    turns = turns_of(home, opencode.home / ".local/share/opencode/opencode.db")
    assert owners(turns) == [f"{OWN} with tools"]
    assert set(foreign(turns, "FILE")) == {Origin.TOOL}
    assert set(foreign(turns, "COMMAND")) <= {Origin.TOOL}
    assert set(foreign(turns, "INSTRUCTIONS")) <= {Origin.TOOL}
    assert set(foreign(turns, "PIPED")) == {Origin.MEMBER}


def test_what_opencode_says_around_mentions_plans_subagents_and_compaction_is_not_the_persons(
    home: Home, opencode: CodingAgent
) -> None:
    """Also a command run with `!`: as its clients send them to its server."""
    with opencode_server(opencode) as post:
        session = post("/session")["id"]

        def say(words: str, *parts: Mapping[str, Any], **more: object) -> None:
            post(f"/session/{session}/message", parts=[{"type": "text", "text": words}, *parts], **more)

        notes = {"type": "file", "mime": "text/plain", "url": (opencode.work / "notes.md").as_uri()}
        mention = {"type": "file", "path": "notes.md", "text": {"value": "@notes.md", "start": 40, "end": 49}}
        say(f"{OWN} @notes.md", notes | {"filename": "notes.md", "source": mention})
        image = {"type": "file", "mime": "image/png", "filename": "dot.png", "url": f"data:image/png;base64,{DOT}"}
        say(f"{OWN}, with an image", image)
        say(f"{OWN}, ask @general", {"type": "agent", "name": "general"})
        say(f"{OWN}, plan it", agent="plan")
        say(f"{OWN}, ask the team", agent="build")
        post(f"/session/{session}/shell", agent="build", command="cat notes.md")
        post(f"/session/{session}/summarize", providerID="scripted", modelID="scripted", auto=True)
        say(f"{OWN}, again")

    turns = turns_of(home, opencode.home / ".local/share/opencode/opencode.db")
    endings = (" @notes.md", ", with an image", ", ask @general", ", plan it", ", ask the team", ", again")
    assert owners(turns) == [f"{OWN}{ending}" for ending in endings]
    assert set(foreign(turns, "FILE")) == {Origin.TOOL}
    assert set(foreign(turns, "TASK")) == set(foreign(turns, "SUMMARY")) == {Origin.AGENT}
    assert set(foreign(turns, "REPORT")) == {Origin.TOOL, Origin.AGENT}


@contextmanager
def opencode_server(opencode: CodingAgent) -> Iterator[Callable[..., Any]]:
    """What posts to the server that its terminal, desktop and web clients talk to."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    def post(path: str, **body: object) -> Any:
        request = Request(f"http://127.0.0.1:{port}{path}", json.dumps(body).encode())
        request.add_header("Content-Type", "application/json")
        with urlopen(request, timeout=60) as answered:
            return json.load(answered)

    log, variables = opencode.folder / "server.log", {"HOME": str(opencode.home), "PATH": os.environ["PATH"]}
    command = [opencode.program, "serve", "--port", str(port), "--print-logs"]
    with (
        log.open("w") as out,
        subprocess.Popen(command, stdout=out, stderr=out, cwd=opencode.work, env=variables) as process,
    ):
        try:
            wait_until(lambda: "server listening" in log.read_text() or process.poll() is not None)
            assert process.poll() is None, log.read_text()[-1500:]
            yield post
        finally:
            process.terminate()


def test_what_the_editor_shows_opencode_is_not_the_persons(home: Home, opencode: CodingAgent) -> None:
    """What is selected, as the extension of an editor tells it to the program at a terminal."""
    folder, notes = opencode.home / ".claude", opencode.work / "notes.md"
    with claude_editor(folder, opencode.work, "") as editor:
        [lock] = (folder / "ide").iterdir()
        with at_terminal(replace(opencode, variables={"OPENCODE_EDITOR_SSE_PORT": lock.stem})) as terminal:
            terminal.until(editor.connected.is_set)
            terminal.sees("notes.md", again=lambda: editor.selects(notes, f"{FOREIGN} SELECTED"))
            terminal.say(OWN)

    turns = turns_of(home, opencode.home / ".local/share/opencode/opencode.db")
    assert owners(turns) == [OWN]
    assert foreign(turns, "SELECTED") == [Origin.TOOL]
