"""REM: what becomes of each item of a curator's answer. Verified, scored, gated, limited; the result is a Decision.

What lands by itself passes every check, is sure, and was either said as a standing matter by the owner, or in two
sessions, or both curators agree. Everything else that is worth a look asks, best first, a few a night.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from reverie.changes.proposal import Score
from reverie.core.scope import Origin
from reverie.dreams import words
from reverie.dreams.brief.brief import BriefEntry
from reverie.dreams.brief.gather import Material
from reverie.dreams.items import Item, Op
from reverie.dreams.light.notice import NOTICED
from reverie.dreams.light.spans import Spans, read_alone
from reverie.dreams.score import Measure, less_doubts, score
from reverie.dreams.skill_items import DraftedAmendment, drafted
from reverie.dreams.verify.case import STANDING, Case, case_of
from reverie.dreams.verify.checks import CheckResult, check
from reverie.dreams.verify.reasons import Mark, Objection, Reason, Severity, finding
from reverie.memory.operation import Add, Operation, Remove, Replace
from reverie.memory.target import belongs, in_project
from reverie.text.relation import conflict_on_one_matter

MOST_PROPOSALS = 10
WORTH_ASKING = 0.4  # the score that something needs of which the curator itself is not sure
MOST_JUDGED = 100  # additions nobody is sure of, in one night; of a memory store's, at most half are made
FRAGMENT = 3  # words that may be no more than a part of another sentence
FEW_SURE, MOST_SURE = 4, 8  # items that a curator is sure of in one night
_ORDER = {Op.REPLACE: 0, Op.MERGE: 1, Op.REMOVE: 2, Op.ADD: 3, Op.SKILL_AMEND: 4, Op.SKILL_NEW: 5}


@dataclass(frozen=True, slots=True)
class Gates:
    """The score each kind of change needs to land by itself."""

    add: float = 0.88
    replace: float = 0.80
    remove: float = 0.85
    merge: float = 0.80
    supersession: float = 0.5  # how surely a text must contradict the entry whose place it takes, if it was said once

    def of(self, op: Op) -> float:
        return {Op.ADD: self.add, Op.REPLACE: self.replace, Op.REMOVE: self.remove, Op.MERGE: self.merge}.get(op, 0.0)


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of what one night may do by itself to documents every prompt shows. A memory store has its own, wider
    ones."""

    max_changes: int = 3
    max_adds: int = 1
    max_new_chars: int = 250
    max_amendments: int = 2
    max_proposals: int = MOST_PROPOSALS


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules a night decides by. `asked` counts the other sessions that touched on a text, where there is a search.
    `includes_unsure`: nobody is asked, and what is only unsure is done and marked. `people_needed`: see `Case`.
    `waiting` is what a person was asked before, and has not decided."""

    now: datetime
    gates: Gates = field(default_factory=Gates)
    limits: Limits = field(default_factory=Limits)
    surfaces: tuple[BriefEntry, ...] = ()
    asked: Callable[[str, frozenset[str]], int] = lambda text, sessions: 0
    includes_unsure: bool = False
    people_needed: int = 0
    waiting: frozenset[tuple[Operation, ...]] = frozenset()


@dataclass(frozen=True)
class Decided:
    """An item with all that was found. `findings` that are there keep it from landing."""

    case: Case
    checks: tuple[CheckResult, ...]
    findings: tuple[Objection, ...]
    score: Score | None = None
    skill: DraftedAmendment | None = None
    agreed: bool = False
    makes_room: tuple[BriefEntry, ...] = ()

    @property
    def item(self) -> Item:
        return self.case.item

    @property
    def severity(self) -> Severity | None:
        """None: it lands."""
        return max((one.severity for one in self.findings), default=None)

    @property
    def only_unsure(self) -> bool:
        """It asks, and about nothing that only a person may decide or that may not be true."""
        return self.severity is Severity.ASK and not self.bears(Mark.WITHHELD)

    @property
    def touches(self) -> set[tuple[str, str]]:
        """The entries it would change, each by its document and hash."""
        return {(one.document, one.sha256) for one in self.case.replaced}

    def bears(self, mark: Mark) -> bool:
        return any(mark in one.reason.marks for one in self.findings)

    @property
    def total(self) -> float:
        return self.score.total if self.score else 0.0

    @property
    def new_characters(self) -> int:
        return max(0, len(self.item.text) - sum(map(len, self.case.old)))

    def but(self, *more: Objection) -> Decided:
        return replace(self, findings=(*self.findings, *more))

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The operations on the document; a merge is one replacement and its removals."""
        op, text, replaced = self.item.op, self.case.text, self.case.replaced
        room = [Remove(one.document, one.sha256) for one in self.makes_room]
        if op is Op.ADD:
            return (*room, Add(self.item.document, text))
        gone = [Remove(one.document, one.sha256) for one in replaced]
        if op in (Op.REPLACE, Op.MERGE) and replaced:
            return (Replace(replaced[0].document, replaced[0].sha256, text), *gone[1:], *room)
        return tuple(gone) if op is Op.REMOVE else ()


def decide(items: Iterable[Item], second: Sequence[Item], material: Material, rules: Rules) -> list[Decided]:
    """Every item with what becomes of it: what lands first, then what asks, then the rest. `second` is what the other
    curator returned."""
    spans = Spans()
    apart = [each for item in items for each in _by_document(item, material)]
    # The additions nobody is sure of, beyond those that Light is surest of. To judge one takes long.
    sure = {one.id: one.candidate.confidence for one in material.noted}
    unsure = [one for one in apart if one.op is Op.ADD and not one.sure]
    unsure.sort(key=lambda one: -max((sure.get(name, 0.0) for name in one.candidates), default=1.0))
    late = {id(one) for one in unsure[MOST_JUDGED:]}
    found = [_judged(item, second, material, rules, spans) for item in apart if id(item) not in late]
    found += [_not_judged(item, material, rules, spans) for item in apart if id(item) in late]
    found = _last_words(_trusted(found, len(material.sessions)))
    ranked = sorted(found, key=lambda one: (one.severity or 0, _ORDER[one.item.op], -one.total, one.item.text))
    within = _within(_once_each(ranked), rules, material)
    return within if rules.includes_unsure else _proposals(within, rules)


def _by_document(item: Item, material: Material) -> list[Item]:
    """A removal from several documents is one removal from each: a change is of one document."""
    brief = material.brief
    places = {name: brief.entry[name].document for name in item.replaces if name in brief.entry}
    if item.op is not Op.REMOVE or len(set(places.values())) < 2 or len(places) < len(set(item.replaces)):
        return [item]
    return [
        replace(item, document=document, replaces=tuple(name for name in item.replaces if places[name] == document))
        for document in dict.fromkeys(places.values())
    ]


def _not_judged(item: Item, material: Material, rules: Rules, spans: Spans) -> Decided:
    case = case_of(_placed(item, material), material, spans, rules.surfaces, rules.people_needed)
    return Decided(case, (), (finding(Reason.MOST_PROPOSALS, rules.limits.max_proposals),))


def _judged(item: Item, second: Sequence[Item], material: Material, rules: Rules, spans: Spans) -> Decided:
    case = case_of(_placed(item, material), material, spans, rules.surfaces, rules.people_needed)
    checks = check(case)
    findings = [one for each in checks for one in each.findings]
    made = Decided(case, checks, tuple(findings))
    if made.severity is Severity.REFUSED:
        return made
    if item.op.changes_skill:
        return _of_a_skill(made, material, rules)
    room = {one.name: (one.budget or 1_000_000) - one.characters for one in material.brief.documents}
    sessions = frozenset(one.evidence.session_id for one in case.support)
    doubted = not item.sure and made.bears(Mark.DOUBT) and not _only_of_form(made)
    asked = 0 if doubted else rules.asked(item.text, sessions)  # a search takes long, and this one is refused anyway
    measure = Measure(rules.now, room, asked, rules.limits.max_new_chars)
    made = replace(made, score=score(case, measure), agreed=_agrees(case, second, rules.gates.supersession))
    if case.tidies:
        return made
    if not item.sure:
        little = made.total < WORTH_ASKING and item.op is not Op.REPLACE  # what contradicts an entry is worth a look
        too_little = doubted or little or (case.copied and _is_fragment(item))
        made = made.but(finding(Reason.DOUBTFUL if too_little else Reason.UNSURE))
    elif made.total < WORTH_ASKING and not case.own:
        made = made.but(finding(Reason.DOUBTFUL))
    if not (case.said_as_standing or case.sessions > 1 or made.agreed):
        made = made.but(finding(Reason.SAID_ONCE))
    low = made.total < rules.gates.of(item.op)
    if made.score:
        made = replace(made, score=less_doubts(made.score, made.findings))
    if low:  # told as it is shown, less the doubts
        made = made.but(finding(Reason.LOW_SCORE, f"{made.total:.2f}", f"{rules.gates.of(item.op):.2f}"))
    return made


def _only_of_form(one: Decided) -> bool:
    """Light is sure that it is to be kept, and what is doubted is only how it was put: a person sees that at once."""
    doubts = {each.reason for each in one.findings if Mark.DOUBT in each.reason.marks}
    sure = one.case.surest >= STANDING or one.item.op is Op.REPLACE
    return sure and doubts <= {Reason.LEANS, Reason.NOT_OWN_WORDS}


def _is_fragment(item: Item) -> bool:
    """A few words that were noticed for the sentence beside them, and would not be by themselves: "Monday morning."."""
    few = item.op is Op.ADD and len(words.stems(item.text)) <= FRAGMENT
    exact = any(words.shape_of(value) in ("number", "address") for value in words.values(item.text))
    return few and not exact and read_alone(item.text).keep < NOTICED


def _trusted(found: Sequence[Decided], sessions: int) -> list[Decided]:
    """A curator whose sure answers mostly do not pass, or that wants to change everything, lands nothing tonight."""
    sure = [one for one in found if one.item.sure]
    failed = sum(one.severity is not None and one.bears(Mark.MISTAKE) for one in sure)
    eager = len(sure) > max(MOST_SURE, sessions)
    if not eager and (len(sure) < FEW_SURE or failed * 2 <= len(sure)):
        return list(found)
    return [one.but(finding(Reason.UNTRUSTED)) if one.severity is None else one for one in found]


def _last_words(found: Sequence[Decided]) -> list[Decided]:
    """Of several changes of one entry, only what was said last may be done: the others are overtaken."""
    last = dict[tuple[str, str], tuple[float, int]]()
    open_ = [one for one in found if one.severity is not Severity.REFUSED]
    for one in open_:
        last.update({entry: max(last.get(entry, _said(one)), _said(one)) for entry in one.touches})
    overtaken = {id(one) for one in open_ if any(last[entry] > _said(one) for entry in one.touches)}
    return [one.but(finding(Reason.REPEATED)) if id(one) in overtaken else one for one in found]


def _said(one: Decided) -> tuple[float, int]:
    said = [(each.said_at.timestamp() if each.said_at else 0.0, each.evidence.turn) for each in one.case.support]
    return max(said, default=(0.0, 0))


def _placed(item: Item, material: Material) -> Item:
    """Put what changes an entry where the entry is, whatever the curator says. A matter of one project in a document
    that is read everywhere gets the project's name before it."""
    brief = material.brief
    entry = brief.entry.get(item.replaces[0]) if item.replaces and item.op is not Op.ADD else None
    item = replace(item, document=entry.document) if entry else item
    cited = {brief.session[one.session].project for one in item.evidence if one.session in brief.session}
    project = item.project if {item.project} == cited else ""
    document = brief.document.get(item.document)
    if project and document and item.op is not Op.REMOVE and belongs(document, project) == "prefix":
        return replace(item, project=project, text=in_project(project, item.text))
    return replace(item, project=project)


def _agrees(case: Case, second: Iterable[Item], surely: float) -> bool:
    """Whether the other curator is sure of the same change, from the same words; or at least sees that the new text
    takes the place of the entry, and that the person spoke of both."""
    if case.item.op is Op.REPLACE and all(_overtakes(case, old, surely) for old in case.old):
        return True
    if case.item.op is Op.REMOVE and case.asserted:
        return True  # `spoken_of` has seen that it is over
    cited = {(case.material.short.get(one.evidence.session_id), one.evidence.turn) for one in case.support}
    for other in second:
        same_words = any((one.session, one.turn) in cited for one in other.evidence)
        same_entries = set(other.replaces) == {one.id for one in case.replaced}
        if other.sure and same_words and same_entries and other.op is case.item.op:
            return True
    return False


def _overtakes(case: Case, old: str, surely: float) -> bool:
    spoken = " ".join(one.sentence for one in case.asserted)
    around = " ".join(f"{one.turn_text} {one.answers}" for one in case.asserted)
    if not words.shared(case.text, spoken) - words.stems(old) or not words.shared(old, around):
        return False
    revised = len(words.shared(old, case.text)) * 2 >= len(words.stems(old))
    return revised or max(conflict_on_one_matter(old, one) for one in (case.text, spoken)) >= surely


def _of_a_skill(made: Decided, material: Material, rules: Rules) -> Decided:
    skill = drafted(made.item, material, rules.now)
    if isinstance(skill, str):
        return made.but(finding(Reason.NOT_ONE_STATEMENT, skill))
    made = replace(made, skill=skill, score=score(made.case, Measure(rules.now, {})))
    sessions = {one.evidence.session_id for one in made.case.quotes}
    if made.case.origin in (Origin.AGENT, Origin.TOOL) and len(sessions) < 2:
        return made.but(finding(Reason.SEEN_ONCE))
    return made.but(finding(Reason.SKILL))


def _once_each(ranked: Sequence[Decided]) -> list[Decided]:
    """Of several changes of one entry, the first; of several that say the same, the first."""
    touched, kept = set[tuple[str, str]](), list[Decided]()
    for one in ranked:
        text = " ".join(one.item.text.lower().split())
        marks = one.touches | ({("", text)} if text else set())
        refused = one.severity is Severity.REFUSED
        kept.append(one.but(finding(Reason.REPEATED)) if marks & touched and not refused else one)
        touched |= set() if refused or marks & touched else marks
    return kept


def _within(ranked: Sequence[Decided], rules: Rules, material: Material) -> list[Decided]:
    """Keep what is done within the limits of a night and the room of its document."""
    limits = rules.limits
    changes = adds = amendments = characters = 0
    used = {one.name: one.characters for one in material.brief.documents}
    kept = list[Decided]()
    for one in ranked:
        if one.item.op.changes_skill:
            amendments += one.severity is Severity.ASK
            over = one.severity is Severity.ASK and amendments > limits.max_amendments
            kept.append(one.but(finding(Reason.LIMIT, f"{limits.max_amendments} skills")) if over else one)
            continue
        fits = _with_room(one, used, material)
        if fits.severity is None or (rules.includes_unsure and fits.only_unsure):
            count = max(1, len(one.case.replaced) - (one.item.op is Op.MERGE))
            full = _full(limits, changes + count, adds + (one.item.op is Op.ADD), characters + one.new_characters)
            if full:
                kept.append(replace(fits, findings=(finding(Reason.LIMIT, full),)))
                continue
            changes, adds = changes + count, adds + (one.item.op is Op.ADD)
            characters += one.new_characters
            grows = len(one.item.text) - sum(map(len, one.case.old))
            used[one.item.document] = used.get(one.item.document, 0) + grows
        kept.append(fits)
    return kept


def _full(limits: Limits, changes: int, adds: int, characters: int) -> str:
    if changes > limits.max_changes:
        return f"{limits.max_changes} changes"
    if adds > limits.max_adds:
        return f"{limits.max_adds} addition" + "s" * (limits.max_adds != 1)
    return f"{limits.max_new_chars} new characters" if characters > limits.max_new_chars else ""


def _with_room(one: Decided, used: Mapping[str, int], material: Material) -> Decided:
    document = material.brief.document.get(one.item.document)
    if document is None or document.budget is None or one.severity is Severity.REFUSED or one.item.op is Op.REMOVE:
        return one
    after = used[document.name] + len(one.item.text) - sum(map(len, one.case.old))
    grows = after > used[document.name]
    if after <= document.budget or not grows:
        return one
    # The entries that could make room: those that have stood there longest without a change, and are not critical.
    there = [
        each for each in one.case.brief.entries if each.document == document.name and each not in one.case.replaced
    ]
    spare = [each for each in there if each.changeable and not each.critical]
    spare.sort(key=lambda each: (each.since is None, each.since))
    goes, freed = list[BriefEntry](), 0
    while spare and freed < after - document.budget:
        goes.append(spare.pop(0))
        freed += len(goes[-1].text)
    if freed < after - document.budget:
        goes.clear()
    told = " and ".join(f"“{entry.text}”" for entry in goes) or "no entry that is not critical"
    made = replace(one, makes_room=tuple(goes))
    return made.but(finding(Reason.NO_ROOM, document.name, f"{after:,}", f"{document.budget:,}", told))


def _proposals(ranked: Sequence[Decided], rules: Rules) -> list[Decided]:
    """At most so many questions a night, the best first. What waits already is no new one."""
    limits = rules.limits
    asking = [one for one in ranked if one.severity is Severity.ASK and one.operations not in rules.waiting]
    asking.sort(key=lambda one: (not one.item.op.changes_skill, -one.total))  # skills are few, and limited already
    late = {id(one) for one in asking[limits.max_proposals :]}
    return [
        replace(one, findings=(finding(Reason.MOST_PROPOSALS, limits.max_proposals),)) if id(one) in late else one
        for one in ranked
    ]


def uncovered(decided: Iterable[Decided], material: Material) -> Iterator[str]:
    """The candidates of Light that no item speaks of, by their ids."""
    cited = {(one.session_id, one.turn) for each in decided for one in each.case.evidence}
    named = {name for each in decided for name in each.item.candidates}
    for one in material.noted:
        where = {(evidence.session_id, evidence.turn) for evidence in one.support}
        if one.id not in named and not where & cited:
            yield one.id


def candidates_of(one: Decided, material: Material) -> tuple[str, ...]:
    """The candidates that a decision is about: those it was made from, or whose words it cites."""
    if one.item.candidates:
        return one.item.candidates
    cited = {(each.session_id, each.turn) for each in one.case.evidence}
    return tuple(
        each.id
        for each in material.noted
        if any((evidence.session_id, evidence.turn) in cited for evidence in each.support)
    )
