"""Landing: the one path by which Reverie writes memory and skills; and, before it, `Proposing`: from a Suggestion to a
Proposal, drawn, scanned, related to every rule there is, and ruled on by the policy. Expected outcomes are values.

While no other Reverie touches the artifact: what a crash left is finished, what others wrote is recorded, the change is
worked out against the bytes that are there and scanned. Then (1) the Change is committed as intended, with the bytes
on both sides; (2) each file is exchanged, whole and durably, under the lock of the program that owns it, which is held
for that alone; (3) it is committed as landed, with its row in the ledger. After that it is projected to git and views,
which can be late but not wrong.

Someone else may save at any moment, with the harness's lock or with none. Then theirs stands, is recorded, and the
change is worked out again on it. From the second time on that is done under the harness's lock, so that a program that
writes all the time cannot keep us out: with nothing but files, for the database may be slow and the harness must not
wait for it. What others wrote until then is recorded behind the exchange, before the change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Literal

from reverie.changes.drafts import Amend, Artifact, Draft, Drawn, Operate, Rewrite
from reverie.changes.ledger import Change, ChangeQuery, Edit, Grounds, HistoryRecords, Known
from reverie.changes.outside_edits import OutsideEdits, moves_of, written
from reverie.changes.policy import Policy, PolicyCase, Ruling, critical_rules_touched, why_it_asks
from reverie.changes.proposal import Proposal, Proposals, ProposalStatus, Related, Suggestion, bound, drawn_diff
from reverie.core.clock import Clock
from reverie.core.errors import ReverieError
from reverie.core.ids import Ids
from reverie.core.scope import Scope
from reverie.memory.operation import Conflicted, OverBudget, Unfit
from reverie.memory.target import Held
from reverie.safety.scan import Report
from reverie.skills.edits import rules_of
from reverie.skills.page import lines_of, page_of_text
from reverie.transcripts.session import Evidence

MOST_DRAWN = 8
MOST_RELATED = 30  # rules of one amendment that are held against all others
LINES_AROUND = 3  # a skill is read with its surroundings; an entry of memory stands by itself


@dataclass(frozen=True, slots=True)
class Landed:
    change: Change


@dataclass(frozen=True, slots=True)
class Unchanged:
    """There was nothing to do. Nothing was written."""

    why: str


@dataclass(frozen=True, slots=True)
class Unsafe:
    """The new text must not pass unseen. Nothing was written."""

    report: Report


@dataclass(frozen=True, slots=True)
class Stale:
    """The change that was approved is not the one that would be made now. Look at it again; nothing was written."""

    proposal: str
    why: str


Refusal = Conflicted | OverBudget | Unfit | Unsafe | Stale
Outcome = Landed | Unchanged | Refusal


def undone_by(records: HistoryRecords, scope: Scope, change: str) -> Change | None:
    """The Change that took this one back, unless that was taken back itself."""
    for undo in records.find(scope, ChangeQuery(undoes=change)):
        if undone_by(records, scope, undo.id) is None:
            return undo
    return None


def already_undone(change: str, by: Change) -> Unchanged:
    return Unchanged(f"{change} was taken back already, by {by.id}; to have it again, take back {by.id}")


def in_words(outcome: Outcome) -> str:
    match outcome:
        case Landed(change):
            return f"Landed as {change.id}."
        case Unchanged(why):
            return f"Nothing to do: {why}."
        case Conflicted(_, why):
            return f"Not done: {why}. Nothing was changed."
        case OverBudget(characters, budget):
            return f"Not done: the document would have {characters:,} characters; its limit is {budget:,}."
        case Unfit(_, why):
            return f"Not done: {why}."
        case Unsafe(report):
            first = report.findings[0] if report.findings else None
            found = f"{first.category}: {first.shown[:120]!r}. {first.advice}" if first else "it could not be scanned"
            return f"Not done: it looks unsafe ({found}) Nothing was changed."
        case Stale(_, why):
            return f"Not done: {why}. Look at it again."


Exchanged = tuple[Edit, ...] | None | OSError | ReverieError  # what was written; None: others saved; or why it failed


@dataclass(frozen=True, slots=True)
class Landing:
    scope: Scope
    records: HistoryRecords
    outside: OutsideEdits
    ids: Ids
    clock: Clock
    project: Callable[[], object]

    def write(self, draft: Draft, grounds: Grounds, *, despite_findings: bool = False) -> Outcome:
        """Do what the draft wants, or say why not; it is projected later, when nothing is held any more.
        `despite_findings`: a person looked at them and decided."""
        artifact = draft.artifact
        with self.outside.held(artifact) as held:
            for attempt in range(MOST_DRAWN):
                outcome = self._attempt(draft, held, grounds, despite_findings, first=attempt == 0)
                if outcome is not None:
                    return outcome
                self.outside.reconcile(artifact, held)
            return Conflicted(None, f"{artifact.subject} is being written by someone else all the time")

    def _attempt(
        self, draft: Draft, held: Held, grounds: Grounds, despite_findings: bool, *, first: bool
    ) -> Outcome | None:
        """None: someone else saved meanwhile, which has to be recorded before anything is worked out again."""
        artifact = draft.artifact
        drawn = draft.drawn(held)
        if not isinstance(drawn, Drawn):
            return drawn
        known = {edit.document: self._known(artifact, edit.document) for edit in drawn.edits}
        if first and any(edit.before != _content(known[edit.document]) for edit in drawn.edits):
            return None
        if not drawn.edits:
            return Unchanged("it is there already" if drawn.operations == () else "it changes nothing")
        report = artifact.scanned(dict(drawn.new_texts))
        if report.blocked and not despite_findings:
            return Unsafe(report)
        where, what = (artifact.holder.key, artifact.subject), (drawn.operations, artifact.form)
        change = Change(self.ids.new("chg"), *where, drawn.edits, grounds, self.clock.now(), *what)
        self.records.intend(self.scope, change)
        edits = self._exchanged(held, drawn.edits) if first else self._exchanged_alone(draft, held, drawn)
        if edits is None:
            self.records.drop(self.scope, change, "someone else saved at that moment")
            return None
        if isinstance(edits, Exception):
            self.records.drop(self.scope, change, str(edits))
            raise edits
        with written(artifact.subject):
            return Landed(self._settled(artifact, change, edits, known))

    def _known(self, artifact: Artifact, document: str) -> Known | None:
        return self.records.known(self.scope, artifact.holder.key, document)

    def _settled(
        self, artifact: Artifact, change: Change, edits: tuple[Edit, ...], known: Mapping[str, Known | None]
    ) -> Change:
        """Behind what others wrote since the document was last recorded, if they did."""
        if any(edit.before != _content(known.get(edit.document)) for edit in edits):
            self.outside.came_from_outside(artifact, {edit.document: edit.before for edit in edits})
            known = {edit.document: self._known(artifact, edit.document) for edit in edits}
        if edits == change.edits:
            return self.records.settle(self.scope, change, moves_of(artifact, change, known.get))
        done = replace(change, id=self.ids.new("chg"), edits=edits)
        return self.records.settle(self.scope, done, moves_of(artifact, done, known.get), change)

    def _exchanged_alone(self, draft: Draft, held: Held, drawn: Drawn) -> Exchanged:
        """Worked out once more on what is there now, while nobody who asks for the lock can write. No database here."""
        with held.alone(draft.artifact.subject):
            again = draft.drawn(held)
            if not isinstance(again, Drawn) or not again.edits or again.new_texts != drawn.new_texts:
                return None
            return self._exchanged(held, again.edits)

    def _exchanged(self, held: Held, edits: tuple[Edit, ...]) -> Exchanged:
        """All or nothing: what was written goes back, unless someone else has written there again. If that fails too,
        it raises, and `recover` finds the Change as intended."""
        done: list[Edit] = []
        try:
            for edit in edits:
                done.append(edit)
                if not held.write(edit.document, edit.after, edit.before):
                    self._put_back(held, done[:-1])
                    return None
        except (OSError, ReverieError) as error:
            self._put_back(held, done)
            return error
        return edits

    def _put_back(self, held: Held, done: Sequence[Edit]) -> None:
        for edit in reversed(done):
            if held.read(edit.document) == edit.after != edit.before:
                held.write(edit.document, edit.before, edit.after)


def _content(known: Known | None) -> bytes | None:
    return known.content if known else None


# ---- from a Suggestion to a Proposal ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Repeated:
    """It was decided already, on the same evidence, or waits to be."""

    proposal: Proposal


Undrawable = Conflicted | OverBudget | Unfit | Unchanged | Repeated


@dataclass(frozen=True, slots=True)
class Proposing:
    scope: Scope
    records: HistoryRecords
    proposals: Proposals
    policy: Policy
    related: Callable[[Iterable[str]], tuple[Related, ...]]
    ids: Ids
    clock: Clock
    project_of: Callable[[Iterable[Evidence]], str] = lambda evidence: ""

    def draw(
        self, artifact: Artifact, suggestion: Suggestion, held: Held, instead_of: str = ""
    ) -> tuple[Proposal, Ruling] | Undrawable:
        """The Proposal that would be put to a person, and the ruling on it. Nothing is stored."""
        drawn = draft_of(artifact, suggestion, self.clock.now()).drawn(held)
        if not isinstance(drawn, Drawn):
            return drawn
        if not drawn.edits:
            return Unchanged("it is there already")
        if earlier := self._earlier(suggestion, instead_of):
            return Repeated(earlier)
        report, related = artifact.scanned(dict(drawn.new_texts)), self._related(artifact, drawn)
        critical = self.records.critical(self.scope)
        dropped = critical_rules_touched(self.known(artifact), artifact.form, drawn.edits) if critical else ()
        surface: Literal["memory", "skills"] = "memory" if artifact.is_memory else "skills"
        wanted, asks = (suggestion.actions, suggestion.origin), why_it_asks(dropped, related, critical)
        shared = self.scope.user == ""
        case = PolicyCase(surface, artifact.holder.name, *wanted, report, asks, shared, suggestion.people)
        ruling = self.policy.rules(case)
        diff = drawn_diff(artifact.holder.name, drawn.edits, 0 if artifact.is_memory else LINES_AROUND)
        now = self.clock.now()
        shown = (diff, bound(suggestion, diff), report.findings, report.blocked, ruling.why, related)
        where, expires = artifact.holder, now + timedelta(days=self.policy.expires_after_days)
        named, project = self.ids.new("prop"), self.project_of(suggestion.evidence)
        proposal = Proposal(named, suggestion, where.name, *shown, where.reach, now, expires, project=project)
        return proposal, ruling

    def _related(self, artifact: Artifact, drawn: Drawn) -> tuple[Related, ...]:
        if not artifact.is_memory:
            # The rules of a skill that an amendment brings, and those it takes away.
            before, after = dict[str, None](), dict[str, None]()
            for edit in drawn.edits:
                if edit.document.endswith(".md"):
                    before |= dict.fromkeys(_rules(edit.before))
                    after |= dict.fromkeys(_rules(edit.after))
            new, gone = [text for text in after if text not in before], before.keys() - after.keys()
            return tuple(one for one in self.related(new[:MOST_RELATED]) if one.text not in gone)
        return self.related(text.decode("utf-8", "replace") for text in drawn.new_texts.values())

    def known(self, artifact: Artifact) -> Callable[[str], Known | None]:
        return partial(self.records.known, self.scope, artifact.holder.key)

    def _earlier(self, suggestion: Suggestion, but_not: str) -> Proposal | None:
        """The same proposal that waits already, or that a person rejected and nothing new speaks for."""
        place = suggestion.target, suggestion.subject
        for past in self.proposals.find(self.scope, [ProposalStatus.WAITING, ProposalStatus.REJECTED], place=place):
            if past.id == but_not:
                continue
            if wanted_by(past.suggestion) == wanted_by(suggestion):
                if past.status is ProposalStatus.WAITING or not _new_evidence(suggestion, past):
                    return past
            elif suggestion.evidence and not _new_evidence(suggestion, past):  # the same words, worded otherwise
                return past
        return None


def _rules(content: bytes | None) -> list[str]:
    page = page_of_text((content or b"").decode("utf-8", "replace"))
    return [rule.text for rule in rules_of(lines_of(page.body)) if not rule.text.startswith("#")]


def wanted_by(suggestion: Suggestion) -> tuple[object, ...]:
    """The change that is wanted, whoever wants it and why."""
    return suggestion.operations, suggestion.edits, suggestion.amendment


def _new_evidence(suggestion: Suggestion, past: Proposal) -> bool:
    return any((one.session_id, one.turn, one.quote) not in past.evidence_key for one in suggestion.evidence)


def draft_of(artifact: Artifact, suggestion: Suggestion, now: datetime) -> Draft:
    if suggestion.operations:
        return Operate(artifact, suggestion.operations)
    if suggestion.amendment is not None:
        return Amend(artifact, suggestion.amendment, now)
    return Rewrite(artifact, suggestion.edits)
