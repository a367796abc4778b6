"""What skills ask: steps and gotchas in good words, each held against what was really said and run."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from reverie.models.asking import Answer, Asker, Dropped
from reverie.models.budget import CapExceeded, CapReached
from reverie.models.choice import Role
from reverie.models.covering import Veil
from reverie.models.prompting import delimiter, prompt
from reverie.models.question import Question
from reverie.models.schema import Record, Several, Text, json_schema
from reverie.models.suggested import objections

LONGEST = 160
MOST_STEPS, MOST_GOTCHAS = 6, 3
MOST_LINES = 12
LONGEST_LINE = 600
SHAPE = Record({"steps": Several(Text(LONGEST), MOST_STEPS), "gotchas": Several(Text(LONGEST), MOST_GOTCHAS)})
_COMMAND = re.compile(r"`([^`]+)`")
_SHELL = re.compile(r"[|;&$<>]|--?\w|\w+/\w+|\w+\.\w+|_\w")


@dataclass(frozen=True, slots=True)
class Lesson:
    """Lines that hold. Empty where a model had nothing to say that does."""

    steps: tuple[str, ...] = ()
    gotchas: tuple[str, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    enough: CapReached | None = None
    stopped: CapExceeded | None = None


def worded(
    evidence: Sequence[str], asker: Asker, prompts: Mapping[str, str] | None = None,
    random: Callable[[], str] | None = None, of_characters: int = 0,
) -> Lesson:  # fmt: skip
    """A lesson in a model's words. Every line rests on these quotations, or is dropped and counted."""
    veil = Veil()
    outcome = asker.ask(lesson_question(evidence, prompts, random, veil, of_characters))
    match outcome:
        case Answer(value):
            assert isinstance(value, dict)
            dropped: Counter[str] = Counter()
            held = {name: tuple(_held(value[name], evidence, veil, dropped)) for name in ("steps", "gotchas")}
            return Lesson(held["steps"], held["gotchas"], dict(dropped))
        case Dropped(why):
            return Lesson(dropped={why: 1})
        case CapReached():
            return Lesson(enough=outcome)
        case CapExceeded():
            return Lesson(stopped=outcome)


def _held(lines: Sequence[str], evidence: Sequence[str], veil: Veil, dropped: Counter[str]) -> list[str]:
    good = []
    for line in lines:
        text = veil.restored(" ".join(line.split()))
        if why := _why_not(text, evidence):
            dropped[why] += 1
        else:
            good.append(text)
    return good


def _why_not(text: str, evidence: Sequence[str]) -> str:
    """Why a line is thrown away; empty where it holds."""
    for why in objections(text, evidence):
        return why
    said = "\n".join(evidence)
    if any(command not in said for command in _COMMAND.findall(text)):
        return "has a command that was not run"
    words = _COMMAND.sub("", text).split()
    if any(_SHELL.search(word) and word.strip(".,;:!?()“”\"'") not in said for word in words):
        return "has a command, name or path that was not said"
    return ""


def lesson_question(
    evidence: Sequence[str], prompts: Mapping[str, str] | None = None, random: Callable[[], str] | None = None,
    veil: Veil | None = None, of_characters: int = 0,
) -> Question:  # fmt: skip
    """`of_characters`: how long the transcripts are that it is from, as far as nothing was shown of them before."""
    veil = veil or Veil()
    template = prompt("skill", prompts)
    schema = json.dumps(json_schema(SHAPE), ensure_ascii=False)
    system = template.rendered(longest=str(LONGEST), schema=schema)
    texts = [veil.hidden(text)[:LONGEST_LINE] for text in dict.fromkeys(evidence)][:MOST_LINES]
    lines = [f"{number}. {text}" for number, text in enumerate(texts, 1)]
    mark = delimiter(lines, random) if random else delimiter(lines)
    shown = "\n".join(lines)
    user = f"The lines stand between two lines with the mark {mark}.\n\n{mark}\n{shown}\n{mark}\n"
    sent = sum(map(len, texts))
    return Question(Role.SKILLS, template.name, template.sha256, system, user, SHAPE, sent, of_characters, mark)
