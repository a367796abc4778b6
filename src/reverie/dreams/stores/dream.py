"""A Dream over a memory store, as whoever asked for it sees it, and what is told of it.

Its values; its pages before and after, told from its Changes; what looks unsafe in its input and does not come into its
output; what it needs of a database beside what every night needs; and what it says in its own session while it works.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, Protocol

from reverie.changes.ledger import Change, Edit
from reverie.changes.proposal import drawn_diff
from reverie.changes.stores import flags_of, page_after
from reverie.core.clock import TimeSpan
from reverie.core.errors import NotFound, ReverieError
from reverie.core.scope import Origin, Scope
from reverie.dreams.dream import Dream, Failure, Fate, Judged, Status
from reverie.dreams.records import Dreams, Lease, Queued
from reverie.dreams.stores.pages import FORM, is_prose
from reverie.llm.settings import BUILT_IN
from reverie.memory.formats import FORMATS
from reverie.memory.operation import Remove, entry_hash
from reverie.memory.store import Flag, Store
from reverie.safety.scan import Report, scan
from reverie.transcripts.recorded import DREAMING, Recorded
from reverie.transcripts.recorded_library import Recording

Decided = Literal["accepted", "discarded"]
MODEL_UNAVAILABLE = "model_unavailable"  # the type of a Failure: the settings name a model that cannot be asked


@dataclass(frozen=True, slots=True)
class StoreDreamUsage:
    """Tokens of a model. The built-in reader takes none."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0


def usage_of(dream: Dream) -> StoreDreamUsage:
    calls = dream.consulted
    return StoreDreamUsage(
        sum(one.tokens_in - one.cached for one in calls),
        sum(one.tokens_out for one in calls),
        sum(one.cached for one in calls),
    )


@dataclass(frozen=True, slots=True)
class Withheld:
    """A memory of the input that looks unsafe: so many of its statements; with none, all of it."""

    path: str
    found: str
    statements: int = 0


@dataclass(frozen=True, slots=True)
class StoreDream:
    """`output` is the store that is written: the input itself if `in_place`. It is there once it is `cloned`.

    `session` is the dream's own; `sessions` are those it reads. `written` counts the versions of the input when it was
    cloned, so that it can be told whether it moved on since. `reader` is who read the sessions beside the built-in one.
    `withheld` is what of the input was not cloned.
    """

    id: str
    user: str
    store: str
    output: str
    session: str
    sessions: tuple[str, ...]
    model: str
    created_at: datetime
    speed: str | None = None
    instructions: str | None = None
    in_place: bool = False
    status: Status = Status.PENDING
    ended_at: datetime | None = None
    archived_at: datetime | None = None
    cloned: bool = False
    written: int = 0
    usage: StoreDreamUsage = field(default_factory=StoreDreamUsage)
    reader: str = BUILT_IN
    error: Failure | None = None
    decided: Decided | None = None
    change: str | None = None
    withheld: tuple[Withheld, ...] = ()

    @property
    def over(self) -> bool:
        return self.status in (Status.COMPLETED, Status.FAILED, Status.CANCELED)


@dataclass(frozen=True, slots=True)
class StoreWish:
    """The request for a dream, as it came."""

    store: str
    sessions: tuple[str, ...]
    model: str
    speed: str | None = None
    instructions: str | None = None
    in_place: bool = False


class AlreadyDreamt(ReverieError):
    """Another dream rewrites this store and has not come to its end."""

    http_status = 409


class MovedOn(ReverieError):
    """Someone has written to the input since, so it cannot simply get the output's content."""

    http_status = 409


CONTEXT = 3


@dataclass(frozen=True, slots=True)
class PageDiff:
    """One page before and after all Changes. None: there was, or is, no such page; both: it was withheld."""

    path: str
    before: bytes | None
    after: bytes | None
    diff: str


def diffs(changes: Iterable[Change], withheld: Iterable[Withheld] = ()) -> list[PageDiff]:
    """By path; pages that read in the end as they did before are not among them. Of what was withheld no word is."""
    sides: dict[str, Edit] = {}
    for change in changes:
        for edit in change.edits:
            first = sides.get(edit.document)
            sides[edit.document] = Edit(edit.document, first.before if first else edit.before, edit.after)
    changed = list[PageDiff]()
    for path, edit in sides.items():
        if edit.before != edit.after:
            bare = replace(edit, document=path.removeprefix("/"))
            changed.append(PageDiff(path, edit.before, edit.after, drawn_diff("", [bare], CONTEXT)))
    kept_out = [PageDiff(one.path, None, None, "") for one in withheld if one.path not in sides]
    return sorted([*changed, *kept_out], key=lambda one: one.path)


@dataclass(frozen=True, slots=True)
class Cleaned:
    """The rest of a page, with what the scan finds in that; None where the page itself is withheld."""

    left: bytes | None
    flags: tuple[Flag, ...]
    withheld: Withheld


def cleaned(path: str, content: bytes) -> Cleaned | None:
    """None where nothing has to be withheld."""
    report = scan(content, "memory") if content else None
    if report is None or not report.blocked:
        return None
    why = ", ".join(sorted({one.category for one in report.findings}))
    hit = list(_hit(content, report)) if is_prose(path) else []
    left = page_after(content, [Remove(path, entry_hash(one)) for one in hit]) if hit else None
    if not isinstance(left, bytes) or scan(left, "memory").blocked:
        return Cleaned(None, (), Withheld(path, why))
    return Cleaned(left, flags_of(left.decode()), Withheld(path, why, len(hit)))


def as_judged(one: Withheld, *, in_place: bool) -> Judged:
    what = f"{one.statements} of its statements" if one.statements else "it"
    if in_place:
        why = f"{one.path} looks unsafe ({one.found}). Nothing is taken out of a store unasked, so {what} stayed."
    else:
        why = f"{one.path} looks unsafe ({one.found}). The input still has {what}; the output does not."
    return Judged((), "unsafe", Fate.WITHHELD, why, why, "", one.path, "", 0, Origin.MEMBER, ())


def _hit(content: bytes, report: Report) -> Iterator[str]:
    """The statements with a finding in them; none if one is in what is no statement: code, a table, a heading."""
    found: list[str] = []
    end = 0
    for piece in FORMATS[FORM].read(content).pieces:
        start, end = end, end + len(piece.raw)
        if not any(one.start < end and one.end > start for one in report.findings):
            continue
        if piece.entry is None:
            # Only the space between two statements is within the finding.
            spans = ((max(0, one.start - start), max(0, one.end - start)) for one in report.findings)
            if not any(piece.raw[first:last].strip() for first, last in spans):
                continue
            return
        found.append(piece.entry)
    yield from found


@dataclass(frozen=True, slots=True)
class DreamQuery:
    """Which dreams: all that is set must fit."""

    made: TimeSpan
    statuses: tuple[Status, ...] = ()
    archived: bool = False


@dataclass(frozen=True, slots=True)
class Clone:
    """The output to be, and what is to come along of a memory in which the scan found something."""

    output: Store
    clean: Callable[[str, bytes], Cleaned | None]


@dataclass(frozen=True, slots=True)
class Located:
    """A dream with whose memory it is about: of a workspace, and in it of a person; empty: nobody's."""

    workspace: str
    user: str
    dream: Dream


class KeptStoreDreams(Protocol):
    def add(self, scope: Scope, made: StoreDream, dream: Dream, own: Recorded) -> StoreDream | None:
        """Keep one that is to come and its own session, or neither. Returned is another that rewrites the same store
        and is not over: then not."""
        ...

    def one(self, scope: Scope, dream: str) -> StoreDream | None: ...

    def listed(self, scope: Scope, which: DreamQuery, after: str | None, limit: int) -> list[StoreDream]:
        """Newest first, behind the one with the id `after`."""
        ...

    def alter(self, scope: Scope, dream: str, change: Callable[[StoreDream], StoreDream]) -> StoreDream | None:
        """Its archiving, error, usage and what was decided, in one transaction. Its status is the night's."""
        ...

    def waiting(self) -> list[Queued]:
        """The dreams that wait for a worker, of every workspace, oldest first. It has no Scope: whose rows a dream
        touches is what the dream says."""
        ...

    def anywhere(self, dream: str) -> Located | None:
        """A dream of any workspace, by its id. It has no Scope, as it is for who runs the machine."""
        ...

    def of_others(self, scope: Scope, limit: int) -> list[Located]:
        """The last dreams over memory stores that are not this person's, of every workspace, newest first. For who
        runs the machine, too."""
        ...

    def unfinished_anywhere(self) -> bool:
        """Whether any dream over a store, or any queued night, is not over."""
        ...


class Cloning(Protocol):
    def begin(self, lease: Lease, dream: Dream, made: StoreDream, clone: Clone | None) -> StoreDream:
        """That it runs and what it reads; and the output as a clone of the input, row by row, in one transaction.
        What was withheld from it is kept with the dream."""
        ...


class StoreDreamRecords(Dreams, KeptStoreDreams, Cloning, Protocol):
    """All of it. One adapter implements them."""


SAID = "agent.message"


def dreaming_agent(model: str) -> Mapping[str, Any]:
    return {
        "id": DREAMING,
        "version": 1,
        "name": "Dreaming",
        "model": {"id": model, "speed": "standard"},
        "system": None,
        "description": "Reads sessions and puts a memory store in order.",
        "tools": [],
        "mcp_servers": [],
        "skills": [],
        "multiagent": None,
        "execution_identity": {"type": "service_account"},
    }


@dataclass(frozen=True, slots=True)
class StoreDreamProgress:
    recording: Recording
    session: str

    def begin(self) -> None:
        self._quietly(lambda: self.recording.become(self.session, "running"))
        self._emit({"type": "session.status_running"})

    def say(self, text: str) -> None:
        self._emit({"type": SAID, "content": [{"type": "text", "text": text}]})

    def end(self, made: StoreDream, text: str) -> None:
        """Idle, and archived: nothing more happens in it."""
        failure = made.error
        if failure is not None:
            kind = "model_request_failed_error" if failure.type == MODEL_UNAVAILABLE else "unknown_error"
            why = {"type": kind, "message": failure.message, "retry_status": {"type": "terminal"}}
            self._emit({"type": "session.error", "error": why})
        self.say(text)
        self._quietly(lambda: self.recording.become(self.session, "idle"))
        self._emit({"type": "session.status_idle", "stop_reason": {"type": "end_turn"}, "stop_details": None})
        self._quietly(lambda: self.recording.archive(self.session))

    def _emit(self, event: Mapping[str, Any]) -> None:
        self._quietly(lambda: self.recording.emit(self.session, [event]))

    @staticmethod
    def _quietly(do: Callable[[], object]) -> None:
        with suppress(NotFound):
            do()
