"""Claude Code: `projects/<project>/<session>.jsonl`, appended line by line as the work goes on.

A file is one session. Its subagents ("sidechains") are sessions of their own: since 2.0 in files named
`agent-<id>.jsonl`, before that woven into the parent's file. Every line that says something is one message;
lines are never joined, so a transcript that grew keeps all it had. They are read in the order of the file,
also where an edited prompt started a new branch: nothing in the format says which branch was given up.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path, PureWindowsPath
from typing import Any

from reverie.core.clock import moment
from reverie.core.scope import Origin
from reverie.harnesses.claude_code.history import Pastes
from reverie.harnesses.injected import CLAUDE_CODE, in_pieces, said_apart, told_apart, written_openings
from reverie.transcripts.json_files import first_line, json_lines, whole_json
from reverie.transcripts.json_streams import JsonList, string_or_none
from reverie.transcripts.messages import calls_in, text_of, tool_results
from reverie.transcripts.readers import Closed, Event, Flaw, Opened
from reverie.transcripts.session import Head, Said, project_folder, project_name

Line = Mapping[str, Any]
Posing = tuple[str | None, Origin | None]  # why it is noise, and whose words they are if not the person's

_SURVEYED_LINES = 200
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_MESSAGES = {"user", "assistant"}
_MARKED_BY = {"summary": "leafUuid", "file-history-snapshot": "snapshot", "queue-operation": "operation"}
_ENVELOPED = {
    *("system", "attachment", "progress", "ai-title", "custom-title", "agent-name", "agent-color", "last-prompt"),
    *("permission-mode", "mode", "pr-link", "worktree-state"),
}
_TITLES = {"summary": ("summary", 1), "ai-title": ("aiTitle", 2), "custom-title": ("customTitle", 3)}
_PARTS_OF_COMMANDS = written_openings("claude_code")
_SENDERS: dict[str, Posing] = {
    "peer": (None, Origin.AGENT),
    "coordinator": (None, Origin.AGENT),
    "task-notification": ("task notification", Origin.TOOL),
    "auto-continuation": ("continuation", Origin.TOOL),
}
# What is true of a line that no person typed: a timer woke it, another session or the program put it there (2.1.3).
_NOT_TYPED = (
    *("textNotTyped", "noPersonArrived", "handedOff", "wakeupSource", "scheduledTaskId"),
    *("isVirtual", "isVisibleInTranscriptOnly"),
)
_TYPED_TURNS = {None, "human", "sdk", "unknown"}  # what began the turn; anything else is no person
_FOR_OTHERS = {"claude-code-github-action", "mcp"}  # where a workflow or another agent asks
# Claude Code asking itself something over a copy of the whole conversation; the parent's file has all of it.
_SIDE_QUESTION = re.compile(r"a(compact|prompt_suggestion)-")


class ClaudeCodeReader:
    name = "claude-code"
    places: tuple[str, ...] = ("${CLAUDE_CONFIG_DIR:-~/.claude}/projects",)

    def recognises(self, path: Path, start: bytes) -> float:
        if path.suffix == ".json":  # the export of a session that ran in the cloud
            return 0.95 if re.match(rb'\s*\{\s*"loglines"\s*:', start) else 0.0
        if any(_is_ours(first_line(piece)) for piece in start.split(b"\n")[:50]):
            return 0.95
        long_line = b"\n" not in start and start.lstrip()[:1] == b"{"
        return 0.9 if long_line and b'"parentUuid":' in start and b'"isSidechain":' in start else 0.0

    def read(self, path: Path) -> Iterator[Event]:
        subagent = path.stem.removeprefix("agent-") if path.stem.startswith("agent-") else None
        if subagent and _SIDE_QUESTION.match(subagent):
            return
        about = _survey(line for line in _lines(path) if not isinstance(line, Flaw))
        # A file is named for its session, also when it repeats lines of one it resumed or was forked from.
        of_subagent = path.stem.startswith("agent-")
        names = [here.parent.name for here in path.parents if here.name == "subagents"] if of_subagent else [path.stem]
        session = next((name for name in names if _UUID.fullmatch(name)), None) or about.session or path.stem
        chains = _Sidechains()
        pastes = Pastes.of(path, session)
        thread = _Thread(_head(path, about, session, subagent), subagent is not None, pastes)
        for line in _lines(path):
            if isinstance(line, Flaw):
                yield line
            elif subagent or not chains.takes(*line):
                yield from thread.events(*line)
        yield from thread.closing()
        places = _places(path, {number for numbers in chains.lines.values() for number in numbers})
        for chain, numbers in chains.lines.items():
            about = _survey(_lines_at(path, places, numbers))
            thread = _Thread(_head(path, about, session, chain), subagent=True)
            for line in _lines_at(path, places, numbers):
                yield from thread.events(*line)
            yield from thread.closing()


def _is_ours(line: Any) -> bool:
    if not isinstance(line, Mapping) or not isinstance(kind := line.get("type"), str):
        return False
    if kind in _MARKED_BY:
        return _MARKED_BY[kind] in line
    if kind in _MESSAGES:
        message = line.get("message")
        return isinstance(message, Mapping) and "content" in message and "sessionId" in line
    return kind in _ENVELOPED and "sessionId" in line


def _lines(path: Path) -> Iterator[tuple[int, Any] | Flaw]:
    if path.suffix != ".json":
        yield from json_lines(path)
        return
    value = whole_json(path)
    if isinstance(value, Flaw):
        yield value
    elif isinstance(value, Mapping) and isinstance(logged := value.get("loglines"), JsonList):
        yield from enumerate(logged, 1)
    else:
        yield Flaw("the file", "not an object with a list of loglines")


# What is known about a session before its first word.


@dataclass(slots=True)
class _About:
    session: str | None = None
    started_at: datetime | None = None
    facts: dict[str, str] = field(default_factory=dict)


def _survey(lines: Iterable[tuple[int, Any]]) -> _About:
    """The facts of the first lines; a session says them again and again, the first of each counts."""
    about = _About()
    for _, line in islice(lines, _SURVEYED_LINES):
        if not isinstance(line, Mapping):
            continue
        about.session = about.session or string_or_none(line.get("sessionId"))
        about.started_at = about.started_at or moment(line.get("timestamp"))
        message, source = line.get("message"), line.get("forkedFrom")
        model = message.get("model") if isinstance(message, Mapping) else None
        found = {
            "cwd": line.get("cwd"),
            "branch": line.get("gitBranch"),
            "version": line.get("version"),
            "model": None if model == "<synthetic>" else model,
            "forked_from": source.get("sessionId") if isinstance(source, Mapping) else None,
        }
        about.facts = {key: text for key, value in found.items() if (text := string_or_none(value))} | about.facts
        if {"cwd", "model"} <= about.facts.keys() and about.session and about.started_at:
            break
    return about


def working_folder(path: Path) -> str | None:
    """The folder a session was begun in, or None where the first lines do not say."""
    try:
        for line in islice(json_lines(path), _SURVEYED_LINES):
            value = None if isinstance(line, Flaw) else line[1]
            if isinstance(value, Mapping) and (cwd := string_or_none(value.get("cwd"))):
                return cwd
    except OSError:
        return None
    return None


def _head(path: Path, about: _About, session: str, subagent: str | None) -> Head:
    # The parent's note about a subagent in the file beside it, if there is one.
    beside = path.with_suffix(".meta.json")
    value = whole_json(beside) if beside.is_file() else None
    noted = value if isinstance(value, Mapping) else {}
    cwd = about.facts.get("cwd")
    in_projects = next((here.name for here in path.parents if here.parent.name == "projects"), None)
    facts = about.facts | ({"agent_type": kind} if (kind := string_or_none(noted.get("agentType"))) else {})
    return Head(
        id=f"claude-code:{session}/{subagent}" if subagent else f"claude-code:{session}",
        harness="claude-code",
        agent=(PureWindowsPath(cwd).name if cwd else in_projects) or None,  # splits at both kinds of slash
        title=string_or_none(noted.get("description")),
        started_at=about.started_at,
        parent=f"claude-code:{session}" if subagent else None,
        facts=facts,
        project=project_name(cwd),
        project_path=project_folder(cwd),
    )


# What is said, line by line.


@dataclass(slots=True)
class _Thread:
    """One session while it is read, with what later lines need to know of earlier ones."""

    head: Head
    subagent: bool
    pastes: Pastes = field(default_factory=Pastes)
    opened: bool = False
    tools: dict[str, str] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)
    titles: list[tuple[int, str, str | None]] = field(default_factory=list)
    last: datetime | None = None

    def events(self, number: int, line: Any) -> Iterator[Event]:
        if not isinstance(line, Mapping) or not isinstance(line.get("type"), str):
            yield Flaw(f"line {number}", "not an object with a type")
            return
        names = {hash(name) for name in (line.get("uuid"), _queued(line).get("source_uuid")) if string_or_none(name)}
        if names & self.seen:  # compaction and resuming write some lines again
            return
        try:
            said = list(self._said(line))
        except (ValueError, TypeError, RecursionError) as error:
            yield Flaw(f"line {number}", f"cannot be read: {error}")
            return
        if said and not self.opened:
            self.opened = True
            yield Opened(self.head)
        if said:
            self.seen |= names
        yield from said

    def closing(self) -> Iterator[Event]:
        if self.opened:
            ours = [(rank, title) for rank, title, leaf in self.titles if not leaf or hash(leaf) in self.seen]
            best = max((rank for rank, _ in ours), default=0)
            newest = next((title for rank, title in reversed(ours) if rank == best), None)
            yield Closed(title=newest, ended_at=self.last)

    def _said(self, line: Line) -> Iterator[Said]:
        kind = line["type"]
        if kind in _TITLES:
            # Summaries used to be written into whichever file came next; the leaf says which session they sum up.
            key, rank = _TITLES[kind]
            if title := string_or_none(line.get(key)):
                self.titles.append((rank, title, string_or_none(line.get("leafUuid"))))
        elif kind == "attachment":
            yield from self._typed_meanwhile(line)
        elif kind in _MESSAGES:
            message = line.get("message")
            if not isinstance(message, Mapping) or not isinstance(message.get("content"), str | list):
                raise ValueError(f"a line of the {line['type']} without content")
            content = message["content"]
            self.last = moment(line.get("timestamp")) or self.last
            yield from self._assistant(line, content) if kind == "assistant" else self._user(line, content)

    def _assistant(self, line: Line, content: object) -> Iterator[Said]:
        text, calls = text_of(content), calls_in(content)
        self.tools |= {call.id: call.name for call in calls if call.id}
        if not text.strip() and not calls:
            return
        synthetic = line.get("isApiErrorMessage") or line["message"].get("model") == "<synthetic>"
        noise = "written by the harness" if synthetic else None
        yield Said("assistant", text, at=moment(line.get("timestamp")), calls=calls, noise=noise)

    def _user(self, line: Line, content: object) -> Iterator[Said]:
        results = tool_results(content)
        for result in results:
            yield self._result(line, result)
        if results and isinstance(content, list):
            content = [one for one in content if not (isinstance(one, Mapping) and one.get("type") == "tool_result")]
        for group in _groups(content):
            yield from self._words(line, text_of(group), beside_results=bool(results))

    def _result(self, line: Line, result: Line) -> Said:
        call, error = string_or_none(result.get("tool_use_id")), result.get("is_error")
        outcome = line.get("toolUseResult")
        success = outcome.get("success") if isinstance(outcome, Mapping) else None
        return Said(
            "tool",
            text_of(result.get("content")),
            name=self.tools.pop(call, None) if call else None,
            at=moment(line.get("timestamp")),
            answers=call,
            failed=error if isinstance(error, bool) else not success if isinstance(success, bool) else None,
        )

    def _words(self, line: Line, text: str, beside_results: bool = False) -> Iterator[Said]:
        if not text.strip():
            return
        noise, origin = _posing(line, text)
        typed, bare_command = _as_typed(text)
        if origin is None and (self.subagent or beside_results):
            origin = Origin.TOOL if beside_results else Origin.AGENT
        # What is piped into `claude -p` stands behind the prompt, with nothing between; a workflow hands over issues.
        entrypoint, several_lines = str(line.get("entrypoint")), "\n" in typed.removeprefix("[image]\n").strip()
        if origin is None and (entrypoint in _FOR_OTHERS or (entrypoint.startswith("sdk-") and several_lines)):
            origin = Origin.MEMBER
        at = moment(line.get("timestamp"))
        self.last = at or self.last
        message = Said("user", typed, at=at, noise=noise or bare_command, origin=origin)
        pieces = self.pastes.told_apart(typed) if origin is None else []
        yield from in_pieces(message, pieces) if pieces else said_apart(message, CLAUDE_CODE)

    def _typed_meanwhile(self, line: Line) -> Iterator[Said]:
        """Read what was sent while the agent worked: it never becomes a user line."""
        queued = _queued(line)
        mode = queued.get("commandMode")
        if mode == "prompt":
            sender = {**queued, "promptSource": queued.get("promptSource") or queued.get("inputSource")}
        else:  # a message between agents has no mode
            sender = {"origin": {"kind": mode or "peer"}}
        about = {key: line.get(key) for key in ("timestamp", "entrypoint")}
        yield from self._words({**sender, **about}, text_of(queued.get("prompt")))


def _groups(content: object) -> list[object]:
    """The parts of a message, those that are nothing but a block of the harness each by itself."""
    if not isinstance(content, list):
        return [content]
    groups = list[list[object]]()
    alone = True
    for part in content:
        was_alone, alone = alone, all(piece.form for piece in told_apart(text_of([part]), CLAUDE_CODE))
        if alone or was_alone or not groups:
            groups.append([])
        groups[-1].append(part)
    return [*groups]


def _queued(line: Line) -> Line:
    found = line.get("attachment")
    return found if isinstance(found, Mapping) and found.get("type") == "queued_command" else {}


def _posing(line: Line, text: str) -> Posing:
    """The real speaker of a user line, as far as the line itself tells."""
    sender = line.get("origin")
    kind = sender.get("kind") if isinstance(sender, Mapping) else "human"
    if kind != "human":
        return _SENDERS.get(str(kind), (None, Origin.TOOL))
    if line.get("isCompactSummary"):
        return "compact summary", Origin.TOOL
    if line.get("isMeta") or line.get("promptSource") == "system":
        return "written by the harness", Origin.TOOL
    if any(map(line.get, _NOT_TYPED)) or line.get("turnOrigin") not in _TYPED_TURNS:
        return None, Origin.TOOL
    if line.get("promptSource") == "suggestion_accepted":  # the model wrote it, the person pressed a key
        return None, Origin.AGENT
    return ("command output", Origin.TOOL) if text.lstrip().startswith(_PARTS_OF_COMMANDS) else (None, None)


def _as_typed(text: str) -> tuple[str, str | None]:
    """A slash command as the person typed it; without arguments it tells nothing about anything. What they wanted
    remembered (`# …`) stands in a tag of its own."""
    if text.lstrip().startswith("<user-memory-input>") and (told := _tagged(text, "user-memory-input")):
        return told, None
    if not text.lstrip().startswith("<command-") or not (name := _tagged(text, "command-name")):
        return text, None
    arguments = _tagged(text, "command-args")
    return f"{name} {arguments}".strip(), None if arguments else "command"


def _tagged(text: str, tag: str) -> str:
    return text.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0].strip()


# Subagents woven into the file of their parent, as before 2.0.


@dataclass(slots=True)
class _Sidechains:
    """Which lines belong to which subagent: its id if it has one, else the first line of its chain."""

    lines: dict[str, list[int]] = field(default_factory=dict)
    chain_of: dict[str, str] = field(default_factory=dict)

    def takes(self, number: int, line: Any) -> bool:
        if not isinstance(line, Mapping) or line.get("isSidechain") is not True:
            return False
        uuid = string_or_none(line.get("uuid")) or f"line-{number}"
        parent = string_or_none(line.get("parentUuid")) or ""
        chain = string_or_none(line.get("agentId")) or self.chain_of.get(parent, uuid)
        self.chain_of[uuid] = chain
        self.lines.setdefault(chain, []).append(number)
        return True


def _places(path: Path, wanted: set[int]) -> dict[int, int]:
    """Where each wanted line begins, so that every chain can be read without holding the others."""
    places: dict[int, int] = {}
    with path.open("rb") as file:
        place = 0
        for number, line in enumerate(file if wanted else (), 1):
            if number in wanted:
                places[number] = place
            place += len(line)
    return places


def _lines_at(path: Path, places: Mapping[int, int], numbers: list[int]) -> Iterator[tuple[int, Any]]:
    if path.suffix == ".json":
        yield from (line for line in _lines(path) if not isinstance(line, Flaw) and line[0] in numbers)
        return
    with path.open("rb") as file:
        for number in numbers:
            if number in places:  # unless the file was cut while it was read
                file.seek(places[number])
                yield number, first_line(file.readline())
