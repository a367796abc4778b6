"""The port for readers, how a file finds its reader, and what becomes of its stream: Sessions of clean, redacted,
numbered Turns with their Origin. At any moment one message is held; what could not be kept as it was is a Flaw.

A reader turns one file into a flat stream: `Opened`, then the `Said` of that session in order, then perhaps a
`Closed` with what only the end of the file tells, then the next `Opened`. A `Flaw` may stand anywhere: what could
not be read, where and why; reading goes on behind it. A reader streams; it holds at most one message and what it
needs to know about its session.

Readers register under the entry point group `reverie.readers`; ours do the same.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Protocol

from reverie.core.errors import BadInput, NotATranscript
from reverie.core.scope import Origin, weakest
from reverie.transcripts.files import LONGEST_NAME, kept_id
from reverie.transcripts.session import MAX_TURNS, Head, Said, ToolCall, Turn, noise_in, project_name

GROUP = "reverie.readers"
SNIFFED_BYTES = 65_536
WHOLE_FILE = "the file"  # a Flaw there means: nothing is known about the rest, read it again next time


@dataclass(frozen=True, slots=True)
class Opened:
    head: Head


@dataclass(frozen=True, slots=True)
class Closed:
    """Facts about the session just read that come late. None leaves what `Opened` said."""

    title: str | None = None
    ended_at: datetime | None = None
    outcome: float | None = None


@dataclass(frozen=True, slots=True)
class Flaw:
    """Something that could not be read. `where` is a place a person can go to: `line 12`, `row 40`.

    `passing` says that it may be over next time though the file has not changed: a lock, a missing permission.
    """

    where: str
    why: str
    passing: bool = False


Event = Opened | Said | Closed | Flaw


class Reader(Protocol):
    """`places` are where its harness leaves transcripts: `${CODEX_HOME:-~/.codex}/sessions`."""

    name: str
    places: tuple[str, ...]

    def recognises(self, path: Path, start: bytes) -> float:
        """The certainty of this reader, 0..1, from the path and the first bytes (`SNIFFED_BYTES` at most)."""

    def read(self, path: Path) -> Iterator[Event]: ...


@cache
def readers() -> tuple[Reader, ...]:
    """Every installed reader, by name."""
    found = [point.load()() for point in entry_points(group=GROUP)]
    return tuple(sorted(found, key=lambda reader: reader.name))


def reader_named(name: str, among: Iterable[Reader]) -> Reader:
    known = {reader.name: reader for reader in among}
    if name not in known:
        raise BadInput(f"There is no reader named {name!r}.", expected=f"one of {', '.join(known)}")
    return known[name]


def reader_of(path: Path, among: Iterable[Reader]) -> Reader | None:
    """The reader surest of this file, or None. Ties go to the name that sorts first, so the answer is stable."""
    with path.open("rb") as file:
        start = file.read(SNIFFED_BYTES)
    best, sureness = None, 0.0
    for reader in among:
        sure = reader.recognises(path, start)
        if sure > sureness:
            best, sureness = reader, sure
    return best


def required_reader(path: Path, among: Iterable[Reader]) -> Reader:
    among = tuple(among)
    reader = reader_of(path, among)
    if reader is None:
        raise NotATranscript(
            f"{path} is not a transcript any reader knows.",
            expected=f"one of the formats {', '.join(reader.name for reader in among)}",
            next_step="See docs/formats.md, or name the reader with --reader.",
        )
    return reader


# ---- from its stream to turns ----------------------------------------------------------------------------------------


MAX_TURN_CHARS = 1_000_000
MAX_FLAWS = 1_000  # of one file
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_BY_ROLE = {"system": Origin.OPERATOR, "developer": Origin.OPERATOR, "assistant": Origin.AGENT, "tool": Origin.TOOL}

Redact = Callable[[str], tuple[str, Mapping[str, int]]]
RootOf = Callable[[str], str]


@dataclass(slots=True)
class Tally:
    turns: int = 0
    noise: int = 0
    redacted: Counter[str] = field(default_factory=Counter)
    flaws: list[Flaw] = field(default_factory=list)
    more_flaws: int = 0

    def note(self, flaw: Flaw) -> None:
        """A file can have more flaws than memory has room for; of most it is enough to know how many."""
        if len(self.flaws) < MAX_FLAWS or flaw.where == WHOLE_FILE:
            self.flaws.append(flaw)
        else:
            self.more_flaws += 1


class SessionReader:
    """One session of a stream. Consume `turns()` to its end; then `head` is final."""

    def __init__(self, head: Head, said: Iterator[Said | Closed], intake: Intake) -> None:
        self.head = intake.placed(replace(head, title=intake.clean(head.title[:LONGEST_NAME]) if head.title else None))
        self._said = said
        self._intake = intake

    def turns(self) -> Iterator[Turn]:
        number = 0
        for event in self._said:
            if isinstance(event, Closed):
                title, outcome = event.title, event.outcome
                self.head = replace(
                    self.head,
                    title=self._intake.clean(title[:LONGEST_NAME]) if title else self.head.title,
                    ended_at=event.ended_at or self.head.ended_at,
                    outcome=self.head.outcome if outcome is None else _known(outcome),
                )
                continue
            number += 1
            if number <= MAX_TURNS:
                yield self._intake.turn(number, event, self.head)
        if number > MAX_TURNS:
            self._intake.tally.note(Flaw(f"turn {MAX_TURNS + 1}", f"{number:,} turns; the rest is left out"))

    def skip(self) -> None:
        """Read past this session without keeping it."""
        for _ in self._said:
            pass


class Intake:
    """Cleans, redacts, marks and numbers. One per file, so that the Tally is the file's.

    `user` is whose sessions these are where they do not say: what is added for someone else is not the owner's.
    `root_of` finds the repository a folder is in, where the folders that are named are this machine's.
    """

    def __init__(self, owner: str, redact: Redact, user: str | None = None, root_of: RootOf = str) -> None:
        self._owner = owner
        self._root_of = root_of
        self._user = user
        self._redact = redact
        self.tally = Tally()

    def sessions(self, events: Iterable[Event]) -> Iterator[SessionReader]:
        """Each session in turn. A Reading must be consumed before the next is asked for."""
        stream, following = iter(events), list[Opened]()
        for _ in self._until_opened(stream, following):
            pass  # what stands before the first session is nobody's
        while following:
            yield SessionReader(following.pop().head, self._until_opened(stream, following), self)

    def _until_opened(self, stream: Iterator[Event], following: list[Opened]) -> Iterator[Said | Closed]:
        for event in stream:
            match event:
                case Opened():
                    following.append(event)
                    return
                case Flaw():
                    self.tally.note(event)
                case Said() | Closed():
                    yield event

    def placed(self, head: Head) -> Head:
        """As it may be kept, with the repository's project where the work was done in one of its folders."""
        name, path = head.project, head.project_path
        if path and (root := self._root_of(path)) != path:
            name, path = project_name(root), root
        return replace(
            head,
            id=kept_id(head.id),
            user=kept_id(head.user) if head.user else None,
            harness=kept_id(head.harness),
            agent=kept_id(head.agent) if head.agent else None,
            parent=kept_id(head.parent) if head.parent else None,
            outcome=_known(head.outcome),
            facts={kept_id(fact): kept_id(value) for fact, value in head.facts.items()},
            project=self.clean(name[:LONGEST_NAME]) if name else None,
            project_path=self.clean(path[:LONGEST_NAME]) if path else None,
        )

    def turn(self, number: int, said: Said, head: Head) -> Turn:
        told = ((call, self.clean(self._cut(call.arguments, number))) for call in said.calls)
        clean = replace(
            said,
            text=self.clean(self._cut(said.text, number)),
            name=self.clean(said.name[:LONGEST_NAME]) if said.name else None,
            calls=tuple(
                ToolCall(kept_id(call.name), text, kept_id(call.id) if call.id else None) for call, text in told
            ),
            answers=kept_id(said.answers) if said.answers else None,
            origin=None,
        )
        noise = noise_in(clean)
        self.tally.turns += 1
        self.tally.noise += noise is not None
        marked = clean if noise == clean.noise else replace(clean, noise=noise)
        origin = self._origin(said, head)
        # A harness that can only be told by its words still speaks as "user": those words are nobody's.
        posing = said.role == "user" and said.noise is None and noise not in (None, "empty")
        return Turn(number, marked, weakest((origin, Origin.TOOL)) if posing else origin)

    def clean(self, text: str) -> str:
        """The text as a database can hold it, without secrets."""
        if "\0" in text or (not text.isascii() and _UNSTORABLE.search(text)):
            text = _UNSTORABLE.sub(lambda bad: "␀" if bad[0] == "\0" else "\N{REPLACEMENT CHARACTER}", text)
        redacted, found = self._redact(text)
        if found:
            self.tally.redacted.update(found)
        return redacted

    def _cut(self, text: str, number: int) -> str:
        if len(text) <= MAX_TURN_CHARS:
            return text
        left_out = len(text) - MAX_TURN_CHARS
        why = f"{len(text):,} characters; the first {MAX_TURN_CHARS:,} are kept"
        self.tally.note(Flaw(f"turn {number}", why))
        return f"{text[:MAX_TURN_CHARS]}\n[cut here: {left_out:,} characters left out]"

    def _origin(self, said: Said, head: Head) -> Origin:
        """A person is the owner only if the session is theirs and no other name stands at the turn."""
        user = head.user or self._user or self._owner
        is_owner = user == self._owner and (said.name is None or said.name.casefold() == user.casefold())
        by_role = _BY_ROLE.get(said.role) or (Origin.OWNER if is_owner else Origin.MEMBER)
        return by_role if said.origin is None else weakest((by_role, said.origin))


def _known(outcome: float | None) -> float | None:
    return outcome if outcome is not None and math.isfinite(outcome) else None
