"""`home.review`: propose, decide, write, undo, recover. Everything that changes memory or a skill begins here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from reverie.changes.drafts import Artifact, Artifacts, Draft, Drawn, Operate, Rewrite
from reverie.changes.history import Rule
from reverie.changes.land import (
    Landed,
    Landing,
    Outcome,
    Proposing,
    Repeated,
    Stale,
    Unchanged,
    Undrawable,
    already_undone,
    draft_of,
    in_words,
    undone_by,
    wanted_by,
)
from reverie.changes.ledger import Change, ChangeQuery, Grounds, HistoryRecords, KnownEntry, Via
from reverie.changes.outside_edits import OutsideEdits, Reconciled, written
from reverie.changes.policy import CONFIRM, Policy, Ruling, critical_rules_touched
from reverie.changes.proposal import OpenProposals, Proposal, Proposals, ProposalStatus, Suggestion, Verdict
from reverie.core.clock import Clock
from reverie.core.errors import BadInput, NotFound, NotPermitted, required
from reverie.core.scope import Origin, Scope
from reverie.memory.operation import Conflicted, Operation, entry_hash
from reverie.memory.target import Held
from reverie.skills.skill import Amendment, Merge

LATELY = 100
_DECIDED = (ProposalStatus.LANDED, ProposalStatus.REJECTED, ProposalStatus.CONFLICTED)
LONGEST_SNOOZE = timedelta(days=366)
MOST_EXPIRED_AT_ONCE = 10  # a clock that jumps must not empty the queue


@dataclass(frozen=True, slots=True)
class Waiting:
    """It waits for a person's Verdict."""

    proposal: Proposal


@dataclass(frozen=True, slots=True)
class Refused:
    """The policy does not allow it. It was not put to anyone."""

    why: str


Proposed = Outcome | Waiting | Refused | Undrawable
Done = TypeVar("Done")


@dataclass(frozen=True, slots=True)
class Review:
    """`checked` runs the checks of the night again, on a proposal that a person changed. `undo_in_store` takes back a
    Change of a memory store, which says why."""

    scope: Scope
    owner: str
    records: HistoryRecords
    proposals: Proposals
    policy: Policy
    artifacts: Artifacts
    outside: OutsideEdits
    proposing: Proposing
    landing: Landing
    clock: Clock
    checked: Callable[[Proposal], tuple[tuple[str, str], ...]] = lambda proposal: ()
    undo_in_store: Callable[[Scope, Change, str], Outcome] = lambda *change: Conflicted(None, "it is in no file")

    # ---- proposing ---------------------------------------------------------------------------------------------------

    def propose(self, suggestion: Suggestion, *, land: bool = True, asks: str = "") -> Proposed:
        """Put a change to the policy: it lands, waits for a person, or is refused.

        `land=False`: it waits at best; `asks` says why, where that is not the policy's doing.
        """
        artifact = self._artifact(suggestion)
        suggestion = replace(suggestion, target=artifact.holder.key)
        with self.outside.held(artifact) as held:
            drawn = self.proposing.draw(artifact, suggestion, held)
            if land and isinstance(drawn, Repeated):
                drawn = self._taken_up(artifact, suggestion, held, drawn)
            proposed = self._ruled(*drawn, land, asks) if isinstance(drawn, tuple) else drawn
        return self._projected(proposed)

    def _taken_up(
        self, artifact: Artifact, suggestion: Suggestion, held: Held, repeated: Repeated
    ) -> tuple[Proposal, Ruling] | Undrawable:
        """Decide a waiting proposal that may land by itself now, as the proposal that it is."""
        waiting = repeated.proposal
        if waiting.status is not ProposalStatus.WAITING or wanted_by(waiting.suggestion) != wanted_by(suggestion):
            return repeated
        drawn = self.proposing.draw(artifact, suggestion, held, instead_of=waiting.id)
        if not isinstance(drawn, tuple) or drawn[1].answer != "land":
            return repeated
        proposal = replace(drawn[0], id=waiting.id, made_at=waiting.made_at, expires_at=waiting.expires_at)
        return proposal, drawn[1]

    def _ruled(self, proposal: Proposal, ruling: Ruling, land: bool, asks: str) -> Proposed:
        if ruling.answer == "refuse":
            return Refused(ruling.why)
        if ruling.answer == "ask" or not land:
            if ruling.answer == "land":
                proposal = replace(proposal, asks_because=asks or "a person was to be asked")
            self.proposals.put(self.scope, proposal)
            return Waiting(proposal)
        verdict = Verdict(True, "policy", ruling.why, self.clock.now(), self.policy.name)
        return self._decided(proposal, verdict)

    def waiting(self, *, every: bool = False) -> list[Proposal]:
        """The proposals a person is asked, best first, no more than the policy wants a day. `every`: those behind,
        too."""
        return self.page(None if every else self.room())

    def page(self, limit: int | None, first: int = 0, asked: OpenProposals | None = None) -> list[Proposal]:
        """A part of what waits, best first. What nobody answered in time expires first."""
        for proposal in self.proposals.expired(self.scope, self.clock.now(), MOST_EXPIRED_AT_ONCE):
            self.proposals.put(self.scope, replace(proposal, status=ProposalStatus.EXPIRED))
        return self.proposals.waiting(self.scope, asked or self.open, limit, first)

    def marks(self, asked: OpenProposals | None = None) -> list[tuple[str, str]]:
        """Id and hash of everything that waits, today's and what is behind."""
        return self.proposals.marks(self.scope, asked or self.open)

    def count(self) -> int:
        """The number of proposals that wait, today's and those behind."""
        return len(self.marks())

    @property
    def open(self) -> OpenProposals:
        """All that waits now."""
        return OpenProposals(self.clock.now())

    def room(self) -> int:
        """The number of proposals a person may still be asked today."""
        now = self.clock.now()  # what is dated later was decided before the clock was put back
        past = self.proposals.find(self.scope, _DECIDED, now - timedelta(days=1))
        people = sum(1 for one in past if one.verdict and not one.verdict.policy and one.verdict.at <= now)
        return max(0, self.policy.per_day - people)

    def decided(self, limit: int) -> list[Proposal]:
        """The last decisions of people, newest first, among the last hundred that were decided at all."""
        past = self.proposals.newest(self.scope, _DECIDED, LATELY)
        return [one for one in past if one.verdict and not one.verdict.policy][:limit]

    def get(self, proposal: str) -> Proposal:
        missing = NotFound(f"There is no proposal {proposal}.", next_step="`reverie review list` shows what waits.")
        return required(self.proposals.get(self.scope, proposal), missing)

    def past(self, statuses: Iterable[ProposalStatus] = ProposalStatus) -> list[Proposal]:
        return self.proposals.find(self.scope, statuses)

    # ---- deciding ----------------------------------------------------------------------------------------------------

    def approve(
        self, proposal: Proposal | str, because: str = "", *, by: str | None = None, despite_findings: bool = False
    ) -> Outcome:
        """A person says yes to what they saw. Twice is once; what was taken back since stays so; to something else it
        is `Stale`."""
        seen = proposal if isinstance(proposal, Proposal) else None
        person = by or self.scope.actor
        with self._deciding(proposal) as stored:
            if stored.status is ProposalStatus.LANDED:
                landed = self._change(stored.change or "")
                undo = undone_by(self.records, self.scope, landed.id)
                return already_undone(landed.id, undo) if undo else Landed(landed)
            if stored.status not in (ProposalStatus.WAITING, ProposalStatus.APPROVED):
                return Stale(stored.id, f"it is {stored.status} already")
            if stored.expires_at <= self.clock.now():
                return Stale(stored.id, "it has expired")
            if seen is not None and seen.hash != stored.hash:
                return Stale(stored.id, "it was changed since you saw it")
            if why := self.policy.may_approve(person, stored.suggestion.proposer, self.scope.user == ""):
                raise NotPermitted(f"{why}.", next_step="Nothing was changed.")
            verdict = Verdict(True, person, because, self.clock.now(), despite_findings=despite_findings)
            outcome = self._decided(stored, verdict)
        return self._projected(outcome)

    def reject(self, proposal: Proposal | str, because: str = "", *, by: str | None = None) -> Proposal:
        """A person says no. It is not proposed again on the same evidence."""
        with self._deciding(proposal) as stored:
            if stored.status is ProposalStatus.REJECTED:
                return stored
            if stored.status is not ProposalStatus.WAITING:
                raise BadInput(f"{stored.id} is {stored.status}.", expected="a proposal that waits")
            verdict = Verdict(False, by or self.scope.actor, because, self.clock.now())
            rejected = replace(stored, status=ProposalStatus.REJECTED, verdict=verdict)
            self.proposals.put(self.scope, rejected)
            return rejected

    def reopen(self, proposal: str) -> Proposal:
        """Take a person's no back: it waits again, as long as it has not expired."""
        stored = self.get(proposal)
        if stored.status is ProposalStatus.WAITING:
            return stored
        if stored.status is not ProposalStatus.REJECTED or stored.expires_at <= self.clock.now():
            raise BadInput(f"{stored.id} is {stored.status}.", expected="a rejected proposal that has not expired")
        waiting = replace(stored, status=ProposalStatus.WAITING, verdict=None, snoozed_until=None)
        self.proposals.put(self.scope, waiting)
        return waiting

    def snooze(self, proposal: str, until: datetime | None) -> Proposal:
        """Put it off: it is not asked until then, and has as long to live from then on as it has now. None: ask it
        again from now on."""
        now = self.clock.now()
        if until is not None and not now < until <= now + LONGEST_SNOOZE:
            raise BadInput(f"It cannot be put off until {until:%Y-%m-%d}.", expected="a day to come, within a year")
        with self._deciding(proposal) as stored:
            if stored.status is not ProposalStatus.WAITING:
                return stored
            shift = (until or now) - max(now, stored.snoozed_until or now)
            put_off = replace(stored, snoozed_until=until, expires_at=stored.expires_at + shift)
            self.proposals.put(self.scope, put_off)
            return put_off

    def drawn(self, proposal: Proposal) -> tuple[Artifact, Drawn | Undrawable]:
        """Draw a proposal anew on its files as they are now. Nothing is stored."""
        artifact = self._artifact(proposal.suggestion)
        with self.outside.held(artifact) as held:
            return artifact, draft_of(artifact, proposal.suggestion, self.clock.now()).drawn(held)

    def edited(
        self,
        proposal: Proposal,
        operations: Sequence[Operation] = (),
        *,
        amendment: Amendment | None = None,
        keep: bool = True,
    ) -> Proposal | Undrawable:
        """The same proposal in a person's own words, drawn and scanned anew. It still has to be approved.
        `keep=False` says what would come of the words, and keeps the proposal as it is."""
        changed = replace(proposal.suggestion, operations=tuple(operations), amendment=amendment)
        return self.redrawn(proposal, changed, keep=keep)

    def redrawn(self, proposal: Proposal, changed: Suggestion, *, keep: bool = True) -> Proposal | Undrawable:
        """The same proposal with other words, or for another document or skill, and what the checks find in it. They
        inform: what a person writes is their own decision."""
        artifact = self._artifact(changed)
        changed = replace(changed, target=artifact.holder.key)
        if refusal := self._not_editable(self.get(proposal.id), proposal):
            return refusal
        with self.outside.held(artifact) as held:
            drawn = self.proposing.draw(artifact, changed, held, instead_of=proposal.id)
        if not isinstance(drawn, tuple):
            return drawn
        again, ruling = replace(drawn[0], id=proposal.id), drawn[1]
        again = replace(again, suggestion=replace(again.suggestion, checks=self.checked(again)))
        with self._deciding(proposal) as stored:  # what it was for may be somewhere else
            if refusal := self._not_editable(stored, proposal):
                return refusal
            why = f"{self.scope.actor} changed it" if ruling.answer == "land" else ruling.why
            again = replace(again, asks_because=why, made_at=stored.made_at, expires_at=stored.expires_at)
            if keep:
                self.proposals.put(self.scope, again)
        return again

    @staticmethod
    def _not_editable(stored: Proposal, seen: Proposal) -> Undrawable | None:
        if stored.status is not ProposalStatus.WAITING:
            return Repeated(stored)
        return None if stored.hash == seen.hash else Conflicted(None, "it was changed since you saw it")

    @contextmanager
    def _deciding(self, proposal: Proposal | str) -> Iterator[Proposal]:
        """Hold the stored proposal, so that nobody else decides it meanwhile: of two at once the second sees the
        first's."""
        stored = self.get(proposal.id if isinstance(proposal, Proposal) else proposal)
        if stored.status not in (ProposalStatus.WAITING, ProposalStatus.APPROVED):
            yield stored
            return
        try:
            artifact = self._artifact(stored.suggestion)
        except BadInput:  # its target is gone: nothing can land there, and a person may still say no
            yield stored
            return
        with self.outside.held(artifact):
            yield self.get(stored.id)

    def _decided(self, proposal: Proposal, verdict: Verdict) -> Outcome:
        """Commit the Verdict, then land, under one lock. A crash in between is finished by `recover`."""
        approved = replace(proposal, status=ProposalStatus.APPROVED, verdict=verdict)
        self.proposals.put(self.scope, approved)
        outcome = self._landed(approved)
        self._close(approved, outcome)
        return outcome

    def _landed(self, proposal: Proposal) -> Outcome:
        suggestion, verdict = proposal.suggestion, proposal.verdict
        assert verdict is not None
        origin = suggestion.origin if verdict.policy is not None else self._origin_of(verdict.by)
        why = (suggestion.reason, origin, suggestion.evidence, proposal.id, suggestion.dream)
        ruled = (verdict.by, verdict.because, verdict.policy)
        grounds = Grounds(suggestion.proposer, Via.PROPOSAL, *why, None, *ruled)
        draft = draft_of(self._artifact(suggestion), suggestion, self.clock.now())
        return self.landing.write(draft, grounds, despite_findings=verdict.despite_findings)

    def _projected(self, proposed: Done) -> Done:
        if isinstance(proposed, Landed):
            self.landing.project()
        return proposed

    def _artifact(self, suggestion: Suggestion) -> Artifact:
        amendment = suggestion.amendment
        also = amendment.absorbed if isinstance(amendment, Merge) else None
        return self.artifacts(suggestion.target, suggestion.subject, also)

    def _close(self, proposal: Proposal, outcome: Outcome) -> None:
        match outcome:
            case Landed(change):
                closed = replace(proposal, status=ProposalStatus.LANDED, change=change.id)
            case Conflicted(_, why) | Unchanged(why):
                closed = replace(proposal, status=ProposalStatus.CONFLICTED, note=why)
            case _:  # it did not fit, or a person has to look at the findings: it waits again
                closed = replace(proposal, status=ProposalStatus.WAITING, verdict=None)
        with written(proposal.suggestion.subject) if isinstance(outcome, Landed) else nullcontext():
            self.proposals.put(self.scope, closed)

    def _origin_of(self, person: str) -> Origin:
        return Origin.OWNER if person == self.owner else Origin.MEMBER

    # ---- writing, undoing --------------------------------------------------------------------------------------------

    def write(
        self,
        target: str,
        document: str,
        operations: Sequence[Operation],
        because: str = "",
        *,
        despite_findings: bool = False,
        even_critical: bool = False,
    ) -> Outcome:
        """A direct write by someone who may. What touches a critical rule has to be meant (`even_critical`)."""
        draft = Operate(self.artifacts(target, document), tuple(operations))
        return self._projected(self._written(draft, self._directly(because), despite_findings, even_critical))

    def amend(
        self,
        folder: str,
        amendment: Amendment,
        because: str = "",
        *,
        despite_findings: bool = False,
        even_critical: bool = False,
    ) -> Outcome:
        """A direct change of a skill by someone who may; the same holds for its critical rules."""
        wanted = Suggestion(folder, amendment.subject, amendment=amendment)
        draft = draft_of(self._artifact(wanted), wanted, self.clock.now())
        return self._projected(self._written(draft, self._directly(because), despite_findings, even_critical))

    def _written(self, draft: Draft, grounds: Grounds, despite_findings: bool, even_critical: bool) -> Outcome:
        with self.outside.held(draft.artifact) as held:
            if not even_critical and self.records.critical(self.scope):
                drawn = draft.drawn(held)
                known = partial(self.records.known, self.scope, draft.artifact.holder.key)
                if isinstance(drawn, Drawn) and critical_rules_touched(known, draft.artifact.form, drawn.edits):
                    return Conflicted(None, CONFIRM)
            return self.landing.write(draft, grounds, despite_findings=despite_findings)

    def _directly(self, because: str) -> Grounds:
        actor = self.scope.actor
        return Grounds(actor, Via.DIRECT, because, self._origin_of(actor), approved_by=actor, because=because)

    def undo(
        self,
        change: str | None = None,
        because: str = "",
        *,
        within: str | None = None,
        despite_findings: bool = False,
        even_critical: bool = False,
    ) -> Outcome:
        """Take a Change back, byte for byte if nothing came after it; the last one if none is named, of the target
        whose key is `within` or of any. Twice is once: to have it again, take back the undo, by its name. What would
        touch a critical rule has to be meant."""
        if change is None:
            last = self.records.find(self.scope, ChangeQuery(target=within, limit=1, ours=True))
            if not last:
                raise NotFound(
                    "There is no change of ours to take back.", next_step="`reverie history` lists what there is."
                )
            if last[0].grounds.undoes:
                return already_undone(last[0].grounds.undoes, last[0])
            change = last[0].id
        undone = self._change(change)
        if undone.grounds.via is Via.FOUND:
            raise BadInput(
                f"{undone.id} is the first record of {undone.subject}: nothing came before it.",
                expected="a later change",
            )
        back = tuple(edit.opposite for edit in undone.edits)
        if undone.target.startswith("store:"):
            known = partial(self.records.known, self.scope, undone.target)
            critical = self.records.critical(self.scope) and critical_rules_touched(known, undone.form, back)
            if critical and not even_critical:
                return Conflicted(None, CONFIRM)
            return self.undo_in_store(self.scope, undone, because)
        why = because or f"takes back {undone.id}"
        grounds = replace(self._directly(because), via=Via.UNDO, reason=why, undoes=undone.id)
        draft = Rewrite(self.artifacts(undone.target, undone.subject), back)
        with self.outside.held(draft.artifact):
            if by := undone_by(self.records, self.scope, undone.id):
                return already_undone(undone.id, by)
            outcome = self._written(draft, grounds, despite_findings, even_critical)
        return self._projected(outcome)

    def mark(self, entry: str | Rule, *, critical: bool) -> None:
        """A critical rule is never changed or removed without a person. Of memory it is named by its entry's id; a rule
        as `home.history` gives it can be one of a skill or of a memory store, too."""
        if isinstance(entry, Rule):
            change, rule = entry.change, entry
            sha = entry_hash(rule.text)
            row = KnownEntry(rule.id, sha, rule.since, rule.seen, rule.critical, change.id)
            skill = change.form is None
            entry = self.records.keep_rule(self.scope, change.target, rule.document, row) if skill else rule.id
        self.records.mark(self.scope, entry, critical)

    def _change(self, change: str) -> Change:
        missing = NotFound(f"There is no change {change}.", next_step="`reverie history` lists them.")
        return required(self.records.get(self.scope, change), missing)

    # ---- recovering --------------------------------------------------------------------------------------------------

    def recover(self) -> Reconciled:
        """Finish what a crash left: changes half written, verdicts not yet carried out. Twice does nothing more."""
        unsettled = self.records.unsettled(self.scope)
        subjects = dict.fromkeys((change.target, change.subject) for change in unsettled)
        approved = self.proposals.find(self.scope, [ProposalStatus.APPROVED])
        reconciled, gone = Reconciled(), list[BadInput]()
        every: list[tuple[str, str] | Proposal] = [*subjects, *approved]
        for left in every:
            try:
                if isinstance(left, Proposal):
                    reconciled = reconciled.and_also(self._carried_out(left))
                else:
                    reconciled = reconciled.and_also(self.outside.reconciled(self.artifacts(*left)))
            except BadInput as error:  # its target is not there now: what is left elsewhere does not wait for it
                gone.append(error)
        self.landing.project()
        if gone:
            raise gone[0]
        return reconciled

    def _carried_out(self, proposal: Proposal) -> Reconciled:
        with self._deciding(proposal) as stored:
            if stored.status is not ProposalStatus.APPROVED:
                return Reconciled()  # who had approved it was not dead, and is done now
            done = self.records.find(self.scope, ChangeQuery(proposal=stored.id))
            if done:
                self._close(stored, Landed(done[0]))
                return Reconciled()
            outcome = self._landed(stored)
            self._close(stored, outcome)
            return Reconciled(landed=(outcome.change,)) if isinstance(outcome, Landed) else Reconciled()


def proposal_outcome(proposed: Proposed) -> str:
    """Say what became of a suggestion."""
    match proposed:
        case Waiting(proposal):
            return f"{proposal.id} waits for a person: {proposal.asks_because}."
        case Refused(why):
            return f"Not proposed: {why}."
        case Repeated(proposal):
            return f"Not proposed again: {proposal.id} is {proposal.status}, and nothing new speaks for it."
        case _:
            return in_words(proposed)
