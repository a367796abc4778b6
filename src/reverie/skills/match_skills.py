"""Which skills a task calls for, in what order, and why.

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

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from reverie.skills.outcomes import Outcomes
from reverie.skills.relevance import Seen, seen_in
from reverie.skills.skill import Skill, bare_name

CHARACTERS_A_TOKEN = 4
DEFAULT_BUDGET = 4_000
MOST = 5


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
    floor = ranked[0].score * weights.near if ranked else 0.0
    return _within([one for one in ranked if one.score >= floor], budget_tokens)[:most]


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
    parts["priority"] = weights.priority * _standing(seen.skill)
    parts["outcomes"] = weights.outcomes * (outcomes.confidence - 0.5) if outcomes else 0.0
    shown = tuple((name, round(value, 4)) for name, value in parts.items() if round(value, 4))
    score = round(sum(value for _, value in shown), 4)
    return Match(seen.skill, score, shown, prompt_tokens(seen.skill), _why(seen, outcomes))


def _standing(skill: Skill) -> float:
    """0..1: five is the middle of what people write, and more than ten is ten."""
    return 0.5 if skill.priority is None else min(max(skill.priority, 0.0), 10.0) / 10


def _within(ranked: Sequence[Match], budget: int) -> list[Match]:
    chosen: list[Match] = []
    left = budget
    for one in ranked:
        if one.tokens <= left:
            chosen.append(one)
            left -= one.tokens
    return chosen


def _why(seen: Seen, outcomes: Outcomes | None) -> str:
    reasons = []
    if seen.trigger_words:
        reasons.append(f"the task says {seen.trigger_words!r}")
    if seen.tag_words:
        reasons.append(f"it is tagged {', '.join(seen.tag_words)}")
    if seen.shared:
        reasons.append(f"both speak of {', '.join(seen.shared[:5])}")
    if seen.meaning >= 0.2:
        reasons.append(
            f"its description is {'close' if seen.meaning >= 0.4 else 'near'} in meaning ({seen.meaning:.2f})"
        )
    if seen.skill.priority is not None:
        reasons.append(f"its priority is {seen.skill.priority:g}")
    if outcomes:
        reasons.append(outcomes.sentence)
    sentence = "; ".join(reasons)
    return f"{sentence[:1].upper()}{sentence[1:]}." if sentence else "Nothing in particular."
