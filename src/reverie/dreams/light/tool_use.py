"""What an agent's own calls taught it: failures with their fixes (`lessons`), steps that may come back (`routines`).

How a call ended is told by the harness's flag, an exit code, a JSON field, or the shape of an error. Shell commands are
held against each other: which program they call, and whether one is another try at the other.

A lesson: a call failed; a later one like it, or the same one after something else was done, worked. The lesson rests on
those calls; their results are context, because a tool's words may be quoted, never obeyed. Not lessons: looking for a
file that is not there, editing code until its tests pass, and what a person told the agent in between.

A routine: the steps an agent ran, one after another, for one thing it was asked for. In one session they are only what
was done; whether they come back is for Deep to see. Not routines: what was run while editing code, and what failed on
the way.
"""

from __future__ import annotations

import json
import re
from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from reverie.dreams.light.candidate import MAX_WORDING, Candidate, Kind
from reverie.transcripts.session import Evidence, Said, Session, ToolCall, Turn, quote

_COMMAND_KEYS = ("command", "cmd", "script", "code", "query")
MAX_COMMAND = 400
_READ_CHARS = 20_000
_EXIT_CODE = re.compile(r"\b(?:exit(?:ed)?(?: with)?(?: status| code)?|returncode|rc)[ :=]+\(?(\d{1,3})\b", re.I)
_ERROR_LINE = re.compile(
    r"^.{0,200}?(?:\bTraceback \(most recent|\b\w*(?:Error|Exception)\b: |\berror:|\bERROR\b|\bFAILED\b|\bfatal:"
    r"|command not found|No such file or directory|Permission denied|not recognized as|npm ERR!|Segmentation fault"
    r"|\bpanic:|\bE:\s|Could not |cannot |unable to |Connection refused|\bfailed\b).{0,300}$",
    re.MULTILINE,
)
_FAILING = ("false", "error", "failed", "failure")


@dataclass(frozen=True, slots=True)
class Trial:
    """One call and its result. `command` is what was run: a shell command where there is one, else the whole call."""

    turn: int
    tool: str
    command: str
    quoted: str
    result: int
    worked: bool | None
    complaint: str


def trials(session: Session) -> Iterator[Trial]:
    """Each call with its result, in the order of the results."""
    waiting: list[tuple[Turn, ToolCall]] = []
    for turn in session.turns:
        if turn.noise is not None:
            continue
        if turn.said.calls and turn.role == "assistant":  # a lesson rests on the agent's own calls
            waiting = [(turn, call) for call in turn.said.calls]
        elif turn.role == "tool" and waiting:
            place = next((n for n, (_, call) in enumerate(waiting) if call.id and call.id == turn.said.answers), 0)
            yield _trial(*waiting.pop(place), turn)


def _trial(turn: Turn, call: ToolCall, result: Turn) -> Trial:
    command = (command_of(call.arguments) or str(call))[:MAX_COMMAND]
    quoted = command if command in turn.said.whole else str(call)[:MAX_COMMAND]
    worked = outcome(result.said)
    said_wrong = complaint(result.said) if worked is False else ""
    return Trial(turn.number, call.name, command, quoted, result.number, worked, said_wrong)


def command_of(arguments: str) -> str:
    """Empty if there is no command among the arguments."""
    if not arguments.lstrip().startswith("{"):
        return arguments.strip()
    try:
        fields = json.loads(arguments)
    except ValueError:
        return ""
    if isinstance(fields, dict):
        for key in _COMMAND_KEYS:
            value = fields.get(key)
            if isinstance(value, list):
                return " ".join(map(str, value)).strip()
            if isinstance(value, str) and value.strip():
                return value.strip()
    return ""


# ---- how a call ended --------------------------------------------------------------------------------------------


def outcome(said: Said) -> bool | None:
    """True: it worked. False: it failed. None: cannot be told."""
    if said.failed is not None:
        return not said.failed
    text = said.text[:_READ_CHARS]
    fields = _fields(text)
    if fields:
        return _by_fields(fields)
    if code := _EXIT_CODE.search(text):
        return code[1] == "0"
    lines = text.strip().splitlines()
    edges = "\n".join([*lines[:3], *lines[3:][-10:]])  # deep inside a long text an "error:" is more likely its subject
    return False if _ERROR_LINE.search(edges) else None


def complaint(said: Said) -> str:
    """The line of the result that says what went wrong: verbatim, and at most 200 characters of it."""
    text = said.text[:_READ_CHARS]
    fields = _fields(text)
    for name in ("error", "stderr", "output", "content", "message", "result", "stdout"):
        value = fields.get(name)
        if isinstance(value, str) and value.strip():
            text = value
            break
    line = found[0] if (found := _ERROR_LINE.search(text)) else next(iter(reversed(text.strip().splitlines())), "")
    return line.strip()[:200]


def _by_fields(fields: dict[str, Any]) -> bool | None:
    for name in ("exit_code", "exitCode", "returncode", "return_code", "exit_status"):
        if isinstance(code := fields.get(name), int) and not isinstance(code, bool):
            return code == 0
    for name in ("success", "ok", "succeeded"):
        if isinstance(worked := fields.get(name), bool):
            return worked
    if isinstance(failed := fields.get("is_error"), bool):
        return not failed
    if str(fields.get("status", "")).lower() in _FAILING or fields.get("error"):
        return False
    return None


def _fields(text: str) -> dict[str, Any]:
    if not text.lstrip().startswith("{"):
        return {}
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


LIKE = 0.4
_PARTS = re.compile(r"\s*(?:&&|\|\||;|\n)\s*")
_LOOKING, _PREFIX, _INTERPRETERS = (
    frozenset(names.split())
    for names in (
        "ls cat head tail find grep rg which cd pwd stat file test echo wc tree less sed sleep true",
        "sudo uv poetry npx time env run bundle exec",
        "python python3 node bash sh ruby perl make just task Rscript",
    )
)
_VERSION = re.compile(r"(?<=[a-z])\d+(?:\.\d+)*$")
_SETTING = re.compile(r"^(?:-|\w+=)")
_MOST_ADDED = 4
_SCRIPT = re.compile(r"/[\w-]+\.\w{1,4}$")
_SUBCOMMAND = re.compile(r"[a-z][a-z-]{1,15}")


def doing(command: str) -> list[str]:
    """The commands a command line runs, one after another, without looking around and waiting."""
    return [part for part in _PARTS.split(command) if part and program_of(part) not in _LOOKING]


def program_of(command: str) -> str:
    words = [word for word in command.split() if "=" not in word and word not in _PREFIX]
    return words[0].rsplit("/", 1)[-1] if words else ""


def step(command: str) -> str:
    """A command without what it works on: its program, with a subcommand or the script it runs."""
    name = program_of(command)
    words = [word for word in command.split() if "=" not in word and word not in _PREFIX]
    after = next((word for word in words[1:] if not word.startswith("-")), "")
    if name in _INTERPRETERS and _SCRIPT.search(after):
        after = after.rsplit("/", 1)[-1]
    runs = name in _INTERPRETERS and after and "/" not in after
    return f"{name} {after}" if runs or _SUBCOMMAND.fullmatch(after) else name


def alike(old: str, new: str) -> float:
    """The share of two commands that is the same; 0 where the one is no other try at the other."""
    first, second = _words(old), _words(new)
    if not first or not second or first[0] != second[0]:
        return 0.0
    before, after = set(first), set(second)
    share = len(before & after) / len(before | after)
    added = after - before
    only_settings = before <= after and len(added) <= _MOST_ADDED and any(_SETTING.match(word) for word in added)
    return share if share >= LIKE else LIKE * only_settings


def _words(command: str) -> list[str]:
    """The program first. "docker-compose" is "docker compose", and "python3" is "python"."""
    name = program_of(command)
    if not name:
        return []
    words = command.split()
    at = next(place for place, word in enumerate(words) if word.rsplit("/", 1)[-1] == name)
    named = [_VERSION.sub("", piece) for piece in name.split("-") if piece] or [name]
    return [*named, *words[:at], *words[at + 1 :]]


_OPPOSITES = (
    "stop start,down up,disable enable,pause resume,lock unlock,stash pop,umount mount,off on,unload load,"
    "suspend resume,detach attach,drain uncordon,cordon uncordon"
)
_UNDOES = frozenset(pair for one in _OPPOSITES.split(",") for pair in (tuple(one.split()), tuple(one.split()[::-1])))


def undoes(done: str, later: str) -> bool:
    """The same thing is put back: "systemctl stop web", then "systemctl start web"."""
    before, after = (_words(" && ".join(doing(one))) for one in (done, later))
    if not before or not after or before[0] != after[0]:
        return False
    return (tuple(set(before) - set(after)), tuple(set(after) - set(before))) in {((a,), (b,)) for a, b in _UNDOES}


WITHIN = 12  # calls between a failure and what counts as its fix
LOOKING_TOOL = re.compile(r"read|search|list|get_|view|fetch|glob|grep|find|browse|web", re.IGNORECASE)
_LOG_TAG = re.compile(r"^(?:(?:ERROR|FATAL|FAILED|error|fatal|E)\b:?\s*|\[[^\]]{1,60}\]:?\s*)++")
EDITING = re.compile(r"edit|patch|write|replace|create|str_replace|apply", re.IGNORECASE)
_PIECES = re.compile(r"[^=:/@]+")


@dataclass(frozen=True, slots=True)
class Fix:
    """The call that failed and those that helped. With `helped` the same call works after it, and `undone` was run
    behind it."""

    calls: tuple[Trial, ...]
    failed: str
    worked: str
    helped: str = ""
    undone: str = ""


def lessons(session: Session) -> list[Candidate]:
    told = {turn.number: turn.text[:4_000] for turn in session.turns if turn.role == "user" and turn.noise is None}
    tried = list(trials(session))
    found: dict[str, Candidate] = {}
    for place, failed in enumerate(tried):
        if failed.worked is False and (fix := _fix(failed, tried[place + 1 : place + 1 + WITHIN], told)):
            lesson = Candidate(
                kind=Kind.SKILL_CANDIDATE,
                text=_wording(fix, failed.complaint),
                confidence=0.75 if failed.complaint and fix.calls[-1].worked else 0.6,
                explicitness=0.3,
                evidence=tuple(_lesson_evidence(session, failed, fix)),
                language="en",
                marks=("failed, then worked",),
            )
            found.setdefault(lesson.text, lesson)
    return list(found.values())


def _fix(failed: Trial, later: Sequence[Trial], told: dict[int, str]) -> Fix | None:
    before = doing(failed.command)
    if LOOKING_TOOL.search(failed.tool) or not before:
        return None
    done: Trial | None = None
    for place, trial in enumerate(later):
        if EDITING.search(trial.tool):
            return None
        if trial.worked is False:
            continue
        pair = _closest(before, doing(trial.command)) if trial.tool == failed.tool else None
        if pair and pair[0] != pair[1] and not _was_told(pair, failed.turn, trial.turn, told):
            return Fix((trial,), *pair)
        if pair and pair[0] == pair[1]:
            return _around(trial, pair[0]) or _after(done, trial, pair[0], later[place + 1 :])
        if pair:
            return None
        if doing(trial.command):
            done = trial
    return None


def _around(trial: Trial, same: str) -> Fix | None:
    """The same call, in one go with what goes before and behind it."""
    every = doing(trial.command)
    return Fix((trial,), same, " && ".join(every)) if len(every) > 1 and every[0] != same else None


def _after(done: Trial | None, trial: Trial, same: str, later: Sequence[Trial]) -> Fix | None:
    """The same call, after something else was done, which may have been undone afterwards."""
    if done is None:
        return None
    undone = next((one for one in later[:2] if one.worked is not False and undoes(done.command, one.command)), None)
    calls = (done, trial, undone) if undone else (done, trial)
    helped, put_back = (" && ".join(doing(one.command)) if one else "" for one in (done, undone))
    return Fix(calls, same, same, helped, put_back)


def _closest(before: Sequence[str], after: Sequence[str]) -> tuple[str, str] | None:
    pairs = [(likeness, old, new) for old in before for new in after if (likeness := alike(old, new))]
    return max(pairs)[1:] if pairs else None


def _was_told(pair: tuple[str, str], start: int, end: int, told: dict[int, str]) -> bool:
    """Every new word of the fix was said by the person in between: that is their statement, not a lesson."""
    new = [piece for word in set(pair[1].split()) - set(pair[0].split()) for piece in _PIECES.findall(word)]
    said = " ".join(text for number, text in told.items() if start < number < end)
    return bool(new) and all(piece in said for piece in new)


def _lesson_evidence(session: Session, failed: Trial, fix: Fix) -> Iterator[Evidence]:
    for call in (failed, *fix.calls):
        yield quote(session, call.turn, call.quoted)
    worked = fix.calls[0].result
    first_line = next(iter(session.turn(worked).text.strip().splitlines()), "")[:200]
    for number, words in ((failed.result, failed.complaint), (worked, first_line)):
        if words and words in session.turn(number).said.whole:
            yield quote(session, number, words, "context")


def _wording(fix: Fix, complaint: str) -> str:
    why = " ".join(_LOG_TAG.sub("", complaint).replace("`", "'").split())
    commands = (fix.failed, fix.helped or fix.worked, fix.undone)
    failed, helped, undone = (f"`{' '.join(one.split())}`" for one in commands)
    fails = f"{failed} fails ({why})" if len(why) > 10 else f"{failed} fails"
    after = f"; it works after {helped}, and then {undone}." if fix.undone else f"; it works after {helped}."
    return fails + (after if fix.helped else f"; {helped} works.")


ROUTINE = "ran these steps"
FEWEST, MOST = 3, 8
_LONGEST_REQUEST = 300


def routines(session: Session) -> list[Candidate]:
    """One candidate for each request that took at least three different steps, all of which went well."""
    asked = [turn for turn in session.turns if turn.role == "user" and turn.noise is None]
    starts = [turn.number for turn in asked]
    runs: dict[int, list[Trial]] = {}
    for trial in trials(session):
        runs.setdefault(bisect(starts, trial.turn) - 1, []).append(trial)
    found = (_routine(session, asked[place], done) for place, done in runs.items() if place >= 0)
    return [one for one in found if one]


def _routine(session: Session, request: Turn, done: Sequence[Trial]) -> Candidate | None:
    if any(EDITING.search(one.tool) for one in done) or any(one.worked is False for one in done):
        return None
    ran = [one for one in done if _steps_of(one)]
    steps = [key for one in ran for key in _steps_of(one)]
    steps = [key for key, after in pairwise([*steps, ""]) if key != after]
    if not FEWEST <= len(steps) <= MOST or len(set(steps)) < FEWEST or len({key.split()[0] for key in steps}) == 1:
        return None
    return Candidate(
        kind=Kind.SKILL_CANDIDATE,
        text=", then ".join(f"`{key}`" for key in steps)[:MAX_WORDING],
        confidence=0.6,
        explicitness=0.3,
        evidence=tuple(_routine_evidence(session, request, ran)),
        language="en",
        marks=(ROUTINE,),
    )


def _steps_of(trial: Trial) -> list[str]:
    """The steps of a call, without what they work on."""
    if trial.command.startswith(f"{trial.tool} "):  # no shell command: the call itself
        return [] if LOOKING_TOOL.search(trial.tool) else [trial.tool]
    return [key for part in doing(trial.command) if (key := step(part))]


def _routine_evidence(session: Session, request: Turn, ran: Sequence[Trial]) -> Iterator[Evidence]:
    for one in ran:
        yield quote(session, one.turn, one.quoted)
    words = request.text.strip().split("\n")[0][:_LONGEST_REQUEST].strip()
    if words:
        yield quote(session, request.number, words, "context")
