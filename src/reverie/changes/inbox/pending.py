"""Mirrors the queue of a harness that stages writes for approval itself, so that one review has all that waits.

What the agent staged becomes a proposal with the Origin of an agent. When it is decided here it leaves the harness's
queue; when it left that queue otherwise, someone decided there, and the proposal does not wait any longer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from reverie.changes.proposal import Proposal, ProposalStatus, Suggestion
from reverie.changes.queue import Review, proposal_outcome
from reverie.core.origin import Origin
from reverie.memory.library import Entry, Memory
from reverie.memory.operation import Add, Operation, Remove, Replace
from reverie.memory.target import StagedStep, StagedWrite, StagingTarget, Target


@dataclass(frozen=True, slots=True)
class Mirror:
    memory: Memory
    review: Review

    def __call__(self) -> list[str]:
        """Say in sentences what was done."""
        return [line for target in self.memory.targets.in_use() for line in self._one(target)]

    def problems(self) -> list[str]:
        """The writes in a harness's own queue that cannot be taken up here, and why."""
        return [line for target in self.memory.targets.in_use() for line in self._problems(target)]

    def _problems(self, target: Target) -> Iterator[str]:
        if not isinstance(target, StagingTarget):
            return
        for write in target.staged():
            if write.problem:
                yield f"{write.problem}. It waits in {target.name} and is not in this review."
            elif f"{target.harness}/{write.id}" not in self._known(target) and None in self._operations(target, write):
                yield (
                    f"The write {write.id} that {target.name} staged is not in this review: what it wants to change is "
                    f"not in {write.document}, or not once."
                )

    def _known(self, target: Target) -> dict[str, Proposal]:
        return {one.suggestion.proposer: one for one in self.review.past() if one.suggestion.target == target.key}

    def _operations(self, target: Target, write: StagedWrite) -> list[Operation | None]:
        entries = [one for one in self.memory.entries(target.name) if one.document == write.document]
        return [_operation(step, write.document, entries) for step in write.steps]

    def _one(self, target: Target) -> Iterator[str]:
        if not isinstance(target, StagingTarget):
            return
        known = self._known(target)
        staged = {f"{target.harness}/{one.id}": one for one in target.staged()}
        for proposer, write in staged.items():
            proposal = known.get(proposer)
            if write.problem:
                continue
            if proposal is None:
                yield from self._proposed(target, write, proposer)
            elif proposal.status is not ProposalStatus.WAITING:
                target.discard(write.id)
                yield f"{proposal.id} is {proposal.status}: taken out of the queue of {target.harness}."
        for proposer, proposal in known.items():
            waits = proposal.status is ProposalStatus.WAITING and proposer.startswith(f"{target.harness}/")
            if waits and proposer not in staged:
                self.review.reject(proposal, f"decided in {target.harness}", by=target.harness)
                yield f"{proposal.id} was decided in {target.harness}."

    def _proposed(self, target: Target, write: StagedWrite, proposer: str) -> Iterator[str]:
        operations = self._operations(target, write)
        if None in operations:
            return
        wanted = tuple(one for one in operations if one is not None)
        why = f"staged by {proposer.partition('/')[0]} for approval"
        suggestion = Suggestion(
            target.name, write.document, wanted, reason=why, proposer=proposer, spoken_by=Origin.AGENT
        )
        yield proposal_outcome(self.review.propose(suggestion, land=False))


def _operation(step: StagedStep, document: str, entries: list[Entry]) -> Operation | None:
    if not step.old:
        return Add(document, step.text)
    found = [one for one in entries if step.old in one.text]
    if len(found) != 1:
        return None
    return Replace(document, found[0].sha256, step.text) if step.text else Remove(document, found[0].sha256)
