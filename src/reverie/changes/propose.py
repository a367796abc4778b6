"""From a Suggestion to a Proposal: drawn, scanned, related to every rule there is, and ruled on by the policy."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from reverie.changes.affected_rules import critical_rules_touched, why_it_asks
from reverie.changes.artifact import Artifact
from reverie.changes.drafts import Amend, Draft, Drawn, Operate, Rewrite
from reverie.changes.history.records import HistoryRecords, Known
from reverie.changes.land import Unchanged
from reverie.changes.policy import Policy, PolicyCase, Ruling
from reverie.changes.proposal import Proposal, Proposals, ProposalStatus, Related, Suggestion, bound, drawn_diff
from reverie.core.clock import Clock
from reverie.core.ids import Ids
from reverie.core.scope import Scope
from reverie.memory.operation import Conflicted, OverBudget, Unfit
from reverie.memory.target import Held
from reverie.skills.edits import rules_of
from reverie.skills.page import lines_of, page_of_text
from reverie.transcripts.session import Evidence

MOST_RELATED = 30  # rules of one amendment that are held against all others
LINES_AROUND = 3  # a skill is read with its surroundings; an entry of memory stands by itself


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
        ruling = self.policy.rules(
            PolicyCase(
                "memory" if artifact.is_memory else "skills",
                artifact.holder.name,
                suggestion.actions,
                suggestion.origin,
                report,
                self._critical(artifact, drawn, related),
                self.scope.user == "",
                suggestion.people,
            )
        )
        diff = drawn_diff(artifact.holder.name, drawn.edits, 0 if artifact.is_memory else LINES_AROUND)
        now = self.clock.now()
        return Proposal(
            self.ids.new("prop"),
            suggestion,
            artifact.holder.name,
            diff,
            bound(suggestion, diff),
            report.findings,
            report.blocked,
            ruling.why,
            related,
            artifact.holder.reach,
            now,
            now + timedelta(days=self.policy.expires_after_days),
            project=self.project_of(suggestion.evidence),
        ), ruling

    def _related(self, artifact: Artifact, drawn: Drawn) -> tuple[Related, ...]:
        if not artifact.is_memory:
            new, gone = _rules_changed(drawn)
            return tuple(one for one in self.related(new[:MOST_RELATED]) if one.text not in gone)
        return self.related(text.decode("utf-8", "replace") for text in drawn.new_texts.values())

    def _critical(self, artifact: Artifact, drawn: Drawn, related: tuple[Related, ...]) -> str:
        critical = self.records.critical(self.scope)
        dropped = critical_rules_touched(self.known(artifact), artifact.form, drawn.edits) if critical else ()
        return why_it_asks(dropped, related, critical)

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


def _rules_changed(drawn: Drawn) -> tuple[list[str], set[str]]:
    """The rules of a skill that an amendment brings, and those it takes away."""
    before, after = dict[str, None](), dict[str, None]()
    for edit in drawn.edits:
        if edit.document.endswith(".md"):
            before |= dict.fromkeys(_rules(edit.before))
            after |= dict.fromkeys(_rules(edit.after))
    return [text for text in after if text not in before], before.keys() - after.keys()


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
