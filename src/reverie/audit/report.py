"""What an audit says: per home how much there is, what fills its budgets, its grade; and every finding."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from reverie.audit.finding import Finding, FindingKind, Spot
from reverie.audit.grade import Grade, graded
from reverie.audit.inventory import AuditedDocument, Inventory
from reverie.core.errors import BadInput

GOOD, OTHER = "good", "other text"
_NAMES_A_STATEMENT = tuple(
    kind for kind in FindingKind if kind not in (FindingKind.AUTHORITY, FindingKind.VERBOSE, FindingKind.CUT)
)


@dataclass(frozen=True, slots=True)
class Filling:
    """The characters of a document, sorted by the worst that is wrong with the statement they belong to."""

    spot: Spot
    characters: int
    budget: int | None
    parts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class HomeReport:
    name: str
    statements: int
    skills: int
    characters: int
    counts: Mapping[str, int]
    fillings: tuple[Filling, ...]
    grade: Grade


@dataclass(frozen=True, slots=True)
class AuditReport:
    at: datetime
    homes: tuple[HomeReport, ...]
    findings: tuple[Finding, ...]

    def narrowed(self, kinds: Sequence[str], target: str | None) -> AuditReport:
        """With only the findings of these kinds, and about this target; of all kinds or targets where none is named."""
        if unknown := [one for one in kinds if one not in list(FindingKind)]:
            raise BadInput(f"There is no kind of finding {unknown[0]!r}.", expected=", ".join(FindingKind))
        kept = [one for one in self.findings if not kinds or one.kind in kinds]
        return replace(self, findings=tuple(one for one in kept if target in (None, one.spot.target)))

    @property
    def counts(self) -> Counter[str]:
        """The number of findings of each kind, the worst first; notes left out."""
        found = Counter(str(one.kind) for one in self.findings if one.severity != "note")
        return Counter({str(kind): found[kind] for kind in FindingKind if found[kind]})


def reported(standing: Inventory, findings: Sequence[Finding], at: datetime) -> AuditReport:
    names = dict.fromkeys(
        [document.spot.home for document in standing.documents]
        + [kept.spot.home for kept in standing.skills]
        + [one.spot.home for one in standing.unread]
    )
    homes = [_home(name, standing, findings) for name in names]
    return AuditReport(at, tuple(sorted(homes, key=lambda home: (home.grade.points, home.name))), tuple(findings))


def _home(name: str, standing: Inventory, findings: Sequence[Finding]) -> HomeReport:
    documents = [document for document in standing.documents if document.spot.home == name]
    skills = [kept for kept in standing.skills if kept.spot.home == name]
    own = [one for one in findings if one.spot.home == name]
    statements = sum(len(document.statements) for document in documents)
    targets = frozenset(kept.spot.target for kept in skills)
    counts = Counter(str(one.kind) for one in own if one.severity != "note")
    return HomeReport(
        name,
        statements,
        len(skills),
        sum(len(document.text) for document in documents),
        counts,
        tuple(_filling(document, own) for document in documents),
        graded(statements, len(skills), own, targets),
    )


def _filling(document: AuditedDocument, findings: Sequence[Finding]) -> Filling:
    worst: dict[Spot, FindingKind] = {}
    for kind in reversed(_NAMES_A_STATEMENT):
        worst |= {one.spot: kind for one in findings if one.kind is kind and one.severity != "note"}
    parts: Counter[str] = Counter()
    for statement in document.statements:
        parts[str(worst.get(statement.spot, GOOD))] += len(statement.text)
    rest = len(document.text) - parts.total()
    if rest > 0:
        parts[OTHER] = rest
    return Filling(document.spot, len(document.text), document.budget, dict(parts))
