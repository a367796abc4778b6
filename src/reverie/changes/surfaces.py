"""`home.sync`: one memory rendered to the surfaces of several agents; and `Mirror`, for a harness that stages writes.

One target is the source of all others. What was rendered where, history tells: an entry whose wording a sync brought is
a rendered one, and from which source the actor of that Change says. So nothing else has to be kept, and loops are
impossible: a rendered entry is never a source of another. What someone changed or took out on a surface is theirs from
then on, and is not rendered again. A statement that rests on the owner's words, or that a person approved, lands on the
other surfaces, too. One that was written into the source from outside, by whomever, asks a person first.

`Mirror` shows the queue of a harness that stages writes for approval itself, so that one review has all that waits.
What the agent staged becomes a proposal with the Origin of an agent. When it is decided here it leaves the harness's
queue; when it left that queue otherwise, someone decided there, and the proposal does not wait any longer.

And `home.context`: exactly the block a session starts with, recorded, so that what an agent was told has an answer.
Memory first, then the skills the task calls for, within a budget of tokens. The same inputs give the same bytes, so
that prompt caches hold; a session that asks again gets what it got. What looks unsafe is withheld and listed: nothing
gets into a prompt that Reverie builds just because it stands in a file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Protocol

from reverie.changes.land import Landed, Repeated
from reverie.changes.ledger import Change, ChangeQuery, Grounds, Via
from reverie.changes.proposal import Proposal, ProposalStatus, Suggestion
from reverie.changes.queue import Review, Waiting, proposal_outcome
from reverie.core.clock import Clock
from reverie.core.errors import BadInput, NotFound, required
from reverie.core.ids import Ids
from reverie.core.scope import Origin, Scope
from reverie.memory.formats import FORMATS
from reverie.memory.library import Entry, Memory
from reverie.memory.operation import Add, Applied, Operation, OverBudget, Remove, Replace, applied, matched
from reverie.memory.target import Place, StagedWrite, StagingTarget, Target
from reverie.safety.scan import scan, scan_skill
from reverie.skills.library import CHARACTERS_A_TOKEN, FoundSkill, Skills, match

ACTOR = "sync/"
_OWN = (Origin.OWNER, Origin.OPERATOR)
_RENDERED_AS = ("hermes", "list")


class SyncOutcome(StrEnum):
    SAME = "same"
    LANDED = "landed"
    WAITS = "waits"
    REFUSED = "refused"
    LEFT = "left alone"
    OVER = "does not fit"


@dataclass(frozen=True, slots=True)
class Rendered:
    """The outcome for one statement on one surface, and why."""

    target: str
    document: str
    text: str
    fate: SyncOutcome
    why: str = ""


@dataclass(frozen=True, slots=True)
class _Wanted:
    """An operation, the statement it is about, and whether it rests on the owner's words."""

    operation: Operation
    text: str
    own: bool


@dataclass(frozen=True, slots=True)
class Sync:
    memory: Memory
    review: Review

    def __call__(self, source: str, to: Sequence[str] = (), *, land: bool = True) -> list[Rendered]:
        """Render a target to others, or to all that agents on this machine read. `land=False`: only say what would be
        done."""
        chosen = self.memory.target(source)
        surfaces = [self.memory.target(name) for name in to]
        if not surfaces:  # those that are read in everything this person does
            used = (one for one in self.memory.targets.in_use() if one.key != chosen.key and one.name != "home")
            surfaces = [one for one in used if "/" not in one.name and _place(one, "") is not None]
        if any(one.key == chosen.key for one in surfaces):
            raise BadInput(f"{chosen.name} is the source.", expected="other targets to render it to")
        everywhere = {place.document for place in chosen.places() if not place.audience}
        own = (entry for entry in self.memory.entries(chosen.name) if entry.document in everywhere)
        entries = [entry for entry in own if not _grounds_of(self.review, entry.change).actor.startswith(ACTOR)]
        rendered = list[Rendered]()
        for surface in surfaces:
            standing = list(self.memory.entries(surface.name))
            rendered += _Rendering(self.review, chosen, surface, standing, land).all_of(entries)
        return rendered


def _grounds_of(review: Review, change: str) -> Grounds:
    found = review.records.get(review.scope, change) if change else None
    return found.grounds if found else Grounds("")


@dataclass(frozen=True, slots=True)
class _Rendering:
    """The source on one surface."""

    review: Review
    source: Target
    surface: Target
    standing: list[Entry]
    land: bool

    @property
    def actor(self) -> str:
        return f"{ACTOR}{self.source.name}"

    def all_of(self, entries: list[Entry]) -> Iterator[Rendered]:
        places = [one for one in self.surface.places() if one.form in _RENDERED_AS and not one.audience]
        if not places:
            why = "it has no list of entries that is read everywhere"
            yield from (Rendered(self.surface.name, "", entry.text, SyncOutcome.OVER, why) for entry in entries)
        for place in places:
            yield from self._document(place, [one for one in entries if _place(self.surface, one.document) == place])

    def _document(self, place: Place, wanted: list[Entry]) -> Iterator[Rendered]:
        told = partial(Rendered, self.surface.name, place.document)
        before, new = self.rendered_before(place.document), list[Entry]()
        for entry in wanted:
            if any(entry.text == one.text for one in self.standing):
                yield told(entry.text, SyncOutcome.SAME)
            elif entry.text in before:
                why = "it was rendered there before, and someone changed it there or took it out"
                yield told(entry.text, SyncOutcome.LEFT, why)
            else:
                new.append(entry)
        now = {entry.text for entry in wanted}
        there = [entry for entry in self.standing if entry.document == place.document and entry.text not in now]
        stale = [entry for entry in there if _grounds_of(self.review, entry.change).actor == self.actor]
        operations = list(self._operations(place.document, stale, new))
        asked = dict(self.asked_before(place.document))
        yield from (told(one.text, *asked[one.text]) for one in operations if one.text in asked)
        for own in (True, False):
            yield from self._done(place, [one for one in operations if one.own is own and one.text not in asked])

    def _operations(self, document: str, stale: list[Entry], new: list[Entry]) -> Iterator[_Wanted]:
        """Replace what the source says otherwise now, remove what it does not say any more, add the rest."""
        pairs = matched([entry.text for entry in stale], [entry.text for entry in new])
        for old, at in pairs.edited:
            operation = Replace(document, stale[old].sha256, new[at].text)
            yield _Wanted(operation, new[at].text, self.is_own(new[at].change))
        for old in pairs.gone:
            gone = self.taken_out(stale[old].text)
            yield _Wanted(Remove(document, stale[old].sha256), stale[old].text, self.is_own(gone))
        for at in pairs.new:
            yield _Wanted(Add(document, new[at].text), new[at].text, self.is_own(new[at].change))

    def _done(self, place: Place, wanted: list[_Wanted]) -> Iterator[Rendered]:
        """As much as fits, in one Change or one Proposal."""
        told = partial(Rendered, self.surface.name, place.document)
        content, fits = self.surface.read(place.document) or b"", list[_Wanted]()
        for one in wanted:
            outcome = applied(content, place.form, [each.operation for each in (*fits, one)], place.budget)
            if isinstance(outcome, Applied):
                fits.append(one)
            else:
                why = str(getattr(outcome, "why", "it cannot be written there"))
                if isinstance(outcome, OverBudget):
                    why = (
                        f"with it there would be {outcome.characters:,} characters, and {outcome.budget:,} are allowed"
                    )
                yield told(one.text, SyncOutcome.OVER, why)
        if not fits:
            return
        own = fits[0].own
        fate, why = SyncOutcome.LANDED, ""
        if not own:
            fate, why = SyncOutcome.WAITS, "it was written into the source from outside"
        if self.land:
            where, why = (self.surface.name, place.document), f"rendered from {self.source.name}"
            by, speaker = self.actor, Origin.OWNER if own else None
            operations = tuple(one.operation for one in fits)
            suggestion = Suggestion(*where, operations, reason=why, proposer=by, spoken_by=speaker)
            proposed = self.review.propose(suggestion)
            fate, why = SyncOutcome.REFUSED, proposal_outcome(proposed)
            if isinstance(proposed, Landed):
                fate, why = SyncOutcome.LANDED, proposed.change.id
            elif isinstance(proposed, Waiting | Repeated) and proposed.proposal.status is ProposalStatus.WAITING:
                fate, why = SyncOutcome.WAITS, f"{proposed.proposal.id} asks: {proposed.proposal.asks_because}"
        yield from (told(one.text, fate, why) for one in fits)

    def is_own(self, change: str) -> bool:
        """Whether the owner said so, or a person approved it."""
        told = _grounds_of(self.review, change)
        return told.via not in (Via.OUTSIDE, Via.FOUND) and told.origin in _OWN

    def rendered_before(self, document: str) -> set[str]:
        """The entries rendered there and not taken out by a sync itself."""
        rendered = set[str]()
        asked = ChangeQuery(target=self.surface.key, document=document, oldest_first=True)
        for change in self.review.records.find(self.review.scope, asked):
            if change.grounds.actor == self.actor:
                before, after = _sides(change)
                rendered = (rendered - (before - after)) | (after - before)
        return rendered

    def taken_out(self, text: str) -> str:
        """The last Change after which the source did not say this any more."""
        for change in self.review.records.find(self.review.scope, ChangeQuery(target=self.source.key)):
            before, after = _sides(change)
            if text in before - after:
                return change.id
        return ""

    def asked_before(self, document: str) -> Iterator[tuple[str, tuple[SyncOutcome, str]]]:
        for past in self.review.past([ProposalStatus.WAITING, ProposalStatus.REJECTED]):
            told = past.suggestion
            if (told.target, told.subject, told.proposer) == (self.surface.key, document, self.actor):
                waits = past.status is ProposalStatus.WAITING
                why = f"{past.id} {f'asks: {past.asks_because}' if waits else 'was refused by a person'}"
                for text in (one.text for one in told.operations if not isinstance(one, Remove)):
                    yield text, (SyncOutcome.WAITS if waits else SyncOutcome.REFUSED, why)


def _place(surface: Target, document: str) -> Place | None:
    """Where the statements of a document go: into the one of the same name, else the first that is read everywhere."""
    places = [one for one in surface.places() if one.form in _RENDERED_AS and not one.audience]
    return next((one for one in places if one.document == document), places[0] if places else None)


def _sides(change: Change) -> tuple[set[str], set[str]]:
    """The documents of a Change before and after."""
    if change.form is None:
        return set(), set()
    read = FORMATS[change.form].read
    before = {text for edit in change.edits for text in read(edit.before or b"").entries}
    return before, {text for edit in change.edits for text in read(edit.after or b"").entries}


# ---- the queue of a harness that stages writes itself ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Mirror:
    memory: Memory
    review: Review

    def __call__(self) -> list[str]:
        """Say in sentences what was done."""
        return [line for target in self.memory.targets.in_use() for line in self._taken_up(target)]

    def problems(self) -> list[str]:
        """The writes in a harness's own queue that cannot be taken up here, and why."""
        found = list[str]()
        targets = (target for target in self.memory.targets.in_use() if isinstance(target, StagingTarget))
        for target, write in ((one, write) for one in targets for write in one.staged()):
            if write.problem:
                found.append(f"{write.problem}. It waits in {target.name} and is not in this review.")
            elif f"{target.harness}/{write.id}" not in self._known(target) and None in self._operations(target, write):
                found.append(
                    f"The write {write.id} that {target.name} staged is not in this review: what it wants to change is "
                    f"not in {write.document}, or not once."
                )
        return found

    def _known(self, target: Target) -> dict[str, Proposal]:
        return {one.suggestion.proposer: one for one in self.review.past() if one.suggestion.target == target.key}

    def _operations(self, target: Target, write: StagedWrite) -> list[Operation | None]:
        """The operation of each step; None where what it wants to change is not there, or not once."""
        entries = [one for one in self.memory.entries(target.name) if one.document == write.document]
        operations = list[Operation | None]()
        for step in write.steps:
            found = [one.sha256 for one in entries if step.old in one.text]
            if not step.old:
                operations.append(Add(write.document, step.text))
            elif len(found) != 1:
                operations.append(None)
            else:
                gone = Remove(write.document, found[0])
                operations.append(Replace(write.document, found[0], step.text) if step.text else gone)
        return operations

    def _taken_up(self, target: Target) -> Iterator[str]:
        if not isinstance(target, StagingTarget):
            return
        known = self._known(target)
        staged = {f"{target.harness}/{one.id}": one for one in target.staged()}
        for proposer, write in staged.items():
            proposal = known.get(proposer)
            if write.problem:
                continue
            if proposal is None:
                operations = self._operations(target, write)
                wanted = tuple(one for one in operations if one is not None)
                if len(wanted) == len(operations):
                    why = f"staged by {target.harness} for approval"
                    suggestion = Suggestion(
                        target.name, write.document, wanted, reason=why, proposer=proposer, spoken_by=Origin.AGENT
                    )
                    yield proposal_outcome(self.review.propose(suggestion, land=False))
            elif proposal.status is not ProposalStatus.WAITING:
                target.discard(write.id)
                yield f"{proposal.id} is {proposal.status}: taken out of the queue of {target.harness}."
        for proposer, proposal in known.items():
            waits = proposal.status is ProposalStatus.WAITING and proposer.startswith(f"{target.harness}/")
            if waits and proposer not in staged:
                self.review.reject(proposal, f"decided in {target.harness}", by=target.harness)
                yield f"{proposal.id} was decided in {target.harness}."


# ---- the block a session starts with ---------------------------------------------------------------------------------


DEFAULT_BUDGET = 6_000


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """The task a context was made for."""

    task: str = ""
    tags: tuple[str, ...] = ()
    budget: int = DEFAULT_BUDGET
    targets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GivenContext:
    """A context as it was given. `left_out` and `withheld` say what is not in it and why."""

    id: str
    at: datetime
    session: str | None
    asked: ContextRequest
    text: str
    skills: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()


class Contexts(Protocol):
    def keep(self, scope: Scope, given: GivenContext) -> None:
        """Store what was given, with the ledger's row at once."""

    def last(self, scope: Scope, session: str | None = None, until: datetime | None = None) -> GivenContext | None:
        """The latest one: of a session, or given at or before a time."""


@dataclass(frozen=True, slots=True)
class ContextBuilder:
    scope: Scope
    memory: Memory
    skills: Skills
    contexts: Contexts
    ids: Ids
    clock: Clock

    def __call__(
        self,
        task: str = "",
        *,
        tags: Sequence[str] = (),
        budget: int = DEFAULT_BUDGET,
        targets: Sequence[str] = (),
        session: str | None = None,
    ) -> GivenContext:
        """The block for a session that is about to do `task`. With the id of a session it is frozen for that one."""
        if session is not None and (earlier := self.contexts.last(self.scope, session)):
            return earlier
        asked = ContextRequest(task, tuple(sorted(set(tags))), budget, tuple(targets))
        given = self._made(asked, session)
        self.contexts.keep(self.scope, given)
        return given

    def as_of(self, when: datetime, session: str | None = None) -> GivenContext:
        """The context given last at or before a time, byte for byte."""
        missing = NotFound(
            f"No context was given {f'to {session} ' if session else ''}by then.",
            next_step="`reverie rules --as-of` shows what memory said at that time.",
        )
        return required(self.contexts.last(self.scope, session, when), missing)

    def _made(self, asked: ContextRequest, session: str | None) -> GivenContext:
        safe, withheld = list[Entry](), list[str]()
        for entry in (each for name in asked.targets or self.memory.present() for each in self.memory.entries(name)):
            report = scan(entry.text, "memory")
            if report.blocked:
                withheld.append(f"{entry.target}/{entry.document} {entry.id}: {report.findings[0].category}")
            else:
                safe.append(entry)
        space = asked.budget * CHARACTERS_A_TOKEN
        lines, left_out = _fitting(safe, space)
        space -= sum(map(len, lines))
        skills, unsafe = self._matched(asked, max(0, space) // CHARACTERS_A_TOKEN)
        parts = ["# What you know\n", *lines] if lines else []
        if skills:
            parts.append("\n# Skills for this task\n" if parts else "# Skills for this task\n")
        for found in skills:
            version = f" ({found.skill.version})" if found.skill.version else ""
            parts.append(f"\n## {found.skill.name}{version}\n\n{found.skill.body.strip()}\n")
        given, without = tuple(one.path for one in skills), (tuple(left_out), (*withheld, *unsafe))
        return GivenContext(self.ids.new("ctx"), self.clock.now(), session, asked, "".join(parts), given, *without)

    def _matched(self, asked: ContextRequest, budget: int) -> tuple[list[FoundSkill], list[str]]:
        if not (asked.task or asked.tags) or budget < 1:
            return [], []
        every = list(self.skills.distinct())
        by_skill = {id(found.skill): found for found in every}
        chosen: list[FoundSkill] = []
        withheld: list[FoundSkill] = []
        for one in match((found.skill for found in every), asked.task, asked.tags, budget_tokens=budget):
            found = by_skill[id(one.skill)]
            blocked = scan_skill(found.folder.files(found.skill.subject)).blocked
            (withheld if blocked else chosen).append(found)
        return chosen, [f"{found.path}: the safety scan would keep it out" for found in withheld]


def _fitting(entries: Sequence[Entry], space: int) -> tuple[list[str], list[str]]:
    """The lines of memory that fit; critical rules have the first claim, but all stand in the order of the files."""
    chosen: set[int] = set()
    for at in sorted(range(len(entries)), key=lambda at: not entries[at].critical):
        length = len(entries[at].text) + 3
        if length <= space:
            chosen.add(at)
            space -= length
    lines, place = [], ""
    for at in sorted(chosen):
        entry = entries[at]
        if f"{entry.target}/{entry.document}" != place:
            place = f"{entry.target}/{entry.document}"
            lines.append(f"\n## {place}\n\n")
        indented = entry.text.replace("\n", "\n  ")
        lines.append(f"- {indented}\n")
    left_out = [f"{entries[at].id}: no room" for at in range(len(entries)) if at not in chosen]
    return lines, left_out
