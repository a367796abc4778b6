"""The settings that speak of models, read: which model each role asks, what it may see, and what it may cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import TypeVar

from reverie.kernel.errors import BadSetting
from reverie.models.budget import Cap, Price
from reverie.models.choice import Choices, Endpoint, Role, choices

SHARE = 0.2
TOKENS_PER_DREAM = 500_000
TOKENS_PER_DAY = 2_000_000
AT_ONCE, MOST_AT_ONCE = 4, 64
NO_CAP = "none"
_Number = TypeVar("_Number", int, float, Decimal)


@dataclass(frozen=True, slots=True)
class Using:
    """`at_once` is how many calls may be under way; None leaves it to where the model runs."""

    choices: Choices
    dream: Cap
    day: Cap
    share: float
    prompts: str
    at_once: int | None = None


def using(said: Mapping[str, str]) -> Using:
    """`said` are the texts of the settings by name. What cannot be used is an error that names the setting."""
    roles = {str(role): said[f"model_{role}"] for role in Role if said[f"model_{role}"]}
    own = {str(role): found for role in Role if (found := _endpoint(said, f"model_{role}")) != Endpoint()}
    return Using(
        choices(said["model"], roles, _endpoint(said, "model"), own),
        Cap(_limit(said, "model_tokens_per_dream", int), _limit(said, "model_dollars_per_dream", Decimal)),
        Cap(_limit(said, "model_tokens_per_day", int), _limit(said, "model_dollars_per_day", Decimal)),
        number(said, "model_share", float, 0, 1),
        said["model_prompts"],
        number(said, "model_at_once", int, 1, MOST_AT_ONCE) if said["model_at_once"] else None,
    )


def _endpoint(said: Mapping[str, str], name: str) -> Endpoint:
    url, key_name, key_file = (said[f"{name}_{part}"] for part in ("url", "key_name", "key_file"))
    return Endpoint(url, key_name, key_file, _price(said, f"{name}_price"))


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


def _price(said: Mapping[str, str], name: str) -> Price | None:
    """Dollars for a million tokens: read/written, or read/written/cached."""
    text = said[name]
    if not text.strip():
        return None
    try:
        parts = [Decimal(part.strip()) for part in text.split("/")]
        fits = len(parts) in (2, 3) and all(part >= 0 for part in parts)
    except InvalidOperation:
        fits = False
    if not fits:
        raise BadSetting(
            f"{name} is {text!r}.", expected="dollars for a million tokens read and written, such as 0.15/0.60"
        )
    return Price(*parts)
