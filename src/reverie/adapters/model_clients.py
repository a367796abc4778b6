"""Models by pydantic-ai: the port of `models/`, for any endpoint that speaks Chat Completions or Messages.

Cheap to import. The library is loaded at the first question.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from importlib.util import find_spec

from reverie.adapters.model_addresses import NoAddress, Resolve, addresses, resolved
from reverie.kernel.errors import BadSetting
from reverie.models.choice import Choice
from reverie.models.question import Failed, Question, Reply

MOST_BYTES = 4_000_000
_LIBRARIES = ("pydantic_ai", "httpx2")
_SOON_ENOUGH = 0.05
_PATIENCE = 10.0


class PydanticAIModel:
    """One model at one endpoint. Each question is one request on a connection of its own; nothing is kept open."""

    def __init__(
        self,
        choice: Choice,
        key: str | None,
        *,
        streamed: bool = False,
        most_bytes: int = MOST_BYTES,
        resolve: Resolve = resolved,
    ) -> None:
        self._choice = choice
        self._key = key
        self._streamed = streamed
        self._most_bytes = most_bytes
        self._resolve = resolve
        self._native = True

    @property
    def name(self) -> str:
        return self._choice.text

    @property
    def takes_schema(self) -> bool:
        """Whether the endpoint takes a schema. One that refuses it is asked by the prompt alone from then on."""
        from reverie.adapters.model_requests import takes_schema

        return self._native and takes_schema(self._choice)

    def listed_context(self) -> int | None:
        """How many tokens the model reads, if the endpoint says so."""
        from reverie.adapters.model_listing import listed_context

        try:
            return listed_context(self._choice, self._key, addresses(self._choice, _PATIENCE, self._resolve))
        except NoAddress:
            return None

    def ask(self, question: Question, most_tokens: int, seconds: float) -> Reply:
        self._native = self.takes_schema  # loads the library, which takes a second or more, before the clock starts
        started = time.monotonic()
        try:
            places = addresses(self._choice, seconds, self._resolve)
        except NoAddress as error:
            return Failed(str(error), time.monotonic() - started, again=error.again)
        return self._asked(question, most_tokens, started + seconds, places)

    def _asked(self, question: Question, most_tokens: int, until: float, places: list[str]) -> Reply:
        from reverie.adapters.model_requests import NativeRefused, Wish, request
        from reverie.adapters.model_transport import GuardedTransport

        left = max(until - time.monotonic(), _SOON_ENOUGH)
        wish = Wish(question, most_tokens, left, self._native, self._streamed)
        try:
            return request(self._choice, self._key, wish, GuardedTransport(places, self._most_bytes))
        except NativeRefused:
            self._native = False
            return self._asked(question, most_tokens, until, places)


def client(choice: Choice, environment: Mapping[str, str], *, streamed: bool = False) -> PydanticAIModel:
    """The model of a choice, its key from the environment. A setting that cannot work is said now, not at night."""
    libraries = (*_LIBRARIES, "anthropic" if choice.provider == "anthropic" else "openai")
    if missing := [name for name in libraries if find_spec(name) is None]:
        raise BadSetting(
            f"{choice.text} cannot be asked: {', '.join(missing)} is not installed.",
            next_step="Run: pip install 'reverie[models]'",
        )
    return PydanticAIModel(choice, choice.key(environment), streamed=streamed)
