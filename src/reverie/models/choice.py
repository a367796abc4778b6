"""Which model a role asks: `openai:gpt-x`, `anthropic:…`, `ollama:…`, or `built-in`, which asks none."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Literal
from urllib.parse import urlsplit

from reverie.kernel.errors import BadSetting

BUILT_IN = "built-in"
Provider = Literal["openai", "anthropic", "ollama"]
_NAME = re.compile(r"[\w.:/@+-]{1,200}")
_KEY_NAME = re.compile(r"[A-Za-z_]\w{0,99}")
_EXPECTED = f"openai:NAME, anthropic:NAME, ollama:NAME or {BUILT_IN}"


class Role(StrEnum):
    """What a model is asked for, so that a cheap one scans and a strong one decides."""

    LIGHT = "light"
    DEEP = "deep"
    REM = "rem"
    SKILLS = "skills"


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
class Choice:
    """A model and where to find it. `given` says that a person wrote the address, so a private one may be meant."""

    provider: Provider
    model: str
    base_url: str
    key_name: str | None
    given: bool = False
    key_file: str = ""

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


def choice(text: str, base_url: str | None = None, key_name: str | None = None) -> Choice | None:
    """Read a setting. None is the built-in reader."""
    text = text.strip()
    if text == BUILT_IN:
        return None
    provider, _, model = text.partition(":")
    usual = USUAL.get(provider)  # type: ignore[call-overload]  # whatever was written is looked up
    if usual is None or not _NAME.fullmatch(model):
        raise BadSetting(f"The model {text!r} cannot be used.", expected=_EXPECTED)
    if key_name is not None and not _KEY_NAME.fullmatch(key_name):
        raise BadSetting("The name of the key's variable cannot be used.", expected="a name such as OPENAI_API_KEY")
    address = checked_url(base_url) if base_url else usual.base_url
    return Choice(provider, model, address, key_name or usual.key_name, given=bool(base_url) or provider == "ollama")  # type: ignore[arg-type]


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
class Choices:
    """The model of each role. A role without one of its own has the default's."""

    default: Choice | None = None
    by_role: Mapping[Role, Choice | None] = field(default_factory=dict)

    def of(self, role: Role) -> Choice | None:
        return self.by_role.get(role, self.default)

    def every(self) -> list[Choice]:
        """Each model that some role asks, once."""
        return list(dict.fromkeys(chosen for role in Role if (chosen := self.of(role)) is not None))


def choices(
    default: str = BUILT_IN,
    by_role: Mapping[str, str] | None = None,
    base_url: str | None = None,
    key_name: str | None = None,
) -> Choices:
    """Read the settings of all roles. The address and the key's name are the default's and of roles of its provider;
    where there is no default, of every role."""
    unknown = sorted(set(by_role or {}) - set(Role))
    if unknown:
        raise BadSetting(f"There is no role {unknown[0]!r}.", expected=", ".join(Role))
    first = choice(default, base_url, key_name)

    def read(text: str) -> Choice | None:
        same = first is None or text.strip().startswith(f"{first.provider}:")
        return choice(text, base_url, key_name) if same else choice(text)

    return Choices(first, {Role(name): read(text) for name, text in (by_role or {}).items()})
