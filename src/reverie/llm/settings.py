"""The settings that speak of models, read: which one is asked, where, under which key, and what it may see and take.

`openai:gpt-x`, `anthropic:…`, `ollama:…`, or `built-in`, which asks none. Prompts are Markdown files: whoever overrides
one has another hash on the dream.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeVar
from urllib.parse import urlsplit

from reverie.core.errors import BadSetting
from reverie.core.ids import sha256
from reverie.llm.budget import Cap, Price
from reverie.llm.question import Role

BUILT_IN = "built-in"
Provider = Literal["openai", "anthropic", "ollama"]
_NAME = re.compile(r"[\w.:/@+-]{1,200}")
_KEY_NAME = re.compile(r"[A-Za-z_]\w{0,99}")
_EXPECTED = f"openai:NAME, anthropic:NAME, ollama:NAME or {BUILT_IN}"
TIMEOUT = 600.0
ANSWER_TOKENS = 16_000
MOST_ANSWER_TOKENS = 128_000
CONTEXT = 128_000
BRIEF_TOKENS = 24_000
TOKENS_PER_NIGHT = 500_000
TOKENS_PER_MONTH = 10_000_000
AT_ONCE, MOST_AT_ONCE = 4, 64
NO_CAP = "none"
_LARGEST = 10_000_000
_Number = TypeVar("_Number", int, float, Decimal)


@dataclass(frozen=True, slots=True)
class Usual:
    """Where a provider is found and under which name its key lies in the environment, unless someone says otherwise."""

    base_url: str
    key_name: str | None


USUAL: Mapping[Provider, Usual] = MappingProxyType(
    {
        "openai": Usual("https://api.openai.com/v1", "OPENAI_API_KEY"),
        "anthropic": Usual("https://api.anthropic.com", "ANTHROPIC_API_KEY"),
        "ollama": Usual("http://127.0.0.1:11434/v1", None),
    }
)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The place of a model as a person gives it: its address, its key's variable or file, and what it costs."""

    url: str = ""
    key_name: str = ""
    key_file: str = ""
    price: Price | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """A model and where to find it. `given` says that a person wrote the address, so a private one may be meant;
    `price` is what they say it costs."""

    provider: Provider
    model: str
    base_url: str
    key_name: str | None
    given: bool = False
    key_file: str = ""
    price: Price | None = None

    @property
    def text(self) -> str:
        return f"{self.provider}:{self.model}"

    def key(self, environment: Mapping[str, str]) -> str | None:
        """The key itself, or None where none is needed. A key that is asked for and not there is a setting to fix."""
        if self.key_file:
            try:
                found = Path(self.key_file).expanduser().read_text("utf-8").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise BadSetting(
                    f"The key of {self.text} cannot be read from {self.key_file}.", expected="a file with the key alone"
                ) from error
            if not found or len(found.split()) > 1:
                raise BadSetting(f"{self.key_file} does not hold a key.", expected="a file with the key alone")
            return found
        if self.key_name is None:
            return None
        found = environment.get(self.key_name, "").strip()
        if not found and not self.given:
            raise BadSetting(
                f"{self.text} needs a key, and {self.key_name} is not set.",
                next_step=f"Set {self.key_name}, or choose {BUILT_IN}.",
            )
        return found or None

    def where_the_key_is(self, sent: bool) -> str:
        """Say what to check when the provider refuses the key. `sent`: whether there was one."""
        if self.key_file:
            return f"check the key in {self.key_file} (model_key_file)"
        if not sent:
            return f"no key was sent: set {self.key_name or 'model_key_name to the variable that holds it'}"
        return f"check the key in {self.key_name}, or name another variable with model_key_name"


def choice(text: str, said: Endpoint = Endpoint()) -> Choice | None:
    """Read a setting. None is the built-in reader."""
    text = text.strip()
    if text == BUILT_IN:
        return None
    provider, _, model = text.partition(":")
    usual = USUAL.get(provider)  # type: ignore[call-overload]  # whatever was written is looked up
    if usual is None or not _NAME.fullmatch(model):
        raise BadSetting(f"The model {text!r} cannot be used.", expected=_EXPECTED)
    if said.key_name and not _KEY_NAME.fullmatch(said.key_name):
        raise BadSetting("The name of the key's variable cannot be used.", expected="a name such as OPENAI_API_KEY")
    address = checked_url(said.url) if said.url else usual.base_url
    given = address != usual.base_url or provider == "ollama"
    return Choice(provider, model, address, said.key_name or usual.key_name, given, said.key_file, said.price)  # type: ignore[arg-type]


def checked_url(text: str) -> str:
    """A base URL that can be called, or an error that does not repeat what may be a password."""
    try:
        parts = urlsplit(text.strip())
        port_is_fine = parts.port is None or parts.port > 0
    except ValueError as error:
        raise BadSetting("The base_url is not a URL.", expected="one such as http://127.0.0.1:8080/v1") from error
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_fine:
        raise BadSetting("The base_url is not a web address.", expected="one such as http://127.0.0.1:8080/v1")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise BadSetting(
            "The base_url carries a name, password, query or fragment.",
            expected="only a scheme, host, port and path",
            next_step="Put the key into an environment variable and name that.",
        )
    return text.strip().rstrip("/")


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """`choice` is None for the built-in reader. `at_once`: how many requests may be under way; None leaves it to where
    the model runs."""

    choice: Choice | None
    night: Cap
    month: Cap
    timeout: float = TIMEOUT
    answer_tokens: int = ANSWER_TOKENS
    context: int = CONTEXT
    brief_tokens: int = BRIEF_TOKENS
    prompts: str = ""
    at_once: int | None = None


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """The facts about a model before it is asked, for a Brief and for an estimate. No key is needed."""

    name: str
    price: Price | None
    settings: ModelSettings
    prompts: Mapping[str, str] = field(default_factory=dict)  # those that take the place of ours, by name

    def brief_tokens(self, prompt_tokens: int) -> int:
        """The number of tokens a Brief may have beside a system prompt of so many."""
        left = self.settings.context - self.settings.answer_tokens - prompt_tokens
        return max(0, min(left, self.settings.brief_tokens))


def model_settings(said: Mapping[str, str]) -> ModelSettings:
    """`said` are the texts of the settings by name. What cannot be used is an error that names the setting."""
    endpoint = Endpoint(said["model_url"], said["model_key_name"], said["model_key_file"], _price(said["model_price"]))
    read = ModelSettings(
        choice(said["model"], endpoint),
        Cap(_limit(said, "model_tokens_per_night", int), _limit(said, "model_dollars_per_night", Decimal)),
        Cap(_limit(said, "model_tokens_per_month", int), _limit(said, "model_dollars_per_month", Decimal)),
        number(said, "model_timeout", float, 1, 86_400),
        number(said, "model_answer_tokens", int, 100, MOST_ANSWER_TOKENS),
        number(said, "model_context", int, 1_000, _LARGEST),
        number(said, "model_brief_tokens", int, 500, _LARGEST),
        said["model_prompts"],
        number(said, "model_at_once", int, 1, MOST_AT_ONCE) if said["model_at_once"] else None,
    )
    if read.answer_tokens >= read.context:
        raise BadSetting(
            f"model_answer_tokens is {read.answer_tokens:,} and model_context is {read.context:,}.",
            expected="a context that holds more than the answer",
        )
    return read


def number(
    said: Mapping[str, str], name: str, read: Callable[[str], _Number], least: float, most: float | None = None
) -> _Number:
    """The number a setting says, or an error."""
    between = f"a number from {least}" + (f" to {most}" if most is not None else "")
    try:
        found = read(said[name].strip())
        fits = least <= found and (most is None or found <= most)  # whatever is no number fits nowhere
    except (ValueError, InvalidOperation):
        fits = False
    if not fits:
        raise BadSetting(f"{name} is {said[name]!r}.", expected=between)
    return found


def _limit(said: Mapping[str, str], name: str, read: Callable[[str], _Number]) -> _Number | None:
    return None if said[name].strip() == NO_CAP else number(said, name, read, 0)


def _price(text: str) -> Price | None:
    """Dollars for a million tokens: read/written, or read/written/cached."""
    if not text.strip():
        return None
    try:
        parts = [Decimal(part.strip()) for part in text.split("/")]
        fits = len(parts) in (2, 3) and all(part >= 0 for part in parts)
    except InvalidOperation:
        fits = False
    if not fits:
        raise BadSetting(
            f"model_price is {text!r}.", expected="dollars for a million tokens read and written, such as 0.15/0.60"
        )
    return Price(*parts)


@dataclass(frozen=True, slots=True)
class Prompt:
    name: str
    text: str

    @property
    def sha256(self) -> str:
        return sha256(self.text)


def overrides(folder: str) -> dict[str, str]:
    """The prompts a person put in the place of ours: `curate.md` for `curate`. A name we do not have is a mistake."""
    if not folder:
        return {}
    place = Path(folder).expanduser()
    if not place.is_dir():
        raise BadSetting(f"model_prompts is {folder}.", expected="a folder of Markdown files")
    found = {path.stem: path.read_text("utf-8") for path in sorted(place.glob("*.md"))}
    if unknown := sorted(set(found) - set(Role)):
        raise BadSetting(f"{folder} holds {unknown[0]}.md.", expected=" or ".join(f"{name}.md" for name in Role))
    return found
