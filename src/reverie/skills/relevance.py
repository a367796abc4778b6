"""What a task and a skill have in common: phrases, tags, words, meaning. Each is a number in 0..1 with its words."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from reverie.skills.markdown import section_named
from reverie.skills.skill import Skill
from reverie.text.embedding import embed
from reverie.text.tokens import Term, terms, tokens

IN_BODY = 0.25  # a word that stands only in the body
NEAREST = 0.27  # how much the nearest single thing counts beside the whole
HALF = 4.0  # so much rarity of shared words makes one half
SPREAD = 0.75  # all words of a trigger, but not in a row
LONGEST_TASK = 4_000  # characters; a page pasted as a task is judged by its beginning
BODY_READ = 20_000
ABOUT = 300  # characters of a body that says what a skill without a description is for
FEWEST = 40  # skills a word is taken to be rare among; in a small library every word would seem common


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
    """The stems of a skill: up front, and in its body."""

    front: frozenset[str]
    body: frozenset[str]
    triggers: tuple[tuple[str, tuple[str, ...]], ...]


def seen_in(skills: Sequence[Skill], task: str, tags: Sequence[str]) -> Iterator[Seen]:
    task = task[:LONGEST_TASK]
    asked = [term for term in terms(task) if term.weight == 1]
    said = tuple(tokens(task))
    stems = [_stems(_front(skill), skill.body[:BODY_READ], skill.triggers) for skill in skills]
    rarity = _rarity(stems, asked)
    wanted = {tag.strip().casefold() for tag in tags} - {""}
    content = " ".join(term.word for term in asked) or task
    for skill, stem, meaning in zip(skills, stems, _meanings(skills, content), strict=True):
        trigger, phrase = _trigger(stem, said)
        tag, named = _tags(skill, wanted)
        words, shared = _words(stem, asked, rarity)
        yield Seen(skill, trigger, tag, words, meaning, phrase, named, shared)


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
    return _Stems(
        frozenset(tokens(front)),
        frozenset(tokens(body)),
        tuple((phrase, tuple(tokens(phrase))) for phrase in triggers),
    )


def _rarity(stems: Sequence[_Stems], asked: Sequence[Term]) -> dict[tuple[str, ...], float]:
    """The weight of each word: the fewer skills speak of it up front, the more."""
    many = max(len(stems), FEWEST)
    held = {term.forms: sum(1 for one in stems if not one.front.isdisjoint(term.forms)) for term in asked}
    return {forms: math.log(1 + (many - count + 0.5) / (count + 0.5)) for forms, count in held.items()}


def _words(
    stem: _Stems, asked: Sequence[Term], rarity: Mapping[tuple[str, ...], float]
) -> tuple[float, tuple[str, ...]]:
    """Each shared word adds, and each adds less than the one before; a long task is no worse than a short one."""
    front = [term for term in asked if not stem.front.isdisjoint(term.forms)]
    body = [term for term in asked if term not in front and not stem.body.isdisjoint(term.forms)]
    found = sum(rarity[term.forms] for term in front) + IN_BODY * sum(rarity[term.forms] for term in body)
    return found / (found + HALF), tuple(dict.fromkeys(term.word for term in front))


def _trigger(stem: _Stems, said: Sequence[str]) -> tuple[float, str]:
    best, phrase = 0.0, ""
    for words, stems in stem.triggers:
        value = _phrase(stems, said)
        if value > best:
            best, phrase = value, words
    return best, phrase


def _phrase(wanted: Sequence[str], said: Sequence[str]) -> float:
    if not wanted or not set(wanted) <= set(said):
        return 0.0
    wide = len(wanted)
    in_a_row = any(tuple(said[at : at + wide]) == tuple(wanted) for at in range(len(said) - wide + 1))
    return 1.0 if in_a_row else SPREAD if wide <= 4 and not Counter(wanted) - Counter(said) else 0.0


def _tags(skill: Skill, wanted: set[str]) -> tuple[float, tuple[str, ...]]:
    """The share of the tags asked for that the skill has. A tag the task names is one of the words already."""
    asked = tuple(tag for tag in skill.tags if tag.casefold() in wanted)
    return (min(1.0, len(asked) / len(wanted)) if wanted else 0.0), asked


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
