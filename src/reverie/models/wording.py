"""What Deep asks of lines that are about to be kept or proposed: a better wording of the same.

Whether it is the same is for those who asked; here each text only has to belong to a line and to rest on its words.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from reverie.models.asking import Answer, Asker, Dropped
from reverie.models.budget import CapExceeded, CapReached
from reverie.models.choice import Role
from reverie.models.covering import Veil
from reverie.models.prompting import delimiter, prompt
from reverie.models.question import Question
from reverie.models.schema import Record, Several, Text, Whole, json_schema
from reverie.models.suggested import objections

LONGEST = 200
MOST_LINES = 10
_LONGEST_SHOWN = 400
_ONE = Record({"number": Whole(1, MOST_LINES), "text": Text(LONGEST)})
SHAPE = Record({"wordings": Several(_ONE, MOST_LINES)})


@dataclass(frozen=True, slots=True)
class Line:
    """A line as it would be kept, the words it rests on, and the line it takes the place of. `of_characters` is how
    long the transcripts are that it is from, as far as nothing was shown of them before."""

    text: str
    said: tuple[str, ...] = ()
    older: str = ""
    of_characters: int = 0

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(text for text in (self.text, *self.said, self.older) if text)


@dataclass(frozen=True, slots=True)
class Wordings:
    """Texts by the place of their line. `dropped` counts what was thrown away, by reason."""

    of: Mapping[int, str] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    enough: CapReached | None = None
    stopped: CapExceeded | None = None


def wordings(
    lines: Sequence[Line], asker: Asker, prompts: Mapping[str, str] | None = None,
    random: Callable[[], str] | None = None,
) -> Wordings:  # fmt: skip
    """How a model would put these lines, as far as it says so properly."""
    veil, shown = Veil(), lines[:MOST_LINES]
    outcome = asker.ask(wording_question(shown, prompts, random, veil))
    match outcome:
        case Answer(value):
            return _checked(value, shown, veil)
        case Dropped(why):
            return Wordings(dropped={why: 1})
        case CapReached():
            return Wordings(enough=outcome)
        case CapExceeded():
            return Wordings(stopped=outcome)


def _checked(value: Any, lines: Sequence[Line], veil: Veil) -> Wordings:
    numbers = Counter(one["number"] for one in value["wordings"])
    good: dict[int, str] = {}
    dropped: Counter[str] = Counter()
    for one in value["wordings"]:
        place, text = one["number"] - 1, veil.restored(" ".join(one["text"].split()))
        if place >= len(lines) or numbers[one["number"]] > 1:
            dropped["words what was not shown, or twice"] += 1
        elif why := next(objections(text, lines[place].sources, LONGEST), ""):
            dropped[why] += 1
        else:
            good[place] = text
    return Wordings(good, dict(dropped))


def wording_question(
    lines: Sequence[Line], prompts: Mapping[str, str] | None = None, random: Callable[[], str] | None = None,
    veil: Veil | None = None,
) -> Question:  # fmt: skip
    template, veil = prompt("wording", prompts), veil or Veil()
    system = template.rendered(schema=json.dumps(json_schema(SHAPE), ensure_ascii=False))
    shown = [piece for number, line in enumerate(lines, 1) for piece in _shown(number, line, veil)]
    mark = delimiter(shown, random) if random else delimiter(shown)
    listed = "\n".join(shown)
    user = f"The lines stand between two lines with the mark {mark}.\n\n{mark}\n{listed}\n{mark}\n"
    sent = sum(len(_covered(text, veil)) for line in lines for text in (line.text, *line.said))
    whole = sum(line.of_characters for line in lines)
    return Question(Role.DEEP, template.name, template.sha256, system, user, SHAPE, sent, whole, mark)


def _shown(number: int, line: Line, veil: Veil) -> list[str]:
    said = [f"   said: {_covered(text, veil)}" for text in line.said]
    older = [f"   older: {_covered(line.older, veil)}"] if line.older else []
    return [f"{number}. {_covered(line.text, veil)}", *said, *older]


def _covered(text: str, veil: Veil) -> str:
    return veil.hidden(" ".join(text.split()))[:_LONGEST_SHOWN]
