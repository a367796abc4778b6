"""The nouns: what was said, by whom, when, in which project, how to quote it; and what of it is noise.

Pure: nothing here looks at a disk.

A project is the folder its harness recorded, named as people name it, by the last part of that folder. Two projects can
share a name; their paths tell them apart, where they are known.

Noise is the harness talking to itself. It is kept in the transcript, never searched or dreamt about by default.
`noise_in` says why a whole message is noise; `heard` takes the injected blocks out of a message that also has words of
its own. Readers mark what their format marks; this is what can be told from the text alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PureWindowsPath
from typing import Literal

from reverie.core.errors import NotVerbatim
from reverie.core.scope import Origin

MAX_TURNS = 1_000_000  # what is kept of one session; nothing that works for a person has more
Role = Literal["system", "developer", "user", "assistant", "tool"]
Weight = Literal["support", "context"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A request of an agent to a tool. `arguments` is the text the harness recorded, usually JSON."""

    name: str
    arguments: str
    id: str | None = None

    def __str__(self) -> str:
        return f"{self.name} {self.arguments}"


@dataclass(frozen=True, slots=True)
class Said:
    """One message as a reader found it, before it has a number.

    `origin` is None when the role decides it. A reader sets it where the role would flatter the words (a harness
    speaking as "user", a parent agent prompting its subagent); it can lower the Origin, never raise it.
    `noise` is the reason this is the harness talking to itself, or None.
    `answers` is the id of the call whose result this is; `failed` says how that call ended, if it is known.
    """

    role: Role
    text: str
    name: str | None = None
    at: datetime | None = None
    calls: tuple[ToolCall, ...] = ()
    answers: str | None = None
    failed: bool | None = None
    noise: str | None = None
    origin: Origin | None = None

    @property
    def whole(self) -> str:
        """All that can be searched and quoted: the words, then each call on a line of its own."""
        return "\n".join([*([self.text] if self.text else []), *map(str, self.calls)])


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a Session, numbered from 1."""

    number: int
    said: Said
    origin: Origin

    @property
    def role(self) -> Role:
        return self.said.role

    @property
    def text(self) -> str:
        return self.said.text

    @property
    def at(self) -> datetime | None:
        return self.said.at

    @property
    def noise(self) -> str | None:
        return self.said.noise


@dataclass(frozen=True, slots=True)
class Head:
    """A Session without its Turns. `id` carries the harness as prefix: `claude-code:…`.

    `project` is the repository or folder the work was in, by the name people know; `project_path` is where it is.
    A session in a home folder has a path and no project.
    """

    id: str
    user: str | None = None
    harness: str = "plain"
    agent: str | None = None
    title: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    parent: str | None = None
    outcome: float | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    project: str | None = None
    project_path: str | None = None

    def is_since(self, since: datetime | None) -> bool:
        return since is None or (self.started_at is not None and self.started_at >= since)


@dataclass(frozen=True, slots=True)
class Session:
    """An immutable transcript of one piece of an agent's work."""

    head: Head
    turns: tuple[Turn, ...]
    revision: int = 1

    @property
    def id(self) -> str:
        return self.head.id

    @property
    def characters(self) -> int:
        return sum(len(turn.said.whole) for turn in self.turns)

    def turn(self, number: int) -> Turn:
        return self.turns[number - 1]


def same_words(old: Turn, new: Turn) -> bool:
    """Whether the source still says what it said. How we label it may have changed; but words that turn out not to
    be as much the person's as was thought are not the same."""
    return _source_part(old.said) == _source_part(new.said) and new.origin.strength >= old.origin.strength


def _source_part(said: Said) -> tuple[object, ...]:
    return said.role, said.text, said.name, said.at, said.calls, said.answers


@dataclass(frozen=True, slots=True)
class Evidence:
    """A verbatim quotation. Make one with `quote`; one that is not in the text cannot be made. `said_at`: when, where
    that is known."""

    session_id: str
    turn: int
    quote: str
    origin: Origin
    weight: Weight = "support"
    said_at: datetime | None = field(default=None, compare=False)

    def as_context(self) -> Evidence:
        return replace(self, weight="context")


def quote(session: Session, number: int, words: str, weight: Weight = "support") -> Evidence:
    """Cite `words` from a turn, or raise `NotVerbatim`. What a harness injected into a turn is not its speaker's."""
    if not 1 <= number <= len(session.turns):
        raise NotVerbatim(f"{session.id} has no turn {number}.", expected=f"a turn from 1 to {len(session.turns)}")
    turn = session.turn(number)
    if not words.strip() or words not in turn.said.whole:
        raise NotVerbatim(
            f"The words {words[:80]!r} do not stand in turn {number} of {session.id}.", expected="a verbatim quotation"
        )
    own = replace(turn.said, text=heard(turn.text)).whole
    whose = turn.origin if words in own else Origin.TOOL
    return Evidence(session.id, number, words, whose, weight, turn.at or session.head.started_at)


LONGEST_PROJECT_NAME = 80  # a name is shown to curators and put before entries: one short line
LONGEST_DASHED = 200
_NO_PROJECT = re.compile(
    r"[\\/]*|/(?:root|tmp|private/tmp)|/(?:home|Users)/[^/]+|[A-Za-z]:[\\/]?(?:Users[\\/][^\\/]+)?", re.IGNORECASE
)
_WORKTREE = re.compile(r"(?<=[^\\/])[\\/]\.claude[\\/]worktrees[\\/].*", re.DOTALL)


def project_folder(folder: str | None) -> str | None:
    """The folder of a project, without a slash at its end. A worktree that Claude Code made is the repository's."""
    if not folder or not folder.strip():
        return None
    return _WORKTREE.sub("", folder.strip()).rstrip("/\\") or "/"


def project_name(folder: str | None) -> str | None:
    """The usual name of the project in a folder. None for the folders everyone has: a home folder, `/`, `/tmp`."""
    folder = project_folder(folder)
    if folder is None or _NO_PROJECT.fullmatch(folder):
        return None
    return shown_name(PureWindowsPath(folder).name)  # splits at both kinds of slash


def shown_name(name: object) -> str | None:
    """A name as it may be shown and quoted, or None if nothing is left of it."""
    text = "".join(part if part.isprintable() else " " for part in name) if isinstance(name, str) else ""
    return " ".join(text.split())[:LONGEST_PROJECT_NAME].strip() or None


def dashed(path: str) -> str:
    """The start of a folder's name under Claude Code's `projects/`: a path with dashes for all but letters and digits.

    Of a long path only this beginning stands there, with a hash behind it.
    """
    return re.sub(r"[^a-zA-Z0-9]", "-", path)[:LONGEST_DASHED]


def is_dashed(name: str, path: str) -> bool:
    """Whether a folder under `projects/` is named for this path."""
    return name == dashed(path) if len(path) <= LONGEST_DASHED else name.startswith(f"{dashed(path)}-")


OURS = "<!-- reverie:"  # every text Reverie writes for people or agents begins with this mark

_INJECTED_TAGS = (
    *("system-reminder", "memory-context", "relevant-memories", "recalled-memories", "available_skills"),
    *("environment_context", "user_instructions", "command-name", "command-message", "command-args"),
    *("local-command-stdout", "local-command-stderr", "local-command-caveat", "task-notification"),
    *("ide_opened_file", "ide_selection", "turn_aborted"),
)
_OPENING = re.compile(r"<(" + "|".join(_INJECTED_TAGS) + r")(?:\s[^<>]{0,200})?>")
_HERMES_RULE = "═" * 46
_HERMES_TITLES = ("MEMORY (", "USER PROFILE (")

_BEGINNINGS = (
    ("our own output", OURS),
    ("heartbeat", "Read HEARTBEAT.md"),
    ("scheduled job", "[IMPORTANT: You are running as a scheduled cron job."),
    ("caveat", "Caveat: The messages below were generated by the user while running local commands"),
    ("continuation", "This session is being continued from a previous conversation"),
    ("compaction", "[CONTEXT COMPACTION"),
)
_SHORT = re.compile(
    r"(?P<heartbeat>(?:HEARTBEAT_OK|NO_REPLY|\[?heartbeat\]?)[.!]?)"
    r"|(?P<interruption>\[Request interrupted by user[^\]]*\])"
    r"|(?P<reminder>\[system(?: note| message)?:[^\]]*\])",
    re.IGNORECASE,
)
_BANNER = re.compile(r"[╭┌][─━].*[╮┐]$")
_BANNER_END = re.compile(r"^[╰└][─━].*[╯┘]$")


def noise_in(message: Said) -> str | None:
    """Why this message is noise, or None."""
    if message.noise:
        return message.noise
    text = message.text.strip()
    if message.calls:
        return None
    if not text:
        return "empty"
    for reason, beginning in _BEGINNINGS:
        if text.startswith(beginning):
            return reason
    if len(text) <= 500 and (short := _SHORT.fullmatch(text)):
        return short.lastgroup
    lines = text.splitlines() if text[0] in "╭┌" else []
    if lines and _BANNER.match(lines[0]) and _BANNER_END.match(lines[-1]):
        return "banner"
    return None if heard(text).strip() else "injected block"


def heard(text: str) -> str:
    """The text without the blocks a harness put into it. Linear in the text, whatever tags it opens."""
    if "<" in text:
        kept, place, never_closed = [], 0, set[str]()
        for opening in _OPENING.finditer(text):
            tag = opening.group(1)
            if opening.start() < place or tag in never_closed:
                continue
            end = text.find(f"</{tag}>", opening.end())
            if end < 0:
                never_closed.add(tag)
                continue
            kept.append(text[place : opening.start()])
            place = end + len(tag) + 3
        text = "".join([*kept, text[place:]]) if kept or place else text
    # Hermes frames a snapshot as rule, title, rule, entries; it ends at the next rule or with the text.
    first, *pieces = text.split(_HERMES_RULE)
    kept, place = [first], 0
    while place < len(pieces):
        if pieces[place].strip().startswith(_HERMES_TITLES):
            place += 2  # the title, and the entries behind the second rule
        else:
            kept += [_HERMES_RULE, pieces[place]]
            place += 1
    return "".join(kept)
