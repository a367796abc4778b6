"""`reverie install`: Reverie goes into an agent's settings, sessions are queued as they end, and it all comes out."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.commands import run_command
from tests.sizes import sampled

SETTINGS = '{\n    "model": "opus",\n    "hooks": {"Stop": []}\n}\n'
STATE = '{"numStartups": 3, "mcpServers": {"other": {"command": "x"}}}'
CONFIG = '# mine\nmodel = "o9"   # not aligned\n\n[tui]\nnotifications = true\n'
OPENCLAW = '{\n  // mine\n  agents: {"defaults": {"model": {primary: "a/b"}}}, // why\n}\n'
HERMES = "model: {default: x}   # mine\n\nplugins:\n  enabled:\n  - other  # not ours\n  disabled: []\n"
Run = Callable[..., CompletedProcess[str]]


@pytest.fixture
def person(tmp_path: Path) -> Path:
    """The home of someone who uses these agents and has settings of their own."""
    for name, text in {
        ".claude/settings.json": SETTINGS,
        ".claude.json": STATE,
        ".codex/config.toml": CONFIG,
        ".codex/AGENTS.md": "- Be brief.\n",
        ".openclaw/openclaw.json": OPENCLAW,
        ".hermes/config.yaml": HERMES,
        ".gemini/settings.json": OPENCLAW,
        ".config/opencode/opencode.jsonc": OPENCLAW,
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.fixture
def reverie(person: Path) -> Run:
    def run(*words: str, fails: bool = False, stdin: str = "") -> CompletedProcess[str]:
        variables = {"HOME": str(person), "PATH": os.environ["PATH"], "REVERIE_OWNER": "ann"}
        done = run_command(words, environment=variables, folder=person, stdin=stdin)
        assert bool(done.returncode) == fails, done.stdout + done.stderr
        return done

    return run


def everything(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and ".reverie" not in path.parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "hermes", "openclaw", "opencode"])
def test_what_install_wrote_uninstall_takes_out_to_the_last_byte(reverie: Run, person: Path, agent: str) -> None:
    before = everything(person)
    shown = reverie("install", agent, "--dry-run").stdout
    assert everything(person) == before, "a dry run changes nothing"
    reverie("install", agent, "--no-check")
    installed = everything(person)
    assert installed != before and all(name in shown for name in installed.keys() - before.keys())
    assert "already" in reverie("install", agent, "--no-check").stdout
    assert everything(person) == installed, "twice is once"
    assert "/reverie\n" in reverie("skills", "list").stdout  # who looks at skills leaves a lock beside them
    if agent == "hermes":  # which is a Python program
        (person / ".hermes/plugins/reverie/__pycache__").mkdir()
        (person / ".hermes/plugins/reverie/__pycache__/x.pyc").write_text("")
    reverie("uninstall", agent)
    assert everything(person) == before
    assert not (person / f".{agent}/skills").exists(), "folders that were made for it are gone"
    assert "is not in" in reverie("uninstall", agent).stdout


@pytest.mark.parametrize("agent", ["claude", "codex", "hermes"])
def test_what_someone_else_wrote_meanwhile_stays(reverie: Run, person: Path, agent: str) -> None:
    """They add settings, reformat the JSON, change the skill, and take Reverie's server out by hand."""
    reverie("install", agent, "--no-check")
    settings, state = person / ".claude/settings.json", person / ".claude.json"
    told = json.loads(settings.read_text()) | {"theme": "dark"}
    settings.write_text(json.dumps(told))
    state.write_text(json.dumps({"numStartups": 4, "mcpServers": {"other": {"command": "x"}}}))
    config = person / ".codex/config.toml"
    config.write_text(config.read_text() + '\n# trusted\n[projects."/x"]\ntrust_level = "trusted"\n')
    yaml = person / ".hermes/config.yaml"
    yaml.write_text(yaml.read_text() + "memory: {write_approval: true}\n")
    skill = person / f".{agent}/skills/reverie/SKILL.md"
    skill.write_text(f"{skill.read_text()}\n- A rule of mine.\n")

    reverie("uninstall", agent)
    assert json.loads(settings.read_text()) == json.loads(SETTINGS) | {"theme": "dark"}
    assert json.loads(state.read_text())["mcpServers"] == {"other": {"command": "x"}}
    assert config.read_text() == CONFIG + '\n# trusted\n[projects."/x"]\ntrust_level = "trusted"\n'
    assert yaml.read_text() == HERMES + "memory: {write_approval: true}\n"
    assert "A rule of mine." in skill.read_text()


def test_uninstall_says_that_the_night_is_still_in_the_cron_of_hermes(reverie: Run, person: Path) -> None:
    assert "cron" not in reverie("uninstall", "hermes").stdout
    (person / ".hermes/cron").mkdir()
    (person / ".hermes/cron/jobs.json").write_text('{"jobs": [{"name": "reverie-night", "no_agent": true}]}')
    assert "`hermes cron remove reverie-night`" in reverie("uninstall", "hermes").stdout


def test_uninstall_finds_what_is_ours_where_the_record_is_lost(reverie: Run, person: Path) -> None:
    before = everything(person)
    for agent in ("claude", "codex", "hermes"):
        reverie("install", agent, "--no-check")
        shutil.rmtree(person / ".reverie")
        reverie("uninstall", agent)
    assert everything(person) == before


def test_a_byte_order_mark_before_settings_stays(reverie: Run, person: Path) -> None:
    files = (".claude/settings.json", ".codex/config.toml", ".hermes/config.yaml")
    for file in files:
        (person / file).write_bytes(b"\xef\xbb\xbf" + (person / file).read_bytes())
    before = everything(person)
    for agent, file in zip(("claude", "codex", "hermes"), files, strict=True):
        reverie("install", agent, "--no-check")
        installed = (person / file).read_bytes()
        assert installed.startswith(b"\xef\xbb\xbf") and installed.count(b"\xef\xbb\xbf") == 1
        assert b"reverie" in installed
        (person / file).write_bytes(installed + b"\n")  # so that it is taken out, not put back
        reverie("uninstall", agent)
        assert (person / file).read_bytes().rstrip() == before[file].rstrip()


def test_settings_that_cannot_be_read_are_refused_and_nothing_is_written(reverie: Run, person: Path) -> None:
    (person / ".claude/settings.json").write_text('{"hooks": [],}')
    (person / ".codex/config.toml").write_text("model = \n")
    (person / ".openclaw/openclaw.json").write_text("{ // mine\n")
    (person / ".hermes/config.yaml").write_text("plugins: [\n")
    before = everything(person)
    names = {"claude": "settings.json", "codex": "config.toml", "hermes": "config.yaml", "openclaw": "openclaw.json"}
    for agent, name in names.items():
        refused = reverie("install", agent, fails=True).stderr
        assert name in refused and "Mend it first" in refused
    (person / ".claude/settings.json").write_text('{"hooks": []}')
    assert "should" in reverie("install", "claude", fails=True).stderr
    (person / ".claude/settings.json").write_bytes(before[".claude/settings.json"])
    assert everything(person) == before


def test_an_agent_that_is_not_used_here_is_said_so(reverie: Run, person: Path) -> None:
    (person / ".codex/config.toml").unlink()
    (person / ".codex/AGENTS.md").unlink()
    (person / ".codex").rmdir()
    assert "Codex is not used here" in reverie("install", "codex", fails=True).stderr
    assert "one of claude, codex, gemini, hermes, openclaw, opencode" in reverie("install", "emacs", fails=True).stderr
    assert not (person / ".codex").exists()


def test_a_link_to_settings_kept_elsewhere_stays_a_link(reverie: Run, person: Path) -> None:
    kept, settings = person / "dotfiles.json", person / ".claude/settings.json"
    settings.rename(kept)
    settings.symlink_to(kept)
    reverie("install", "claude", "--no-check")
    assert settings.is_symlink() and "SessionEnd" in kept.read_text()
    reverie("uninstall", "claude")
    assert settings.is_symlink() and kept.read_text() == SETTINGS


def test_someone_elses_notify_of_codex_is_left_alone(reverie: Run, person: Path) -> None:
    config = person / ".codex/config.toml"
    config.write_text(f'notify = ["notify-send"]\n{CONFIG}')
    done = reverie("install", "codex", "--no-check").stdout
    assert "is taken" in done and config.read_text().startswith('notify = ["notify-send"]\n# mine')
    assert "[mcp_servers.reverie]" in config.read_text()


def session(person: Path, folder: str, number: int, said: str) -> str:
    """A transcript of Claude Code, and what it tells its hook when the session ends."""
    transcript = person / folder / f"00000000-0000-4000-8000-{number:012}.jsonl"
    line = {
        "type": "user",
        "sessionId": transcript.stem,
        "cwd": str(person),
        "uuid": f"u{number}",
        "version": "2.1.197",
    }
    line |= {"timestamp": f"2026-01-{number:02}T09:00:00Z", "message": {"role": "user", "content": said}}
    transcript.parent.mkdir(parents=True, exist_ok=True)
    transcript.write_text(f"{json.dumps(line)}\n")
    return json.dumps({"transcript_path": str(transcript), "hook_event_name": "SessionEnd"})


def run_hook(person: Path, event: str) -> None:
    """By a shell, as the agent does it."""
    [entry] = json.loads((person / ".claude/settings.json").read_text())["hooks"]["SessionEnd"]
    variables = {"HOME": str(person), "PATH": os.environ["PATH"]}
    subprocess.run(entry["hooks"][0]["command"], shell=True, check=True, input=event, text=True, env=variables)


def test_the_hook_queues_a_session_and_the_next_night_reads_it_wherever_it_lies(reverie: Run, person: Path) -> None:
    """In a folder no night looks into by itself."""
    assert "Nights: none" in reverie("install", "claude", "--no-check", "--no-nights").stdout
    event = session(person, "elsewhere", 1, "Where do the lighthouses go?")
    for _ in range(2):
        run_hook(person, event)
    assert len(list((person / ".reverie/queue").iterdir())) == 1, "twice is once"
    assert "lighthouses" not in reverie("search", "lighthouses").stdout
    assert "1 session that ended, queued" in reverie("status").stdout

    reverie("dream", "--target", "claude", "--estimate")
    assert len(list((person / ".reverie/queue").iterdir())) == 1, "an estimate takes nothing from the queue"
    reverie("dream", "--target", "claude")
    assert list((person / ".reverie/queue").iterdir()) == []
    assert "lighthouses" in reverie("search", "lighthouses").stdout


def test_a_session_that_ends_begins_the_night_that_is_due(reverie: Run, person: Path) -> None:
    """Not where dreaming is switched off, not twice in an hour, and not while one runs."""
    settings, look = person / ".reverie/reverie.toml", person / ".reverie/queue/next-look"
    settings.parent.mkdir()
    settings.write_text("[dreaming]\nenabled = false\n")
    assert "switched off" in reverie("install", "claude", "--no-check").stdout
    run_hook(person, session(person, ".claude/projects/x", 1, "Remember: use pnpm, never npm."))
    assert not look.exists(), "a night was begun though there are to be none"

    settings.write_text('timezone = "Europe/Berlin"\n')
    assert "(0 3 * * *, Europe/Berlin)" in reverie("install", "claude", "--no-check").stdout
    look.touch()
    with look.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        run_hook(person, session(person, ".claude/projects/x", 2, "No, as I said: use pnpm, never npm."))
        assert look.read_text() == "", "a second night was begun while one ran"
    run_hook(person, session(person, ".claude/projects/x", 3, "Hello again"))
    with look.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # which the night holds until it ends
        looked = look.read_text()
    assert "Use pnpm, never npm." in (person / ".claude/CLAUDE.md").read_text()
    assert "1 change landed" in (person / ".reverie/queue/night.log").read_text()

    run_hook(person, session(person, ".claude/projects/x", 4, "And again"))
    assert look.read_text() == looked and "1 session that ended, queued" in reverie("status").stdout
    look.write_text("2026-01-05T09:00:00+00:00\n")
    run_hook(person, session(person, ".claude/projects/x", 5, "And again"))
    with look.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
    assert (person / ".reverie/queue/night.log").read_text() == "", "the night of today is over"


def test_a_queued_transcript_that_is_gone_does_not_stop_the_night(reverie: Run, person: Path) -> None:
    for number in range(2):
        event = {"transcript_path": str(person / f"gone{number}.jsonl")}
        reverie("sessions", "queue", "--agent", "claude", json.dumps(event))
    (person / ".reverie/queue/half.json").write_text('{"pa')
    assert "not there any more" in reverie("sessions", "add", "--refresh").stdout
    assert [path.name for path in (person / ".reverie/queue").iterdir()] == ["half.json"]


def test_hooks_that_openclaw_runs_already_stay_on_and_off(reverie: Run, person: Path) -> None:
    """Where all hooks are on and none is named, one that is named would be the only one."""
    settings = person / ".openclaw/openclaw.json"
    settings.write_text("{hooks: {internal: {enabled: true}}}")
    assert "hooks/reverie/handler.js" in reverie("install", "openclaw", "--no-check").stdout
    assert "entries" not in settings.read_text()
    reverie("uninstall", "openclaw")
    settings.write_text("{hooks: {internal: {enabled: false}}}")
    assert "the hook does not run" in reverie("install", "openclaw", "--no-check").stdout


def test_an_agent_whose_sessions_are_in_one_database_has_it_queued_once(reverie: Run, person: Path) -> None:
    for number in range(2):
        reverie("sessions", "queue", "--agent", "opencode", json.dumps({"session": f"ses_{number}"}))
        reverie("sessions", "queue", "--agent", "openclaw", '{"agent": "main"}')
    queued = {json.loads(file.read_text())["path"] for file in (person / ".reverie/queue").iterdir()}
    databases = {".local/share/opencode/opencode.db", ".openclaw/agents/main/agent/openclaw-agent.sqlite"}
    assert queued == {str(person / path) for path in databases}


@pytest.mark.parametrize(
    "event", ["", "5", "{}", '{"thread-id": "../../x"}', '{"transcript_path": 5}', '{"agent": "../../x"}']
)
def test_an_event_without_a_transcript_is_refused(reverie: Run, event: str) -> None:
    for agent in ("claude", "codex", "openclaw", "opencode"):
        assert "Expected" in reverie("sessions", "queue", "--agent", agent, stdin=event, fails=True).stderr


GIVEN = {"codex": "AGENTS.md", "gemini": "GEMINI.md", "hermes": "MEMORY.md", "opencode": "AGENTS.md"}


@pytest.mark.parametrize("agent, document", sampled(list(GIVEN.items()), [*GIVEN.items()][::2]))
def test_install_proves_the_loop_and_prints_it(reverie: Run, person: Path, agent: str, document: str) -> None:
    done = reverie("install", agent).stdout
    assert "the hook's command queued them" in done
    assert f"The next session is given, in {agent}/{document}: “Use pnpm, never npm.”" in done
    assert "offers search, recall" in done
    assert ("Hermes itself was not asked" in done) == (agent == "hermes")
    assert (person / ".codex/AGENTS.md").read_text() == "- Be brief.\n", "nothing of the person's was touched by it"
