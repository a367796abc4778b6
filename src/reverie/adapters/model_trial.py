"""Trying out an endpoint: `reverie doctor --model`."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass

from reverie.adapters.model_clients import PydanticAIModel, client
from reverie.adapters.model_prices import context_of
from reverie.models.choice import Choice, Role
from reverie.models.question import Failed, Question, Replied, Reply
from reverie.models.schema import Record, Text, Whole, faults, json_schema
from reverie.models.strict_json import NotStrict, strict_json

_SHAPE = Record({"word": Text(20), "number": Whole(0, 100)})
_MOST_TOKENS = 500


@dataclass(frozen=True, slots=True)
class Tried:
    """What an endpoint can do. `context` is None where nobody says; `said` is for a person."""

    ok: bool
    schema_output: bool
    context: int | None
    seconds: float
    said: str


def try_out(choice: Choice, environment: Mapping[str, str], seconds: float = 60.0) -> Tried:
    """Ask for a word and a number. Nothing of the user's is sent. A bad key or address is an answer, not an error."""
    model = client(choice, environment)
    started = time.monotonic()
    reply = model.ask(_question(), _MOST_TOKENS, seconds)
    took = time.monotonic() - started
    wrong = _wrong(reply)
    if wrong:
        return Tried(False, False, None, took, f"{choice.text}: {wrong}.")
    context = context_of(choice) or model.listed_context()
    return Tried(True, model.takes_schema, context, took, _praise(choice, model, reply))


def _question() -> Question:
    schema = json.dumps(json_schema(_SHAPE))
    system = f"Answer with one JSON object of exactly this schema and nothing else:\n\n{schema}\n"
    return Question(Role.LIGHT, "trial", "", system, 'Give the word "reverie" and the number 7.', _SHAPE)


def _wrong(reply: Reply) -> str | None:
    if isinstance(reply, Failed):
        return reply.why
    try:
        value = strict_json(reply.text)
    except NotStrict as error:
        return f"it answers, but not in JSON: {error}"
    found = next(faults(value, _SHAPE), None)
    return f"it answers, but not in the shape asked for: {found}" if found else None


def _praise(choice: Choice, model: PydanticAIModel, reply: Reply) -> str:
    how = "takes a schema" if model.takes_schema else "keeps to a schema in the prompt"
    usage = reply.usage if isinstance(reply, Replied) else None
    speed = f", {usage.tokens_out / max(reply.seconds, 0.001):.0f} tokens a second" if usage else ""
    return f"{choice.text} answers in {reply.seconds:.1f} s{speed}, and {how}."
