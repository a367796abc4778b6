"""Which sessions a dream reads, what Light notices in them, and in how many others a person touched on something.

The last are many questions to the search at once, as a night asks them. What it reads for one it does not read again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from reverie.core.errors import NotFound
from reverie.core.ids import Ids
from reverie.core.scope import Origin, Scope
from reverie.dreams import words
from reverie.dreams.dream import Read
from reverie.dreams.light.candidate import Candidate, Noted
from reverie.dreams.light.notice import notice_candidates
from reverie.dreams.light.tool_use import routines
from reverie.dreams.ports import Rooms
from reverie.dreams.records import ModelReport, SessionChoice
from reverie.search.finder import Finder
from reverie.transcripts.library import Library
from reverie.transcripts.records import Records, Stored
from reverie.transcripts.session import Head, Session, Turn

UNREAD = "Reverie could not read "
_OURS = (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
MOST_HEARD = 40_000_000  # characters of one session: more than anyone says in years, and less than memory holds
_LOG = logging.getLogger("reverie.dreams")


@dataclass(frozen=True, slots=True)
class ChosenSessions:
    """`left` is how many more there are for another dream; `left_out` are those that no later run wants either."""

    sessions: tuple[Stored, ...]
    left: int
    left_out: tuple[Stored, ...] = ()


def gathered(rooms: Rooms, target: str, asked: SessionChoice, stored: Iterable[Stored] | None = None) -> ChosenSessions:
    """The sessions the next dream over a target reads. `stored` are the sessions there are, newest first, if they are
    known."""
    records, scope = rooms.records, rooms.scope
    if stored is None:
        stored = rooms.sessions.find(user=asked.user)
    older = asked.everything or asked.since is not None  # on request, what the first run left out is read, too
    dreams = [records.get(scope, dream) for dream in asked.earlier]
    return choose(
        stored,
        records.read(scope, target, left_out=not older),
        asked,
        first=not records.begun(scope, target),
        earlier=[one for dream in dreams if dream for one in dream.sessions],
        sees=rooms.sees(target),
    )


def choose(
    stored: Iterable[Stored],
    read: Iterable[Read],
    asked: SessionChoice,
    *,
    first: bool = False,
    earlier: Iterable[Read] = (),
    sees: Callable[[Head], bool] = lambda head: True,
) -> ChosenSessions:
    """Of the sessions a target sees, those not dreamt about as they are now, oldest first; those that are named,
    whether or not they were. The `first` run takes the newest only, or those since a date."""
    seen = {(one.user, one.session_id): (one.revision, one.turns) for one in read}
    done = {(one.user, one.session_id) for one in earlier}
    there = [one for one in stored if not one.removed and sees(one.head)]
    if asked.names is not None:
        fresh = [one for one in there if is_named(one.head.id, asked)]
    else:
        fresh = [one for one in there if seen.get((one.user, one.head.id)) != (one.revision, one.turns)]
    newest_only = first and not asked.everything and asked.names is None
    wanted = [one for one in fresh if one.head.is_since(asked.since)]
    if newest_only and asked.since is None:
        wanted = wanted[: asked.limit]
    older = fresh[len(wanted) :] if newest_only else []
    waiting = [one for one in reversed(wanted) if (one.user, one.head.id) not in done]
    left = max(0, len(waiting) - asked.limit)
    if asked.partial:
        return ChosenSessions(tuple(waiting[: asked.limit]), left + len(older))
    return ChosenSessions(tuple(waiting[: asked.limit]), left, tuple(older))


def missing_choice(library: Library, asked: SessionChoice) -> NotFound | None:
    """The error for a name that is not in the library: a user, or a session of theirs."""
    users = {library.owner, *(source.user for source in library.sources())}
    found = {one.head.id for one in library.find(user=asked.user)} if asked.names or asked.user is not None else set()
    if asked.user is not None and asked.user not in users and not found:
        return NotFound(
            f"There is no user {asked.user!r}.",
            expected="one who has sessions here",
            next_step="`reverie sessions list` shows whose there are. Nothing was changed.",
        )
    known = (found | {name.partition(":")[2] for name in found}) - {""}
    missing = [name for name in asked.names or () if name not in known]
    if not missing:
        return None
    whose = f" of {asked.user}" if asked.user is not None else ""
    return NotFound(
        f"There is no session {', '.join(map(repr, missing))}{whose}.",
        next_step="`reverie sessions list` shows them. Nothing was changed.",
    )


def is_named(session_id: str, asked: SessionChoice) -> bool:
    """With or without its harness; everything, where nothing is named."""
    return asked.names is None or session_id in asked.names or session_id.partition(":")[2] in asked.names


def noticed_in(library: Library, read: Read, ids: Ids) -> tuple[list[Noted], ModelReport]:
    """The candidates Light notices in a session; none in one that was taken out meanwhile."""
    session = session_of(library, read)
    if session is None:
        return [], ModelReport()
    try:
        return noted(session, read.user, lambda: ids.new("cand")), ModelReport()
    except _OURS as error:  # a mistake of ours in one session must not cost all the others their night
        _LOG.exception("A session could not be read.")
        return [], ModelReport({f"{UNREAD}{session.id}: {type(error).__name__}": 1})


def session_of(library: Library, read: Read) -> Session | None:
    return heard_session(library, read.session_id, read.user, read.revision)


def heard_session(library: Library, name: str, user: str, revision: int | None = None) -> Session | None:
    """A session as a target of the library's owner hears it: who owns their own session is a member in the memory of
    someone else. An Origin is lowered here, and never raised."""
    try:
        session = library.get(name, user=user, revision=revision, most=MOST_HEARD)
    except NotFound:
        return None
    head = session.head if session.head.user else replace(session.head, user=user or None)
    if user == library.owner:
        return replace(session, head=head)
    turns = (replace(one, origin=Origin.MEMBER) if one.origin is Origin.OWNER else one for one in session.turns)
    return replace(session, head=head, turns=tuple(turns))


def noted(session: Session, user: str, new_id: Callable[[], str]) -> list[Noted]:
    """Light's candidates of a session, each with whose words it is and when they were said."""
    found = sorted([*notice_candidates(session), *routines(session)], key=lambda one: one.first_turn)
    return [_noted(session, user, one, new_id()) for one in found]


def _noted(session: Session, user: str, candidate: Candidate, name: str) -> Noted:
    turn = session.turn(candidate.first_turn)
    speaker = user if candidate.origin is Origin.OWNER else None
    if candidate.origin is Origin.MEMBER:
        speaker = turn.said.name or user
    return Noted(name, candidate, session.id, speaker, turn.at or session.head.started_at)


def as_read(chosen: Iterable[Stored]) -> tuple[Read, ...]:
    return tuple(Read(one.user, one.head.id, one.revision, one.turns) for one in chosen)


def not_noticed_yet(fresh: Sequence[Noted], staged: Sequence[Noted]) -> list[Noted]:
    """The staged candidates that were not noticed again in a session that grew."""
    again = {one.support for one in fresh}
    return [one for one in staged if one.support not in again]


_MOST_LOOKED_FOR = 20  # a night asks about ten at most
_ENOUGH_SHARED = 2
Exchange = tuple[Stored | None, dict[int, Turn]]


@dataclass(frozen=True, slots=True)
class _Remembering:
    records: Records
    known: dict[Any, Exchange] = field(default_factory=dict)

    def exchange(self, scope: Scope, session_id: str, numbers: Iterable[int]) -> Exchange:
        key = (scope, session_id, frozenset(numbers))
        if key not in self.known:
            self.known[key] = self.records.exchange(scope, session_id, key[2])
        return self.known[key]


def once_read(search: Finder) -> Finder:
    """The same search, brought up to the records now and not again; it reads each turn once."""
    search.follow()
    remembering = cast(Records, _Remembering(search.records))  # all that a search asks of them
    return replace(search, records=remembering, follow=lambda: None)


@dataclass(slots=True)
class Mentions:
    """In how many other sessions a person touched on a text. The dearest part of a night, so only for a few."""

    search: Finder | None
    looked: int = 0

    def __call__(self, text: str, sessions: frozenset[str]) -> int:
        if self.search is None or not text or self.looked >= _MOST_LOOKED_FOR:
            return 0
        if not self.looked:
            self.search = once_read(self.search)
        self.looked += 1
        wanted = words.stems(text)
        hits = self.search(text, role="user", limit=20, around=0)
        near = {hit.session_id for hit in hits if len(words.stems(hit.text) & wanted) >= _ENOUGH_SHARED}
        return len(near - sessions)
