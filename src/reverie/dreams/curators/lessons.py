"""What the agent's own calls taught: the notes of several sessions, and the skills they would make."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from reverie.core.scope import Origin
from reverie.dreams.brief.brief import BriefSkill
from reverie.dreams.brief.gather import Material
from reverie.dreams.items import Citation, Item, Op
from reverie.dreams.light.candidate import Kind, Noted
from reverie.dreams.light.tool_use.commands import doing, step
from reverie.dreams.light.tool_use.routines import FEWEST, ROUTINE
from reverie.dreams.light.tool_use.tool_calls import command_of

FEWEST_RUNS = 3
_SHOWN = re.compile(r"`([^`]+)`")
_FILE = re.compile(r"[\w.-]*\w(?=\.[a-z]\w{1,4}\b)")  # the same is done to another file


def lesson_items(material: Material) -> Iterator[Item]:
    """Commands that failed and were mended in the same way in two sessions; commands run three times."""
    groups: list[list[Noted]] = []
    for one in (one for one in material.noted if one.candidate.kind is Kind.SKILL_CANDIDATE):
        if one.origin is not Origin.AGENT:
            continue
        home = next((group for group in groups if same_lesson(group[-1], one)), None)
        groups.append([one]) if home is None else home.append(one)
    for group in groups:
        if item := _routine(group, material) if is_routine(group[-1]) else _lesson(group, material):
            yield item


def _lesson(group: Sequence[Noted], material: Material) -> Item | None:
    shortest = min(group, key=lambda one: len(one.text))
    line, commands = shortest.text, shown_in(shortest)
    evidence, ids = tuple(citations(group, material)), tuple(one.id for one in group)
    if not commands or not evidence:
        return None
    because = f"It failed and was mended in the same way in {number_of_sessions(one.session_id for one in group)}."
    skill = next((one for one in material.brief.skills if _has_step(one, commands[0])), None)
    if skill:
        return Item(
            Op.SKILL_AMEND, line, evidence, skill=skill.id, kind="skill_candidate", because=because, candidates=ids
        )
    around = len(commands) > 2 or (len(commands) > 1 and "it works after" in line)
    steps = [f"Run `{each}`." for each in ((commands[1], commands[0], *commands[2:]) if around else commands[-1:])]
    return Item(
        Op.SKILL_NEW,
        f"When `{commands[0]}` fails.",
        evidence,
        skill=commands[-1],
        kind="skill_candidate",
        because=because,
        steps=tuple(steps),
        gotchas=(line,),
        candidates=ids,
    )


def _has_step(skill: BriefSkill, command: str) -> bool:
    return any(command in rule.text for rule in skill.rules)


def _routine(group: Sequence[Noted], material: Material) -> Item | None:
    if len({one.session_id for one in group}) < FEWEST_RUNS:
        return None
    steps = shown_in(group[-1])
    request = next((one.quote for one in group[-1].candidate.evidence if one.weight == "context"), "")
    if any(all(_has_step(skill, step) for step in steps) for skill in material.brief.skills):
        return None
    return Item(
        Op.SKILL_NEW,
        f"When asked: {request}" if request else f"When `{steps[0]}` is run.",
        tuple(citations(group, material)),
        skill=" ".join(step.split()[0] for step in steps[:3]),
        kind="skill_candidate",
        because=f"The same steps were run in {len(group)} sessions.",
        steps=tuple(f"Run `{step}`." for step in as_run(group[-1])),
        candidates=tuple(one.id for one in group),
    )


def citations(group: Iterable[Noted], material: Material) -> Iterator[Citation]:
    for one in group:
        for evidence in one.support if one.session_id in material.short else ():
            yield Citation(material.short[one.session_id], evidence.turn, evidence.quote)


def number_of_sessions(sessions: Iterable[str]) -> str:
    number = len(set(sessions))
    return "one session" if number == 1 else f"{number} sessions"


def shown_in(note: Noted) -> list[str]:
    """The commands its line shows: of a routine its steps, each without what it is done to."""
    return _SHOWN.findall(note.text)


def is_routine(note: Noted) -> bool:
    return ROUTINE in note.marks


def same_lesson(one: Noted, other: Noted) -> bool:
    """The same steps were taken; or the same program was mended by the same change, whatever it was called on."""
    if is_routine(one) or is_routine(other):
        return is_routine(one) and is_routine(other) and _same_steps(shown_in(one), shown_in(other))
    (failed, brought), (other_failed, other_brought) = _change_of(one), _change_of(other)
    if brought != other_brought:
        return False
    return failed[:1] == other_failed[:1] or _is_inside(failed, other_failed) or _is_inside(other_failed, failed)


def as_run(note: Noted) -> list[str]:
    """The steps of a routine, each with all its arguments: what was not run so, nobody may say."""
    quoted = [one.quote for one in note.support]  # a command, or a whole call where its arguments escape it
    commands = [command_of(one.partition(" ")[2]) or one if one.endswith("}") else one for one in quoted]
    ran = [" ".join(part.split()) for one in commands for part in doing(one)]
    return [next((one for one in ran if step(one) == key), key) for key in shown_in(note)]


def _same_steps(one: list[str], other: list[str]) -> bool:
    """The same programs in the same order: each another one, or called in the same way."""
    programs = [step.split()[0] for step in one]
    if programs != [step.split()[0] for step in other]:
        return False
    alike = sum(first == second for first, second in zip(one, other, strict=True))
    return len(set(programs)) == len(programs) or alike >= max(FEWEST, len(one) - 1)


def _change_of(note: Noted) -> tuple[list[str], frozenset[str]]:
    """The words of what failed, and those that mended it."""
    commands = [command.split() for command in shown_in(note)]
    if len(commands) < 2 or not commands[0]:
        return [note.text], frozenset()
    brought = frozenset(commands[-1]) - frozenset(commands[0])
    return commands[0], frozenset(_FILE.sub("*", word) for word in brought or commands[-1])


def _is_inside(command: list[str], other: list[str]) -> bool:
    """ "npm ci" in "docker run --rm node:22 npm ci"."""
    return len(command) > 1 and other[-len(command) :] == command
