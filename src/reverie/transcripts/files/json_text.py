"""JSON from strangers, made into values that can be kept: no lone surrogates, no endless nesting, no absurd numbers.

Everything that parses JSON of a transcript goes through here, also the JSON that stands inside its texts.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

MOST_DEPTH = 100
_MOST_DIGITS = 18  # what fits into 64 bits; longer ones are no counts, times or exit codes
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_TOO_DEEP = f"nested more than {MOST_DEPTH} deep"


def _integer(digits: str) -> int | float | None:
    return int(digits) if len(digits) <= _MOST_DIGITS else _decimal(digits)


def _decimal(digits: str) -> float | None:
    value = float(digits)
    return value if math.isfinite(value) else None


# Raw control characters occur in real transcripts. NaN and the infinities are no JSON, and no fact about anything.
_DECODER = json.JSONDecoder(strict=False, parse_int=_integer, parse_float=_decimal, parse_constant=lambda _: None)


def parsed(text: str) -> Any:
    """The one value of a text. Raises ValueError with the reason where there is none that can be kept."""
    try:
        value = _DECODER.decode(text)
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    return _kept(value, text)


def parsed_beginning(text: str) -> Any:
    """The value a text begins with, whatever stands behind it."""
    try:
        value, end = _DECODER.raw_decode(text)
    except RecursionError as error:
        raise ValueError(_TOO_DEEP) from error
    return _kept(value, text[:end])


def _kept(value: Any, text: str) -> Any:
    if text.count("[") + text.count("{") > MOST_DEPTH:
        _check_depth(value)
    return storable(value) if _ESCAPED_SURROGATE.search(text) else value


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(MOST_DEPTH):
        level = [
            child
            for parent in level
            if isinstance(parent, dict | list)
            for child in (parent.values() if isinstance(parent, dict) else parent)
            if isinstance(child, dict | list)
        ]
        if not level:
            return
    raise ValueError(_TOO_DEEP)


def storable(value: Any, depth: int = 0) -> Any:
    """The same value as a database can hold it. Raises ValueError where it is nested too deeply."""
    if isinstance(value, str):
        return without_surrogates(value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if -(10**_MOST_DIGITS) < value < 10**_MOST_DIGITS else _beyond(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if not isinstance(value, Mapping | list | tuple):
        return value
    if depth >= MOST_DEPTH:
        raise ValueError(_TOO_DEEP)
    if isinstance(value, Mapping):
        return {storable(key, depth + 1): storable(child, depth + 1) for key, child in value.items()}
    return [storable(child, depth + 1) for child in value]


def _beyond(value: int) -> float | None:
    try:
        return float(value)
    except OverflowError:
        return None


def without_surrogates(text: str) -> str:
    """Half a character cannot be written to any file or database; it is shown as the mark for that."""
    return text if text.isascii() else _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


def dumped(value: object) -> str:
    """A value as text. What is too large to be held is only named."""
    return json.dumps(value, ensure_ascii=False, default=str)


def string_or_none(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def mapping_or_empty(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
