"""Models by pydantic-ai: the port of `llm`, for any endpoint of Chat Completions or Messages; and what they cost.

Cheap to import. The library is loaded at the first question. What a model costs and how much it reads is in the list
that comes with pydantic-ai; nothing is looked up online.

The endpoint's name is resolved once, the address is judged, and only that one is connected to. An address a person
wrote may be private: models run on laptops and in cellars. A provider's usual one may not turn out to be private,
whatever the name server says. Where clouds keep their metadata no model lives, so it is never called.
"""

from __future__ import annotations

import ipaddress
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from reverie.core.errors import BadSetting
from reverie.core.ids import is_loopback
from reverie.llm.budget import FREE, Price
from reverie.llm.question import Failed, NotJson, Question, Replied, Reply, Role, Wrong, json_in_answer
from reverie.llm.settings import Choice

if TYPE_CHECKING:
    from reverie.llm.clients.requests import Manner

_SAMPLE = 1_000
_PER_MILLION = Decimal(1_000_000) / _SAMPLE
Resolve = Callable[[str, int], list[str]]
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_NEVER = frozenset(map(ipaddress.ip_address, ("fd00:ec2::254", "100.100.100.200", "168.63.129.16")))
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
MOST_BYTES = 4_000_000
_LIBRARIES = ("pydantic_ai", "httpx2")
_SOON_ENOUGH = 0.05
_PATIENCE = 10.0
_SYSTEM = 'Answer with one JSON object such as {"word": "tree", "number": 3} and nothing else.'
_USER = 'Give the word "reverie" and the number 7.'


def price_of(choice: Choice) -> Price | None:
    """None where it is not known. What runs on this machine is free."""
    if is_here(choice):
        return FREE
    if choice.given or find_spec("genai_prices") is None:
        return None
    from genai_prices import Usage

    read = _sample(choice, Usage(input_tokens=_SAMPLE))
    written = _sample(choice, Usage(output_tokens=_SAMPLE))
    cached = _sample(choice, Usage(input_tokens=_SAMPLE, cache_read_tokens=_SAMPLE))
    put = _sample(choice, Usage(input_tokens=_SAMPLE, cache_write_tokens=_SAMPLE))
    return None if read is None or written is None else Price(read, written, cached, put)


def context_window(choice: Choice) -> int | None:
    """The number of tokens the model reads, if the list knows it."""
    if choice.given or find_spec("genai_prices") is None:
        return None
    from genai_prices import Usage, calc_price

    try:
        return calc_price(Usage(), choice.model, provider_id=choice.provider).model.context_window
    except LookupError:
        return None


def _sample(choice: Choice, usage: Any) -> Decimal | None:
    from genai_prices import calc_price

    try:
        price: Decimal = calc_price(usage, choice.model, provider_id=choice.provider).total_price
    except LookupError:
        return None
    return price * _PER_MILLION


def is_here(choice: Choice) -> bool:
    """Whether it runs on this machine, or is Ollama, which people run themselves."""
    host = urlsplit(choice.base_url).hostname or ""
    return choice.provider == "ollama" or is_loopback(host)


class NoAddress(Exception):
    """Why an endpoint may not or cannot be called. `again` says whether it may be otherwise soon."""

    def __init__(self, why: str, *, again: bool = False) -> None:
        super().__init__(why)
        self.again = again


def resolved(host: str, port: int) -> list[str]:
    """The addresses the system's name server gives."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def allowed_addresses(choice: Choice, seconds: float, resolve: Resolve = resolved) -> list[str]:
    """The addresses of an endpoint that may be called, or `NoAddress`."""
    parts = urlsplit(choice.base_url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    found = _within(seconds, resolve, parts.hostname or "", port)
    allowed = [text for text in found if _allowed(ipaddress.ip_address(text.partition("%")[0]), choice.given)]
    if not allowed:
        raise NoAddress("the endpoint's address is one that may not be called")
    return allowed


def _allowed(address: Address, given: bool) -> bool:
    """Judged is the IPv4 address inside an IPv6 one, if that is where it leads."""
    if isinstance(address, ipaddress.IPv6Address) and address in _NAT64:
        address = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    elif isinstance(address, ipaddress.IPv6Address):
        address = address.ipv4_mapped or address.sixtofour or address
    if address in _NEVER or address.is_link_local or address.is_multicast:
        return False
    return given or address.is_global


def _within(seconds: float, resolve: Resolve, host: str, port: int) -> list[str]:
    """A name server that does not answer must not hold us: its thread is left behind."""
    found: list[str] = []
    failed: list[str] = []

    def look() -> None:
        try:
            found.extend(resolve(host, port))
        except (OSError, UnicodeError) as error:
            failed.append(type(error).__name__)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        raise NoAddress("the endpoint's name was not resolved in time", again=True)
    if failed or not found:
        raise NoAddress("the endpoint's name cannot be resolved", again=True)
    return found


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
        self._manner: Manner | None = None  # what the endpoint took

    @property
    def name(self) -> str:
        return self._choice.text

    def listed_context(self) -> int | None:
        """The number of tokens the model reads, if the endpoint says so."""
        from reverie.llm.clients.requests import listed_context

        try:
            return listed_context(self._choice, self._key, allowed_addresses(self._choice, _PATIENCE, self._resolve))
        except NoAddress:
            return None

    def ask(self, question: Question[Any], most_tokens: int, seconds: float) -> Reply:
        from reverie.llm.clients.requests import GuardedTransport, RejectedRequest, Wish, load_libraries, request

        load_libraries(self._choice)  # before the clock starts
        until = time.monotonic() + seconds
        try:
            places = allowed_addresses(self._choice, seconds, self._resolve)
        except NoAddress as error:
            return Failed(str(error), seconds - (until - time.monotonic()), again=error.again)
        refused = None
        for manner in self._manners(question):
            wish = Wish(question, most_tokens, max(until - time.monotonic(), _SOON_ENOUGH), manner, self._streamed)
            try:
                reply = request(self._choice, self._key, wish, GuardedTransport(places, self._most_bytes))
            except RejectedRequest as error:
                refused = refused or error.failed
                continue
            if isinstance(reply, Replied):
                self._manner = manner
            return reply
        assert refused is not None
        return refused

    def _manners(self, question: Question[Any]) -> list[Manner]:
        """The ways to put a question, the likeliest first; the one the endpoint took before, if it did."""
        from reverie.llm.clients.requests import Manner

        if self._manner:
            return [self._manner]
        older = self._choice.given and self._choice.provider != "anthropic"
        limits = [True, False] if older else [False]
        plain = [Manner(schema=False, older_limit=limit) for limit in limits]
        return [Manner(schema=True, older_limit=older), *plain] if question.shape else plain


def client(choice: Choice, environment: Mapping[str, str]) -> PydanticAIModel:
    """The model of a choice, its key from the environment. A setting that cannot work is said now, not at night."""
    libraries = (*_LIBRARIES, "anthropic" if choice.provider == "anthropic" else "openai")
    if missing := [name for name in libraries if find_spec(name) is None]:
        raise BadSetting(
            f"{choice.text} cannot be asked: {', '.join(missing)} is not installed.",
            next_step="Install Reverie anew: pip install --force-reinstall reverie",
        )
    key = choice.key(environment)
    # Another program in the same environment may hold a library back: hermes-agent 0.19 pins openai 2.24.
    from reverie.llm.clients.requests import load_libraries

    try:
        load_libraries(choice)
    except ImportError as error:
        name = "anthropic" if choice.provider == "anthropic" else "openai"
        raise BadSetting(
            f"{choice.text} cannot be asked: {name} {version(name)} does not fit pydantic-ai "
            f"{version('pydantic-ai-slim')}; another program may pin it.",
            next_step="Install Reverie in an environment of its own (`uv tool install reverie`), or choose a model of "
            "another provider; inside Hermes, `model: host` under `dreaming:` asks that of Hermes.",
        ) from error
    return PydanticAIModel(choice, key)


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
