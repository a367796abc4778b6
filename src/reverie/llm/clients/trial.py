"""Trying out an endpoint: `reverie doctor --model`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reverie.llm.choice import Choice, Role
from reverie.llm.clients.models import client
from reverie.llm.clients.prices import context_window
from reverie.llm.json_answer import NotJson, json_in_answer
from reverie.llm.question import Failed, Question, Wrong

_SYSTEM = 'Answer with one JSON object such as {"word": "tree", "number": 3} and nothing else.'
_USER = 'Give the word "reverie" and the number 7.'


@dataclass(frozen=True, slots=True)
class Tried:
    """The result of trying an endpoint. `context` is None where nobody says; `said` is for a person."""

    ok: bool
    context: int | None
    seconds: float
    said: str


def try_out(choice: Choice, environment: Mapping[str, str], answer_tokens: int, seconds: float) -> Tried:
    """Ask for a word and a number, with the room an answer will have. Nothing of the user's is sent. A bad key or
    address is an answer, not an error."""
    model = client(choice, environment)
    question = Question(Role.CURATE, "trial", "", _SYSTEM, _USER, _read)
    reply = model.ask(question, answer_tokens, seconds)
    if isinstance(reply, Failed):
        return Tried(False, None, reply.seconds, f"{choice.text}: {reply.why}.")
    try:
        read = [_read(value) for value in json_in_answer(reply.text)]
    except NotJson as error:
        return Tried(False, None, reply.seconds, f"{choice.text} answers, but not in JSON: {error}.")
    if all(isinstance(value, Wrong) for value in read):
        return Tried(False, None, reply.seconds, f"{choice.text} answers, but not what it was asked for.")
    speed = f", {reply.usage.tokens_out / max(reply.seconds, 0.001):.0f} tokens a second" if reply.usage else ""
    context = context_window(choice) or model.listed_context()
    return Tried(True, context, reply.seconds, f"{choice.text} answers in {reply.seconds:.1f} s{speed}.")


def _read(value: object) -> object | Wrong:
    fits = isinstance(value, dict) and isinstance(value.get("word"), str) and isinstance(value.get("number"), int)
    return value if fits else Wrong("there is no word and number in it")
