"""One request to a model through pydantic-ai. Slow to import (a second or more): only `models.py` does, when asked.

No tools are offered, the library's own retries and redirects are off, and whatever goes wrong comes back as a value.
The wire under it is pinned to an address and capped in bytes, without redirects or compression. What it stops it
remembers: the libraries above turn every failure into their own.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Coroutine, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import httpx2
from pydantic_ai import exceptions
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.profiles import merge_profile
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.settings import ModelSettings

from reverie.llm.question import Failed, NotJson, Question, Replied, Reply, Usage, json_in_answer
from reverie.llm.settings import Choice

MOST_BYTES = 4_000_000
_CONNECT = 10.0
_NO_KEY = "no-key"  # the libraries insist on one; local servers do not look at it
_SECONDS = 10.0
_NAMES = ("max_model_len", "context_length", "context_window", "max_context_length", "n_ctx", "n_ctx_train")


_certificates = cache(httpx2.create_ssl_context)


class GuardedTransport(httpx2.AsyncBaseTransport):
    """`why` is set when it stopped something itself; `began` when a reply had begun to arrive."""

    def __init__(self, addresses: Sequence[str], most_bytes: int = MOST_BYTES) -> None:
        self._addresses = addresses
        self.most_bytes = most_bytes
        self._inner = httpx2.AsyncHTTPTransport(verify=_certificates())
        self.why: str | None = None
        self.began = False

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.headers["Accept-Encoding"] = "identity"
        response = await self._sent(request)
        if response.is_redirect or 300 <= response.status_code < 400:
            await self._refuse(response, request, "the endpoint wants to send us elsewhere")
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            await self._refuse(response, request, "the reply is compressed, which was not asked for")
        self.began = response.is_success
        stream = response.stream
        assert isinstance(stream, httpx2.AsyncByteStream)
        response.stream = _Counted(stream, self, request)
        return response

    async def _sent(self, request: httpx2.Request) -> httpx2.Response:
        """Try each address in turn. The name stays in the Host header and in the certificate's check."""
        name = request.url.host
        timeouts = dict(request.extensions.get("timeout", {}))
        extensions = {"sni_hostname": name, "timeout": timeouts | {"connect": _CONNECT}}
        for place, address in enumerate(self._addresses, 1):
            request.url = request.url.copy_with(host=address)
            request.extensions = {**request.extensions, **extensions}
            try:
                return await self._inner.handle_async_request(request)
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                if place == len(self._addresses):
                    raise
        raise AssertionError("there is always an address")  # pragma: no cover

    async def _refuse(self, response: httpx2.Response, request: httpx2.Request, why: str) -> None:
        await response.aclose()
        self.stop(why, request)

    def stop(self, why: str, request: httpx2.Request) -> None:
        self.why = why
        raise httpx2.ReadError(why, request=request)

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Counted(httpx2.AsyncByteStream):
    """A body that is given up once it is too long. Nothing above has to hold more than that."""

    def __init__(self, inner: httpx2.AsyncByteStream, guard: GuardedTransport, request: httpx2.Request) -> None:
        self._inner = inner
        self._guard = guard
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        length = 0
        async for piece in self._inner:
            length += len(piece)
            if length > self._guard.most_bytes:
                self._guard.stop(f"the reply is longer than {self._guard.most_bytes:,} bytes", self._request)
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()


@dataclass(frozen=True, slots=True)
class Manner:
    """The way an endpoint wants to be asked. `schema`: the shape of the answer is sent as a schema, too. `older_limit`:
    the limit of the answer is called `max_tokens`, as most compatible servers know it; OpenAI has another name for
    it."""

    schema: bool = True
    older_limit: bool = False


@dataclass(frozen=True, slots=True)
class Wish:
    """A question and how to put it."""

    question: Question[Any]
    most_tokens: int
    seconds: float
    manner: Manner = Manner()
    streamed: bool = False


class RejectedRequest(Exception):
    """The endpoint does not take the request as it was put. `failed` is what to say if no other manner is taken."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(failed.why)
        self.failed = failed


def request(choice: Choice, key: str | None, wish: Wish, guard: GuardedTransport) -> Reply:
    """Ask once. Raises `RejectedRequest`, and otherwise nothing that a provider can cause."""
    started = time.monotonic()
    try:
        response = _run(_request(choice, key, wish, guard))
    except Exception as error:  # the libraries read hostile bytes; what they raise then is anyone's guess
        failed = _failed(error, guard, time.monotonic() - started, choice, key)
        too_big = isinstance(error, exceptions.ModelContextWindowExceededError)
        if getattr(error, "status_code", None) in (400, 422) and not too_big:
            raise RejectedRequest(failed) from error
        return failed
    seconds = time.monotonic() - started
    said = response.usage
    numbers = (said.input_tokens, said.output_tokens, said.cache_read_tokens, said.cache_write_tokens)
    nonsense = any(not isinstance(number, int) or number < 0 for number in numbers)
    usage = Usage(*numbers) if any(numbers) and not nonsense else None
    if response.finish_reason == "content_filter":
        return Failed("the model declined to answer", seconds, billed=True, usage=usage)
    if any(isinstance(part, ToolCallPart) for part in response.parts):
        return Failed("the model called a tool, and there are none", seconds, billed=True, usage=usage)
    texts: list[object] = [part.content for part in response.parts if isinstance(part, TextPart)]
    if not all(isinstance(text, str) for text in texts):  # the libraries do not look
        return Failed("the reply cannot be understood", seconds, again=True, billed=True, usage=usage)
    return Replied("".join(map(str, texts)), usage, seconds, cut_short=response.finish_reason == "length")


def load_libraries(choice: Choice) -> None:
    """Load what a request needs, which takes a second or more."""
    _model(choice, None, httpx2.AsyncClient(transport=GuardedTransport(())), Manner())


async def _request(choice: Choice, key: str | None, wish: Wish, guard: GuardedTransport) -> ModelResponse:
    timeout = httpx2.Timeout(wish.seconds)
    client = httpx2.AsyncClient(transport=guard, follow_redirects=False, trust_env=False, timeout=timeout)
    async with asyncio.timeout(wish.seconds), client:
        settings = ModelSettings(max_tokens=wish.most_tokens, timeout=wish.seconds, max_retries=0)
        if choice.provider == "anthropic":  # caches what is marked; the others cache what begins alike
            settings["anthropic_cache_instructions"] = True  # type: ignore[typeddict-unknown-key]  # of its own settings
        return await _send(_model(choice, key, client, wish.manner), wish, settings)


async def _send(model: Model, wish: Wish, settings: ModelSettings) -> ModelResponse:
    question, shape = wish.question, ModelRequestParameters()
    messages: list[ModelMessage] = [ModelRequest([SystemPromptPart(question.system), UserPromptPart(question.user)])]
    for exchange in question.earlier:
        messages += [ModelResponse([TextPart(exchange.answer)]), ModelRequest([UserPromptPart(exchange.correction)])]
    if question.shape is not None and wish.manner.schema and model.profile.get("supports_json_schema_output"):
        wanted = OutputObjectDefinition(dict(question.shape), name=question.prompt)
        shape = ModelRequestParameters(output_mode="native", output_object=wanted)
    if not wish.streamed:
        return await model_request(model, messages, model_settings=settings, model_request_parameters=shape)
    async with model_request_stream(model, messages, model_settings=settings, model_request_parameters=shape) as stream:
        async for _ in stream:
            continue
        return stream.get()


def _model(choice: Choice, key: str | None, client: httpx2.AsyncClient, manner: Manner) -> Model:
    """The library's model. Address and key are always given, so that it looks for neither in the environment."""
    key = key or _NO_KEY
    if choice.provider == "anthropic":
        from anthropic import AsyncAnthropic, omit
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        # The library would send the key as a bearer token, which endpoints that speak this protocol do not know.
        headers = {"X-Api-Key": key, "Authorization": omit}
        anthropic = AsyncAnthropic(
            api_key=key,
            base_url=choice.base_url,
            http_client=client,
            default_headers=headers,  # type: ignore[arg-type]  # it takes `omit`, and does not say so
        )
        return AnthropicModel(choice.model, provider=AnthropicProvider(anthropic_client=anthropic))
    from pydantic_ai.models.openai import OpenAIChatModel

    provider: Any
    if choice.provider == "ollama":
        from pydantic_ai.providers.ollama import OllamaProvider

        provider = OllamaProvider(base_url=choice.base_url, api_key=key, http_client=client)
    elif choice.given:
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

        provider = OpenAICompatibleProvider("compatible", base_url=choice.base_url, api_key=key, http_client=client)
    else:
        from pydantic_ai.providers.openai import OpenAIProvider

        provider = OpenAIProvider(base_url=choice.base_url, api_key=key, http_client=client)
    profile = provider.model_profile(choice.model)
    if manner.older_limit:
        profile = merge_profile(profile, OpenAIModelProfile(openai_chat_supports_max_completion_tokens=False))
    return OpenAIChatModel(choice.model, provider=provider, profile=profile)


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


def _failed(error: Exception, guard: GuardedTransport, seconds: float, choice: Choice, key: str | None) -> Failed:
    """In our own words: a provider's message may hold anything, a piece of the key included."""
    if guard.why:
        return Failed(guard.why, seconds, billed=guard.began)
    status = getattr(error, "status_code", None)
    wait = getattr(error, "retry_after", None)
    code = f" (status {status})" if isinstance(status, int) else ""
    if status in (401, 403) or isinstance(error, exceptions.ModelAuthenticationError):
        said = f"{choice.text} refused the key{code}: {choice.where_the_key_is(sent=key is not None)}"
        return Failed(said, seconds, denied=True)
    match error:
        case exceptions.ModelRequestTimeout() | exceptions.ModelTimeoutError() | TimeoutError():
            return Failed(
                "there was no complete answer in time; model_timeout sets how long is waited", seconds, billed=True
            )
        case exceptions.ModelQuotaExceededError():
            return Failed(f"the provider says that the quota is used up{code}", seconds, lasting=True)
        case exceptions.ModelRateLimitError():
            return Failed(f"the provider says that it was asked too often{code}", seconds, again=True, wait=wait)
        case exceptions.ModelUnavailableError() | exceptions.ModelServerError():
            return Failed(f"the provider is not able to answer{code}", seconds, again=True, wait=wait)
        case exceptions.ModelConnectionError() | httpx2.TransportError():
            return Failed("the connection failed", seconds, again=True, billed=guard.began)
        case exceptions.ContentFilterError():
            return Failed("the model declined to answer", seconds, billed=True)
        case exceptions.ModelNotFoundError():
            said = f"the provider does not know the model or the address{code}: check model and model_url"
            return Failed(said, seconds, lasting=True)
        case exceptions.ModelContextWindowExceededError():
            said = f"the question is too long for the model{code}: model_context says how much it can read"
            return Failed(said, seconds, too_big=True)
        case exceptions.ModelHTTPError() | exceptions.ModelRequestRejectedError():
            return Failed(f"the provider refused the request{code}", seconds, too_big=status in (400, 413, 422))
        case _:  # a reply that makes no sense may make some next time
            said = f"the reply cannot be understood ({type(error).__name__})"
            return Failed(said, seconds, again=True, billed=guard.began)


def listed_context(choice: Choice, key: str | None, places: Sequence[str]) -> int | None:
    """The size of the model's context in tokens, or None."""
    try:
        text = asyncio.run(_listing(choice, key, GuardedTransport(places)))
        found = next(json_in_answer(text), None)
    except (httpx2.HTTPError, TimeoutError, NotJson):
        return None
    entries = found.get("data") if isinstance(found, dict) else None
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and (entry.get("id") == choice.model or len(entries or ()) == 1):
            return _number(entry) or _number(entry.get("meta"))
    return None


async def _listing(choice: Choice, key: str | None, guard: GuardedTransport) -> str:
    place, headers = f"{choice.base_url}/models", {"Authorization": f"Bearer {key}"} if key else {}
    if choice.provider == "anthropic":
        place = f"{choice.base_url}/v1/models"
        headers = {"anthropic-version": "2023-06-01"} | ({"x-api-key": key} if key else {})
    async with asyncio.timeout(_SECONDS), httpx2.AsyncClient(transport=guard, trust_env=False) as client:
        return (await client.get(place, headers=headers)).text


def _number(entry: Any) -> int | None:
    numbers = [entry.get(name) for name in _NAMES] if isinstance(entry, dict) else []
    return next((number for number in numbers if isinstance(number, int) and number > 0), None)
