"""The curator of a night, asked about a managed memory: which doubtful pairs are changes, and how a rule would read.

It gets a Brief whose one session lists the differences. What it returns is checked like the items of any night; where a
check finds something, or there is no model, the managed memory's own sentence stands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from importlib.resources import files

from reverie.bridge.compare.diff import Difference, DiffKind, StoreDiff, sorted_differences
from reverie.bridge.propose.route import MEMORY, USER, Kept, KeptOut, Places, Route, section_for
from reverie.core.origin import Origin
from reverie.dreams.brief.brief import BriefDocument
from reverie.dreams.brief.gather import BriefMaterial, Material, gather
from reverie.dreams.curators import Curator
from reverie.dreams.items import Item, Op
from reverie.dreams.light.spans import Spans
from reverie.dreams.verify.case import case_of
from reverie.dreams.verify.checks import check
from reverie.transcripts.session import Head, Said, Session, Turn

SESSION = "managed-memory"
NO_ANSWER = "The model gave no usable answer: the managed memory's own sentences are proposed. See `reverie doctor`."
LEFT_OPEN = "The model gave no usable answer: what may only be reworded is left open. See `reverie doctor`."
AT_ONCE = 40  # differences in one Brief
ARGUABLE = 0.1  # chance of a mere rewording from which a curator that passes a change over is believed
CHECKS = frozenset({"quotation", "place", "one_statement", "grounded", "negation", "stands_alone", "safe"})
DOCUMENTS = (BriefDocument(MEMORY, "facts of the work"), BriefDocument(USER, "what is known of the owner"))


@dataclass(frozen=True, slots=True)
class Worded:
    """A difference as a curator worded it, when every check passed. `skill` is empty where it belongs to none."""

    text: str
    skill: str = ""


@dataclass(frozen=True, slots=True)
class Curation:
    """By the difference they are about. `named` are those it takes for changes, also where its wording did not pass.
    `failed` says why nobody was asked, or gave no answer."""

    curator: str = ""
    worded: Mapping[int, Worded] = field(default_factory=dict)
    named: frozenset[int] = frozenset()
    failed: str = ""

    def changes(self, difference: Difference) -> bool:
        return id(difference) in self.named

    def settled(self, diff: StoreDiff) -> StoreDiff:
        """The diff as the curator reads it: what it named has changed, what it passed over is reworded. What it passed
        over although we are sure of a change is doubtful."""
        if not self.curator or self.failed:
            return replace(diff, note=LEFT_OPEN if self.failed else "")
        told = [replace(one, kind=self._kind(one)) for one in diff.differences]
        return replace(diff, differences=sorted_differences(told))

    def _kind(self, one: Difference) -> DiffKind:
        if one.kind not in (DiffKind.CHANGED, DiffKind.DOUBTFUL, DiffKind.REWORDED) or one.place.code:
            return one.kind
        if self.changes(one):
            return DiffKind.CHANGED
        return DiffKind.REWORDED if one.reworded >= ARGUABLE else DiffKind.DOUBTFUL

    def applied(self, route: Route, places: Places) -> Route | KeptOut:
        """The route with the curator's words, and to its skill where the route has no other home. What it passes over
        is kept out where we are not sure of a change either."""
        worded = self.worded.get(id(route.difference))
        if not self.curator or not route.text or len(route.difference.new) != 1:
            return route
        if worded is None:
            if self.failed or self.changes(route.difference):
                return route
            passed_over = f"{self.curator} saw no change in it, or none that could be checked"
            if route.difference.reworded >= ARGUABLE and not (route.rule and route.rule.critical):
                return KeptOut(route.difference, Kept.REWORDED, why=passed_over)
            return replace(route, why=f"{route.why}; {passed_over}")
        told = replace(route, text=worded.text, why=f"{route.why}; worded by {self.curator}")
        found = next((one for one in places.skills if worded.skill in (one.skill.subject, one.path)), None)
        if found is None and route.skill is not None and route.rule is None:
            return replace(told, why=f"{told.why}, who would put it into memory")
        if found is None or not route.is_homeless:
            return told
        why = f"{self.curator} says that it belongs to {found.skill.name}, and worded it"
        return replace(told, skill=found, section=section_for(worded.text, found), document="", why=why)


def curated(
    curator: Curator | None, differences: Sequence[Difference], places: Places, now: datetime, owner: str
) -> Curation:
    asked = [one for one in differences if one.kind is not DiffKind.REMOVED and not one.place.code]
    if curator is None or not asked:
        return Curation()
    worded, named = dict[int, Worded](), set[int]()
    for start in range(0, len(asked), AT_ONCE):
        some = asked[start : start + AT_ONCE]
        material = _material(some, places, now, owner)
        answer = curator.curate(material)
        if answer.failed:
            return Curation(curator.name, worded, frozenset(named), NO_ANSWER)
        for item in answer.answer.items:
            number = _turn(item)
            wrong = {"quotation"}
            if 1 <= number <= len(some):
                checks = check(case_of(item, material, Spans()))
                wrong = {one.name for one in checks if one.findings and one.name in CHECKS}
            if "quotation" not in wrong:
                named.add(id(some[number - 1]))
            if not wrong:
                skill = material.skills.get(item.skill)
                name = (skill.path if skill else item.skill) if item.op is Op.SKILL_AMEND else ""
                worded[id(some[number - 1])] = Worded(material.restored(item.text), name)
    return Curation(curator.name, worded, frozenset(named))


def _material(differences: Sequence[Difference], places: Places, now: datetime, owner: str) -> Material:
    turns = tuple(
        Turn(number, Said("user", _told(one), "managed memory"), Origin.MEMBER)
        for number, one in enumerate(differences, 1)
    )
    session = Session(Head(SESSION, harness="memory-store", started_at=now), turns)
    asked = files("reverie.bridge.propose").joinpath("curate.md").read_text("utf-8")
    skills = tuple(places.skills)
    night = BriefMaterial(now, owner, DOCUMENTS, (), (session,), skills=skills, every_skill=True, instructions=asked)
    return gather(night, None)


def _told(one: Difference) -> str:
    before = [f"It used to say: {one.before}"] if one.old else []
    place = f"{one.place.path}, under {one.place.heading}" if one.place.heading else one.place.path
    return "\n".join([*before, f"It says now: {one.after}", f"On the page: {place}"])


def _turn(item: Item) -> int:
    turns = {one.turn for one in item.evidence}
    wanted = item.op in (Op.ADD, Op.SKILL_AMEND) and len(turns) == 1 and bool(item.text)
    return turns.pop() if wanted else 0
