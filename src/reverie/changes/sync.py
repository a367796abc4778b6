"""`home.sync`: one memory rendered to the surfaces of several agents; and `Mirror`, for a harness that stages writes.

One target is the source of all others. What was rendered where, history tells: an entry whose wording a sync brought is
a rendered one, and from which source the actor of that Change says. So nothing else has to be kept, and loops are
impossible: a rendered entry is never a source of another. What someone changed or took out on a surface is theirs from
then on, and is not rendered again. A statement that rests on the owner's words, or that a person approved, lands on the
other surfaces, too. One that was written into the source from outside, by whomever, asks a person first.

`Mirror` shows the queue of a harness that stages writes for approval itself, so that one review has all that waits.
What the agent staged becomes a proposal with the Origin of an agent. When it is decided here it leaves the harness's
queue; when it left that queue otherwise, someone decided there, and the proposal does not wait any longer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from reverie.changes.land import Landed, Repeated
from reverie.changes.ledger import Change, ChangeQuery, Grounds, Via
from reverie.changes.proposal import Proposal, ProposalStatus, Suggestion
from reverie.changes.queue import Proposed, Review, Waiting, proposal_outcome
from reverie.core.errors import BadInput
from reverie.core.scope import Origin
from reverie.memory.formats import FORMATS
from reverie.memory.library import Entry, Memory
from reverie.memory.operation import Add, Applied, Operation, OverBudget, Remove, Replace, applied, matched
from reverie.memory.target import Place, StagedWrite, StagingTarget, Target

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
        history = _History(self.review, f"{ACTOR}{chosen.name}")
        everywhere = {place.document for place in chosen.places() if not place.audience}
        own = (entry for entry in self.memory.entries(chosen.name) if entry.document in everywhere)
        entries = [entry for entry in own if not history.actor_of(entry.change).startswith(ACTOR)]
        rendered = list[Rendered]()
        for surface in surfaces:
            standing = list(self.memory.entries(surface.name))
            rendered += _Rendering(history, chosen, surface, standing, land).all_of(entries)
        return rendered


@dataclass(frozen=True, slots=True)
class _History:
    """The history of a sync by `actor`."""

    review: Review
    actor: str

    def _get(self, change: str) -> Grounds | None:
        found = self.review.records.get(self.review.scope, change) if change else None
        return found.grounds if found else None

    def actor_of(self, change: str) -> str:
        told = self._get(change)
        return told.actor if told else ""

    def is_own(self, change: str) -> bool:
        """Whether the owner said so, or a person approved it."""
        told = self._get(change)
        return told is not None and told.via not in (Via.OUTSIDE, Via.FOUND) and told.origin in _OWN

    def rendered_before(self, surface: Target, document: str) -> set[str]:
        """The entries rendered there and not taken out by a sync itself."""
        rendered = set[str]()
        asked = ChangeQuery(target=surface.key, document=document, oldest_first=True)
        for change in self.review.records.find(self.review.scope, asked):
            if change.grounds.actor == self.actor:
                before, after = _sides(change)
                rendered = (rendered - (before - after)) | (after - before)
        return rendered

    def taken_out_by(self, source: Target, text: str) -> str:
        """The last Change after which the source did not say this any more."""
        for change in self.review.records.find(self.review.scope, ChangeQuery(target=source.key)):
            before, after = _sides(change)
            if text in before - after:
                return change.id
        return ""

    def asked_before(self, surface: Target, document: str) -> Iterator[tuple[str, tuple[SyncOutcome, str]]]:
        for past in self.review.past([ProposalStatus.WAITING, ProposalStatus.REJECTED]):
            told = past.suggestion
            if (told.target, told.subject, told.proposer) == (surface.key, document, self.actor):
                waits = past.status is ProposalStatus.WAITING
                why = f"{past.id} {f'asks: {past.asks_because}' if waits else 'was refused by a person'}"
                for text in (one.text for one in told.operations if not isinstance(one, Remove)):
                    yield text, (SyncOutcome.WAITS if waits else SyncOutcome.REFUSED, why)


@dataclass(frozen=True, slots=True)
class _Rendering:
    """The source on one surface."""

    history: _History
    source: Target
    surface: Target
    standing: list[Entry]
    land: bool

    def all_of(self, entries: list[Entry]) -> Iterator[Rendered]:
        places = [one for one in self.surface.places() if one.form in _RENDERED_AS and not one.audience]
        if not places:
            why = "it has no list of entries that is read everywhere"
            yield from (Rendered(self.surface.name, "", entry.text, SyncOutcome.OVER, why) for entry in entries)
        for place in places:
            yield from self._document(place, [one for one in entries if _place(self.surface, one.document) == place])

    def _document(self, place: Place, wanted: list[Entry]) -> Iterator[Rendered]:
        before, new = self.history.rendered_before(self.surface, place.document), list[Entry]()
        for entry in wanted:
            if any(entry.text == one.text for one in self.standing):
                yield self._told(place, entry.text, SyncOutcome.SAME)
            elif entry.text in before:
                why = "it was rendered there before, and someone changed it there or took it out"
                yield self._told(place, entry.text, SyncOutcome.LEFT, why)
            else:
                new.append(entry)
        now = {entry.text for entry in wanted}
        there = [entry for entry in self.standing if entry.document == place.document and entry.text not in now]
        stale = [entry for entry in there if self.history.actor_of(entry.change) == self.history.actor]
        operations = list(self._operations(place.document, stale, new))
        asked = dict(self.history.asked_before(self.surface, place.document))
        yield from (self._told(place, one.text, *asked[one.text]) for one in operations if one.text in asked)
        for own in (True, False):
            yield from self._done(place, [one for one in operations if one.own is own and one.text not in asked])

    def _operations(self, document: str, stale: list[Entry], new: list[Entry]) -> Iterator[_Wanted]:
        """Replace what the source says otherwise now, remove what it does not say any more, add the rest."""
        pairs = matched([entry.text for entry in stale], [entry.text for entry in new])
        for old, at in pairs.edited:
            operation = Replace(document, stale[old].sha256, new[at].text)
            yield _Wanted(operation, new[at].text, self.history.is_own(new[at].change))
        for old in pairs.gone:
            gone = self.history.taken_out_by(self.source, stale[old].text)
            yield _Wanted(Remove(document, stale[old].sha256), stale[old].text, self.history.is_own(gone))
        for at in pairs.new:
            yield _Wanted(Add(document, new[at].text), new[at].text, self.history.is_own(new[at].change))

    def _done(self, place: Place, wanted: list[_Wanted]) -> Iterator[Rendered]:
        """As much as fits, in one Change or one Proposal."""
        content, fits = self.surface.read(place.document) or b"", list[_Wanted]()
        for one in wanted:
            outcome = applied(content, place.form, [each.operation for each in (*fits, one)], place.budget)
            if isinstance(outcome, Applied):
                fits.append(one)
            else:
                yield self._told(place, one.text, SyncOutcome.OVER, _too_much(outcome))
        if not fits:
            return
        own = fits[0].own
        fate, why = (
            (SyncOutcome.LANDED, "") if own else (SyncOutcome.WAITS, "it was written into the source from outside")
        )
        if self.land:
            suggestion = Suggestion(
                self.surface.name,
                place.document,
                tuple(one.operation for one in fits),
                reason=f"rendered from {self.source.name}",
                proposer=self.history.actor,
                spoken_by=Origin.OWNER if own else None,
            )
            fate, why = _fate(self.history.review.propose(suggestion))
        yield from (self._told(place, one.text, fate, why) for one in fits)

    def _told(self, place: Place, text: str, fate: SyncOutcome, why: str = "") -> Rendered:
        return Rendered(self.surface.name, place.document, text, fate, why)


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


def _too_much(outcome: object) -> str:
    if isinstance(outcome, OverBudget):
        return f"with it there would be {outcome.characters:,} characters, and {outcome.budget:,} are allowed"
    return str(getattr(outcome, "why", "it cannot be written there"))


def _fate(proposed: Proposed) -> tuple[SyncOutcome, str]:
    if isinstance(proposed, Landed):
        return SyncOutcome.LANDED, proposed.change.id
    if isinstance(proposed, Waiting | Repeated) and proposed.proposal.status is ProposalStatus.WAITING:
        return SyncOutcome.WAITS, f"{proposed.proposal.id} asks: {proposed.proposal.asks_because}"
    return SyncOutcome.REFUSED, proposal_outcome(proposed)


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
