"""One request to a model through pydantic-ai. Slow to import (a second or more): only `model_clients` does, when asked.

No tools are offered, the library's own retries and redirects are off, and whatever goes wrong comes back as a value.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

import httpx2
from pydantic_ai import exceptions
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.messages import ModelRequest, ModelResponse, SystemPromptPart, TextPart, ToolCallPart, UserPromptPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.settings import ModelSettings

from reverie.adapters.model_transport import GuardedTransport
from reverie.models.choice import Choice
from reverie.models.question import Failed, Question, Replied, Reply, Usage
from reverie.models.schema import json_schema

_NO_KEY = "no-key"  # the libraries insist on one; local servers do not look at it


@dataclass(frozen=True, slots=True)
class Wish:
    """A question and how to put it. `native` sends the schema along as one, too, not only in the prompt."""

    question: Question
    most_tokens: int
    seconds: float
    native: bool = True
    streamed: bool = False


class NativeRefused(Exception):
    """The endpoint does not take a schema."""


def request(choice: Choice, key: str | None, wish: Wish, guard: GuardedTransport) -> Reply:
    """Ask once. Raises `NativeRefused`, and otherwise nothing that a provider can cause."""
    started = time.monotonic()
    try:
        response = _run(_asked(choice, key, wish, guard))
    except exceptions.ModelRequestRejectedError as error:
        if wish.native and getattr(error, "status_code", None) in (400, 422) and _may_be_the_schema(error):
            raise NativeRefused from error
        return _failed(error, guard, time.monotonic() - started)
    except Exception as error:  # noqa: BLE001  # the libraries read hostile bytes; what they raise then is anyone's guess
        return _failed(error, guard, time.monotonic() - started)
    return _reply(response, time.monotonic() - started)


def takes_schema(choice: Choice) -> bool:
    """Whether the library knows the model for one that takes a schema. Loads what a request will need."""
    return bool(
        _model(choice, None, httpx2.AsyncClient(transport=GuardedTransport(()))).profile.get(
            "supports_json_schema_output"
        )
    )


async def _asked(choice: Choice, key: str | None, wish: Wish, guard: GuardedTransport) -> ModelResponse:
    client = httpx2.AsyncClient(
        transport=guard, follow_redirects=False, trust_env=False, timeout=httpx2.Timeout(wish.seconds)
    )
    async with asyncio.timeout(wish.seconds), client:
        return await _sent(_model(choice, key, client), wish)


async def _sent(model: Model, wish: Wish) -> ModelResponse:
    question = wish.question
    messages = [ModelRequest([SystemPromptPart(question.system), UserPromptPart(question.user)])]
    settings = ModelSettings(max_tokens=wish.most_tokens, timeout=wish.seconds, max_retries=0)
    shape = _parameters(question, wish.native and bool(model.profile.get("supports_json_schema_output")))
    if not wish.streamed:
        return await model_request(model, messages, model_settings=settings, model_request_parameters=shape)
    async with model_request_stream(model, messages, model_settings=settings, model_request_parameters=shape) as stream:
        async for _ in stream:
            continue
        return stream.get()


def _parameters(question: Question, native: bool) -> ModelRequestParameters:
    if not native:
        return ModelRequestParameters()
    shape = OutputObjectDefinition(json_schema(question.shape), name=question.prompt)
    return ModelRequestParameters(output_mode="native", output_object=shape)


def _model(choice: Choice, key: str | None, client: httpx2.AsyncClient) -> Model:
    """The library's model. Address and key are always given, so that it looks for neither in the environment."""
    if choice.provider == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        anthropic = AnthropicProvider(base_url=choice.base_url, api_key=key or _NO_KEY, http_client=client)
        return AnthropicModel(choice.model, provider=anthropic)
    from pydantic_ai.models.openai import OpenAIChatModel

    return OpenAIChatModel(choice.model, provider=_openai_provider(choice, key or _NO_KEY, client))


def _openai_provider(choice: Choice, key: str, client: httpx2.AsyncClient) -> Any:
    if choice.provider == "ollama":
        from pydantic_ai.providers.ollama import OllamaProvider

        return OllamaProvider(base_url=choice.base_url, api_key=key, http_client=client)
    if choice.given:
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

        return OpenAICompatibleProvider("compatible", base_url=choice.base_url, api_key=key, http_client=client)
    from pydantic_ai.providers.openai import OpenAIProvider

    return OpenAIProvider(base_url=choice.base_url, api_key=key, http_client=client)


def _run(asked: Coroutine[Any, Any, ModelResponse]) -> ModelResponse:
    """In a loop of its own; where the caller's thread has one already (a notebook), in a thread of its own."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(asked)
    done: list[ModelResponse | BaseException] = []

    def run() -> None:
        try:
            done.append(asyncio.run(asked))
        except BaseException as error:  # noqa: BLE001  # carried over to the thread that waits
            done.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if isinstance(done[0], BaseException):
        raise done[0]
    return done[0]


def _reply(response: ModelResponse, seconds: float) -> Reply:
    usage = _usage(response)
    if response.finish_reason == "content_filter":
        return Failed("the model declined to answer", seconds, billed=True, usage=usage)
    if any(isinstance(part, ToolCallPart) for part in response.parts):
        return Failed("the model called a tool, and there are none", seconds, billed=True, usage=usage)
    texts: list[object] = [part.content for part in response.parts if isinstance(part, TextPart)]
    if not all(isinstance(text, str) for text in texts):  # the libraries do not look
        return Failed("the reply cannot be understood", seconds, again=True, billed=True, usage=usage)
    return Replied("".join(map(str, texts)), usage, seconds, cut_short=response.finish_reason == "length")


def _usage(response: ModelResponse) -> Usage | None:
    """What the provider says; None where it says nothing, or nonsense."""
    said = response.usage
    numbers = (said.input_tokens, said.output_tokens, said.cache_read_tokens)
    if not any(numbers) or any(not isinstance(number, int) or number < 0 for number in numbers):
        return None
    return Usage(*numbers)


def _may_be_the_schema(error: Exception) -> bool:
    """A request that is refused for what it is, not for whose it is or how long it is."""
    other = (
        exceptions.ModelAuthenticationError,
        exceptions.ModelNotFoundError,
        exceptions.ModelContextWindowExceededError,
    )
    return not isinstance(error, other)


def _failed(error: Exception, guard: GuardedTransport, seconds: float) -> Failed:
    """In our own words: a provider's message may hold anything, a piece of the key included."""
    if guard.why:
        return Failed(guard.why, seconds, billed=guard.began)
    status = getattr(error, "status_code", None)
    wait = getattr(error, "retry_after", None)
    code = f" (status {status})" if isinstance(status, int) else ""
    match error:
        case exceptions.ModelRequestTimeout() | exceptions.ModelTimeoutError() | TimeoutError():
            return Failed("there was no complete reply in time", seconds, again=True, billed=True)
        case exceptions.ModelQuotaExceededError():
            return Failed(f"the provider says that the quota is used up{code}", seconds)
        case exceptions.ModelRateLimitError():
            return Failed(f"the provider says that it was asked too often{code}", seconds, again=True, wait=wait)
        case exceptions.ModelUnavailableError() | exceptions.ModelServerError():
            return Failed(f"the provider is not able to answer{code}", seconds, again=True, wait=wait)
        case exceptions.ModelConnectionError() | httpx2.TransportError():
            return Failed("the connection failed", seconds, again=True, billed=guard.began)
        case exceptions.ContentFilterError():
            return Failed("the model declined to answer", seconds, billed=True)
        case _:
            return Failed(_refused(error, code), seconds, billed=guard.began, again=_may_pass(error))


def _refused(error: Exception, code: str) -> str:
    match error:
        case exceptions.ModelAuthenticationError():
            return f"the provider does not accept the key{code}"
        case exceptions.ModelNotFoundError():
            return f"the provider does not know the model or the address{code}"
        case exceptions.ModelContextWindowExceededError():
            return f"the question is too long for the model{code}"
        case exceptions.ModelHTTPError():
            return f"the provider refused the request{code}"
        case _:
            return f"the reply cannot be understood ({type(error).__name__})"


def _may_pass(error: Exception) -> bool:
    """A reply that makes no sense may make some next time; a refused request will be refused again."""
    return not isinstance(error, exceptions.ModelHTTPError | exceptions.ModelRequestRejectedError)
