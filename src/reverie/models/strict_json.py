"""JSON as a careful reader takes it: one value, no duplicate keys, no NaN, nothing around it."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

LONGEST = 1_000_000
_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*)\n```", re.DOTALL)


class NotStrict(ValueError):
    """Not one JSON value, or one that two readers could read differently."""


def strict_json(text: str) -> object:
    """The value, or `NotStrict`. One code fence around it, as local models like to write, is taken off."""
    text = text.strip()
    if not text:
        raise NotStrict("it is empty")
    if len(text) > LONGEST:
        raise NotStrict(f"it is longer than {LONGEST} characters")
    fenced = _FENCED.fullmatch(text) if text.startswith("```") else None
    try:
        return json.loads(fenced[1] if fenced else text, object_pairs_hook=_once_each, parse_constant=_no_number)
    except NotStrict:
        raise
    except (ValueError, RecursionError) as error:
        raise NotStrict("it is not JSON") from error


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise NotStrict("a key stands in it twice")
    return found


def _no_number(name: str) -> NoReturn:
    raise NotStrict("it has a number that is none")
