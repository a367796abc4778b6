"""Where a difference in behaviour belongs: to a rule that stands here already, to a skill, to memory, or nowhere.

Nothing is composed: what is proposed is the managed memory's own sentence. What is kept out is told with its reason.
"""

from __future__ import annotations

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
from reverie.bridge.compare.statements import Snapshot, StoreStatement, statements_of
from reverie.bridge.propose.learned_routes import NOTHING, SKILL, LearnedRoute, learned_for
from reverie.bridge.propose.learned_routes import USER as TO_USER
from reverie.bridge.propose.persons import (
    about_one_person,
    about_the_user,
    name_words,
    perhaps_about,
    words_of,
)
from reverie.changes.history import Rule
from reverie.dreams.light.dates import dates_in
from reverie.dreams.light.language_detection import lowered
from reverie.dreams.light.tagger import tag_sentences
from reverie.dreams.stores.pages import NEW as NEW_PAGE
from reverie.safety.personal.sensitive import sensitive
from reverie.safety.redact import redact
from reverie.safety.scan import scan
from reverie.skills.edits import NUMBERED, rules_of
from reverie.skills.library import FoundSkill
from reverie.skills.page import lines_of, plain_heading
from reverie.text.embedding import embed
from reverie.text.relation import mutual_conflict
from reverie.text.wording.words import normal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

GOTCHAS = "Gotchas"
MEMORY, USER = "MEMORY.md", "USER.md"
LONGEST = 600  # characters of a statement that can become a rule
CLOSEST = 12  # rules that are compared closely
NEAR = 0.3  # likeness from which a rule is held against what is proposed
SAME_SECTION = 0.2  # likeness from which a statement belongs to a section
SPOKEN = 3  # one in so many sentences of a talk, or of a page, says rules of a skill, from which it is about that
MATES = 2  # statements of a page that say rules of a skill, from which the page is about it
NEARLY_ALL = 0.8  # of the rules of skills that a page holds, that are those of one skill
CLOSE = 0.45  # likeness from which a rule may be meant, though nothing says that both cannot hold
ITS_RULES, APART = 0.3, 0.16  # likeness to a skill from which a statement belongs there, and how much more than others
LASTING = 0.12  # from where the tagger takes a statement with a date for one that holds
REDACTED = "[redacted:"
NO_RULES = frozenset({"when to use", "when to use this skill", "use when", "usage", "triggers", "overview"}) | NUMBERED


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
    def is_homeless(self) -> bool:
        """It is in memory only because no skill is known for it."""
        return self.document == MEMORY and bool(self.text) and not (self.rule or self.learned or self.one_person)


@dataclass(frozen=True, slots=True)
class KeptOut:
    difference: Difference
    reason: Kept
    rule: LocalRule | None = None
    why: str = ""


@dataclass(frozen=True)
class Places:
    """Every rule that can be changed here, and every skill; and where reviewers put things. `folder` is
    the key of the one that new skills go to; `pages` the skills that pages of the managed memory are about; `people`
    the accounts that are known, here and there, and `common` the words that it has without a capital."""

    standing: Sequence[LocalRule]
    skills: Sequence[FoundSkill]
    today: date
    learned: Sequence[LearnedRoute] = ()
    folder: str = ""
    pages: Mapping[tuple[str, str], FoundSkill] = field(default_factory=dict)
    people: frozenset[str] = frozenset()
    common: frozenset[str] = frozenset()

    @cached_property
    def _vectors(self) -> NDArray[np.float32]:
        return embed([normal(one.text) for one in self.standing])

    @cached_property
    def _known_words(self) -> frozenset[str]:
        said = [
            *(one.text for one in self.standing),
            *(f"{one.skill.description} {one.skill.body}" for one in self.skills),
        ]
        return self.common | {lowered(word) for text in said for word in words_of(text)}

    def perhaps_about(self, text: str) -> str:
        """The name in a text that may be one person's: of an account, or of somebody nothing here speaks of."""
        return perhaps_about(text, self.people, self._known_words)

    def near(self, text: str, least: float) -> list[LocalRule]:
        """The rules most like a text, the nearest first."""
        if not self.standing:
            return []
        likeness = self._vectors @ embed([normal(text)])[0]
        order = likeness.argsort()[::-1][:CLOSEST].tolist()
        return [self.standing[at] for at in order if likeness[at] >= least]

    def rewords_critical(self, difference: Difference) -> bool:
        """Whether a critical rule was said before, and other words stand there now: nobody is sure of these."""
        if difference.kind.is_behaviour or difference.reworded == 1.0 or not difference.new:
            return False
        rules = (_said_here(one.text, self) for one in difference.old if not one.code)
        return any(rule is not None and rule.critical for rule in rules)

    @cached_property
    def _matters(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """For each skill the mean of its rules, and its description."""
        import numpy as np

        rules = [[at for at, rule in enumerate(self.standing) if rule.skill is skill] for skill in self.skills]
        empty = np.zeros(self._vectors.shape[1:], dtype=np.float32)
        means = np.array([self._vectors[some].mean(axis=0) if some else empty for some in rules])
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        names = [(one.skill.name.replace("-", " "), *one.skill.tags, *one.skill.triggers) for one in self.skills]
        told = [f"{'. '.join(name)}. {one.skill.description}" for name, one in zip(names, self.skills, strict=True)]
        return np.divide(means, lengths, out=np.zeros_like(means), where=lengths > 0), embed([*map(normal, told)])

    def like_its_rules(self, text: str) -> FoundSkill | None:
        """The skill whose rules and description are like a text, and more so than those of every other."""
        if not self.standing or not self.skills:
            return None
        said = embed([normal(text)])[0]
        rules, told = (side @ said for side in self._matters)
        likeness = rules + told / 2
        best, *others = likeness.argsort()[::-1].tolist()
        apart = not others or likeness[best] - likeness[others[0]] >= APART
        return self.skills[best] if likeness[best] >= ITS_RULES and apart else None

    def beside(self, snapshot: Snapshot) -> Places:
        """With the skill that each page of a managed memory is about: its statements are rules of that, and of hardly
        another. A page on which everything is noted is about none."""
        rules: dict[tuple[str, str], Counter[str]] = {}
        statements = Counter[tuple[str, str]]()
        for one in statements_of(snapshot):
            statements[one.path, one.heading] += 1
            rule = None if one.code else _said_here(one.text, self)
            if rule is not None and rule.skill is not None:
                rules.setdefault((one.path, one.heading), Counter())[rule.skill.path] += 1
        by_path = {one.path: one for one in self.skills}
        words = {word for text in snapshot.texts.values() for word in words_of(text) if word.islower()}
        pages_of = dict[tuple[str, str], FoundSkill]()
        for page, said in rules.items():
            ((name, many),) = said.most_common(1)
            if many >= max(MATES, NEARLY_ALL * said.total(), statements[page] / SPOKEN):
                pages_of[page] = by_path[name]
        return replace(self, pages=pages_of, common=frozenset(words))


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
    named = _named_like(new, places.skills)
    if named is not None:
        return named, f"the page it stands on is named like {named.skill.name}"
    said = [one for one in places.skills if frozenset() < name_words(one.skill.name) <= stems(new.text)]
    if len(said) == 1:
        return said[0], f"it names {said[0].skill.name}"
    like = places.like_its_rules(new.text)
    return like, f"it is like the rules of {like.skill.name} and no other skill" if like else ""


def _named_like(new: StoreStatement, skills: Sequence[FoundSkill]) -> FoundSkill | None:
    """The one skill whose name is said by the heading, by the page, or by a folder above; or whose name has all words
    of one of these in it."""
    path = PurePosixPath(new.path)
    pages = [name_words(one) for one in (new.heading, "" if is_for_everything(new.path) else path.stem)]
    folders = [name_words(one) for one in reversed(path.parent.parts)]
    names = [(one, name_words(one.skill.name)) for one in skills]
    whole = ([one for one, name in names if name and name <= words] for words in (*pages, *folders))
    part = ([one for one, name in names if words and words <= name] for words in (*pages, *folders))
    return next((found[0] for found in (*whole, *part) if len(found) == 1), None)


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
    best = max(near, key=lambda one: (only_reworded(one.text, text), one.critical), default=None)
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
