"""The files of a harness as the target of a night: each matter is put to review, and its person is asked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import assert_never

from reverie.changes.land import Landed, Repeated, Stale, Unchanged, Unsafe, in_words
from reverie.changes.proposal import Proposal, Suggestion
from reverie.changes.proposal import ProposalStatus as Standing
from reverie.changes.queue import Proposed, Refused, Review, Waiting
from reverie.core.errors import BadInput
from reverie.dreams.brief.brief import BriefDocument, BriefEntry
from reverie.dreams.brief.select_sessions import as_read, gathered
from reverie.dreams.curators import Curator
from reverie.dreams.dream import Dream, Fate, Judged, Status
from reverie.dreams.ports import DreamTarget, Rooms
from reverie.dreams.records import Lease, Planned, Thought
from reverie.dreams.run.steps import given_up
from reverie.memory.operation import Conflicted, Operation, OverBudget, Unfit
from reverie.memory.targets import written_at
from reverie.skills.edits import rules_of
from reverie.skills.library import FoundSkill


@dataclass(frozen=True, slots=True)
class FileNightTarget:
    """Implements `NightTarget`. `land`: whether what may land by itself does, if the night was to land at all.
    `brought`: what could not be read when the sources were, if that is done already."""

    rooms: Rooms
    land: bool = True
    brought: tuple[str, ...] | None = None
    at_once: bool = False

    def curator(self, lease: Lease) -> Curator:
        return self.rooms.curator(lease)

    def resume(self) -> None:
        """A target that is gone holds up nothing else."""
        with suppress(BadInput):
            self.rooms.review.recover()

    def check(self, dream: Dream) -> None:
        """Files that are gone are noticed when something is to land."""

    def tell(self, text: str) -> None:
        """Nobody looks on: the diary tells it."""

    def begin(self, lease: Lease, dream: Dream) -> Dream:
        """Bring in what is new, and choose from what nobody has dreamt about."""
        rooms, brought = self.rooms, self.brought
        asked = rooms.records.asked(rooms.scope, dream.id)
        if brought is None:
            brought = rooms.sessions.refresh(harness=rooms.harness(dream.target)).unread
        chosen = gathered(rooms, dream.target, asked)
        begun = replace(
            dream,
            status=Status.RUNNING,
            started_at=rooms.clock.now(),
            sessions=as_read(chosen.sessions),
            left=chosen.left,
            left_out=len(chosen.left_out),
            partial=asked.partial,
            flaws=brought,
        )
        rooms.records.chose(lease, begun, as_read(chosen.left_out) if dream.mode == "land" else ())
        return begun

    def described(self, dream: Dream) -> DreamTarget:
        return target_of_files(self.rooms, dream.target, self.rooms.instructions(dream.id))

    def put(self, lease: Lease, dream: Dream, planned: Sequence[Planned], places: Sequence[int]) -> dict[int, Judged]:
        rooms, became = self.rooms, dict[int, Judged]()
        review = rooms.fenced(lease) if rooms.fenced else rooms.review
        for place in places:
            before = None
            if lease.attempts > 1:
                others = [one.judged for one in planned if one.done]
                before = put_before(rooms.review.past(), planned[place], others)
            became[place] = before or propose_planned(review, planned[place], land=self.land and dream.mode == "land")
        return became

    def end(self, lease: Lease, dream: Dream, thought: Thought) -> None:
        self.rooms.records.end(lease, dream, thought)

    def failed(self, dream: Dream, error: Exception) -> None:
        given_up(self.rooms, dream, str(error) or type(error).__name__)


# ---- what it is to the steps before it lands -------------------------------------------------------------------------


def target_of_files(rooms: Rooms, target: str, instructions: str = "") -> DreamTarget:
    """The files of a harness: they belong to the owner of the Home, who is asked."""
    folder = rooms.new_skills(target)
    skills = tuple(rooms.skills.seen_from(folder)) if rooms.skills else ()
    return DreamTarget(
        target,
        rooms.owner,
        tuple(documents_of(rooms, target)),
        tuple(entries_of(rooms, target)),
        tuple(surfaces_of(rooms, target, skills)),
        skills,
        folder,
        rooms.gates,
        rooms.limits,
        rooms.search,
        instructions,
        waiting=frozenset(_waiting(rooms, target)),
        recalled=rooms.recalled,
    )


def _waiting(rooms: Rooms, target: str) -> Iterator[tuple[Operation, ...]]:
    for one in rooms.review.waiting(every=True):
        if one.target_name == target and one.suggestion.operations:
            yield one.suggestion.operations


def documents_of(rooms: Rooms, target: str) -> Iterator[BriefDocument]:
    used = {one.document: one for one in rooms.memory.usage(target)}
    for place in rooms.memory.target(target).places():
        yield BriefDocument(
            place.document,
            place.purpose,
            place.audience,
            used[place.document].characters,
            place.budget,
            place.elsewhere,
        )


def entries_of(rooms: Rooms, target: str) -> Iterator[BriefEntry]:
    confirmed = rooms.records.confirmed(rooms.scope, target)
    there = rooms.memory.target(target)
    written = {place.document: written_at(there, place.document) for place in there.places()}
    for number, one in enumerate(rooms.memory.entries(target), 1):
        came = one.said or one.since  # it is as old as the words it rests on, not as the night that wrote it
        file_time = written.get(one.document)  # what stood there when we first looked is as old as the file
        yield BriefEntry(
            f"e{number}",
            one.document,
            one.text,
            came or min(one.seen, file_time or one.seen),
            came is not None,
            one.critical,
            one.sha256,
            confirmed=confirmed.get(one.text, 0),
        )


def surfaces_of(rooms: Rooms, target: str, skills: Iterable[FoundSkill]) -> Iterator[BriefEntry]:
    for number, (where, text) in enumerate(rooms.surfaces(target), 1):
        yield BriefEntry(f"x{number}", where, text)
    for found in skills:
        for rule in rules_of(found.skill.body.splitlines(keepends=True)):
            if not rule.text.startswith("#"):  # a heading says nothing that could be contradicted
                yield BriefEntry("", found.path, rule.text)


# ---- one decision put to review, and what became of it ---------------------------------------------------------------


def propose_planned(review: Review, one: Planned, *, land: bool) -> Judged:
    """It lands if the night lands, nothing is to be asked, and the policy agrees."""
    wanted = one.suggestion
    assert wanted is not None
    by_itself = land and not one.asks and wanted.amendment is None
    return _became(one, *_told(review.propose(wanted, land=by_itself, asks=one.asks), one.asks))


def put_before(past: Iterable[Proposal], one: Planned, others: Iterable[Judged]) -> Judged | None:
    """The outcome, if a run put it to review and was killed before that could be written down."""
    taken = {other.ref for other in others}
    for proposal in past:
        if {proposal.id, proposal.change} & taken or one.suggestion is None:
            continue
        if proposal.suggestion.dream == one.suggestion.dream and _wants(proposal.suggestion) == _wants(one.suggestion):
            return _became(one, *_found(proposal, one.asks))
    return None


def _wants(wanted: Suggestion) -> tuple[object, ...]:
    return wanted.subject, wanted.operations, wanted.edits, wanted.amendment


def _became(one: Planned, fate: Fate, why: str, ref: str) -> Judged:
    return replace(one.judged, fate=fate, why=why, ref=ref)


def _found(proposal: Proposal, asks: str) -> tuple[Fate, str, str]:
    match proposal.status:
        case Standing.LANDED:
            return Fate.LANDED, f"Landed as {proposal.change}.", proposal.change or ""
        case Standing.WAITING | Standing.APPROVED:
            return Fate.WAITING, f"Waits for you. {asks or _sentence(proposal.asks_because)}", proposal.id
        case Standing.CONFLICTED:
            return Fate.NOT_DONE, f"Not done: {proposal.note}. Nothing was changed.", ""
        case Standing.REJECTED | Standing.EXPIRED:
            return Fate.NOT_DONE, f"It is {proposal.status} already ({proposal.id}).", proposal.id
        case _:
            assert_never(proposal.status)


def _told(outcome: Proposed, asks: str) -> tuple[Fate, str, str]:
    match outcome:
        case Landed(change):
            return Fate.LANDED, in_words(outcome), change.id
        case Waiting(proposal):
            return Fate.WAITING, f"Waits for you. {asks or _sentence(proposal.asks_because)}", proposal.id
        case Repeated(proposal) if proposal.status in (Standing.WAITING, Standing.APPROVED):
            return Fate.STILL_WAITING, f"Since {proposal.made_at:%d %B %Y}, as {proposal.id}.", proposal.id
        case Repeated(proposal):
            return Fate.NOT_DONE, f"It is {proposal.status} already ({proposal.id}).", proposal.id
        case Refused(why):
            return Fate.NOT_DONE, f"The policy refuses it: {why}.", ""
        case Unchanged() | Conflicted() | OverBudget() | Unfit() | Unsafe() | Stale():
            return Fate.NOT_DONE, in_words(outcome), ""
        case _:
            assert_never(outcome)


def _sentence(text: str) -> str:
    text = text.strip().rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."
