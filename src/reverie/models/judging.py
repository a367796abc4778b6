"""What Deep and REM ask: a model's opinion of statements that were found and worded without it, in small numbers.

An opinion is a word among given ones or a small whole number. What becomes of it is for those who asked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reverie.models.ahead import ask_ahead
from reverie.models.asking import Answer, Asker, Dropped
from reverie.models.budget import CapExceeded, CapReached
from reverie.models.choice import Role
from reverie.models.covering import Veil
from reverie.models.prompting import delimiter, prompt
from reverie.models.question import Question
from reverie.models.schema import Record, Several, Shape, Text, Whole, json_schema

AT_ONCE = 10
MOST_JUDGED = 30  # statements in one night and phase: the best are few
LONGEST = 400
LASTING = ("lasting", "passing", "unsure")
RELATIONS = ("same", "refines", "supersedes", "contradicts", "unrelated", "none")
STEPS = 4
_NUMBER = Whole(1, AT_ONCE)


def _each(**fields: Shape) -> Record:
    return Record({"judgements": Several(Record({"number": _NUMBER, **fields}), AT_ONCE)})


SHAPES: Mapping[str, Record] = {
    "deep": _each(lasting=Text(among=LASTING), relation=Text(among=RELATIONS)),
    "rem": _each(useful=Whole(0, STEPS), acts=Whole(0, STEPS)),
}


@dataclass(frozen=True, slots=True)
class Stated:
    """A statement, and the older one it may be about. `of_characters` is how long the transcripts are that it is from,
    as far as nothing was shown of them before."""

    key: str
    text: str
    older: str = ""
    of_characters: int = 0


@dataclass(frozen=True, slots=True)
class Opinions:
    """By key. `dropped` counts what was thrown away, by reason."""

    of: Mapping[str, Mapping[str, Any]]
    dropped: Mapping[str, int]
    enough: CapReached | None = None
    stopped: CapExceeded | None = None


def opinions(
    role: Role, stated: Sequence[Stated], asker: Asker, prompts: Mapping[str, str] | None = None,
    random: Callable[[], str] | None = None,
) -> Opinions:  # fmt: skip
    """What a model thinks of the statements, as far as it says so properly."""
    found: dict[str, Mapping[str, Any]] = {}
    dropped: dict[str, int] = {}
    asked = [(group, _question(role, group, prompts, random)) for group in _groups(stated)]
    ask_ahead(asker, [question for _, question in asked])
    for group, question in asked:
        outcome = asker.ask(question)
        match outcome:
            case Answer(value):
                found |= _by_key(value, group, dropped)
            case Dropped(why):
                dropped[why] = dropped.get(why, 0) + 1
            case CapReached():
                return Opinions(found, dropped, enough=outcome)
            case CapExceeded():
                return Opinions(found, dropped, stopped=outcome)
    return Opinions(found, dropped)


def opinion_questions(role: Role, stated: Sequence[Stated], prompts: Mapping[str, str] | None = None) -> list[Question]:
    """What would be asked about these statements."""
    return [_question(role, group, prompts, None) for group in _groups(stated)]


def _groups(stated: Sequence[Stated]) -> list[Sequence[Stated]]:
    wanted = stated[:MOST_JUDGED]
    return [wanted[start : start + AT_ONCE] for start in range(0, len(wanted), AT_ONCE)]


def _by_key(value: Any, group: Sequence[Stated], dropped: dict[str, int]) -> dict[str, Mapping[str, Any]]:
    """Each statement once: a second opinion on one, or one on none, is no opinion."""
    numbers = [one["number"] for one in value["judgements"]]
    good: dict[str, Mapping[str, Any]] = {}
    for one in value["judgements"]:
        if numbers.count(one["number"]) > 1 or one["number"] > len(group):
            why = "judges what was not shown, or twice"
            dropped[why] = dropped.get(why, 0) + 1
        else:
            good[group[one["number"] - 1].key] = {name: said for name, said in one.items() if name != "number"}
    return good


def _question(
    role: Role, group: Sequence[Stated], prompts: Mapping[str, str] | None, random: Callable[[], str] | None
) -> Question:
    template, shape, veil = prompt(role, prompts), SHAPES[role], Veil()
    system = template.rendered(schema=json.dumps(json_schema(shape), ensure_ascii=False))
    lines = [_line(number, one, veil) for number, one in enumerate(group, 1)]
    mark = delimiter(lines, random) if random else delimiter(lines)
    shown = "\n".join(lines)
    user = f"The statements stand between two lines with the mark {mark}.\n\n{mark}\n{shown}\n{mark}\n"
    sent, whole = sum(len(_covered(one.text, veil)) for one in group), sum(one.of_characters for one in group)
    return Question(role, template.name, template.sha256, system, user, shape, sent, whole, mark)


def _line(number: int, one: Stated, veil: Veil) -> str:
    older = f"\n   older: {_covered(one.older, veil)}" if one.older else ""
    return f"{number}. {_covered(one.text, veil)}{older}"


def _covered(text: str, veil: Veil) -> str:
    return veil.hidden(" ".join(text.split()))[:LONGEST]
