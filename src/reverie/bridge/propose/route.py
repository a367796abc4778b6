"""Where a difference in behaviour belongs: to a rule that stands here already, to a skill, to memory, or nowhere.

Nothing is composed: what is proposed is the managed memory's own sentence. What is kept out is told with its reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import StrEnum
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from reverie.bridge.compare.align import stems
from reverie.bridge.compare.diff import ALIKE, SAID_ELSEWHERE, Difference, DiffKind
from reverie.bridge.compare.rewording import SURE_CONFLICT, only_reworded
from reverie.bridge.compare.snapshot import Snapshot
from reverie.bridge.compare.statements import StoreStatement, statements_of
from reverie.bridge.propose.learned_routes import NOTHING, SKILL, LearnedRoute, learned_for
from reverie.bridge.propose.learned_routes import USER as TO_USER
from reverie.changes.history.library import Rule
from reverie.dreams.light.dates import dates_in
from reverie.dreams.light.language_detection import detect_language, lowered, speaks_of_self
from reverie.dreams.light.tagger import tag_sentences
from reverie.safety.personal.sensitive import sensitive
from reverie.safety.redact import redact
from reverie.safety.scan import scan
from reverie.skills.amendments.edits import NUMBERED, rules_of
from reverie.skills.library import FoundSkill
from reverie.skills.markdown import plain_heading
from reverie.skills.match_skills import MatchWeights, match
from reverie.skills.page import lines_of
from reverie.text.embedding import embed
from reverie.text.relating.statement import normal
from reverie.text.relation import mutual_conflict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

GOTCHAS = "Gotchas"
MEMORY, USER = "MEMORY.md", "USER.md"
LONGEST = 600  # characters of a statement that can become a rule
CLOSEST = 12  # rules that are compared closely
NEAR = 0.3  # likeness from which a rule is held against what is proposed
SAME_SECTION = 0.2  # likeness from which a statement belongs to a section
SPOKEN = 3  # one in so many sentences of a talk speaks of rules of a skill, from which the talk is about it
MATES = 2  # statements of a page that say rules of a skill, from which the page is about it
CLOSE = 0.45  # likeness from which a rule may be meant, though nothing says that both cannot hold
LASTING = 0.12  # from where the tagger takes a statement with a date for one that holds
EVERY_TOKEN = 10**9
SURE_MATCH = MatchWeights(least=0.45)  # a task may call for a skill in vain; a rule in the wrong skill misleads
REDACTED = "[redacted:"
NO_RULES = frozenset({"when to use", "when to use this skill", "use when", "usage", "triggers", "overview"}) | NUMBERED
_BETWEEN = re.compile(r"[\W_]+")
_USER = ("the user", "user ", "user's ", "der nutzer", "die nutzerin", "el usuario", "la usuaria", "l'utilisat")
_SOMEBODY = (*_USER, "he ", "she ", "his ", "her ")
_PERSON = frozenset({"user", "users", "owner", "profil", "prefer"})  # stems of names that pages about one person have


class Kept(StrEnum):
    """Why a difference becomes no proposal."""

    SECRET = "secret"
    SENSITIVE = "sensitive"
    UNSAFE = "unsafe"
    ONE_OFF = "one_off"
    TOO_LONG = "too_long"
    CODE = "code"
    COVERED = "covered"
    NOT_HERE = "not_here"
    REROUTED = "rerouted"
    REWORDED = "reworded"
    ONE_PERSON = "one_person"


SENTENCES = {
    Kept.SECRET: "it holds a secret",
    Kept.SENSITIVE: "it says something private about a person",
    Kept.UNSAFE: "the safety scan keeps it out",
    Kept.ONE_OFF: "it tells of one day, not of how things are done",
    Kept.TOO_LONG: "it is too long to be one rule",
    Kept.CODE: "it is code, which nobody can follow as a rule",
    Kept.COVERED: "it is said here already",
    Kept.NOT_HERE: "nothing here says what was removed there",
    Kept.REROUTED: "a reviewer wanted nothing of this sort",
    Kept.REWORDED: "it may only be reworded",
    Kept.ONE_PERSON: "it is about one person, and what it would change is shared",
}


@dataclass(frozen=True, slots=True)
class LocalRule:
    """A rule in force here that can be changed: an entry of memory, or a rule in a section of a skill.

    `since` and `evidence` are what history knows of it; `skill` is None for memory.
    """

    text: str
    where: str
    target: str
    subject: str
    section: str = ""
    skill: FoundSkill | None = None
    since: datetime | None = None
    evidence: str = ""
    critical: bool = False

    def known_as(self, rule: Rule | None) -> LocalRule:
        """With what history knows of it."""
        if rule is None:
            return self
        evidence = ", ".join(dict.fromkeys(one.session_id for one in rule.change.grounds.evidence))
        return replace(self, since=rule.since, evidence=evidence, critical=rule.critical)

    def __str__(self) -> str:
        landed = f", landed {self.since:%Y-%m-%d}" if self.since else ""
        return f"“{self.text}” in {self.where}{landed}{f' on {self.evidence}' if self.evidence else ''}"


@dataclass(frozen=True, slots=True)
class Route:
    """`rule` is what is replaced or removed; without one the text is added, to a skill or to a document of memory."""

    difference: Difference
    text: str
    rule: LocalRule | None = None
    skill: FoundSkill | None = None
    section: str = ""
    document: str = ""
    why: str = ""
    learned: str = ""  # the id of the rule by which it goes there, where a reviewer made one


@dataclass(frozen=True, slots=True)
class KeptOut:
    difference: Difference
    reason: Kept
    rule: LocalRule | None = None
    why: str = ""


@dataclass(frozen=True)
class Places:
    """Every rule that can be changed here, and every skill; and where reviewers put things. `folder` is
    the key of the one that new skills go to; `pages` the skills that pages of the managed memory are about."""

    standing: Sequence[LocalRule]
    skills: Sequence[FoundSkill]
    today: date
    learned: Sequence[LearnedRoute] = ()
    folder: str = ""
    pages: Mapping[tuple[str, str], FoundSkill] = field(default_factory=dict)

    @cached_property
    def _vectors(self) -> NDArray[np.float32]:
        return embed([normal(one.text) for one in self.standing])

    def near(self, text: str, least: float) -> list[LocalRule]:
        """The rules most like a text, the nearest first."""
        if not self.standing:
            return []
        likeness = self._vectors @ embed([normal(text)])[0]
        order = likeness.argsort()[::-1][:CLOSEST].tolist()
        return [self.standing[at] for at in order if likeness[at] >= least]

    def beside(self, snapshot: Snapshot) -> Places:
        """With the skill that each page of a managed memory is about: most of its statements are rules of that."""
        pages: dict[tuple[str, str], Counter[str]] = {}
        for one in statements_of(snapshot):
            rule = None if one.code else _said_here(one.text, self)
            if rule is not None and rule.skill is not None:
                pages.setdefault((one.path, one.heading), Counter())[rule.skill.path] += 1
        by_path = {one.path: one for one in self.skills}
        chosen = {page: said.most_common(1)[0] for page, said in pages.items()}
        return replace(self, pages={page: by_path[name] for page, (name, many) in chosen.items() if many >= MATES})


def route(difference: Difference, places: Places) -> list[Route | KeptOut]:
    """One for each statement that came; where none came, one for each that went."""
    if difference.kind is DiffKind.REMOVED:
        return [_removed(difference, one, places) for one in difference.old]
    return [_came(difference, one, places) for one in difference.new]


def _removed(difference: Difference, gone: StoreStatement, places: Places) -> Route | KeptOut:
    rule = _said_here(gone.text, places)
    if rule is None:
        return KeptOut(difference, Kept.NOT_HERE)
    return Route(difference, "", rule, rule.skill, rule.section, why="the same rule stands here")


def _came(difference: Difference, new: StoreStatement, places: Places) -> Route | KeptOut:
    reason = _kept_out(new, places.today)
    if reason is not None:
        return KeptOut(difference, reason)
    covered = _said_here(new.text, places)
    # "Two signatures are optional" has the words of the rule it weakens: of a critical rule only the same words are it
    if covered is not None and (not covered.critical or only_reworded(covered.text, new.text) == 1.0):
        return KeptOut(difference, Kept.COVERED, covered)
    replaced = _changed_here(difference, new, places)
    personal = about_a_person(new.text) or _is_persons_page(new)
    if replaced is not None:
        if personal and replaced.skill is not None and not about_a_person(replaced.text):
            return KeptOut(difference, Kept.ONE_PERSON, replaced)
        why = "the rule it changes stands here"
        return Route(difference, new.text, replaced, replaced.skill, replaced.section, why=why)
    wanted = learned_for(new.text, new.path, places.learned)
    if wanted is not None and (chosen := as_learned(difference, new, wanted, places)):
        return chosen
    found, why = _home(new, places)
    if found is not None and not personal:
        return Route(difference, new.text, None, found, section_for(new.text, found), why=why)
    document, why = (USER, "it is about the person") if personal else (MEMORY, "no skill is about this")
    return Route(difference, new.text, document=document, why=why)


def _home(new: StoreStatement, places: Places) -> tuple[FoundSkill | None, str]:
    """The skill a statement belongs to, by what stands beside it, by the name of its page, by what it says."""
    mates = places.pages.get((new.path, new.heading))
    if mates is not None:
        return mates, f"what stands beside it there are rules of {mates.skill.name}"
    named = _named_like(new, places.skills)
    if named is not None:
        return named, f"the page it stands on is named like {named.skill.name}"
    page = f"{new.heading or PurePosixPath(new.path).stem}. {new.text}"
    skills = [one.skill for one in places.skills]
    named_in = [one for one in skills if frozenset() < _name_words(one.name) <= stems(new.text)]
    tries = ((skills, page, SURE_MATCH), (skills, new.text, SURE_MATCH), (named_in, new.text, MatchWeights()))
    found_by = (match(among, about, budget_tokens=EVERY_TOKEN, weights=sure) for among, about, sure in tries)
    matches = next(filter(None, found_by), None)
    if not matches:
        return None, ""
    return next(one for one in places.skills if one.skill is matches[0].skill), matches[0].why


def _named_like(new: StoreStatement, skills: Sequence[FoundSkill]) -> FoundSkill | None:
    """The one skill whose name is said by the heading, by the page, or by a folder above; or whose name has all words
    of the heading or of the page in it."""
    path = PurePosixPath(new.path)
    pages = [_name_words(one) for one in (new.heading, path.stem)]
    folders = [_name_words(one) for one in reversed(path.parent.parts)]
    names = [(one, _name_words(one.skill.name)) for one in skills]
    whole = ([one for one, name in names if name and name <= words] for words in (*pages, *folders))
    part = ([one for one, name in names if words and words <= name] for words in pages)
    return next((found[0] for found in (*whole, *part) if len(found) == 1), None)


def _name_words(name: str) -> frozenset[str]:
    return stems(_BETWEEN.sub(" ", name))


def spoken_beside(route: Route, said: Sequence[str], places: Places) -> Route:
    """A route that leads to memory alone, to the skill whose rules are spoken of where it was said, if that is one."""
    if route.document != MEMORY or route.rule is not None or route.learned or not route.text:
        return route
    rules = [rule for text in said for rule in places.near(text, ALIKE)[:1] if rule.skill is not None]
    spoken = Counter(rule.skill.path for rule in rules if rule.skill is not None).most_common(1)
    if not spoken or spoken[0][1] < max(MATES, len(said) / SPOKEN):
        return route
    found = next(one for one in places.skills if one.path == spoken[0][0])
    why = f"where it was said people speak of rules of {found.skill.name}"
    return replace(route, skill=found, section=section_for(route.text, found), document="", why=why)


def as_learned(
    difference: Difference, new: StoreStatement, wanted: LearnedRoute, places: Places
) -> Route | KeptOut | None:
    """None where the skill it names is gone."""
    if wanted.to == NOTHING:
        return KeptOut(difference, Kept.REROUTED, why=str(wanted))
    if not wanted.to.startswith(SKILL):
        document = USER if wanted.to == TO_USER else MEMORY
        return Route(difference, new.text, document=document, why=str(wanted), learned=wanted.id)
    found = next((one for one in places.skills if f"{SKILL}{one.skill.subject}" == wanted.to), None)
    if found is None:
        return None
    return Route(difference, new.text, None, found, section_for(new.text, found), why=str(wanted), learned=wanted.id)


def _kept_out(new: StoreStatement, today: date) -> Kept | None:
    if new.code:
        return Kept.CODE
    if REDACTED in new.text or redact(new.text).found:
        return Kept.SECRET
    if sensitive(new.text):
        return Kept.SENSITIVE
    if scan(new.text, "memory").blocked:
        return Kept.UNSAFE
    if len(new.text) > LONGEST:
        return Kept.TOO_LONG
    dated = dates_in(lowered(new.text), today)
    if dated and tag_sentences([new.text])[0].between(0, len(new.text)).keep < LASTING:
        return Kept.ONE_OFF
    return None


def _said_here(text: str, places: Places) -> LocalRule | None:
    """The rule in force that says the same."""
    near = places.near(text, ALIKE)
    best = max(near, key=lambda one: only_reworded(one.text, text), default=None)
    return best if best is not None and only_reworded(best.text, text) >= SAID_ELSEWHERE else None


def _changed_here(difference: Difference, new: StoreStatement, places: Places) -> LocalRule | None:
    """The rule in force that says what was said there before; else the one the change speaks against."""
    said = next((rule for one in difference.old if (rule := _said_here(one.text, places))), None)
    if said is not None or difference.kind is not DiffKind.CHANGED:
        return said
    return next(iter(conflicts(new.text, places, least=ALIKE)), None)


def conflicts(text: str, places: Places, but_not: LocalRule | None = None, least: float = NEAR) -> list[LocalRule]:
    """Rules in force that the text contradicts, or takes the place of; the nearest first."""
    near = (one for one in places.near(text, least) if one is not but_not)
    return [one for one in near if mutual_conflict(one.text, text) >= SURE_CONFLICT]


def closest(text: str, places: Places, but_not: LocalRule | None = None) -> LocalRule | None:
    """The rule in force that a text may be meant to change."""
    return next((one for one in places.near(text, CLOSE) if one is not but_not), None)


def section_for(text: str, found: FoundSkill) -> str:
    """The section whose rules are most like the text; never the steps, whose order is somebody's work. What is like
    none is a gotcha, where the skill has a section for these, or no other that it could stand in."""
    said, near = embed([normal(text)])[0], dict[str, float]()
    for section in found.skill.sections:
        if plain_heading(section.heading) in NO_RULES or section.level == 1:
            continue
        rules = rules_of(lines_of(found.skill.body[section.inside : section.own_end]))
        texts = [section.heading, *(rule.text for rule in rules if rule.marker.strip())]
        if len(texts) > 1:  # prose: a rule would be the first of a list nobody wanted
            near[section.heading] = float((embed([normal(one) for one in texts]) @ said).max())
    best = max(near, key=lambda heading: near[heading], default=GOTCHAS)
    gotchas = next((one for one in near if plain_heading(one) == plain_heading(GOTCHAS)), best)
    return best if near.get(best, 0.0) > SAME_SECTION else gotchas


def _is_persons_page(new: StoreStatement) -> bool:
    """Named for one person and for nothing else: "preferences", "about the user", but not "user service"."""
    path = PurePosixPath(new.path)
    for name in (new.heading, path.stem, *path.parent.parts):
        words = _name_words(name) | (_PERSON & set(_BETWEEN.sub(" ", name.casefold()).split()))
        if words and words <= _PERSON:
            return True
    return False


def about_a_person(text: str) -> bool:
    return normal(text).startswith(_SOMEBODY) or speaks_of_self(text, detect_language(text))
