"""From a route to a suggestion for the queue: the managed memory's own sentence, where it belongs, with its grounds.

Several that belong together and to no skill there is become one new skill, instead of a line each in memory.
Whatever the policy says, it asks: what a managed memory says was written by an agent, or came in as a file.

The curator of a night is asked which doubtful pairs are changes, and how a rule would read. It gets a Brief whose one
session lists the differences. What it returns is checked like the items of any night; where a check finds something, or
there is no model, the managed memory's own sentence stands.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from importlib.resources import files
from typing import ClassVar

from reverie.bridge.backing import Backing, Doubt
from reverie.bridge.diff import Difference, DiffKind, StoreDiff, sorted_differences
from reverie.bridge.places import Places
from reverie.bridge.route import MEMORY, USER, Kept, KeptOut, Route, is_for_everything, section_for
from reverie.bridge.source import Provenance, Snapshot
from reverie.bridge.statements import StoreStatement
from reverie.changes.headline import MANAGED_MEMORY
from reverie.changes.proposal import Suggestion
from reverie.changes.queue import Proposed
from reverie.core.errors import BadInput
from reverie.core.scope import Origin
from reverie.dreams.brief.brief import BriefDocument
from reverie.dreams.brief.gather import BriefMaterial, gather
from reverie.dreams.curators import Curator
from reverie.dreams.items import Op
from reverie.dreams.light.spans import Spans
from reverie.dreams.light.tagger import tag_sentences
from reverie.dreams.verify.case import case_of
from reverie.dreams.verify.checks import check
from reverie.memory.operation import Add, Remove, Replace, entry_hash
from reverie.skills.amend import draft, refine
from reverie.skills.skill import Bump, Create, new_name
from reverie.text.embedding import embed
from reverie.text.words import carries_meaning, normal, raw_words
from reverie.transcripts.session import Evidence, Head, Said, Session, Turn, quote

# ---- several that belong together and to no skill there is -----------------------------------------------------------

FEWEST, MOST = 3, 30  # rules of a new skill: a page with more is one on which everything is noted
_CHAPTER = re.compile(r"^\d+(?:\.\d+)*[.)]\s+")  # "2. Data models"
MOST_NAMED = 4  # words of a name made of what rules have in common
TOGETHER = 0.5  # likeness from which two statements are about the same


@dataclass(frozen=True, slots=True)
class NewSkill:
    """The rules it would hold, in the order of the managed memory."""

    routes: tuple[Route, ...]
    name: str
    rank: ClassVar = 1

    @property
    def amendment(self) -> Create:
        title = self.name.replace("-", " ").capitalize()
        lines = [f"# {title}", "", "## Rules", "", *(f"- {one.text}" for one in self.routes), ""]
        return draft(self.name, "\n".join(lines), description=f"{title}: rules that a managed memory learned.")


Routed = Route | KeptOut | NewSkill


def with_new_skills(routed: Sequence[Route | KeptOut], taken: Sequence[str]) -> list[Routed]:
    """Those that have no home but memory, three or more about one matter, most of which say how something is done."""
    homeless = [one for one in routed if isinstance(one, Route) and one.is_homeless]
    if len(homeless) < FEWEST:
        return list(routed)
    tagged = zip(homeless, tag_sentences([one.text for one in homeless]), strict=True)
    facts = {id(one) for one, found in tagged if found.between(0, len(one.text)).kind == "fact"}
    # By page and heading; pages whose statements are about the same are put together. What stands on the page for
    # everything is a page by itself.
    pages: dict[tuple[str, str, int], list[Route]] = {}
    for number, one in enumerate(homeless, 1):
        place = one.difference.place
        alone = number if is_for_everything(place.path) and not place.heading else 0
        pages.setdefault((place.path, place.heading, alone), []).append(one)
    groups = list[list[Route]]()
    for page in pages.values():
        said, *means = (embed([normal(one.text) for one in some]).mean(axis=0) for some in (page, *groups))
        near = next((group for group, mean in zip(groups, means, strict=True) if float(mean @ said) >= TOGETHER), None)
        if near is None:
            groups.append(page)
        else:
            near.extend(page)
    made = list[NewSkill]()
    for group in groups:
        if FEWEST <= len(group) <= MOST and 2 * sum(id(one) in facts for one in group) < len(group):
            place = group[0].difference.place  # named by heading or page; on the page for everything by common words
            plain = place.heading or place.path.rpartition("/")[2].partition(".")[0]
            if is_for_everything(place.path) and not place.heading:
                others = [set(raw_words(normal(one.text))) for one in group]
                shared = (word for word in raw_words(normal(group[0].text)) if all(word in words for words in others))
                plain = " ".join([word for word in shared if carries_meaning(word)][:MOST_NAMED])
            name = new_name(_CHAPTER.sub("", plain), [*taken, *(one.name for one in made)], "learned")
            made.append(NewSkill(tuple(group), name))
    inside = {id(one) for skill in made for one in skill.routes}
    return [*made, *(one for one in routed if id(one) not in inside)]


# ---- drafts ----------------------------------------------------------------------------------------------------------

ASKS = "it comes from a managed memory"
PROPOSER = "bridge"
MOST_SESSIONS = 5  # that a reason names


@dataclass(frozen=True, slots=True)
class NoPlace:
    """A route that leads to nothing: the skill or the document cannot take it."""

    difference: Difference
    why: str


@dataclass(frozen=True, slots=True)
class Drafted:
    """The draft made of a difference; of several, where they are to be one new skill."""

    route: Route
    proposed: Proposed
    together: tuple[Route, ...] = ()


@dataclass(frozen=True, slots=True)
class Postponed:
    """Left for another time: so many proposals of one batch wait already."""

    route: Route


@dataclass(frozen=True, slots=True)
class DoubtedDraft:
    """Kept back because of who is behind it; `backing` names the people and the sessions."""

    route: Route
    doubt: Doubt
    backing: Backing


Result = Drafted | KeptOut | NoPlace | Postponed | DoubtedDraft


def suggestion(route: Route, old: Snapshot, new: Snapshot, target: str, batch: str) -> Suggestion | NoPlace:
    """`target` is the memory that facts without a rule of ours go to; `batch` names what is undone together."""
    try:
        before = tuple(_cited(old, one) for one in route.difference.old)
        after = tuple(_cited(new, one) for one in route.difference.new) if route.text else ()
        context = tuple(one.as_context() for one in before) if after else ()
        difference = route.difference
        here, side = (difference.new or difference.old)[0], new if difference.new else old
        told = f"“{here.text}” instead of “{difference.before}”, says the managed memory"
        if difference.kind is DiffKind.ADDED:
            told = f"“{here.text}”, the managed memory learned"
        elif difference.kind is DiffKind.REMOVED:
            told = f"“{here.text}” was dropped by the managed memory; dropping it here needs its own verdict"
        origin = side.origin_of(here.path, here.quote)
        grounds = "; ".join([f"{origin.store or side.name}{here.path}", *_grounds([origin])])
        why = f"It is put here because {route.why[:1].lower()}{route.why[1:].removesuffix('.')}."
        evidence, reason = (*(after or before), *context), f"{told} ({grounds}). {why}"
        given = Suggestion(target, route.document, reason=reason, evidence=evidence, proposer=PROPOSER, dream=batch)
        return placed(given, route)
    except BadInput as error:
        return NoPlace(route.difference, str(error))


def skill_suggestion(new: NewSkill, snapshot: Snapshot, folder: str, batch: str) -> Suggestion | NoPlace:
    first, said = new.routes[0], [one.difference.new[0] for one in new.routes]
    origins = [(one.path, snapshot.origin_of(one.path, one.quote)) for one in said]
    pages = dict.fromkeys(f"{origin.store or snapshot.name}{path}" for path, origin in origins)
    grounds = "; ".join([*pages, *_grounds([origin for _, origin in origins])])
    reason = f"{len(said)} related things the managed memory learned belong to no skill there is ({grounds})."
    try:
        evidence = tuple(_cited(snapshot, one) for one in said)
        made = new.amendment
    except BadInput as error:
        return NoPlace(first.difference, str(error))
    return Suggestion(
        folder, made.subject, amendment=made, reason=reason, evidence=evidence, proposer=PROPOSER, dream=batch
    )


def placed(given: Suggestion, route: Route) -> Suggestion:
    rule = route.rule
    if route.skill is not None:
        old = rule.text if rule else ""
        changes = (
            {"add": [route.text]} if not old else {"replace": {old: route.text}} if route.text else {"remove": [old]}
        )
        bump: Bump = "major" if old else "minor"
        patch = refine(route.skill.skill, section=route.section, bump=bump, **changes)
        return replace(given, target=route.skill.folder.key, subject=patch.subject, amendment=patch)
    if rule is None:
        return replace(given, subject=route.document, operations=(Add(route.document, route.text),))
    sha = entry_hash(rule.text)
    operation = Replace(rule.subject, sha, route.text) if route.text else Remove(rule.subject, sha)
    return replace(given, target=rule.target, subject=rule.subject, operations=(operation,))


def _cited(snapshot: Snapshot, said: StoreStatement) -> Evidence:
    """A quotation of the memory as it stands. The version is no part of its name: the same words are the same evidence
    as long as they stand in that memory."""
    origin = snapshot.origin_of(said.path, said.quote)
    by_agent = bool(origin.dream) or origin.author.startswith("sesn_")
    name = f"{MANAGED_MEMORY}{origin.store or snapshot.name}{said.path}"
    turn = Turn(1, Said("assistant", snapshot.texts[said.path]), Origin.AGENT if by_agent else Origin.TOOL)
    return quote(Session(Head(name, harness="memory-store"), (turn,)), 1, said.quote)


def _grounds(origins: Sequence[Provenance]) -> list[str]:
    told = [f"version {one.version} of {one.at}" for one in origins if one.version]
    told += [f"written by the dream {one.dream}" for one in origins if one.dream]
    told += [f"written by {one.author}" for one in origins if one.author and not one.dream]
    sessions = list(dict.fromkeys(name for one in origins for name in one.sessions))
    more = len(sessions) - MOST_SESSIONS
    named = ", ".join(sessions[:MOST_SESSIONS]) + (f" and {more} more" if more > 0 else "")
    return [*dict.fromkeys(told), *([f"from the sessions {named}"] if named else [])]


# ---- as a curator words it -------------------------------------------------------------------------------------------

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
    prompt, skills = files("reverie.bridge").joinpath("curate.md").read_text("utf-8"), tuple(places.skills)
    worded, named = dict[int, Worded](), set[int]()
    for start in range(0, len(asked), AT_ONCE):
        some = asked[start : start + AT_ONCE]
        turns = list[Turn]()
        for number, one in enumerate(some, 1):
            before = [f"It used to say: {one.before}"] if one.old else []
            place = f"{one.place.path}, under {one.place.heading}" if one.place.heading else one.place.path
            text = "\n".join([*before, f"It says now: {one.after}", f"On the page: {place}"])
            turns.append(Turn(number, Said("user", text, "managed memory"), Origin.MEMBER))
        session = Session(Head(SESSION, harness="memory-store", started_at=now), tuple(turns))
        night = BriefMaterial(
            now, owner, DOCUMENTS, (), (session,), skills=skills, every_skill=True, instructions=prompt
        )
        material = gather(night, None)
        answer = curator.curate(material)
        if answer.failed:
            return Curation(curator.name, worded, frozenset(named), NO_ANSWER)
        for item in answer.answer.items:
            quoted = {one.turn for one in item.evidence}
            whole = item.op in (Op.ADD, Op.SKILL_AMEND) and len(quoted) == 1 and bool(item.text)
            number = quoted.pop() if whole else 0
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
