"""What an audit says: per home how much there is, what fills its budgets, its grade; and every finding. And the same as
one page that needs nothing else: no script, no font, no picture from anywhere.

`docs/audit.md` explains the grade to people; this is where it is done. A home begins with 100 points. It loses the
share of its statements that is at fault, weighed by how bad; half that for skills; and a fixed number for what concerns
a whole document. A secret or something unsafe caps the grade.

Tags cannot be broken out of: every text is escaped unless it was made by `tag`. What fills the budget of a document is
drawn as one bar, its parts in the colours of what is wrong with them.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from html import escape
from importlib.resources import files

from reverie.audit.inventory import ORDER, AuditedDocument, Finding, FindingKind, Inventory, Severity, Spot
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
    homes = [_home_report(name, standing, findings) for name in names]
    return AuditReport(at, tuple(sorted(homes, key=lambda home: (home.grade.points, home.name))), tuple(findings))


def _home_report(name: str, standing: Inventory, findings: Sequence[Finding]) -> HomeReport:
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


class Safe(str):
    """Markup made by `tag`, and nothing else."""

    __slots__ = ()


Child = str | Safe | int | None
_VOID = frozenset({"meta", "br", "hr", "rect", "line", "path", "circle"})


def tag(name: str, /, *children: Child, **attributes: str | float | bool) -> Safe:
    """`class_` is class, `stroke_width` is stroke-width; an attribute that is False is left out."""
    told = ""
    for key, value in attributes.items():
        if value is not False:
            told += f" {key.rstrip('_').replace('_', '-')}"
            told += "" if value is True else f'="{escape(str(value), quote=True)}"'
    if name in _VOID:
        return Safe(f"<{name}{told}>") if not children else Safe(f"<{name}{told}>{join_markup(*children)}</{name}>")
    return Safe(f"<{name}{told}>{join_markup(*children)}</{name}>")


def join_markup(*children: Child) -> Safe:
    return Safe(
        "".join(child if isinstance(child, Safe) else escape(str(child)) for child in children if child is not None)
    )


WIDTH, HEIGHT = 1000, 26
_PARTS = (GOOD, *(str(kind) for kind in FindingKind), OTHER)


def bar(filling: Filling) -> Safe:
    """As wide as the budget, or as the document where there is none or it does not fit."""
    whole = max(filling.characters, filling.budget or 0, 1)
    drawn = [
        tag(
            "rect",
            tag("title", f"{name}: {size:,} characters"),
            class_=_class(name),
            x=round(WIDTH * start / whole, 1),
            y=0,
            width=round(WIDTH * size / whole, 1),
            height=HEIGHT,
        )
        for name, start, size in _stretches(filling)
    ]
    frame = tag("rect", class_="bar", x=0.5, y=0.5, width=WIDTH - 1, height=HEIGHT - 1, rx=4)
    limit = None
    if filling.budget and filling.characters > filling.budget:
        at = round(WIDTH * filling.budget / whole, 1)
        limit = tag("line", class_="full", x1=at, x2=at, y1=0, y2=HEIGHT, stroke_width=3, stroke_dasharray="4 3")
    said = ", ".join(f"{size:,} characters {name}" for name, size in filling.parts.items())
    return tag(
        "svg",
        tag("title", f"{filling.spot}: {said}"),
        *drawn,
        frame,
        limit,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        preserveAspectRatio="none",
        role="img",
        height=HEIGHT,
    )


def legend(filling: Filling) -> Safe:
    whole = max(filling.characters, filling.budget or 0, 1)
    parts = list[Safe]()
    for name, _, size in _stretches(filling):
        patch = tag("svg", tag("rect", class_=_class(name), width=10, height=10, rx=2), viewBox="0 0 10 10")
        parts.append(tag("li", patch, f"{name} {_percent(size / whole)}"))
    free = (filling.budget or 0) - filling.characters
    if free > 0:
        parts.append(tag("li", tag("span", f"free {_percent(free / whole)}", class_="soft")))
    return tag("ul", *parts, class_="legend")


def _stretches(filling: Filling) -> Iterator[tuple[str, int, int]]:
    start = 0
    for name in _PARTS:
        if size := filling.parts.get(name, 0):
            yield name, start, size
            start += size


def _percent(share: float) -> str:
    return "<1%" if 0 < share < 0.005 else f"{share:.0%}"


def _class(name: str) -> str:
    return name.replace(" ", "-")


_TITLES = {"high": "Look at these first", "medium": "Then these", "low": "Tidying up", "note": "Good to know"}
MOST_SHOWN = 500  # of one severity; the JSON has them all


def audit_page(report: AuditReport) -> str:
    style = (files("reverie.audit") / "page.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", "What your agents believe and obey"),
        Safe(f"<style>{style}</style>"),
    )
    return f"<!doctype html>\n{tag('html', head, tag('body', tag('main', *_body(report))), lang='en')}\n"


def _body(report: AuditReport) -> Iterator[Safe]:
    statements, skills = sum(home.statements for home in report.homes), sum(home.skills for home in report.homes)
    yield tag("h1", "What your agents believe and obey")
    said = f"{statements:,} statements and {skills:,} skills in {len(report.homes)} homes"
    yield tag("p", f"{said}, looked at on {report.at:%Y-%m-%d %H:%M} UTC. Nothing was changed.", class_="soft")
    counts = report.counts
    if counts:
        tiles = (tag("li", tag("b", f"{counts[kind]:,}"), kind.value) for kind in FindingKind if counts[kind])
        yield tag("ul", *tiles, class_="tiles")
    else:
        yield tag("p", "Nothing was found that is wrong. ", tag("span", _NOTHING, class_="soft"))
    yield tag("h2", "Homes")
    yield from (_home_section(home) for home in report.homes)
    for severity, title in _TITLES.items():
        found = [one for one in report.findings if one.severity == severity]
        if found:
            yield tag("h2", f"{title} ({len(found):,})")
            yield from (_finding(one) for one in found[:MOST_SHOWN])
            if len(found) > MOST_SHOWN:
                yield tag("p", f"{len(found) - MOST_SHOWN:,} more are in `reverie audit --json`.", class_="soft")
    yield tag(
        "p", "`reverie audit --fix` proposes what can be proposed; nothing lands before you approve it.", class_="soft"
    )


_NOTHING = "Look again after a few weeks of work, or let `reverie dream` keep it so."


def _home_section(home: HomeReport) -> Safe:
    grade = home.grade
    said = f"{home.statements:,} statements, {home.characters:,} characters, {home.skills:,} skills"
    title = tag("div", tag("h3", home.name), tag("p", said, class_="soft small"))
    letter = tag("span", grade.letter, class_=f"grade grade-{grade.letter}", title=f"{grade.points} of 100")
    why = tag("p", f"{grade.points} of 100: {'; '.join(grade.because)}.", class_="soft small")
    documents = list[Safe]()
    for one in home.fillings:
        limit = f" of {one.budget:,}" if one.budget else ""
        name = f"{one.spot.target}/{one.spot.document}: {one.characters:,}{limit} characters"
        documents.append(tag("div", tag("span", name, class_="small"), bar(one), legend(one), class_="document"))
    return tag("section", tag("div", letter, title, class_="head"), why, *documents, class_="home")


def _finding(finding: Finding) -> Safe:
    proposed = "Can be proposed with --fix." if finding.suggestion else "A person has to do it."
    inside = [
        tag("blockquote", finding.words) if finding.words else None,
        tag("p", f"Against {finding.other}:", class_="small soft") if finding.other else None,
        tag("blockquote", finding.other_words) if finding.other_words else None,
        tag("p", tag("span", finding.advice), " ", tag("span", proposed, class_="soft"), class_="small"),
    ]
    place = tag("span", f" {finding.spot}", class_="soft small")
    excerpt = " ".join(finding.words.split())[:160]
    first = tag("span", excerpt, class_="excerpt soft") if excerpt else None
    summary = tag("summary", tag("b", finding.kind.value), finding.why, place, first)
    return tag(
        "details",
        summary,
        tag("div", join_markup(*inside), class_="inside"),
        class_=finding.severity,
        open=finding.severity == "high",
    )
