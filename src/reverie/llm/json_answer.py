"""The JSON in what a model wrote: thinking, prose and code fences around it are skipped, the value itself is strict.

Two readers must not read a value differently: an object with a key twice and a number that is none become null,
wherever they stand, so that one bad item of a list is one bad item.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

LONGEST = 1_000_000  # characters
_MOST_STARTS = 2_000  # braces and brackets that begin no value: each costs time
_THINKING = re.compile(r"\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL)
_THOUGHT = re.compile(r".*?</think(?:ing)?>", re.DOTALL)  # some servers leave out where it begins
_START = re.compile(r"[{\[]")


class NotJson(ValueError):
    """Why there is no value to take, to be told to the model."""


def json_in_answer(text: str) -> Iterator[object]:
    """The objects and arrays in an answer, in their order; none inside another. `NotJson` where there is none."""
    if not text.strip():
        raise NotJson("it is empty")
    if len(text) > LONGEST:
        raise NotJson(f"it is longer than {LONGEST:,} characters")
    rest = _THINKING.sub("", text, count=1) if _THINKING.match(text) else text
    if rest is text and (thought := _THOUGHT.match(text)) and not text.lstrip().startswith(("{", "[")):
        rest = text[thought.end() :]
    found = False
    for value in _parsed(rest):
        found = True
        yield value
    if not found:
        raise NotJson("it holds no complete JSON object or array")


def _parsed(text: str) -> Iterator[object]:
    decoder = json.JSONDecoder(object_pairs_hook=_once_each, parse_constant=lambda name: None)
    place = starts = 0
    while (start := _START.search(text, place)) and starts < _MOST_STARTS:
        try:
            value, place = decoder.raw_decode(text, start.start())
        except json.JSONDecodeError as error:  # what stands before the mistake is part of something broken
            place, starts = max(error.pos, start.end()), starts + 1
        except RecursionError as error:
            raise NotJson("it is nested too deeply") from error
        except ValueError as error:
            raise NotJson("it holds a number that is too long") from error
        else:
            if value is None:
                raise NotJson("a key stands in it twice")
            yield _writable(value)


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any] | None:
    found = dict(pairs)
    return found if len(found) == len(pairs) else None


def _writable(value: object) -> object:
    """With `?` for half a character (a lone surrogate), which no file can hold."""
    written = json.dumps(value, ensure_ascii=False)
    try:
        written.encode()
    except UnicodeEncodeError:
        return json.loads(written.encode("utf-8", "replace"))
    return value
