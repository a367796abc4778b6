"""The real Codex writes AGENTS.md, hooks, skills and what is piped into it beside a person's words; we tell them
apart. Each foreign text has a rule and a mark in it, so that it can be found wherever it went."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from reverie.app import Home
from reverie.core.scope import Origin
from reverie.testing.model_plays import Says
from reverie.testing.model_server import serving
from reverie.testing.model_wires import ReceivedRequest, ToolUse
from tests.peers import CODEX, npm_program
from tests.peers.agents import DOT, FOREIGN, OWN, CodingAgent, call, foreign, owners, turns_of
from tests.peers.editors import codex_editor
from tests.peers.terminal import at_terminal

pytestmark = pytest.mark.peer
CONFIG = """
model = "scripted"
model_provider = "scripted"
model_auto_compact_token_limit = 100000
developer_instructions = "Keep answers short."
[model_providers.scripted]
name = "scripted"
base_url = "{url}"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
"""


def answer(asked: ReceivedRequest) -> Says:
    """Read a file where that is asked for, and say that the context is full, or start a subagent, review or sum up;
    else agree."""
    history, last = json.dumps(asked.body.get("input")), json.dumps(asked.body.get("input", [""])[-1])
    if "look well" in last or "CONTEXT CHECKPOINT" in last:
        return Says(f"{FOREIGN} {'REVIEW' if 'look well' in last else 'SUMMARY'}")
    if "ask the team" in history and "call_3" not in history:
        begun = ToolUse("spawn_agent", {"message": f"{FOREIGN} TASK"}, "call_2", "multi_agent_v1")
        return Says("Asking.", (_wait(history) if "call_2" in history else begun,), finish="tool_calls")
    if f"{FOREIGN} TASK" in history and "ask the team" not in history:
        return Says(f"{FOREIGN} REPORT")
    if "with tools" in history and "call_1" not in history:
        return Says("Looking.", (call("exec_command", 1, cmd="cat notes.md"),), finish="tool_calls")
    return Says("All right.", tokens_in=200_000 if "with tools" in history else None)


def _wait(history: str) -> ToolUse:
    [agent] = re.findall(r"agent_id[^0-9a-f]+([0-9a-f-]{36})", history)
    return ToolUse("wait_agent", {"targets": [agent], "timeout_ms": 20_000}, "call_3", "multi_agent_v1")


@pytest.fixture
def codex() -> Iterator[CodingAgent]:
    """In a folder on a disk: what Codex runs in its sandbox sees no /dev/shm, where other tests have their folders."""
    program = npm_program(CODEX, "codex")
    with serving(answer) as server, TemporaryDirectory(prefix="codex-", dir="/tmp") as made:
        folder = Path(made)
        agent = CodingAgent(program, folder, {"SCRIPTED_KEY": "sk-test", "CODEX_HOME": str(folder / "home/.codex")})
        agent.write("home/.codex/config.toml", CONFIG.format(url=server.openai_url))
        agent.write("work/notes.md", f"# Notes\n\n{FOREIGN} FILE\n")
        yield agent


def run(codex: CodingAgent, *arguments: str, piped: str = "") -> None:
    codex.run("exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", *arguments, piped=piped)


def test_what_codex_puts_beside_the_persons_words_is_not_theirs(home: Home, codex: CodingAgent) -> None:
    """AGENTS.md, the environment, hooks (as a developer's message), skills, tools, compaction, resuming, images."""
    says = {
        event: json.dumps({"hookSpecificOutput": {"hookEventName": event, "additionalContext": f"{FOREIGN} {event}"}})
        for event in ("SessionStart", "UserPromptSubmit")
    }
    hooks = {event: [{"hooks": [{"type": "command", "command": f"echo '{said}'"}]}] for event, said in says.items()}
    stop = codex.write("stop.json", {"decision": "block", "reason": f"{FOREIGN} Stop"})
    hooks["Stop"] = [{"hooks": [{"type": "command", "command": f"cat {stop}; rm -f {stop}"}]}]
    codex.write("home/.codex/hooks.json", {"hooks": hooks})
    codex.write("work/AGENTS.md", f"{FOREIGN} AGENTS.md")
    skill = f"---\nname: backups\ndescription: Backups\n---\n{FOREIGN} SKILL\n"
    codex.write("home/.codex/skills/backups/SKILL.md", skill)
    (codex.work / "dot.png").write_bytes(base64.b64decode(DOT))

    run(codex, f"{OWN} $backups with tools")
    run(codex, "resume", "--last", f"{OWN}, again")
    run(codex, "--image", "dot.png", "--", f"{OWN}, with an image")

    turns = turns_of(home, codex.home / ".codex/sessions")
    assert sorted(owners(turns)) == sorted(
        ["Keep answers short."] * 2 + [f"{OWN} $backups with tools", f"{OWN}, again", f"{OWN}, with an image"]
    )
    for mark in ("AGENTS.md", "SessionStart", "UserPromptSubmit", "Stop", "SKILL", "FILE"):
        assert set(foreign(turns, mark)) == {Origin.TOOL}, mark


def test_what_subagents_of_codex_are_told_and_say_is_not_the_persons(home: Home, codex: CodingAgent) -> None:
    """A subagent has a transcript of its own, whose user is the agent that started it."""
    run(codex, f"{OWN}, ask the team")
    turns = turns_of(home, codex.home / ".codex/sessions")
    assert {text for text in owners(turns) if text != "Keep answers short."} == {f"{OWN}, ask the team"}
    for mark in ("TASK", "REPORT"):
        assert foreign(turns, mark) and set(foreign(turns, mark)) <= {Origin.TOOL, Origin.AGENT}, mark


def test_what_is_piped_into_codex_is_not_the_owners(home: Home, codex: CodingAgent) -> None:
    run(codex, OWN, piped=f"one\n</stdin>\n\n{FOREIGN} PIPED\n")
    run(codex, "-", piped=f"one\n\n{FOREIGN} ALONE\n")

    turns = turns_of(home, codex.home / ".codex/sessions")
    assert [text for text in owners(turns) if text != "Keep answers short."] == [OWN]
    assert foreign(turns, "PIPED") == [Origin.TOOL]
    assert foreign(turns, "ALONE") == [Origin.MEMBER]


def trust(codex: CodingAgent) -> None:
    """As a person does when Codex asks whether to work in a folder."""
    config = codex.home / ".codex/config.toml"
    config.write_text(f'{config.read_text()}\n[projects."{codex.work}"]\ntrust_level = "trusted"\n')


def finished_turns(codex: CodingAgent, number: int) -> bool:
    """Whether the person's own session has so many turns that are over."""
    written = (path.read_text() for path in (codex.home / ".codex/sessions").rglob("*.jsonl"))
    return any(text.count('"type":"task_complete"') == number for text in written if '"source":"cli"' in text)


def test_what_codex_says_around_a_command_a_review_and_a_compaction_is_not_the_persons(
    home: Home, codex: CodingAgent
) -> None:
    """At a terminal, where nothing is piped in; a file that is mentioned is only named."""
    trust(codex)
    subprocess.run(["git", "init", "-q"], cwd=codex.work, check=True)
    with at_terminal(codex, "--no-daemon") as terminal:
        terminal.sees("for shortcuts")
        said = ("!cat notes.md", f"{OWN} @notes.md", "/review look well", "/compact", f"{OWN}, again")
        for number, words in enumerate(said, 1):
            terminal.type(words)
            terminal.sees(words.removeprefix("!"))
            done = partial(finished_turns, codex, number)
            terminal.until(done, again=lambda: terminal.type("\r"))

    turns = turns_of(home, codex.home / ".codex/sessions")
    assert [text for text in owners(turns) if text != "Keep answers short."] == [f"{OWN} notes.md", f"{OWN}, again"]
    for mark in ("FILE", "REVIEW", "SUMMARY"):
        assert foreign(turns, mark) and set(foreign(turns, mark)) <= {Origin.TOOL, Origin.AGENT}, mark


def test_what_the_editor_shows_codex_is_not_the_persons(home: Home, codex: CodingAgent) -> None:
    """The file that is open, what is selected in it, and the tabs: as the terminal program asks the editor after
    `/ide`, and as the panel in the editor sends them to the app server."""
    trust(codex)
    nowhere = {"line": 0, "character": 0}
    file = {"label": "notes.md", "path": "notes.md", "fsPath": str(codex.work / "notes.md")}
    selected = {"selection": {"start": nowhere, "end": nowhere}, "activeSelectionContent": f"{FOREIGN} SELECTED"}
    shown = {"activeFile": file | selected | {"selections": []}, "openTabs": [file]}
    with codex_editor(codex.home / ".codex", shown), at_terminal(codex, "--no-daemon") as terminal:
        terminal.sees("for shortcuts")
        terminal.type("/ide")
        terminal.sees("include current selection")
        terminal.type("\r")
        terminal.sees("IDE context is on")
        terminal.say(OWN)
    block = f"# Context from my IDE setup:\n\n## Active selection of the file:\n{FOREIGN} PANEL\n"
    say_to_app_server(codex, f"{block}\n## My request for Codex:\n{OWN}, in the panel")

    written = "".join(path.read_text() for path in (codex.home / ".codex/sessions").rglob("*.jsonl"))
    assert f"{FOREIGN} SELECTED" in written and f"{FOREIGN} PANEL" in written
    turns = turns_of(home, codex.home / ".codex/sessions")
    own = [text for text in owners(turns) if text != "Keep answers short."]
    assert sorted(own) == [OWN, f"{OWN}, in the panel"]
    assert not foreign(turns, "SELECTED") and not foreign(turns, "PANEL"), "they are nobody's words, and are left out"


def say_to_app_server(codex: CodingAgent, text: str) -> None:
    """A message as the panel of an editor sends it, to the real app server on standard input."""
    started = subprocess.Popen(
        [codex.program, "app-server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=codex.work,
        env={"HOME": str(codex.home), "PATH": os.environ["PATH"], **codex.variables},
    )
    with started as server:
        assert server.stdin and server.stdout
        events = (json.loads(line) for line in server.stdout)

        def ask(number: int, method: str, **params: object) -> dict[str, Any]:
            print(json.dumps({"id": number, "method": method, "params": params}), file=server.stdin, flush=True)
            return next(event for event in events if event.get("id") == number)

        ask(1, "initialize", clientInfo={"name": "codex_vscode", "title": "Codex", "version": "1.0"})
        print(json.dumps({"method": "initialized"}), file=server.stdin, flush=True)
        thread = ask(2, "thread/start", cwd=str(codex.work))["result"]["thread"]["id"]
        ask(3, "turn/start", threadId=thread, input=[{"type": "text", "text": text}])
        next(event for event in events if event.get("method") == "turn/completed")
        server.terminate()
