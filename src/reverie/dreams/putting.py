"""One decision put to review, and what became of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import assert_never

from reverie.dreams.dream import Fate, Judged
from reverie.dreams.records import Planned
from reverie.memory.operation import Conflicted, OverBudget, Unfit
from reverie.review.outcome import Landed, Stale, Unchanged, Unsafe, in_words
from reverie.review.proposal import Proposal, Status, Suggestion
from reverie.review.proposing import Repeated
from reverie.review.queue import Proposed, Refused, Review, Waiting


def put(review: Review, one: Planned, *, land: bool) -> Judged:
    """It lands if the night lands, nothing is to be asked, and the policy agrees."""
    wanted = one.suggestion
    assert wanted is not None
    by_itself = land and not one.asks and wanted.amendment is None
    return _became(one, *_told(review.propose(wanted, land=by_itself, asks=one.asks), one.asks))


def put_before(past: Iterable[Proposal], one: Planned, others: Iterable[Judged]) -> Judged | None:
    """What became of it, if it was put to review by who was killed before that could be written down."""
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
        case Status.LANDED:
            return Fate.LANDED, f"Landed as {proposal.change}.", proposal.change or ""
        case Status.WAITING | Status.APPROVED:
            return Fate.WAITING, f"Waits for you. {asks or _sentence(proposal.asks_because)}", proposal.id
        case Status.CONFLICTED:
            return Fate.NOT_DONE, f"Not done: {proposal.note}. Nothing was changed.", ""
        case Status.REJECTED | Status.EXPIRED:
            return Fate.NOT_DONE, f"It is {proposal.status} already ({proposal.id}).", proposal.id
        case _:
            assert_never(proposal.status)


def _told(outcome: Proposed, asks: str) -> tuple[Fate, str, str]:
    match outcome:
        case Landed(change):
            return Fate.LANDED, in_words(outcome), change.id
        case Waiting(proposal):
            return Fate.WAITING, f"Waits for you. {asks or _sentence(proposal.asks_because)}", proposal.id
        case Repeated(proposal) if proposal.status in (Status.WAITING, Status.APPROVED):
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
