"""The settings that speak of models, read: which one is asked, what it may see, and what it may take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import TypeVar

from reverie.core.errors import BadSetting
from reverie.llm.budget import Cap, Price
from reverie.llm.choice import Choice, Endpoint, choice

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
