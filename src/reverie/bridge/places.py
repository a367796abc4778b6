"""Where a difference could belong: rules that stand here and can be changed, the skills, and what reviewers chose.

Where a reviewer put what the bridge had put elsewhere, the next statement like it goes, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from reverie.bridge.diff import ALIKE, SAID_ELSEWHERE, Difference
from reverie.bridge.persons import perhaps_about, plain_words
from reverie.bridge.source import Snapshot
from reverie.bridge.statements import only_reworded, statements_of
from reverie.changes.history import Rule
from reverie.core.errors import BadInput
from reverie.dreams.light.language import lowered
from reverie.skills.library import FoundSkill
from reverie.text.embedding import embed
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


def checked_place(to: str, skills: Sequence[FoundSkill]) -> str:
    known = [MEMORY, USER, NOTHING, *(f"{SKILL}{one.skill.subject}" for one in skills)]
    if to not in known:
        raise BadInput(f"There is no place {to!r}.", expected=f"one of {', '.join(known)}")
    return to


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
        """With what history knows of it."""
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
        said = [
            *(one.text for one in self.standing),
            *(f"{one.skill.description} {one.skill.body}" for one in self.skills),
        ]
        return self.common | {lowered(word) for text in said for word in plain_words(text)}

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

    def said_here(self, text: str) -> LocalRule | None:
        """The rule in force that says the same."""
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
