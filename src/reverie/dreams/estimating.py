"""What a night would read and what models would cost, before there is one. Nothing is written and nobody is asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reverie.dreams.choosing import Chosen
from reverie.kernel.errors import NotFound
from reverie.light.candidate import Candidate
from reverie.light.notice import notice
from reverie.sessions.as_if_refreshed import Refreshed
from reverie.sessions.library import Library
from reverie.sessions.session import Session


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What one phase would ask. `tokens` and `dollars` are likely, `most_…` the worst a cap reckons with, for one try
    each; dollars are None where the price is not known."""

    phase: str
    model: str
    questions: int
    characters: int
    tokens: int
    most_tokens: int
    dollars: float | None
    most_dollars: float | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """`fresh` of the sessions are not stored, or not as they are now: a night would bring them in first. `left` ones
    would wait for another night; `noticed` is what the built-in reader finds by itself."""

    shelf: str
    sessions: int
    fresh: int
    left: int
    characters: int
    noticed: int
    foreseen: tuple[Foreseen, ...]


def estimated(then: Refreshed, shelf: str, chosen: Chosen) -> Estimate:
    read = list(_read(then.library, chosen))
    found = [candidate for _, noticed in read for candidate in noticed]
    characters = sum(session.characters for session, _ in read)
    fresh = sum((one.user, one.head.id) in then.fresh for one in chosen.sessions)
    return Estimate(shelf, len(read), fresh, chosen.left, characters, len(found), ())


def _read(library: Library, chosen: Chosen) -> Iterator[tuple[Session, list[Candidate]]]:
    for one in chosen.sessions:
        try:
            session = library.get(one.head.id, user=one.user, revision=one.revision)
        except NotFound:
            continue
        yield session, notice(session)
