"""Procedures that a person told step by step in one turn: numbered, or "first …, then …, and at the end …".

Most steps that people tell are for once. They are a procedure where what announces them is to be kept, by Light's
reading: "here's the drill once: 1 …". Each makes one skill with the steps as they were told, and a person is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reverie.core.scope import Origin
from reverie.dreams import words
from reverie.dreams.brief.gather import Material
from reverie.dreams.items import Citation, Item, Op
from reverie.dreams.light.spans import Span, Spans
from reverie.dreams.verify.quotations import said_in

FEWEST = 3
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
    if len(begins) < FEWEST:
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
    return found if len(found) >= FEWEST else []


def _told_in_order(places: Sequence[tuple[int, int, Span]]) -> list[int]:
    """Where the sentences begin that are steps: from one with "first" to the last with "then", if there are enough of
    these; what stands between them is a step, too."""
    first = [number for number, (_, _, one) in enumerate(places) if _opens_with("first_step", one.text)]
    after = [number for number, (_, _, one) in enumerate(places) if _opens_with("next_step", one.text)]
    after = [number for number in after if first and number > first[0]]
    if not first or len(after) + 1 < FEWEST or after[-1] - first[0] > FEWEST * len(after):
        return []
    return [start for start, _, _ in places[first[0] : after[-1] + 1]]


def _opens_with(name: str, sentence: str) -> bool:
    """A word of that list begins it, behind an "and" at most."""
    found = words.pattern(name).search(words.plain(sentence))
    return found is not None and len(sentence[: found.start()].split()) < 2
