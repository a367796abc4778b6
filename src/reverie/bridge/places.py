"""Where a difference could belong: rules that stand here and can be changed, the skills, and what reviewers chose.

Where a reviewer put what the bridge had put elsewhere, the next statement like it goes, too. What is about one person
belongs in no skill, which others follow, too. Nobody has a list of names, and a name alone says little: "Press
enquiries go to Yusuf" is a rule for everyone. The trained tagger knows words that tell what somebody else wants; whom
the sessions or this home know is asked about.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Protocol

from reverie.bridge.diff import ALIKE, SAID_ELSEWHERE, Difference, stems
from reverie.bridge.source import Snapshot
from reverie.bridge.statements import StoreStatement, only_reworded, statements_of
from reverie.changes.history import Rule
from reverie.dreams.light.language import detect_language, lowered, small_words_of, speaks_of_self
from reverie.dreams.light.tagger import tag_sentences
from reverie.skills.library import FoundSkill
from reverie.text.embedding import embed
from reverie.text.values import find_values, spelled
from reverie.text.words import normal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# ---- what reviewers chose --------------------------------------------------------------------------------------------

LIKE = 0.55  # likeness from which a statement is of the same sort
SAME_PAGE = 0.2  # what it counts for that both stand on the same page of a managed memory
MEMORY, USER, NOTHING, SKILL = "memory", "user", "nothing", "skill:"


@dataclass(frozen=True, slots=True)
class LearnedRoute:
    """Send what is like `text` to `to`: `memory`, `user`, `nothing`, or `skill:<name>`. `place` is where it stood."""

    id: str
    text: str
    to: str
    by: str
    at: datetime
    place: str = ""

    def __str__(self) -> str:
        return f"{self.by} put “{self.text}” there on {self.at:%Y-%m-%d} ({self.id})"


class LearnedRoutes(Protocol):
    def all(self) -> list[LearnedRoute]: ...

    def put(self, route: LearnedRoute, /) -> None: ...

    def remove(self, name: str, /) -> bool: ...


def learned_for(text: str, path: str, learned: Sequence[LearnedRoute]) -> LearnedRoute | None:
    """The nearest that is like it; of two that are as near, the newer."""
    if not learned:
        return None
    alike = embed([normal(one.text) for one in learned]) @ embed([normal(text)])[0]
    likeness = [float(near) + SAME_PAGE * one.place.endswith(path) for near, one in zip(alike, learned, strict=True)]
    best = max(range(len(learned)), key=lambda at: (round(likeness[at], 4), learned[at].at))
    return learned[best] if likeness[best] >= LIKE else None


# ---- what stands here ------------------------------------------------------------------------------------------------

CLOSEST = 12  # rules that are compared closely
NEARLY_ALL = 0.8  # of the rules of skills that a page holds, that are those of one skill
ITS_RULES, APART = 0.3, 0.16  # likeness to a skill from which a statement belongs there, and how much more than others
SPOKEN = 3  # one in so many sentences of a talk, or of a page, says rules of a skill, from which it is about that
MATES = 2  # statements of a page that say rules of a skill, from which the page is about it


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
        if rule is None:
            return self
        evidence = ", ".join(dict.fromkeys(one.session_id for one in rule.change.grounds.evidence))
        return replace(self, since=rule.since, evidence=evidence, critical=rule.critical)

    def __str__(self) -> str:
        landed = f", landed {self.since:%Y-%m-%d}" if self.since else ""
        return f"“{self.text}” in {self.where}{landed}{f' on {self.evidence}' if self.evidence else ''}"


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
        said = [one.text for one in self.standing]
        said += [f"{one.skill.description} {one.skill.body}" for one in self.skills]
        return self.common | {lowered(word) for text in said for word in plain_words(text)}

    def perhaps_about(self, text: str) -> str:
        """Whom it may be about: the one of the people known here that it names, else the word with a capital, unknown
        here, that looks most like a name."""
        words = plain_words(text)
        for account in sorted(self.people):  # "Bob" of `bob.miller@shop.example`; nobody of `user7`
            first = account.partition("@")[0]
            name = "" if any(sign.isdigit() for sign in first) else BETWEEN.split(first)[0].capitalize()
            if name in words or (name and not name.isascii() and name in text):
                return name
        language = detect_language(text)  # in German every noun has a capital: there, the first word only
        words = [one for one in words[: 1 if language == "de" else None] if one.istitle() and len(one) > 1]
        found = find_values(spelled(normal(text)))
        values = {word for one in found for word in one.shown.split()}  # days and months have a capital, too
        no_names = {*self._known_words, *values, *small_words_of(language)}
        unknown = [one for one in words if lowered(one) not in no_names]
        wish, *chances = _of_somebody_else([text, *(f"{one} prefers short emails." for one in unknown)])
        least = LIKE_ONE_IN_A_WISH if wish >= PERHAPS_WISH else LIKE_A_NAME
        chance, likeliest = max(zip(chances, unknown, strict=True), default=(0.0, ""))
        return likeliest if chance >= least else ""

    def near(self, text: str, least: float) -> list[LocalRule]:
        if not self.standing:
            return []
        likeness = self._vectors @ embed([normal(text)])[0]
        order = likeness.argsort()[::-1][:CLOSEST].tolist()
        return [self.standing[at] for at in order if likeness[at] >= least]

    def said_here(self, text: str) -> LocalRule | None:
        near = self.near(text, ALIKE)
        best = max(near, key=lambda one: (only_reworded(one.text, text), one.critical), default=None)
        return best if best is not None and only_reworded(best.text, text) >= SAID_ELSEWHERE else None

    def rewords_critical(self, difference: Difference) -> bool:
        """Whether a critical rule was said before, and other words stand there now: nobody is sure of these."""
        if difference.kind.is_behaviour or difference.reworded == 1.0 or not difference.new:
            return False
        rules = (self.said_here(one.text) for one in difference.old if not one.code)
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
            rule = None if one.code else self.said_here(one.text)
            if rule is not None and rule.skill is not None:
                rules.setdefault((one.path, one.heading), Counter())[rule.skill.path] += 1
        by_path = {one.path: one for one in self.skills}
        words = {word for text in snapshot.texts.values() for word in plain_words(text) if word.islower()}
        pages_of = dict[tuple[str, str], FoundSkill]()
        for page, said in rules.items():
            ((name, many),) = said.most_common(1)
            if many >= max(MATES, NEARLY_ALL * said.total(), statements[page] / SPOKEN):
                pages_of[page] = by_path[name]
        return replace(self, pages=pages_of, common=frozenset(words))


WISH, PERHAPS_WISH = 0.9, 0.5  # from where the tagger takes words for what somebody else wants
LIKE_A_NAME = 0.95  # from where it takes a word for somebody's name, put into words that tell a wish
LIKE_ONE_IN_A_WISH = 0.7  # and where the words it stands in may tell one
BETWEEN = re.compile(r"[\W_]+")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_USER = ("the user", "user ", "user's ", "der nutzer", "die nutzerin", "el usuario", "la usuaria", "l'utilisat")
_SOMEBODY = (*_USER, "he ", "she ", "his ", "her ")
_PERSON = frozenset({"user", "users", "owner", "profil", "prefer"})  # stems of names that pages about one person have


def about_the_user(said: StoreStatement) -> bool:
    """By its words, or by the page it stands on: "preferences", "about the user", but not "user service"."""
    path = PurePosixPath(said.path)
    for name in (said.heading, path.stem, *path.parent.parts):
        words = name_words(name) | (_PERSON & set(BETWEEN.sub(" ", name.casefold()).split()))
        if words and words <= _PERSON:
            return True
    return speaks_of_the_user(said.text)


def speaks_of_the_user(text: str) -> bool:
    return normal(text).startswith(_SOMEBODY) or speaks_of_self(text, detect_language(text))


def about_one_person(text: str) -> bool:
    return speaks_of_the_user(text) or _of_somebody_else([text])[0] >= WISH


def plain_words(text: str) -> list[str]:
    return _WORD.findall(text)


def _of_somebody_else(texts: Sequence[str]) -> list[float]:
    readings = [found.between(0, len(text)) for text, found in zip(texts, tag_sentences(texts), strict=True)]
    return [one.others if one.why == "other_person" else 0.0 for one in readings]


def name_words(name: str) -> frozenset[str]:
    return stems(BETWEEN.sub(" ", name))
