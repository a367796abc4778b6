"""What an audit says: per home how much there is, what fills its budgets, its grade; and every finding. And the same as
one page that needs nothing else: no script, no font, no picture from anywhere.

`docs/audit.md` explains the grade to people; this is where it is done. A home begins with 100 points. It loses the
share of its statements that is at fault, weighed by how bad; half that for skills; and a fixed number for what concerns
a whole document. A secret or something unsafe caps the grade.

The page is `page.html`, in which every text is escaped. What fills the budget of a document is drawn as one bar, its
parts in the colours of what is wrong with them.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.resources import files

from reverie.audit.inventory import ORDER, Finding, FindingKind, Inventory, Severity, Spot
from reverie.core.errors import BadInput

COST: dict[Severity, float] = {"high": 1.0, "medium": 0.6, "low": 0.3, "note": 0.0}
SKILL_SHARE = 50
OF_DOCUMENT = {"high": 20, "medium": 10, "low": 3, "note": 0}
CAPS = ((FindingKind.UNSAFE, 59), (FindingKind.SECRET, 69), (FindingKind.CONTRADICTORY, 89))
UNKNOWN = "?"  # there is something, and nothing of it could be read
LETTERS = ((90, "A"), (80, "B"), (70, "C"), (60, "D"), (0, "F"))


@dataclass(frozen=True, slots=True)
class Grade:
    letter: str
    points: int
    because: tuple[str, ...]


def graded(statements: int, skills: int, findings: Sequence[Finding], skill_targets: frozenset[str]) -> Grade:
    """`findings` are those of one home; `skill_targets` names the targets among them that hold skills."""
    of_skills = [one for one in findings if one.spot.target in skill_targets]
    of_memory = [one for one in findings if one.spot.target not in skill_targets]
    because = ["100 to begin with"]
    points = 100.0
    for name, count, share, found in (
        ("statements", statements, 100, of_memory),
        ("skills", skills, SKILL_SHARE, of_skills),
    ):
        lost, said = _share(name, count, share, found)
        points -= lost
        because += said
    fixed = sum(OF_DOCUMENT[one.severity] for one in of_memory if not one.spot.number)
    if fixed:
        points -= fixed
        because.append(f"−{fixed} for whole documents (full, unreadable or unsafe)")
    points = max(0.0, points)
    for kind, cap in CAPS:
        if points > cap and any(one.kind is kind and one.severity != "note" for one in findings):
            points = cap
            because.append(f"at most {cap}, because something is {kind}")
    unread = [one for one in findings if one.kind is FindingKind.UNREADABLE]
    if unread and not statements and not skills:
        return Grade(UNKNOWN, 0, (*because, "no grade: nothing of it could be read"))
    if unread and points >= LETTERS[0][0]:
        points = LETTERS[0][0] - 1
        because.append("no A, because something could not be read")
    whole = int(points + 0.5)
    return Grade(next(letter for least, letter in LETTERS if whole >= least), whole, tuple(because))


def _share(name: str, count: int, share: int, findings: Iterable[Finding]) -> tuple[float, list[str]]:
    """The points lost to faults: each statement or skill counts once, by the worst that is wrong with it."""
    worst: dict[tuple[str, str, int], Severity] = {}
    for one in findings:
        key = (one.spot.target, one.spot.document, one.spot.number)
        if one.spot.number or name == "skills":
            worst[key] = min(worst.get(key, "note"), one.severity, key=lambda severity: ORDER[severity])
    at_fault = [severity for severity in worst.values() if COST[severity]]
    if not at_fault or not count:
        return 0.0, []
    weight = sum(COST[severity] for severity in at_fault)
    lost = share * weight / max(count, len(at_fault))
    return lost, [f"−{lost:.0f} for {len(at_fault)} of {count} {name} at fault (weighing {weight:.1f})"]


GOOD, OTHER = "good", "other text"
_OF_NO_STATEMENT = (FindingKind.AUTHORITY, FindingKind.VERBOSE, FindingKind.CUT)
_NAMES_A_STATEMENT = tuple(kind for kind in FindingKind if kind not in _OF_NO_STATEMENT)


@dataclass(frozen=True, slots=True)
class Filling:
    """The characters of a document, sorted by the worst that is wrong with the statement they belong to."""

    spot: Spot
    characters: int
    budget: int | None
    parts: Mapping[str, int]

    @property
    def whole(self) -> int:
        return max(self.characters, self.budget or 0, 1)

    @property
    def stretches(self) -> Iterator[tuple[str, int, int]]:
        """The parts in order: each with where it begins and how long it is."""
        start = 0
        for name in (GOOD, *map(str, FindingKind), OTHER):
            if size := self.parts.get(name, 0):
                yield name, start, size
                start += size


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
    homes = list[HomeReport]()
    for name in names:
        documents = [document for document in standing.documents if document.spot.home == name]
        skills = [kept for kept in standing.skills if kept.spot.home == name]
        own = [one for one in findings if one.spot.home == name]
        statements = sum(len(document.statements) for document in documents)
        characters = sum(len(document.text) for document in documents)
        counts = Counter(str(one.kind) for one in own if one.severity != "note")
        worst: dict[Spot, FindingKind] = {}
        for kind in reversed(_NAMES_A_STATEMENT):
            worst |= {one.spot: kind for one in own if one.kind is kind and one.severity != "note"}
        fillings = list[Filling]()
        for document in documents:
            parts: Counter[str] = Counter()
            for statement in document.statements:
                parts[str(worst.get(statement.spot, GOOD))] += len(statement.text)
            rest = len(document.text) - parts.total()
            parts += Counter({OTHER: max(0, rest)})
            fillings.append(Filling(document.spot, len(document.text), document.budget, dict(parts)))
        grade = graded(statements, len(skills), own, frozenset(kept.spot.target for kept in skills))
        homes.append(HomeReport(name, statements, len(skills), characters, counts, tuple(fillings), grade))
    return AuditReport(at, tuple(sorted(homes, key=lambda home: (home.grade.points, home.name))), tuple(findings))


_TITLES = {"high": "Look at these first", "medium": "Then these", "low": "Tidying up", "note": "Good to know"}
MOST_SHOWN = 500  # of one severity; the JSON has them all


def audit_page(report: AuditReport) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    style = (files("reverie.audit") / "page.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    made = Environment(
        loader=PackageLoader("reverie.audit", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    percent = lambda share: "<1%" if 0 < share < 0.005 else f"{share:.0%}"  # noqa: E731
    made.globals |= {"titles": _TITLES, "most": MOST_SHOWN, "percent": percent}
    return made.get_template("page.html").render(report=report, style=style, digest=digest)
