"""Which model is asked: `openai:gpt-x`, `anthropic:…`, `ollama:…`, or `built-in`, which asks none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from reverie.core.errors import BadSetting

if TYPE_CHECKING:
    from reverie.llm.budget import Price

BUILT_IN = "built-in"
Provider = Literal["openai", "anthropic", "ollama"]
_NAME = re.compile(r"[\w.:/@+-]{1,200}")
_KEY_NAME = re.compile(r"[A-Za-z_]\w{0,99}")
_EXPECTED = f"openai:NAME, anthropic:NAME, ollama:NAME or {BUILT_IN}"


class Role(StrEnum):
    """The purpose a model is asked for: to curate a night, or to take notes of one session that is too long for the
    night's Brief."""

    CURATE = "curate"
    NOTES = "notes"


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
            return self._key_in_file()
        if self.key_name is None:
            return None
        found = environment.get(self.key_name, "").strip()
        if not found and not self.given:
            raise BadSetting(
                f"{self.text} needs a key, and {self.key_name} is not set.",
                next_step=f"Set {self.key_name}, or choose {BUILT_IN}.",
            )
        return found or None

    def _key_in_file(self) -> str:
        try:
            found = Path(self.key_file).expanduser().read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise BadSetting(
                f"The key of {self.text} cannot be read from {self.key_file}.", expected="a file with the key alone"
            ) from error
        if not found or len(found.split()) > 1:
            raise BadSetting(f"{self.key_file} does not hold a key.", expected="a file with the key alone")
        return found

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
