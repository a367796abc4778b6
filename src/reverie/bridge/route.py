"""Where a difference in behaviour belongs: to a rule that stands here already, to a skill, to memory, or nowhere.

Nothing is composed: what is proposed is the managed memory's own sentence. What is kept out is told with its reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import PurePosixPath
from typing import ClassVar

from reverie.bridge.diff import ALIKE, Difference, DiffKind, TellingReason, stems
from reverie.bridge.places import (
    MATES,
    NOTHING,
    SKILL,
    SPOKEN,
    LearnedRoute,
    LocalRule,
    Places,
    about_one_person,
    about_the_user,
    learned_for,
    name_words,
)
from reverie.bridge.places import USER as TO_USER
from reverie.bridge.statements import SURE_CONFLICT, StoreStatement, only_reworded
from reverie.dreams.light.language import dates_in, lowered
from reverie.dreams.light.tagger import tag_sentences
from reverie.dreams.stores.pages import NEW as NEW_PAGE
from reverie.safety.redact import redact
from reverie.safety.scan import scan
from reverie.safety.sensitive import sensitive
from reverie.skills.edits import NUMBERED, rules_of
from reverie.skills.library import FoundSkill
from reverie.skills.page import lines_of, plain_heading
from reverie.text.embedding import embed
from reverie.text.relation import mutual_conflict
from reverie.text.words import normal

GOTCHAS = "Gotchas"
MEMORY, USER = "MEMORY.md", "USER.md"
LONGEST = 600  # characters of a statement that can become a rule
NEAR = 0.3  # likeness from which a rule is held against what is proposed
SAME_SECTION = 0.2  # likeness from which a statement belongs to a section
CLOSE = 0.45  # likeness from which a rule may be meant, though nothing says that both cannot hold
LASTING = 0.12  # from where the tagger takes a statement with a date for one that holds
REDACTED = "[redacted:"
NO_RULES = frozenset({"when to use", "when to use this skill", "use when", "usage", "triggers", "overview"}) | NUMBERED


class Kept(TellingReason):
    """Why a difference becomes no proposal."""

    SECRET = "secret", "it holds a secret"
    SENSITIVE = "sensitive", "it says something private about a person"
    UNSAFE = "unsafe", "the safety scan keeps it out"
    ONE_OFF = "one_off", "it tells of one day, not of how things are done"
    TOO_LONG = "too_long", "it is too long to be one rule"
    CODE = "code", "it is code, which nobody can follow as a rule"
    COVERED = "covered", "it is said here already"
    NOT_HERE = "not_here", "nothing here says what was removed there"
    REROUTED = "rerouted", "a reviewer wanted nothing of this sort"
    REWORDED = "reworded", "it may only be reworded"
    ONE_PERSON = "one_person", "it is about one person, and what it would change is shared"


@dataclass(frozen=True, slots=True)
class Route:
    """`rule` is what is replaced or removed; without one the text is added, to a skill or to a document of memory.
    What is about `one_person` stays in memory."""

    difference: Difference
    text: str
    rule: LocalRule | None = None
    skill: FoundSkill | None = None
    section: str = ""
    document: str = ""
    why: str = ""
    learned: str = ""  # the id of the rule by which it goes there, where a reviewer made one
    one_person: bool = False

    @property
    def rank(self) -> int:
        """The order in which they are proposed: what changes a rule, what a skill is about, the rest."""
        return 0 if self.rule is not None else 1 if self.skill is not None else 2

    @property
    def is_homeless(self) -> bool:
        """It is in memory only because no skill is known for it."""
        return self.document == MEMORY and bool(self.text) and not (self.rule or self.learned or self.one_person)


@dataclass(frozen=True, slots=True)
class KeptOut:
    difference: Difference
    reason: Kept
    rule: LocalRule | None = None
    why: str = ""
    rank: ClassVar = 3


def route(difference: Difference, places: Places) -> list[Route | KeptOut]:
    """One for each statement that came; where none came, one for each that went."""
    if difference.kind is not DiffKind.REMOVED:
        return [_came(difference, one, places) for one in difference.new]
    rules = [places.said_here(gone.text) for gone in difference.old]
    return [
        Route(difference, "", rule, rule.skill, rule.section, why="the same rule stands here")
        if rule is not None
        else KeptOut(difference, Kept.NOT_HERE)
        for rule in rules
    ]


def _came(difference: Difference, new: StoreStatement, places: Places) -> Route | KeptOut:
    reason = _kept_out(new, places.today)
    if reason is not None:
        return KeptOut(difference, reason)
    covered = places.said_here(new.text)
    # "Two signatures are optional" has the words of the rule it weakens: of a critical rule only the same words are it
    if covered is not None and (not covered.critical or only_reworded(covered.text, new.text) == 1.0):
        return KeptOut(difference, Kept.COVERED, covered)
    # the rule that says what was said there before; else the one the change speaks against
    replaced = next((rule for one in difference.old if (rule := places.said_here(one.text))), None)
    if replaced is None and difference.kind is DiffKind.CHANGED:
        replaced = next(iter(conflicts(new.text, places, least=ALIKE)), None)
    the_users = about_the_user(new)
    one_person = the_users or (about_one_person(new.text) and bool(places.perhaps_about(new.text)))
    if replaced is not None:
        if one_person and replaced.skill is not None and not about_one_person(replaced.text):
            return KeptOut(difference, Kept.ONE_PERSON, replaced)
        why = "the rule it changes stands here"
        return Route(difference, new.text, replaced, replaced.skill, replaced.section, why=why)
    wanted = learned_for(new.text, new.path, places.learned)
    if wanted is not None and (chosen := as_learned(difference, new, wanted, places)):
        return chosen
    if one_person:
        document, why = (USER, "it is about the person") if the_users else (MEMORY, "it is about one person")
        return Route(difference, new.text, document=document, why=why, one_person=True)
    found, why = _home(new, places)
    if found is not None:
        return Route(difference, new.text, None, found, section_for(new.text, found), why=why)
    return Route(difference, new.text, document=MEMORY, why="no skill is about this")


def _home(new: StoreStatement, places: Places) -> tuple[FoundSkill | None, str]:
    """The skill a statement belongs to, by what stands beside it, by the name of its page, by what it says."""
    mates = places.pages.get((new.path, new.heading))
    if mates is not None:
        return mates, f"what stands beside it there are rules of {mates.skill.name}"
    # The one skill whose name is said by the heading, by the page, or by a folder above; or whose name has all words of
    # one of these in it.
    path = PurePosixPath(new.path)
    above = (new.heading, "" if is_for_everything(new.path) else path.stem, *reversed(path.parent.parts))
    pages = [name_words(one) for one in above]
    names = [(one, name_words(one.skill.name)) for one in places.skills]
    whole = ([one for one, name in names if name and name <= words] for words in pages)
    part = ([one for one, name in names if words and words <= name] for words in pages)
    named = next((found[0] for found in (*whole, *part) if len(found) == 1), None)
    if named is not None:
        return named, f"the page it stands on is named like {named.skill.name}"
    said = [one for one, name in names if frozenset() < name <= stems(new.text)]
    if len(said) == 1:
        return said[0], f"it names {said[0].skill.name}"
    like = places.like_its_rules(new.text)
    return like, f"it is like the rules of {like.skill.name} and no other skill" if like else ""


def is_for_everything(path: str) -> bool:
    """Whether dreams put there what has no page: it stands beside anything, and is named after nothing."""
    return path.rpartition(".")[0] == NEW_PAGE


def spoken_beside(route: Route, said: Sequence[str], places: Places) -> Route:
    """A route that leads to memory alone, to the skill whose rules are spoken of where it was said, if that is one."""
    if not route.is_homeless:
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
    report = scan(new.text, "memory")
    if report.blocked and {one.category for one in report.findings} != {"suspicious"}:  # no more than that asks
        return Kept.UNSAFE
    if len(new.text) > LONGEST:
        return Kept.TOO_LONG
    dated = dates_in(lowered(new.text), today)
    if dated and tag_sentences([new.text])[0].between(0, len(new.text)).keep < LASTING:
        return Kept.ONE_OFF
    return None


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
