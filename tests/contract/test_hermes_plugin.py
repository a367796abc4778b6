"""The real hermes-agent 0.19 with Reverie as its plugin: three sessions, a night by its own cron, the next morning."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

import reverie
from reverie.testing.model_plays import Says
from reverie.testing.model_server import Server, serving
from reverie.testing.model_wires import ReceivedRequest
from tests.peers import DREAMING, python_with
from tests.peers.agents import call
from tests.peers.hermes import ROOT, HermesAgent, installed, made_once

pytestmark = pytest.mark.peer

SAID = (
    "Write the deploy notes, please. No tables this time: always write deploy notes as short bullet points.",
    "I told you before: always write deploy notes as short bullet points, not as a table.",
    "A table again! Remember: always write deploy notes as short bullet points.",
)
STOOD = "The staging database is on db2.internal\n§\nCI runs on every push"
EDITED = "Deploy notes are bullet points, at most seven of them."
RULE = "deploy notes"
PLUGIN = ROOT / "src/reverie/integrations/hermes"


def answer(asked: ReceivedRequest) -> Says:
    """Edit memory with Hermes' own tool where that is asked for; curate where Reverie asks; else agree."""
    messages = asked.body.get("messages", [])
    if "Make it seven at most" in str(messages[-1].get("content")):
        entry = next(line for line in _system(asked).splitlines() if RULE in line.lower())
        wanted = {"target": "memory", "action": "replace", "old_text": entry, "content": EDITED}
        return Says("", (call("memory", 1, **wanted),), finish="tool_calls")
    if not asked.body.get("tools"):
        return Says('{"items": []}')
    return Says("All right.")


def _system(asked: ReceivedRequest) -> str:
    return "\n".join(str(one["content"]) for one in asked.body["messages"] if one["role"] == "system")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(answer) as started:
        yield started


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory, worker_id: str, server: Server) -> HermesAgent:
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "hermes-plugin"
    python, path = installed(folder / "site")
    return HermesAgent(python, path, folder / "spoken" / "hermes", folder / "spoken" / "reverie", server.openai_url)


@pytest.fixture(scope="module")
def spoken(fresh: HermesAgent) -> HermesAgent:
    """A Hermes home in which a person corrected the agent in three sessions."""
    with made_once(fresh.home.parent) as missing:
        if missing:
            fresh.configure()
            fresh.memory.parent.mkdir(parents=True)
            fresh.memory.write_text(STOOD)
            for said in SAID:
                fresh.run("chat", "-Q", "-q", said)
    return fresh


def _due(agent: HermesAgent) -> None:
    """As if the night's time had just come."""
    path = agent.home / "cron" / "jobs.json"
    told = json.loads(path.read_text())
    for job in told["jobs"]:
        job["next_run_at"] = (datetime.now(UTC) - timedelta(seconds=5)).isoformat()
    path.write_text(json.dumps(told))


def test_what_was_corrected_three_times_is_in_the_prompt_the_morning_after_and_can_be_undone(
    spoken: HermesAgent, server: Server, tmp_path: Path
) -> None:
    agent = spoken.copied(tmp_path)
    queued = [json.loads(line)["session"] for line in (agent.home / "dreaming/finished.jsonl").read_text().splitlines()]
    assert len(set(queued)) == 3
    agent.configure('dreaming: {schedule: "15 4 * * *"}')
    refused = agent.run("dreaming", "install-cron", "--schedule", "30m", fails=True)
    assert "The schedule is '30m'" in refused and "Traceback" not in refused
    assert not (agent.home / "scripts/reverie_night.py").exists()
    assert "15 4 * * *" in agent.run("dreaming", "install-cron")
    _due(agent)
    agent.run("cron", "tick")
    landed = agent.memory.read_text()
    assert landed.startswith(f"{STOOD}\n§\n")
    entry = landed.removeprefix(f"{STOOD}\n§\n")
    assert RULE in entry.lower()
    assert "§" not in entry
    (report,) = (agent.home / "cron" / "output").glob("*/*.md")
    assert entry in report.read_text()  # what Hermes delivers
    assert (agent.home / "dreaming/finished.jsonl").read_text() == ""

    morning = agent.copied(tmp_path / "morning")
    morning.configure("dreaming: {recall: 200}")
    morning = replace(morning, reverie=agent.reverie)
    morning.run("chat", "-Q", "-q", "How should the deploy notes look? Make it seven at most")
    first = next(one for one in server.asked if "Make it seven at most" in str(one.body["messages"][-1]["content"]))
    assert f"MEMORY (your personal notes) [{len(landed) * 100 // 2200}% — {len(landed)}/2,200 chars]" in _system(first)
    assert landed in _system(first)
    beside = str(first.body["messages"][-1]["content"]).partition("Make it seven at most")[2]
    assert "quotations for reference" in beside
    assert 0 < len(beside) / 4 <= 200 + 5
    assert not any("quotations for reference" in str(one.body) for one in server.asked[: server.asked.index(first)])
    assert morning.memory.read_text() == f"{STOOD}\n§\n{EDITED}"  # Hermes' own tool knows the entry for one of its own

    agent.run("cron", "remove", "reverie-night")  # as uninstalling says
    assert "chg_" in agent.run("dreaming", "undo")
    assert agent.memory.read_bytes() == STOOD.encode()


def test_a_profile_dreams_over_its_own_memory_and_what_hermes_writes_meanwhile_stays(
    spoken: HermesAgent, tmp_path: Path
) -> None:
    root = replace(spoken, home=tmp_path / "hermes", reverie=tmp_path / "reverie")
    root.configure()
    shutil.copytree(spoken.home, root.home / "profiles" / "work")
    writer = """
    import sys, time
    from pathlib import Path
    from tools.memory_tool import MemoryStore
    store, stop, number = MemoryStore(memory_char_limit=100_000), Path(sys.argv[1]), 0
    while not stop.exists() or number < 3:
        store.load_from_disk()
        assert store.add("memory", f"Fact number {number} of Hermes")["success"]
        number += 1
        print(number, flush=True)
        time.sleep(0.1)  # the pace of a very busy Hermes
    """
    profile = replace(root, home=root.home / "profiles" / "work", more={"HERMES_HOME": str(root.home)})
    profile.configure("memory: {memory_char_limit: 100000}")
    stop = tmp_path / "stop"
    own = profile.environment | {"HERMES_HOME": str(profile.home)}
    with subprocess.Popen(
        [profile.python, "-c", textwrap.dedent(writer), stop], stdout=subprocess.PIPE, text=True, env=own
    ) as hermes:
        assert hermes.stdout is not None
        assert hermes.stdout.readline() == "1\n"
        diary = profile.run("--profile", "work", "dreaming", "run")
        stop.touch()
        number = int(hermes.stdout.read().split()[-1])
    assert "1 change landed" in diary
    assert "hermes/work" in diary
    entries = profile.memory.read_text().split("\n§\n")
    assert [one for one in entries if RULE in one.lower()]
    assert {f"Fact number {one} of Hermes" for one in range(number)} <= set(entries)
    assert not (root.home / "memories" / "MEMORY.md").exists()
    assert (profile.home / "dreaming" / "DREAMS.md").exists()


def test_a_home_that_is_full_keeps_its_limit_and_one_that_wants_approval_is_asked(
    spoken: HermesAgent, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = spoken.copied(tmp_path / "full")
    text = "\n§\n".join([STOOD, "x" * (2200 - len(STOOD) - 3)])
    full.memory.write_text(text)
    monkeypatch.setenv("HERMES_HOME", str(full.home))
    with reverie.open(full.reverie) as home:
        assert home.dream("hermes").status == "completed"
    assert full.memory.read_text() == text

    gated = spoken.copied(tmp_path / "gated")
    gated.configure("memory:\n  write_approval: true")
    monkeypatch.setenv("HERMES_HOME", str(gated.home))
    with reverie.open(gated.reverie) as home:
        home.dream("hermes")
        assert gated.memory.read_text() == STOOD
        proposal = next(one for one in home.review.waiting() if RULE in one.diff.lower())
        assert "write_approval" in proposal.asks_because
        home.review.approve(proposal)
    assert RULE in gated.memory.read_text().lower()


def test_the_plugin_costs_hermes_less_than_thirty_milliseconds_and_adds_no_tool(
    fresh: HermesAgent, tmp_path: Path
) -> None:
    """In processor time, beside a plugin that does nothing, loaded before it in the same run."""
    for name, text in {
        "nothing.py": "def register(ctx): ctx.register_command('nothing', str)",
        "nothing-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: nothing\nVersion: 1\n",
        "nothing-1.dist-info/entry_points.txt": "[hermes_agent.plugins]\nnothing = nothing\n",
    }.items():
        path = tmp_path / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    agent = replace(
        fresh, home=tmp_path / "hermes", reverie=tmp_path / "reverie", path=f"{tmp_path / 'site'}:{fresh.path}"
    )
    agent.configure("dreaming: {enabled: false}", plugins="nothing, reverie")
    measured = """
    import time
    from hermes_cli import plugins
    load, spent = plugins.PluginManager._load_plugin, {}
    def timed(self, manifest):
        began = time.process_time()
        load(self, manifest)
        spent[manifest.name] = time.process_time() - began
    plugins.PluginManager._load_plugin = timed
    plugins.discover_plugins()
    ours = plugins.get_plugin_manager()._plugins["reverie"]
    print(list(spent), spent["reverie"] - spent["nothing"], len(ours.tools_registered))
    slash = plugins.get_plugin_command_handler("dreaming")
    print(slash("status"))
    print(slash("review"))

    import asyncio
    async def in_a_gateway():
        return await slash("nonsense")
    print(asyncio.run(in_a_gateway()))
    """
    said = agent.script(textwrap.dedent(measured))
    order, rest = said.splitlines()[0].split("] ")
    assert order.endswith("'nothing', 'reverie'")
    seconds, tools = rest.split()
    assert float(seconds) < 0.03
    assert int(tools) <= 2
    assert "No night yet. `/dreaming run --propose` tries one" in said
    assert "switched off" in said and "Nothing waits for you" in said
    assert "invalid choice: 'nonsense'" in said


HERE = "src/reverie/integrations/hermes"
WAYS = {
    "a repository": "file://{alone}",
    "a folder in one": f"file://{{github}}/owner/reverie.git#{HERE}",
    "GitHub's short form": f"owner/reverie/{HERE}",
    "what a browser shows": f"https://github.com/owner/reverie/tree/main/{HERE}",
    "an address with a path": f"https://github.com/owner/reverie.git/{HERE}",
}


def test_it_installs_in_every_way_hermes_has_and_calls_a_reverie_that_lives_elsewhere(
    fresh: HermesAgent, tmp_path: Path
) -> None:
    """GitHub is a folder here, by git's own setting. A folder that is in no repository is put in its place by hand."""
    github, alone, bare = tmp_path / "github", tmp_path / "alone", tmp_path / "bare/plugins/reverie"
    for folder in (github / "owner/reverie.git" / HERE, alone, bare):
        shutil.copytree(PLUGIN, folder, ignore=shutil.ignore_patterns("__pycache__"))
    identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]
    for repository in (github / "owner/reverie.git", alone):
        for arguments in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "Plugin"]):
            subprocess.run(["git", *arguments], cwd=repository, check=True)
    asked = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": f"url.file://{github}/.insteadOf"}
    git = asked | {"GIT_CONFIG_VALUE_0": "https://github.com/"}
    agent = replace(fresh, path="", reverie=tmp_path / "reverie", more=git)
    program = tmp_path / "bin" / "reverie"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT / "src"} exec {sys.executable} -m reverie "$@"\n')
    program.chmod(0o755)
    beside = {**git, "PATH": f"{program.parent}:/usr/bin:/bin"}
    for way, address in WAYS.items():
        one = replace(agent, home=tmp_path / way.replace(" ", "-"))
        one.configure(plugins="")
        one.run("plugins", "install", address.format(github=github, alone=alone), "--enable")
        shown = replace(one, more=beside).run("dreaming", "status")
        assert "No night yet. `hermes dreaming run --propose` tries one" in shown, way
    assert "Reverie itself is not installed" in one.run("dreaming", "status", fails=True)
    assert "0 3 * * *" in replace(one, more=beside).run("dreaming", "install-cron")

    one = replace(agent, home=bare.parents[1], more=beside)
    one.configure(plugins="")
    one.run("plugins", "enable", "reverie")
    assert "No night yet" in one.run("dreaming", "status")


def test_a_night_can_ask_the_model_of_hermes(
    spoken: HermesAgent, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = spoken.copied(tmp_path)
    agent.configure("dreaming: {model: host}")
    before = len(server.asked)
    agent.run("dreaming", "run")
    asked = [one for one in server.asked[before:] if SAID[0] in str(one.body["messages"])]
    assert asked
    assert asked[0].body["model"] == "scripted"
    assert asked[0].headers["Authorization"] == "Bearer sk-test"
    monkeypatch.setenv("REVERIE_OWNER", "ann")
    with reverie.open(agent.reverie) as home:
        (night,) = home.dreams.records.find(home.owned)
    (consulted,) = night.consulted
    assert (consulted.models, consulted.calls, consulted.failed) == (("anthropic:hermes-host",), 1, 0)
    assert consulted.tokens_in > 0


def test_people_who_come_from_hermes_dreaming_get_a_working_night_and_repairs_to_approve(
    fresh: HermesAgent, tmp_path: Path
) -> None:
    """Its own code does the damage and makes the job."""
    home = tmp_path / ".hermes"  # the only place it knows
    agent = replace(fresh, home=home, reverie=tmp_path / "reverie", more={"HOME": str(tmp_path)})
    agent.configure()
    agent.memory.parent.mkdir()
    agent.memory.write_text(STOOD)
    theirs = python_with(DREAMING).parents[1] / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
    damage = """
    import sys
    sys.path.append(sys.argv[1])
    from hermes_dreaming import paths, state
    from hermes_dreaming.commands.install_cron import handle
    from hermes_dreaming.tools.apply_memory_op import handler
    paths.ensure_dirs()
    run = state.start_run()
    print(handler({"op": "add", "target": "memory", "new_text": "- Prefers ruff over flake8", "dry_run": False,
                   "reason": "said", "score": 0.95, "candidate_id": "c1"}))
    state.finish_run(run, {"success": True})
    print(handle("30 2 * * *"))
    """
    agent.script(textwrap.dedent(damage), theirs)
    assert "CI runs on every push\n- " in agent.memory.read_text()
    damaged = agent.memory.read_bytes()

    said = agent.run("dreaming", "migrate")
    assert "1 change proposed" in said
    assert "30 2 * * *" in said
    assert agent.memory.read_bytes() == damaged
    (job,) = json.loads((home / "cron" / "jobs.json").read_text())["jobs"]
    assert (job["name"], job["no_agent"], job["schedule"]["expr"]) == ("reverie-night", True, "30 2 * * *")
    assert (home / "dreaming" / "memory_mutations.lock").exists()
