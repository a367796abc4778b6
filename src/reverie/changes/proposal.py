"""A Proposal: the only thing a person is ever asked about. A Verdict: what they answered. And where both are kept.

A person may decide for another document or skill than the night chose: `moved` is the proposal for that one.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, Protocol

from reverie.changes.ledger import Edit, evidence_as_json, operation_as_json
from reverie.core.errors import BadInput, NotFound, ReverieError
from reverie.core.ids import canonical, sha256
from reverie.core.scope import Origin, Scope, weakest
from reverie.memory.library import Memory
from reverie.memory.operation import Add, Operation, Remove
from reverie.safety.scan import SafetyFinding
from reverie.skills.amend import refine
from reverie.skills.edits import AddRule
from reverie.skills.library import Skills
from reverie.skills.skill import Amendment, Patch, action_of, amendment_as_json
from reverie.transcripts.session import Evidence

Kind = Literal["operation", "amendment"]


class ProposalStatus(StrEnum):
    WAITING = "waiting"
    APPROVED = "approved"  # and not landed yet: only a crash leaves one so
    LANDED = "landed"
    REJECTED = "rejected"
    EXPIRED = "expired"
    CONFLICTED = "conflicted"  # what it was about is not there any more


@dataclass(frozen=True, slots=True)
class Part:
    """One dimension of a score: its value in 0..1, what it adds, and the sentence that explains it."""

    name: str
    value: float
    adds: float
    why: str


@dataclass(frozen=True, slots=True)
class Score:
    total: float
    parts: tuple[Part, ...] = ()


def score_as_json(score: Score) -> dict[str, Any]:
    parts = [{"name": one.name, "value": one.value, "adds": one.adds, "why": one.why} for one in score.parts]
    return {"total": score.total, "parts": parts}


@dataclass(frozen=True, slots=True)
class Related:
    """A rule that already stands somewhere, and how the proposed text stands to it."""

    surface: str
    text: str
    relation: str
    confidence: float
    why: str


@dataclass(frozen=True, slots=True)
class Verdict:
    approved: bool
    by: str
    because: str
    at: datetime
    policy: str | None = None
    despite_findings: bool = False


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A change someone would like to see, before anyone has looked at it.

    Memory: `operations` on one document. A skill: an `amendment`, or `edits` to its files and what kind they are.
    `checks`: what verification found, by the name of each check, in what a person made of it; the rest is in its dream.
    """

    target: str
    subject: str
    operations: tuple[Operation, ...] = ()
    edits: tuple[Edit, ...] = ()
    action: str = ""
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
    score: Score | None = None
    proposer: str = "dream"
    dream: str | None = None
    people: int = 1  # distinct authenticated people behind it
    amendment: Amendment | None = None
    spoken_by: Origin | None = None  # who wants it, where that is no transcript's word: an agent, through a tool
    checks: tuple[tuple[str, str], ...] = ()

    @property
    def origin(self) -> Origin | None:
        support = [one.origin for one in self.evidence if one.weight == "support"]
        support += [self.spoken_by] if self.spoken_by else []
        return weakest(support) if support else None

    @property
    def actions(self) -> tuple[str, ...]:
        """`add`, `replace`, `remove`; for a skill `create`, `patch`, `merge`, `retire`, `revert`."""
        if self.operations:
            return tuple(operation_as_json(one)["op"] for one in self.operations)
        return (action_of(self.amendment) if self.amendment else self.action,)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A Suggestion as it was put to a person. `hash` is over the diff and what it was drawn against. `project` is the
    one in whose sessions all of it was said; "" where that is none, or several."""

    id: str
    suggestion: Suggestion
    target_name: str
    diff: str
    hash: str
    findings: tuple[SafetyFinding, ...]
    blocked: bool
    asks_because: str
    related: tuple[Related, ...]
    reach: str
    made_at: datetime
    expires_at: datetime
    status: ProposalStatus = ProposalStatus.WAITING
    verdict: Verdict | None = None
    change: str | None = None
    note: str = ""
    snoozed_until: datetime | None = None  # a person put it off; then it waits again
    project: str = ""

    @property
    def rank(self) -> float:
        """People are asked in this order: the safe before the doubtful, the well founded before the rest."""
        return (1000.0 if self.blocked else 0.0) - (self.suggestion.score.total if self.suggestion.score else 0.0)

    @property
    def kind(self) -> Kind:
        return "operation" if self.suggestion.operations else "amendment"

    @property
    def evidence_key(self) -> frozenset[tuple[str, int, str]]:
        return frozenset((one.session_id, one.turn, one.quote) for one in self.suggestion.evidence)


def drawn_diff(target: str, edits: Iterable[Edit], context: int) -> str:
    """A unified diff, as `git diff` would show it; bytes that are not text are shown escaped."""
    lines = list[str]()
    for edit in edits:
        sides = (edit.before, edit.after)
        old, new = ((side or b"").decode("utf-8", "backslashreplace").splitlines(keepends=True) for side in sides)
        was, now = ("/dev/null" if side is None else f"{target}/{edit.document}" for side in sides)
        for line in difflib.unified_diff(old, new, was, now, n=context):
            lines.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(lines)


def bound(suggestion: Suggestion, diff: str) -> str:
    """The hash an approval is bound to: of the diff as shown and the entries or files it was drawn against."""
    told = {
        "diff": diff,
        "operations": [operation_as_json(one) for one in suggestion.operations],
        "files": [[edit.document, edit.before is not None and sha256(edit.before)] for edit in suggestion.edits],
        "amendment": suggestion.amendment and amendment_as_json(suggestion.amendment),
        "evidence": evidence_as_json(suggestion.evidence),
    }
    return sha256(canonical(told))


@dataclass(frozen=True, slots=True)
class OpenProposals:
    """The proposals that wait at a time. `places` (target and subject) None is anywhere; `dream` and `project` "" are
    any; `snoozed` are those a person put off."""

    now: datetime
    places: tuple[tuple[str, str], ...] | None = None
    dream: str = ""
    project: str = ""
    snoozed: bool = False


class Proposals(Protocol):
    def put(self, scope: Scope, proposal: Proposal) -> None:
        """Store it, or what became of it, with the ledger's row at once."""

    def get(self, scope: Scope, proposal: str) -> Proposal | None: ...

    def find(
        self,
        scope: Scope,
        statuses: Iterable[ProposalStatus],
        since: datetime | None = None,
        place: tuple[str, str] | None = None,
    ) -> list[Proposal]:
        """Oldest first. `since`: only what was decided behind that time; `place`: only what is for that target and
        subject."""

    def waiting(self, scope: Scope, asked: OpenProposals, limit: int | None = None, first: int = 0) -> list[Proposal]:
        """The proposals that wait and have not expired, the best first."""

    def marks(self, scope: Scope, asked: OpenProposals) -> list[tuple[str, str]]:
        """Id and hash of each of those, in the order of their ids."""

    def places(self, scope: Scope, asked: OpenProposals) -> dict[tuple[str, str], Proposal]:
        """Target and subject of all of those, each with one of them."""

    def dreams(self, scope: Scope, asked: OpenProposals) -> list[tuple[str, datetime, str]]:
        """The dreams that proposed them, the newest first, each with when it did and for which target."""

    def projects(self, scope: Scope, asked: OpenProposals) -> list[str]:
        """The projects they were said in, in the order of their names."""

    def expired(self, scope: Scope, now: datetime, limit: int) -> list[Proposal]:
        """The proposals that wait and should not any more."""

    def newest(self, scope: Scope, statuses: Iterable[ProposalStatus], limit: int) -> list[Proposal]:
        """Those that were decided last, the last one first."""


SECTION = "Gotchas"  # of a skill, for a statement that was meant for memory


def elsewhere(memory: Memory, skills: Skills, proposal: Proposal) -> tuple[str, ...]:
    """The documents and skills a proposal could be for instead: none where it says nothing new."""
    if not _texts(proposal.suggestion):
        return ()
    places = [
        *_documents(memory),
        *(f"{folder.name}/{one}" for folder in skills.folders.values() for one in folder.subjects()),
    ]
    here = f"{proposal.target_name}/{proposal.suggestion.subject}"
    return tuple(one for one in dict.fromkeys(places) if one != here)


def moved(memory: Memory, skills: Skills, proposal: Proposal, where: str) -> Suggestion:
    """The same words for another place. What they would have replaced stays as it is."""
    suggestion = proposal.suggestion
    texts = _texts(suggestion)
    if not texts:
        raise BadInput(f"{proposal.id} says nothing new: it cannot be moved.", expected="a statement or rule to add")
    if where in _documents(memory):
        target, _, document = where.rpartition("/")
        operations = tuple(Add(document, text) for text in texts)
        return replace(suggestion, target=target, subject=document, operations=operations, amendment=None)
    try:
        found = skills.get(where)
    except NotFound as error:
        raise BadInput(f"There is no document or skill {where!r}.", expected="one of those that are offered") from error
    added = _added(suggestion)
    patch = refine(found.skill, section=added[0].section if added else SECTION, add=texts)
    subject = found.skill.subject
    return replace(suggestion, target=found.folder.key, subject=subject, operations=(), amendment=patch)


def _documents(memory: Memory) -> list[str]:
    names = list[str]()
    for name in memory.present():
        try:
            names += [f"{name}/{place.document}" for place in memory.target(name).places()]
        except ReverieError:  # one that cannot be read is no place to move to
            continue
    return names


def _added(suggestion: Suggestion) -> list[AddRule]:
    """The rules an amendment adds, if that is all it does."""
    amendment = suggestion.amendment
    edits = amendment.change if isinstance(amendment, Patch) and isinstance(amendment.change, tuple) else ()
    added = [one for one in edits if isinstance(one, AddRule)]
    return added if len(added) == len(edits) else []


def _texts(suggestion: Suggestion) -> list[str]:
    if suggestion.operations:
        return [one.text for one in suggestion.operations if not isinstance(one, Remove)]
    return [one.text for one in _added(suggestion)]
