"""The real Gemini CLI and opencode put files, instructions, commands and what is piped into them beside a person's
words; we tell them apart. Each foreign text has a rule and a mark in it, so that it can be found wherever it went."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from reverie.app import Home
from reverie.core.origin import Origin
from reverie.testing.model_plays import Says
from reverie.testing.model_server import serving
from reverie.testing.model_wires import ReceivedRequest
from tests.peers import GEMINI, OPENCODE, npm_program
from tests.peers.agents import FOREIGN, OWN, CodingAgent, call, foreign, owners, turns_of
from tests.peers.terminal import at_terminal
from tests.sizes import LEVEL

pytestmark = [pytest.mark.peer, pytest.mark.skipif(not LEVEL, reason="not run: three turns of each take a minute")]
NOTES = f"# Notes\n\n{FOREIGN} FILE\n"
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
    """Read a file where that is asked for; else agree."""
    history = asked.raw.decode()
    if "with tools" not in history or "call_1" in history or '"functionResponse"' in history:
        return Says("All right.")
    name, argument = ("read_file", "file_path") if "functionDeclarations" in history else ("read", "filePath")
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
        terminal.type(OWN)
        terminal.sees("before lunch")
        terminal.type("\r")
        terminal.sees("All right.")

    written = "".join(path.read_text() for path in (gemini.home / ".gemini/tmp").rglob("*.jsonl"))
    assert f"{FOREIGN} SELECTED" in written, "Gemini CLI did not write down what the editor showed"
    turns = turns_of(home, gemini.home / ".gemini/tmp")
    assert owners(turns) == [OWN]
    assert set(foreign(turns, "SELECTED")) <= {Origin.TOOL}


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
