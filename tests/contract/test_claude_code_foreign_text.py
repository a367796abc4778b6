"""The real Claude Code writes files, hooks, commands and what is piped into it beside a person's words; we tell them
apart. Each foreign text has a rule and a mark in it, so that it can be found wherever it went."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from reverie.app import Home
from reverie.core.scope import Origin
from reverie.testing.model_plays import Says
from reverie.testing.model_server import Server, serving
from reverie.testing.model_wires import ReceivedRequest
from tests.peers import CLAUDE_CODE, npm_program
from tests.peers.agents import DOT, FOREIGN, OWN, CodingAgent, call, foreign, owners, turns_of
from tests.peers.editors import claude_editor
from tests.peers.terminal import at_terminal

pytestmark = pytest.mark.peer
CHAT = """
import json, pathlib, sys, threading, time

def send(**told):
    print(json.dumps({"jsonrpc": "2.0", **told}), flush=True)

def chat(file):
    while not file.exists():
        time.sleep(0.05)
    send(method="notifications/claude/channel", params={"content": file.read_text(), "meta": {"user": "bob"}})

threading.Thread(target=chat, args=[pathlib.Path(sys.argv[1])], daemon=True).start()
for asked in map(json.loads, sys.stdin):
    if asked["method"] == "initialize":
        able = {"tools": {}, "experimental": {"claude/channel": {}}}
        about = {"capabilities": able, "serverInfo": {"name": "chat", "version": "1"}}
        send(id=asked["id"], result={"protocolVersion": asked["params"]["protocolVersion"], **about})
    elif "id" in asked:
        send(id=asked["id"], result={"tools": []})
"""


def answer(asked: ReceivedRequest) -> Says:
    """Read a file, start a subagent and load a skill, edit a file, or work in a team, where that is asked for; else
    agree."""
    history = json.dumps(asked.body.get("messages"))
    if "report back" in history and "SendMessage" in json.dumps(asked.body.get("tools")) and "call_7" not in history:
        told = {"to": "team-lead", "summary": "It is done", "message": f"{FOREIGN} REPORT"}
        return Says("Telling.", (call("SendMessage", 7, **told),), finish="tool_calls")
    if "ask the team" in history and "call_6" not in history and '"Agent"' in json.dumps(asked.body.get("tools")):
        task = {"prompt": f"{FOREIGN} TASK. Then report back.", "subagent_type": "general-purpose", "name": "bob"}
        return Says("Asking.", (call("Agent", 6, description="Look", **task),), finish="tool_calls")
    if "edit it" in history and "call_5" not in history and '"Edit"' in json.dumps(asked.body.get("tools")):
        read, edit = {"file_path": "notes.md"}, {"old_string": "# Notes", "new_string": "# My notes"}
        once = call("Edit", 5, **read, **edit) if "call_4" in history else call("Read", 4, **read)
        return Says("Editing.", (once,), finish="tool_calls")
    if "with tools" not in history or "call_1" in history or "Agent" not in json.dumps(asked.body.get("tools")):
        return Says("All right.")
    calls = (
        call("Read", 1, file_path="notes.md"),
        call("Agent", 2, description="Look", prompt=f"{FOREIGN} SUBAGENT", subagent_type="general-purpose"),
        call("Skill", 3, skill="backups", args="x"),
    )
    return Says("Looking.", calls, finish="tool_calls")


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(answer) as started:
        yield started


@pytest.fixture
def claude(tmp_path: Path, server: Server) -> CodingAgent:
    agent = CodingAgent(
        npm_program(CLAUDE_CODE, "claude"),
        tmp_path / "claude",
        {
            "ANTHROPIC_BASE_URL": server.url,
            "ANTHROPIC_API_KEY": "sk-test",
            "CLAUDE_CONFIG_DIR": str(tmp_path / "claude/home/.claude"),
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "SHELL": "/bin/bash",
        },
    )
    agent.write("work/notes.md", f"# Notes\n\n{FOREIGN} FILE\n")
    return agent


def _hook(agent: CodingAgent, event: str) -> dict[str, object]:
    """A hook that says something once; that of Stop makes the agent go on."""
    says = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": f"{FOREIGN} {event}"}}
    said = agent.write(f"{event}.json", {"decision": "block", "reason": f"{FOREIGN} Stop"} if event == "Stop" else says)
    return {"hooks": [{"type": "command", "command": f"cat {said}; rm -f {said}"}]}


def test_what_claude_code_puts_beside_the_persons_words_is_not_theirs(home: Home, claude: CodingAgent) -> None:
    """Mentions, CLAUDE.md, hooks, subagents, skills, commands with files and shell output, compaction, resuming."""
    events = ("SessionStart", "UserPromptSubmit", "PostToolUse", "Stop")
    claude.write("work/CLAUDE.md", f"{FOREIGN} CLAUDE.md @notes.md")
    claude.write("work/.claude/settings.json", {"hooks": {event: [_hook(claude, event)] for event in events}})
    skill = f"---\nname: backups\ndescription: Backups\n---\n{FOREIGN} SKILL $ARGUMENTS\n"
    claude.write("work/.claude/skills/backups/SKILL.md", skill)
    command = f"---\nallowed-tools: Bash(cat:*)\n---\n{FOREIGN} COMMAND $ARGUMENTS\n\n!`cat notes.md`\n\n@notes.md\n"
    claude.write("work/.claude/commands/check.md", command)

    claude.run("-p", f"{OWN} @notes.md with tools")
    claude.run("--continue", "-p", f"/check {OWN}")
    claude.run("--continue", "-p", "/compact")
    claude.run("--continue", "-p", f"{OWN}, again")

    turns = turns_of(home, claude.home / ".claude/projects")
    assert owners(turns) == [f"{OWN} @notes.md with tools", f"/check {OWN}", "/compact", f"{OWN}, again"]
    for mark in ("Stop", "SKILL", "COMMAND", "FILE"):
        assert set(foreign(turns, mark)) == {Origin.TOOL}, mark
    assert set(foreign(turns, "SUBAGENT")) == {Origin.AGENT}


def test_what_is_piped_into_claude_code_is_not_the_owners(home: Home, claude: CodingAgent) -> None:
    claude.run("-p", OWN, piped=f"one\n\n{FOREIGN} PIPED\n")
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DOT}}
    message = {"role": "user", "content": [image, {"type": "text", "text": f"{OWN}, with an image"}]}
    formats = ("--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
    claude.run("-p", *formats, piped=json.dumps({"type": "user", "message": message}) + "\n")

    turns = turns_of(home, claude.home / ".claude/projects")
    assert foreign(turns, "PIPED") == [Origin.MEMBER]
    assert owners(turns) == [f"[image]\n{OWN}, with an image"]


def _set_up(claude: CodingAgent, **more: object) -> None:
    """Answer what it would ask a person at its first start."""
    key, project = {"approved": ["sk-test"]}, {"hasTrustDialogAccepted": True}
    known = {"hasCompletedOnboarding": True, "theme": "dark", "customApiKeyResponses": key} | more
    claude.write("home/.claude/.claude.json", known | {"projects": {str(claude.work): project}})


def test_what_is_pasted_at_the_prompt_of_claude_code_is_told_from_what_is_typed(
    home: Home, claude: CodingAgent, server: Server
) -> None:
    """Also the output of a command run with `!`."""
    _set_up(claude)
    with at_terminal(claude) as terminal:
        terminal.sees("for shortcuts")
        terminal.paste(f"one\ntwo\nthree\n{FOREIGN} PASTED\nlast")
        terminal.sees("[Pasted text #1 +4 lines]")
        terminal.type(f" {OWN}")
        terminal.sees("before lunch")
        terminal.type("\r")
        terminal.sees("All right.")
        terminal.type("!")
        terminal.sees("! for")
        terminal.type("cat notes.md")
        terminal.sees("cat notes.md")
        terminal.type("\r")
        terminal.sees("FILE")
        terminal.sees("All right.")

    turns = turns_of(home, claude.home / ".claude/projects")
    assert owners(turns) == [OWN]
    assert foreign(turns, "PASTED") == [Origin.TOOL]
    assert set(foreign(turns, "FILE")) == {Origin.TOOL}


def test_what_the_editor_shows_claude_code_is_not_the_persons(home: Home, claude: CodingAgent) -> None:
    """A file that is open, lines that are selected, and what is wrong after an edit; also the blocks that the panel in
    the editor sends with each message."""
    _set_up(claude)
    folder, notes = claude.home / ".claude", claude.work / "notes.md"
    with (
        claude_editor(folder, claude.work, f"{FOREIGN} PROBLEM") as editor,
        at_terminal(claude, "--ide", "--permission-mode", "acceptEdits") as terminal,
    ):
        terminal.until(editor.connected.is_set)
        editor.selects(notes)
        terminal.sees("In notes.md", again=lambda: editor.selects(notes))
        terminal.say(OWN)
        editor.selects(notes, f"{FOREIGN} SELECTED")
        terminal.sees("1 line selected", again=lambda: editor.selects(notes, f"{FOREIGN} SELECTED"))
        terminal.say(f"{OWN}, edit it")
    parts = (f"<ide_opened_file>{FOREIGN} PANEL</ide_opened_file>", f"<ide_selection>{FOREIGN} PANEL</ide_selection>")
    content = [{"type": "text", "text": text} for text in (*parts, f"{OWN}, in the panel")]
    formats = ("--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
    line = {"type": "user", "message": {"role": "user", "content": content}}
    claude.run("-p", *formats, piped=f"{json.dumps(line)}\n")

    written = "".join(path.read_text() for path in (folder / "projects").rglob("*.jsonl"))
    for mark in ("opened_file_in_ide", f"{FOREIGN} SELECTED", f"{FOREIGN} PROBLEM", f"{FOREIGN} PANEL"):
        assert mark in written, "Claude Code did not write down what the editor showed"
    turns = turns_of(home, folder / "projects")
    assert sorted(owners(turns)) == [OWN, f"{OWN}, edit it", f"{OWN}, in the panel"]
    for mark in ("SELECTED", "PROBLEM", "PANEL"):
        assert not set(foreign(turns, mark)) - {Origin.TOOL}, mark


def _in_a_user_line(claude: CodingAgent, *words: str) -> bool:
    """Whether the transcript of the session has all of these in one message of a user."""
    lines = (line for path in claude.home.glob(".claude/projects/*/*.jsonl") for line in path.read_text().splitlines())
    return any('"type":"user"' in line and all(word in line for word in words) for line in lines)


def test_what_teammates_and_channels_say_to_claude_code_is_not_the_persons(home: Home, claude: CodingAgent) -> None:
    """A teammate gets a task and reports back; a chat sends a message into the session. Channels are switched on by a
    server of Anthropic's; here by what Claude Code remembers of it, which it reads only where it may ask. So its
    requests to anyone else go to a port where nobody listens."""
    script, message = claude.write("chat.py", CHAT), claude.folder / "message"
    chat = {"type": "stdio", "command": sys.executable, "args": [str(script), str(message)]}
    _set_up(claude, mcpServers={"chat": chat}, cachedGrowthBookFeatures={"tengu_harbor": True})
    more = {"CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS": "1", "HTTPS_PROXY": "http://127.0.0.1:9", "NO_PROXY": "127.0.0.1"}
    variables = {**claude.variables, **more, "DISABLE_AUTOUPDATER": "1"}
    del variables["CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"]
    with at_terminal(
        replace(claude, variables=variables), "--dangerously-load-development-channels", "server:chat"
    ) as terminal:
        terminal.sees("Enter to confirm")
        terminal.type("\r")
        terminal.sees("for shortcuts")
        terminal.type(f"{OWN}, ask the team")
        terminal.sees("ask the team")
        terminal.type("\r")
        terminal.until(lambda: _in_a_user_line(claude, "<teammate-message", f"{FOREIGN} REPORT"))
        message.write_text(f"{FOREIGN} CHANNEL")
        terminal.until(lambda: _in_a_user_line(claude, "<channel", f"{FOREIGN} CHANNEL"))

    turns = turns_of(home, claude.home / ".claude/projects")
    assert owners(turns) == [f"{OWN}, ask the team"]
    assert set(foreign(turns, "CHANNEL")) == {Origin.TOOL}
    assert set(foreign(turns, "TASK")) | set(foreign(turns, "REPORT")) <= {Origin.TOOL, Origin.AGENT}
    assert foreign(turns, "TASK") and foreign(turns, "REPORT")
