"""What a night would read, what a curator would be shown, and what a model would cost. Nobody is asked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count

from reverie.dreams.brief.gather import Material, gather
from reverie.dreams.brief.select_sessions import ChosenSessions, as_read, noted, session_of
from reverie.dreams.brief.trim import one_session, to_be_noted
from reverie.dreams.curators.model import prompt_for, question, room_for
from reverie.dreams.dream import Dream, Status
from reverie.dreams.files import target_of_files
from reverie.dreams.home_port import Rooms
from reverie.dreams.run.think import night_of
from reverie.llm.question import Role, Usage, estimate_tokens
from reverie.llm.settings import ModelInfo
from reverie.transcripts.library import Refreshed
from reverie.transcripts.records import Stored


@dataclass(frozen=True, slots=True)
class Foreseen:
    """The requests to a model: so many of so many tokens. What it writes is known only as a ceiling;
    dollars are None where the price is not known."""

    model: str
    requests: int
    tokens_in: int
    most_tokens_out: int
    dollars_in: float | None
    most_dollars: float | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """`fresh` of the sessions are not stored, or not as they are now: a night would bring them in first. `left` ones
    would wait for another night; `noticed` is what the built-in reader finds by itself."""

    target: str
    sessions: int
    fresh: int
    left: int
    characters: int
    noticed: int
    foreseen: Foreseen | None = None


def estimated(rooms: Rooms, then: Refreshed, target: str, chosen: ChosenSessions, info: ModelInfo | None) -> Estimate:
    """`rooms.sessions` is the library as it would be after the refresh."""
    rooms = replace(rooms, sessions=then.library)
    materials = list(previewed(rooms, target, chosen.sessions, info))
    read = [one for stored in as_read(chosen.sessions) if (one := session_of(then.library, stored))]
    fresh = sum((one.user, one.head.id) in then.fresh for one in chosen.sessions)
    return Estimate(
        target,
        len(read),
        fresh,
        chosen.left,
        sum(one.characters for one in read),
        sum(len(one.noted) for one in materials),
        _foreseen(materials, info) if info and read else None,
    )


def previewed(rooms: Rooms, target: str, stored: Sequence[Stored], info: ModelInfo | None) -> Iterator[Material]:
    """The Briefs a curator would be shown, one for each dream. A long night is shown before it is reduced by notes."""
    tuning = rooms.tuned(target)
    at_once = tuning.recent_sessions if tuning else rooms.recent_sessions
    numbers = count(1)

    def ids() -> str:
        return f"cand_{next(numbers)}"

    for start in range(0, len(stored), at_once):
        read = as_read(stored[start : start + at_once])
        dream = Dream("", target, "propose", Status.PENDING, rooms.clock.now(), sessions=read)
        sessions = [(one.user, session) for one in read if (session := session_of(rooms.sessions, one))]
        fresh = [each for user, session in sessions for each in noted(session, user, ids)]
        carried = rooms.records.staged(rooms.scope, target) if not start else []
        files = target_of_files(rooms, target, rooms.instructions(dream.id))
        night, _ = night_of(rooms, files, dream, fresh, carried)
        yield gather(night, room_for(info) if info else None)


def _foreseen(materials: Sequence[Material], info: ModelInfo) -> Foreseen:
    room, answer = room_for(info), info.settings.answer_tokens
    tokens, requests = 0, 0
    for material in materials:
        if estimate_tokens(material.brief.render()) > room:  # notes of each session first
            parts = [question(Role.NOTES, one_session(material, short), info) for short in to_be_noted(material)]
            tokens += sum(one.tokens for one in parts) + room + estimate_tokens(prompt_for(Role.CURATE, info).text)
            requests += len(parts) + 1
        else:
            tokens += question(Role.CURATE, material, info).tokens
            requests += 1
    price = info.price
    costs = (
        [None, None]
        if price is None
        else [float(price.of(Usage(tokens))), float(price.of(Usage(tokens, answer * requests)))]
    )
    return Foreseen(info.name, requests, tokens, answer * requests, costs[0], costs[1])
