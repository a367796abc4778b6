"""Skills that the built-in curator would make: of what the agent's own calls taught over several sessions, and of
procedures that a person told step by step in one turn: numbered, or "first …, then …, and at the end …".

Most steps that people tell are for once. They are a procedure where what announces them is to be kept, by Light's
reading: "here's the drill once: 1 …". Each makes one skill with the steps as they were told, and a person is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from reverie.core.scope import Origin
from reverie.dreams import words
from reverie.dreams.brief.brief import BriefSkill
from reverie.dreams.brief.gather import Material
from reverie.dreams.items import Citation, Item, Op
from reverie.dreams.light.candidate import Kind, Noted
from reverie.dreams.light.spans import Span, Spans
from reverie.dreams.light.tool_use import FEWEST, ROUTINE, command_of, doing, step
from reverie.dreams.verify.case import said_in

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


FEWEST_TOLD = 3
ANNOUNCED = 0.1  # how surely what announces the steps is to be kept; little of what is for once reaches it
SOMEBODY_ELSES = 0.5
_NUMBER = re.compile(  # "2)" anywhere, "2" behind a full stop, a comma or a colon
    r"(?<![^\s(])(?P<signed>\d{1,2})[.):]\s+(?=\S)|(?:^|(?<=[.:;,\n])|(?<=[.:;,\n] ))(?P<bare>\d{1,2})\s+(?=[^\W\d])"
)
_MARKS = " \n.,:;–—-"


@dataclass(frozen=True, slots=True)
class _Told:
    """What announces the steps, the steps, and all of it as it stands in the turn."""

    announcement: str
    steps: tuple[str, ...]
    words: str


def told_procedures(material: Material) -> Iterator[Item]:
    """An item for each. Its candidates are what Light noticed in the same words."""
    spans = Spans()
    for short, session in material.sessions.items() if material.brief.new_page is None else ():  # a store has no skills
        for turn in session.turns:
            by_a_person = turn.role == "user" and turn.noise is None and turn.origin in (Origin.OWNER, Origin.MEMBER)
            text = said_in(turn) if by_a_person else ""
            if not (_numbers(text) or words.says("first_step", text)):
                continue
            if found := _told(text, spans.of(session, turn.number)):
                yield Item(
                    Op.SKILL_NEW,
                    found.announcement,
                    (Citation(short, turn.number, found.words),),
                    skill=found.announcement,
                    kind="recurring_workflow",
                    because="It was told step by step.",
                    steps=found.steps,
                    candidates=tuple(
                        one.id
                        for one in material.noted
                        if (one.session_id, one.candidate.first_turn) == (session.id, turn.number)
                        and one.words in found.words
                    ),
                )


def _told(text: str, spans: Sequence[Span]) -> _Told | None:
    """The steps of one turn, if it tells some and what announces them is to be kept."""
    places = [(start, start + len(one.text), one) for one in spans if (start := text.find(one.text)) >= 0]
    begins = [found.start() for found in _numbers(text)] or _told_in_order(places)
    if len(begins) < FEWEST_TOLD:
        return None
    holding = [place for place in places if place[0] < begins[0]]
    end = next((end for start, end, _ in places if start <= begins[-1] < end), 0)
    if not holding or not end:
        return None
    start, _, announces = holding[-1]
    kept = announces.reading.keep >= ANNOUNCED and announces.reading.others < SOMEBODY_ELSES
    if announces.asked or not kept:
        return None
    steps = [text[one:other].strip(_MARKS) for one, other in zip(begins, [*begins[1:], end], strict=True)]
    steps = [_NUMBER.sub("", one, count=1).strip(_MARKS) for one in steps]
    return _Told(text[start : begins[0]].strip(_MARKS), tuple(filter(None, steps)), text[start:end])


def _numbers(text: str) -> list[re.Match[str]]:
    """Where the steps begin that are numbered 1, 2, 3 and so on: "zone 1" is no step."""
    found = list[re.Match[str]]()
    for number in _NUMBER.finditer(text):
        if int(number["signed"] or number["bare"]) == len(found) + 1:
            found.append(number)
    return found if len(found) >= FEWEST_TOLD else []


def _told_in_order(places: Sequence[tuple[int, int, Span]]) -> list[int]:
    """Where the sentences begin that are steps: from one with "first" to the last with "then", if there are enough of
    these; what stands between them is a step, too."""
    first = [number for number, (_, _, one) in enumerate(places) if _opens_with("first_step", one.text)]
    after = [number for number, (_, _, one) in enumerate(places) if _opens_with("next_step", one.text)]
    after = [number for number in after if first and number > first[0]]
    if not first or len(after) + 1 < FEWEST_TOLD or after[-1] - first[0] > FEWEST_TOLD * len(after):
        return []
    return [start for start, _, _ in places[first[0] : after[-1] + 1]]


def _opens_with(name: str, sentence: str) -> bool:
    """A word of that list begins it, behind an "and" at most."""
    found = words.pattern(name).search(words.plain(sentence))
    return found is not None and len(sentence[: found.start()].split()) < 2
