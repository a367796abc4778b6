"""`home.skills`: the skills in every folder agents read them from, and which of them a task calls for, in what order,
and why.

A score is a sum of named parts:

    trigger   a phrase of the skill's `triggers` stands in the task: all its words, best in a row
    tags      the share of the tags asked for that the skill has; one is enough to match
    words     words of the task that stand in the skill's name, description, triggers or tags, too; rare ones count
              more, and those found only in the body count little
    meaning   the likeness of the task and what the skill says up front, as the embedder sees it
    priority  what the skill says of itself; it orders, and never makes a match by itself
    outcomes  how it did when it was followed, where that is known; it orders, too

Below `least` nothing matches: most of what is said to an agent calls for no skill. The order is the same for the same
skills and task, whatever order the skills come in.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

from reverie.core.errors import BadInput, NotFound
from reverie.skills.page import section_named
from reverie.skills.skill import Skill, bare_name, read_skill
from reverie.text.embedding import embed
from reverie.text.tokens import terms, tokens

IN_BODY = 0.25  # a word that stands only in the body
NEAREST = 0.27  # how much the nearest single thing counts beside the whole
HALF = 4.0  # so much rarity of shared words makes one half
SPREAD = 0.75  # all words of a trigger, but not in a row
LONGEST_TASK = 4_000  # characters; a page pasted as a task is judged by its beginning
BODY_READ = 20_000
ABOUT = 300  # characters of a body that says what a skill without a description is for
FEWEST = 40  # skills a word is taken to be rare among; in a small library every word would seem common
CHARACTERS_A_TOKEN = 4
DEFAULT_BUDGET = 4_000
MOST = 5


@dataclass(frozen=True, slots=True)
class Outcomes:
    """How a skill did: it was followed and it went well, or failed, or it was read and nothing was done with it."""

    succeeded: int = 0
    failed: int = 0
    ignored: int = 0

    @property
    def confidence(self) -> float:
        """The share that went well, with one of each added: one case alone says little."""
        return (self.succeeded + 1) / (self.succeeded + self.failed + 2)

    @property
    def sentence(self) -> str:
        followed = self.succeeded + self.failed
        ignored = f", read and not followed {self.ignored} times" if self.ignored else ""
        return f"it went well {self.succeeded} of {followed} times{ignored}"

    def __add__(self, other: Outcomes) -> Outcomes:
        return Outcomes(self.succeeded + other.succeeded, self.failed + other.failed, self.ignored + other.ignored)


# ---- what a task and a skill have in common, each a number in 0..1 ---------------------------------------------------


@dataclass(frozen=True, slots=True)
class Seen:
    skill: Skill
    trigger: float
    tags: float
    words: float
    meaning: float
    trigger_words: str
    tag_words: tuple[str, ...]
    shared: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Stems:
    front: frozenset[str]
    body: frozenset[str]
    triggers: tuple[tuple[str, tuple[str, ...]], ...]


def seen_in(skills: Sequence[Skill], task: str, tags: Sequence[str]) -> Iterator[Seen]:
    task = task[:LONGEST_TASK]
    asked = [term for term in terms(task) if term.weight == 1]
    said = tuple(tokens(task))
    stems = [_stems(_front(skill), skill.body[:BODY_READ], skill.triggers) for skill in skills]
    # The weight of each word: the fewer skills speak of it up front, the more.
    many = max(len(stems), FEWEST)
    held = {term.forms: sum(1 for one in stems if not one.front.isdisjoint(term.forms)) for term in asked}
    rarity = {forms: math.log(1 + (many - count + 0.5) / (count + 0.5)) for forms, count in held.items()}
    wanted = {tag.strip().casefold() for tag in tags} - {""}
    content = " ".join(term.word for term in asked) or task
    for skill, stem, meaning in zip(skills, stems, _meanings(skills, content), strict=True):
        trigger, phrase = 0.0, ""
        for words, stemmed in stem.triggers:
            if stemmed and set(stemmed) <= set(said):
                wide, value = len(stemmed), 0.0
                if any(said[at : at + wide] == stemmed for at in range(len(said) - wide + 1)):
                    value = 1.0
                elif wide <= 4 and not Counter(stemmed) - Counter(said):
                    value = SPREAD
                trigger, phrase = (value, words) if value > trigger else (trigger, phrase)
        # The share of the tags asked for that the skill has. A tag the task names is one of the words already.
        tagged = tuple(tag for tag in skill.tags if tag.casefold() in wanted)
        share = min(1.0, len(tagged) / len(wanted)) if wanted else 0.0
        # Each shared word adds, and each adds less than the one before; a long task is no worse than a short one.
        front = [term for term in asked if not stem.front.isdisjoint(term.forms)]
        body = [term for term in asked if term not in front and not stem.body.isdisjoint(term.forms)]
        found = sum(rarity[term.forms] for term in front) + IN_BODY * sum(rarity[term.forms] for term in body)
        shared = tuple(dict.fromkeys(term.word for term in front))
        yield Seen(skill, trigger, share, found / (found + HALF), meaning, phrase, tagged, shared)


def _front(skill: Skill) -> str:
    return "\n".join([_spoken(skill.name), _about(skill), *skill.triggers, *skill.tags])


def _about(skill: Skill) -> str:
    """The purpose of a skill: its description, else what it says under When to use, else how its body begins."""
    if skill.description:
        return skill.description
    section = section_named(skill.body, "When to use")
    text = skill.body[section.inside : section.own_end] if section else skill.body
    return " ".join(re.sub(r"(?m)^\s*(?:#+|[-*+]|\d+[.)])\s*", "", text).split())[:ABOUT]


@lru_cache(maxsize=2048)
def _stems(front: str, body: str, triggers: tuple[str, ...]) -> _Stems:
    stemmed = tuple((phrase, tuple(tokens(phrase))) for phrase in triggers)
    return _Stems(frozenset(tokens(front)), frozenset(tokens(body)), stemmed)


def _meanings(skills: Sequence[Skill], content: str) -> list[float]:
    """The likeness of the task to all a skill says up front, and to the nearest single thing it says there."""
    if not content.strip() or not skills:
        return [0.0] * len(skills)
    texts = [(_front(skill), f"{_spoken(skill.name)}. {_about(skill)}", *skill.triggers) for skill in skills]
    flat = [text for group in texts for text in group]
    likeness = (embed(flat) @ embed([content])[0]).tolist()
    found = []
    at = 0
    for group in texts:
        whole, *single = likeness[at : at + len(group)]
        found.append(round(max(0.0, (1 - NEAREST) * whole + NEAREST * max(single)), 4))
        at += len(group)
    return found


def _spoken(name: str) -> str:
    return name.replace("-", " ").replace("_", " ")


# ---- scores ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MatchWeights:
    """The weight of each part. Fitted on the first half of benchmarks/skill_matching_set.py."""

    trigger: float = 0.3
    tags: float = 0.4
    words: float = 0.3
    meaning: float = 1.1
    priority: float = 0.15
    outcomes: float = 0.3
    least: float = 0.4
    near: float = 0.5  # of the best score; what is further behind is no second choice


DEFAULT = MatchWeights()


@dataclass(frozen=True, slots=True)
class Match:
    """`parts` add up to `score`; `why` says the same in words. `tokens` is what the skill costs in a prompt."""

    skill: Skill
    score: float
    parts: tuple[tuple[str, float], ...]
    tokens: int
    why: str


def match(
    skills: Iterable[Skill],
    task: str,
    tags: Sequence[str] = (),
    budget_tokens: int = DEFAULT_BUDGET,
    *,
    most: int = MOST,
    weights: MatchWeights = DEFAULT,
    outcomes: Mapping[str, Outcomes] | None = None,
) -> list[Match]:
    """The skills a task calls for, best first, as many as the budget holds. One that is too long is passed over for
    the next. Disabled and archived skills are left out."""
    offered = sorted((one for one in skills if one.enabled and not one.archived), key=lambda one: one.subject)
    known = outcomes or {}
    scored = [_scored(seen, weights, known.get(bare_name(seen.skill.subject))) for seen in seen_in(offered, task, tags)]
    ranked = sorted(
        (one for one in scored if one is not None),
        key=lambda one: (-one.score, -(one.skill.priority or 0), one.skill.subject),
    )
    chosen: list[Match] = []
    left = budget_tokens
    for one in ranked:
        if one.score >= ranked[0].score * weights.near and one.tokens <= left:
            chosen.append(one)
            left -= one.tokens
    return chosen[:most]


def prompt_tokens(skill: Skill) -> int:
    """The tokens of the document in a prompt, estimated at four characters each."""
    return -(-len(skill.content.decode("utf-8", "replace")) // CHARACTERS_A_TOKEN)


def _scored(seen: Seen, weights: MatchWeights, outcomes: Outcomes | None) -> Match | None:
    parts = {
        "trigger": weights.trigger * seen.trigger,
        "tags": weights.tags * seen.tags,
        "words": weights.words * seen.words,
        "meaning": weights.meaning * seen.meaning,
    }
    if sum(parts.values()) < weights.least and not seen.tag_words:
        return None
    priority = 5.0 if seen.skill.priority is None else seen.skill.priority  # the middle of what people write
    parts["priority"] = weights.priority * (min(max(priority, 0.0), 10.0) / 10)
    parts["outcomes"] = weights.outcomes * (outcomes.confidence - 0.5) if outcomes else 0.0
    shown = tuple((name, round(value, 4)) for name, value in parts.items() if round(value, 4))
    score = round(sum(value for _, value in shown), 4)
    return Match(seen.skill, score, shown, prompt_tokens(seen.skill), _why(seen, outcomes))


def _why(seen: Seen, outcomes: Outcomes | None) -> str:
    reasons = []
    if seen.trigger_words:
        reasons.append(f"the task says {seen.trigger_words!r}")
    if seen.tag_words:
        reasons.append(f"it is tagged {', '.join(seen.tag_words)}")
    if seen.shared:
        reasons.append(f"both speak of {', '.join(seen.shared[:5])}")
    if seen.meaning >= 0.2:
        near = "close" if seen.meaning >= 0.4 else "near"
        reasons.append(f"its description is {near} in meaning ({seen.meaning:.2f})")
    if seen.skill.priority is not None:
        reasons.append(f"its priority is {seen.skill.priority:g}")
    if outcomes:
        reasons.append(outcomes.sentence)
    sentence = "; ".join(reasons)
    return f"{sentence[:1].upper()}{sentence[1:]}." if sentence else "Nothing in particular."


# ---- the skills there are --------------------------------------------------------------------------------------------


def folder_name(target: str) -> str:
    """The name of the folder that the agent of a target reads skills from."""
    return f"{target.replace('/', '-')}-skills"


class Folder(Protocol):
    """A place skills lie in. `name` is what people type; `key` is the same folder under every name."""

    @property
    def name(self) -> str: ...

    @property
    def key(self) -> str: ...

    @property
    def reach(self) -> str: ...

    @property
    def root(self) -> Path: ...

    def subjects(self) -> list[str]: ...

    def files(self, subject: str, /) -> dict[str, bytes]: ...

    def held(self, subject: str, /) -> AbstractContextManager[Any]: ...


@dataclass(frozen=True, slots=True)
class FoundSkill:
    folder: Folder
    skill: Skill

    @property
    def path(self) -> str:
        return f"{self.folder.name}/{self.skill.subject}"


@dataclass(frozen=True, slots=True)
class Skills:
    """`touch` records how a skill stands now: reading is noticing. `seen` are those that ever stood in a folder.
    `outcomes` are how skills did, by their names."""

    folders: Mapping[str, Folder]
    touch: Callable[[Folder, str], None]
    seen: Callable[[Folder], Iterable[str]]
    outcomes: Callable[[], Mapping[str, Outcomes]] = dict

    def every(self) -> Iterator[FoundSkill]:
        """All of them, folder by folder. One that cannot be read as a skill still is one; its problems say why."""
        for folder in self.folders.values():
            there = folder.subjects()
            for gone in set(self.seen(folder)).difference(there):
                self.touch(folder, gone)
            for subject in there:
                self.touch(folder, subject)
                yield FoundSkill(folder, read_skill(subject, folder.files(subject)))

    def distinct(self) -> Iterator[FoundSkill]:
        """Without copies: of those that say the same in several folders, as in the profiles of Hermes, the first."""
        seen = set[tuple[str, bytes]]()
        for found in self.every():
            said = (found.skill.subject, found.skill.content)
            if said not in seen:
                seen.add(said)
                yield found

    def seen_from(self, folder: str) -> list[FoundSkill]:
        """All of them; of those that several agents have, only that in this folder, if it is there."""
        found = list(self.every())
        own = {one.skill.subject for one in found if one.folder.name == folder}
        return [one for one in found if one.folder.name == folder or one.skill.subject not in own]

    def get(self, name: str) -> FoundSkill:
        """The one skill meant by its name, its path in a folder, or folder and path; of copies, the first."""
        meant = [
            (folder, subject)
            for folder in self.folders.values()
            for subject in folder.subjects()
            if name in (subject, bare_name(subject), f"{folder.name}/{subject}")
        ]
        if len({(subject, repr(folder.files(subject))) for folder, subject in meant}) > 1:
            paths = " or ".join(f"{folder.name}/{subject}" for folder, subject in meant)
            raise BadInput(f"{len(meant)} skills are called {name!r}.", expected=paths)
        if not meant:
            raise NotFound(f"There is no skill {name!r}.", next_step="`reverie skills list` shows them.")
        folder, subject = meant[0]
        self.touch(folder, subject)
        return FoundSkill(folder, read_skill(subject, folder.files(subject)))

    def folder(self, name: str) -> Folder:
        if name not in self.folders:
            raise BadInput(f"There is no folder of skills {name!r}.", expected=f"one of {', '.join(self.folders)}")
        return self.folders[name]

    def match(self, task: str, tags: Sequence[str] = (), budget: int = DEFAULT_BUDGET) -> list[Match]:
        """The skills a task calls for, best first, within a budget of tokens."""
        skills = (found.skill for found in self.distinct())
        return match(skills, task, tags, budget_tokens=budget, outcomes=self.outcomes())
