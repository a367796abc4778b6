"""`hermes dreaming` and `/dreaming`: each command is one of `reverie`, over the memory of this Hermes home.

A night in Hermes' own cron is a job that runs a script and no agent, so it costs no turn of a model. And the way from
hermes-dreaming 0.3.x: what it left is read, what it broke is proposed to be mended, its job is replaced. Its own files
stay as they are.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .host import NoReverie, Taken, hermes_home, launch, reverie_home, run_reverie, settings, waiting

COMMANDS = {
    "run": "One night now: read what is new, change very little, propose the rest",
    "review": "What waits for you, and what a night would change; lands nothing",
    "status": "The last nights, what waits, how full memory is",
    "compact": "Propose to take out duplicates and what is superseded; adds nothing",
    "install-cron": "Dream every night by Hermes' own cron",
    "explain": "Why the last night did what it did, or did nothing",
    "undo": "Take the last change back, byte for byte, or the one named",
    "migrate": "Come from hermes-dreaming 0.3.x: mend what it broke, replace its cron job",
}
_LONGEST_ANSWER = 6_000  # characters in a chat


def add_arguments(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(dest="dreaming_command", metavar="COMMAND")
    made = {name: commands.add_parser(name, help=about, description=about) for name, about in COMMANDS.items()}
    made["run"].add_argument("--propose", action="store_true", help="land nothing: only proposals")
    made["run"].add_argument("--nightly", action="store_true", help="as cron runs it: a quiet night says nothing")
    made["run"].add_argument("--if-missed", action="store_true", help="only if there was none since `schedule`")
    made["review"].add_argument("words", nargs="*", metavar="approve|reject ID", help="answer one")
    made["review"].add_argument("--because", default="", metavar="WHY", help="why, for whoever asks later")
    made["install-cron"].add_argument("--schedule", metavar="CRON", help="when, as cron writes it")
    made["explain"].add_argument("words", nargs="?", default="last", metavar="ID", help="a candidate, proposal, night")
    made["undo"].add_argument("words", nargs="?", default="", metavar="CHANGE", help="the id of a change")
    made["undo"].add_argument("--because", default="", metavar="WHY", help="why, for whoever asks later")


def run_command(arguments: argparse.Namespace) -> None:
    """`hermes dreaming …`: at a terminal, with the exit code of what was called."""
    try:
        code = _run(arguments, lambda words, **how: run_reverie(words, captured=False, **how).returncode)
    except (NoReverie, BadSchedule) as error:
        sys.stderr.write(f"{error}\n")
        code = 2 if isinstance(error, BadSchedule) else 1
    if code:
        sys.exit(code)


def slash(words: str) -> Any:
    """`/dreaming …`: what it says is the answer. Within a gateway, others are served meanwhile."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _answer(words)
    return asyncio.to_thread(_answer, words)


def _answer(words: str) -> str:
    parser = _QuietParser(prog="/dreaming", add_help=False)
    add_arguments(parser)
    said: list[str] = []

    def captured(arguments: Sequence[str], **how: Any) -> int:
        done = run_reverie(arguments, captured=True, named="/dreaming", **how)
        said.extend(text.strip() for text in (done.stdout, done.stderr) if text.strip())
        return done.returncode

    if words.strip() in ("", "help"):
        return "\n".join(f"/dreaming {name}: {about}" for name, about in COMMANDS.items())
    try:
        arguments = parser.parse_args(shlex.split(words))
        _run(arguments, captured, said.append)
    except (NoReverie, BadSchedule, ValueError) as error:
        said.append(str(error))
    text = "\n".join(said)
    return text if len(text) <= _LONGEST_ANSWER else f"{text[:_LONGEST_ANSWER]}\n… `hermes dreaming` shows the rest."


class _QuietParser(argparse.ArgumentParser):
    """Says what is wrong with a slash command as a value: leaving the process would end the chat."""

    def error(self, message: str) -> Any:
        raise ValueError(f"{message}. Commands: {', '.join(COMMANDS)}.")

    def exit(self, status: int = 0, message: str | None = None) -> Any:
        raise ValueError(message or f"Commands: {', '.join(COMMANDS)}.")


def _run(arguments: argparse.Namespace, reverie: Callable[..., int], say: Callable[[str], object] = print) -> int:
    target = hermes_home().target
    because = ["--because", arguments.because] if getattr(arguments, "because", "") else []
    match arguments.dreaming_command:
        case "run":
            return _night(target, arguments, reverie, say)
        case "review" if arguments.words:
            return reverie(["review", *arguments.words, *because])
        case "review":
            with _model() as more:
                code = reverie(["dream", target, "--propose"], more=more)
            return reverie(["review"]) or code
        case "compact":
            return reverie(["compact", "--target", target])
        case "explain":
            return reverie(["explain", arguments.words])
        case "undo":
            return reverie(["undo", *([arguments.words] if arguments.words else ["--target", target]), *because])
        case "install-cron":
            say(install(arguments.schedule))
        case "migrate":
            say(migrate_old_plugin())
        case _:
            code = reverie(["status"])
            say(hermes_status())
            return code
    return 0


def _night(
    target: str, arguments: argparse.Namespace, reverie: Callable[..., int], say: Callable[[str], object]
) -> int:
    propose = bool(arguments.propose)
    words = ["dream", target, *(["--propose"] if propose else []), *(["--if-missed"] if arguments.if_missed else [])]

    taken = Taken()
    taken.bring_in()
    with _model() as more:
        if arguments.nightly:
            code = tell_night(run_reverie([*words, "--json"], captured=True, more=more), say)
        else:
            code = reverie(words, more=more)
    if not code and not propose:
        taken.drop()
    return code


def tell_night(done: subprocess.CompletedProcess[str], say: Callable[[str], object]) -> int:
    """The diary of a night in which something happened; nothing of a quiet one, which cron then delivers to nobody, nor
    where dreaming is switched off."""
    if done.returncode:
        if '"kind": "SwitchedOff"' in done.stderr:
            return 0
        say(done.stderr.strip() or done.stdout.strip())
        return done.returncode
    for dream in json.loads(done.stdout)["dreams"] if done.stdout.strip() else ():  # none was due
        if any(one["fate"] in ("landed", "waiting") for one in dream["judged"]):
            say(dream["diary"])
    return 0


@contextmanager
def _model() -> Iterator[dict[str, str]]:
    """The settings that tell Reverie of a model: nothing, unless the settings want that of Hermes."""
    if settings().get("model") != "host":
        yield {}
        return
    from .host_model import serving

    with serving() as more:
        yield more


def hermes_status() -> str:
    ended = len(waiting())
    lines = [f"{ended} session{'' if ended == 1 else 's'} ended since the last night."]
    ours = job()
    if ours is None and launch().get("nights"):
        lines.append(
            "The end of a session begins a night that is due; `hermes dreaming install-cron` keeps to the time."
        )
    elif ours is None:
        lines.append("No night in Hermes' cron: `hermes dreaming install-cron` sets one.")
    else:
        state = "" if ours.get("enabled", True) else ", paused"
        lines.append(f"Hermes' cron: {ours.get('schedule_display')}{state}, next {ours.get('next_run_at')}.")
        if ours.get("last_status"):
            lines.append(f"The last by cron: {ours.get('last_run_at')} {ours['last_status']}.")
    if old_plugin_folder():
        lines.append("hermes-dreaming was used here: `hermes dreaming migrate` takes over from it.")
    return "\n".join(lines)


NAME = "reverie-night"
SCRIPT = "reverie_night.py"
USUAL = "0 3 * * *"
THEIRS, THEIR_PROMPT = "hermes-dreaming", "/dreaming run"
_SCRIPT = '''\
"""One night over this Hermes home. Written by `hermes dreaming install-cron`; Hermes' cron runs it."""

import os
import subprocess
import sys

environment = {{**os.environ, **{variables!r}}}
night = [sys.executable, "-P", "-m", "hermes_cli.main", "dreaming", "run", "--nightly"]
sys.exit(subprocess.run(night, env=environment, stdin=subprocess.DEVNULL, check=False).returncode)
'''
_LOCK = "memory_mutations.lock"
_OF_CONFIG = ("enabled", "schedule", "max_changes_per_run", "recent_sessions_limit")


class BadSchedule(Exception):
    """A schedule that is no time of every day, week or month; says what was expected."""


def install(schedule: str | None = None) -> str:
    """Twice is once; another schedule changes it. The job of hermes-dreaming, which never did anything, goes."""
    from cron.jobs import create_job, parse_schedule, remove_job, update_job

    dead, there = their_job(), job()
    when = schedule or str(settings().get("schedule") or "") or _schedule(there) or _schedule(dead) or USUAL
    try:
        kind = parse_schedule(when)["kind"]
    except ValueError:
        kind = ""
    if kind != "cron":
        raise BadSchedule(
            f"The schedule is {when!r}. Expected a time as cron writes it, in digits, such as '{USUAL}'. "
            "Give another with --schedule, or mend `dreaming: {schedule: …}` in config.yaml. Nothing was changed."
        )
    # The script is written beside, then put in its place: cron may be about to run it.
    home = hermes_home()
    variables = {"HERMES_HOME": str(home.path)} | ({"REVERIE_HOME": at} if (at := reverie_home()) else {})
    folder = home.path / "scripts"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    script = folder / SCRIPT
    beside = script.with_suffix(f".{os.getpid()}.tmp")
    beside.write_text(_SCRIPT.format(variables=variables), "utf-8")
    beside.replace(script)
    if there is None:
        made = create_job("", when, name=NAME, script=SCRIPT, no_agent=True, deliver="local")
    else:
        made = update_job(there["id"], {"schedule": when, "enabled": True, "state": "scheduled"})
    lines = [
        f"A night over {hermes_home().target} in Hermes' cron: {made.get('schedule_display', when)}, next "
        f"{made.get('next_run_at')} (job {made['id']}, script {script}).",
        "It runs while Hermes' gateway runs, or by `hermes cron tick`. A quiet night says nothing.",
    ]
    if dead is not None:
        remove_job(dead["id"])
        lines.append(
            f"Removed the job of hermes-dreaming ({dead['id']}): it sent the words {THEIR_PROMPT!r} to a model."
        )
    return "\n".join(lines)


def job() -> dict[str, Any] | None:
    return next((one for one in _jobs() if one.get("name") == NAME), None)


def their_job() -> dict[str, Any] | None:
    """The job hermes-dreaming 0.3.x put into cron: a prompt that no slash command ever sees."""
    theirs = (one for one in _jobs() if one.get("name") == THEIRS)
    return next((one for one in theirs if str(one.get("prompt")).strip() == THEIR_PROMPT), None)


def _jobs() -> list[dict[str, Any]]:
    from cron.jobs import list_jobs

    return list(list_jobs(include_disabled=True))


def _schedule(found: dict[str, Any] | None) -> str:
    return str((found or {}).get("schedule", {}).get("expr") or "")


def old_plugin_folder() -> Path | None:
    """The folder of its files, if it was ever used in this home: where it is, or where a night put it aside."""
    folder = hermes_home().dreaming
    for place in (folder, folder / "before-reverie"):
        if (place / _LOCK).exists() or "last_successful_run" in _state(place) or "recent_session_ids" in _state(place):
            return place
    return None


def migrate_old_plugin() -> str:
    folder = old_plugin_folder()
    if folder is None and their_job() is None:
        return "hermes-dreaming was not used in this Hermes home: there is nothing to do."
    lines = [*(_history(folder) if folder else ()), *_repairs()]
    lines.append(
        install() if their_job() else "It has no job in Hermes' cron. `hermes dreaming install-cron` sets one."
    )
    lines.append("Its files were left where they are. Now `hermes plugins disable hermes-dreaming`, if it is enabled.")
    return "\n".join(lines)


def _history(folder: Path) -> Iterator[str]:
    state = _state(folder)
    runs = len(list((folder / "runs").glob("*.json"))) if (folder / "runs").is_dir() else 0
    wrote = sum(1 for line in _text(folder / "promotions.jsonl").splitlines() if line.strip())
    last = state.get("last_successful_run") or state.get("last_run") or "never"
    yield f"hermes-dreaming: {runs} runs, the last {last}; {wrote} changes written down in promotions.jsonl."
    settings = _config(folder / "config.yaml")
    if settings:
        block = ", ".join(f"{key}: {json.dumps(value)}" for key, value in settings.items())
        yield f"Its settings, for Hermes' config.yaml: `dreaming: {{{block}}}`."


def _repairs() -> Iterator[str]:
    """Only what it broke: whatever else could be better about this memory is for `reverie audit`."""
    done = run_reverie(
        ["audit", "--fix", "--kind", "damaged", "--target", hermes_home().target, "--json"], captured=True
    )
    if done.returncode:
        yield f"Its damage could not be looked for: {done.stderr.strip() or done.stdout.strip()}"
        return
    told = json.loads(done.stdout)
    for finding in told["findings"]:
        if finding["operations"]:
            yield f"{finding['document']}: {finding['why']}"
    yield from told["proposed"]


def _config(path: Path) -> dict[str, Any]:
    import yaml

    try:
        read = yaml.safe_load(_text(path))
    except yaml.YAMLError:
        return {}
    block = read.get("dreaming", read) if isinstance(read, dict) else {}
    return {key: block[key] for key in _OF_CONFIG if isinstance(block, dict) and key in block}


def _state(folder: Path) -> dict[str, Any]:
    try:
        state = json.loads(_text(folder / "state.json"))
    except ValueError:
        return {}
    return state if isinstance(state, dict) and state.get("made_by") != "reverie" else {}


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "replace")
    except OSError:
        return ""
