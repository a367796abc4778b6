"""`DreamRunner`: one dream from its beginning to its end, and one that was broken off, to its end; and an estimate of
what a night would read, what a curator would be shown, and what a model would cost, for which nobody is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import count
from typing import Unpack

from reverie.core.errors import BadInput
from reverie.dreams.brief.gather import Material, gather
from reverie.dreams.brief.select_sessions import ChosenSessions, as_read, noted, session_of
from reverie.dreams.brief.trim import one_session, to_be_noted
from reverie.dreams.curators.model import prompt_for, question, room_for
from reverie.dreams.dream import Dream, Mode, Status
from reverie.dreams.files import FileNightTarget, target_of_files
from reverie.dreams.ports import Rooms, Tuning
from reverie.dreams.records import OVER, SessionChoice, SessionFilter, Used
from reverie.dreams.run.steps import Doing, canceled, dream_of, run_dream, run_inline
from reverie.dreams.run.think import night_of
from reverie.llm.question import Role, Usage, estimate_tokens
from reverie.llm.settings import ModelInfo
from reverie.transcripts.library import Refreshed
from reverie.transcripts.records import Stored

NIGHTS_LOOKED_BACK = 60
MOST_NAMED = 100


@dataclass(frozen=True, slots=True)
class DreamProgress:
    """A dream that runs, and how many of its sessions were read."""

    dream: Dream
    read: int
    sessions: int

    @property
    def phase(self) -> str:
        """The phase it is in: choose sessions, read them, or decide what is to become of what was noticed."""
        if not self.sessions:
            return "gather"
        return "light" if self.read < self.sessions else "deep"

    @property
    def sentence(self) -> str:
        read = f"{self.read:,} of {self.sessions:,} sessions read" if self.sessions else "looking for new sessions"
        return f"{self.dream.target}: {self.phase}, {read}"


@dataclass(frozen=True, slots=True)
class DreamRunner(Rooms):
    """The rooms of a Home, and the dreams in them."""

    def dream(
        self,
        target: str = "hermes",
        mode: Mode = "land",
        sessions: Sequence[str] | None = None,
        **how: Unpack[SessionFilter],
    ) -> Dream:
        """One dream over a target: lands what may land by itself, or only proposes. Nothing new is a quiet one."""
        asked = self.asked(target, sessions, **how)
        return self.run(self.open(target, mode, asked).id)

    def asked(
        self,
        target: str = "",
        sessions: Sequence[str] | None = None,
        *,
        since: datetime | None = None,
        limit: int | None = None,
        user: str | None = None,
        everything: bool = False,
    ) -> SessionChoice:
        """Where a limit is named, one dream reads that many. Where sessions are, one reads them all."""
        names = None if sessions is None else tuple(sessions)
        if names is not None and len(names) > MOST_NAMED:
            raise BadInput(
                f"{len(names):,} sessions are named.",
                expected=f"at most {MOST_NAMED} in one go",
                next_step="Name fewer, or use --since or --all.",
            )
        usual = self.for_target(target).recent_sessions if names is None else MOST_NAMED
        return SessionChoice(
            names,
            since,
            limit or usual,
            user=user,
            everything=everything,
            once=limit is not None or names is not None,
        )

    def for_target(self, target: str, used: Used = Used()) -> DreamRunner:
        """As a target's own settings have it; its limits are for a whole run, which has used this much of them."""
        tuning = (self.tuned(target) if target else None) or Tuning(self.gates, self.limits, self.recent_sessions)
        most = tuning.limits
        left = replace(
            most,
            max_changes=max(0, most.max_changes - used.changes),
            max_adds=max(0, most.max_adds - used.adds),
            max_new_chars=max(0, most.max_new_chars - used.new_chars),
            max_proposals=max(0, most.max_proposals - used.proposals),
        )
        return replace(self, gates=tuning.gates, limits=left, recent_sessions=tuning.recent_sessions)

    def open(self, target: str, mode: Mode, asked: SessionChoice) -> Dream:
        """A dream that is to come, over a target by the name that finds it from anywhere."""
        if mode not in ("land", "propose"):
            raise BadInput(f"There is no mode {mode!r}.", expected="land or propose")
        self.ready(target)
        dream = Dream(self.ids.new("drm"), self.memory.target(target).name, mode, Status.PENDING, self.clock.now())
        self.records.open(self.scope, dream, asked)
        return dream

    def get(self, dream: str) -> Dream:
        return dream_of(self, dream)

    def progress(self) -> list[DreamProgress]:
        """The progress of the dreams that run now, here or elsewhere."""
        found = []
        for dream in self.records.unfinished(self.scope):
            noticed = [one for _, one in self.records.chosen(self.scope, dream.id)]
            if len(noticed) == len(dream.sessions):  # else it came to its end in this moment
                found.append(DreamProgress(dream, sum(one is not None for one in noticed), len(noticed)))
        return found

    def last_success(self) -> datetime | None:
        """When a night last came to its end, as far back as is looked."""
        done = (
            one for one in self.records.find(self.scope, limit=NIGHTS_LOOKED_BACK) if one.status is Status.COMPLETED
        )
        return next((one.ended_at for one in done), None)

    def run(
        self, dream: str, do: Doing = run_inline, *, land: bool = True, brought: tuple[str, ...] | None = None
    ) -> Dream:
        """Do what is left of a dream. What was killed is taken up where it was; what is over stays as it is."""

        def target(found: Dream) -> FileNightTarget:
            used = self.records.asked(self.scope, found.id).used
            return FileNightTarget(self.for_target(found.target, used), land, brought)

        return run_dream(self, dream, target, do)

    def cancel(self, dream: str) -> Dream:
        """End a night before anything of it has landed. Memory is as it was; its sessions wait for another."""
        found = self.get(dream)
        return found if found.status in OVER else canceled(self.records, self.scope, found, self.clock.now())


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
