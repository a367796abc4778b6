"""Small changes to a JSON text that leave every other byte of it as it was: order, indentation, line ends.

A member or an element is put behind the last one, written as its neighbours are. Taking it out again leaves the text
as it was before. What is no JSON, or has something else where an object or a list should be, is refused. `json5` takes
what people write by hand, too: comments, commas before a bracket, keys without quotation marks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from reverie.core.errors import BadInput
from reverie.system.config_files import json5_text

_SPACE = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"\n([ \t]+)\S")
_EMPTY = "{}\n"


@dataclass(frozen=True, slots=True)
class _Part:
    """A member of an object, or an element of a list: where it begins, where its value begins and where that ends."""

    key: str | None
    start: int
    value: int
    end: int


@dataclass(frozen=True, slots=True)
class _Container:
    opens: int
    closes: int
    parts: tuple[_Part, ...]

    def get(self, key: str) -> _Part | None:
        return next((part for part in reversed(self.parts) if part.key == key), None)


def json_value(text: str, keys: Sequence[str], *, json5: bool = False) -> Any:
    """The value there, or None."""
    found = _parsed(text, json5)
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def put_json_member(text: str, keys: Sequence[str], value: Any, *, json5: bool = False) -> str:
    """Set a value in the object under all keys but the last, making the objects that are not there."""
    at, rest = _way(text, keys[:-1], json5)
    whole = _nested([*rest, keys[-1]], value)
    container = _container(text, at, "{")
    key = rest[0] if rest else keys[-1]
    old = container.get(key)
    if old is not None:
        return text[: old.value] + _rendered(whole[key], *_style(text, old.start)) + text[old.end :]
    return _inserted(text, container, json.dumps(key), whole[key])


def append_json_element(text: str, keys: Sequence[str], value: Any, *, json5: bool = False) -> str:
    """Put a value behind the last of the list under these keys, making what is not there."""
    at, rest = _way(text, keys, json5)
    if rest:
        return put_json_member(text, keys, [value], json5=json5)
    return _inserted(text, _container(text, at, "["), None, value)


def drop_json_member(text: str, keys: Sequence[str], keep: str | None = None, *, json5: bool = False) -> str:
    """Take a member out, and with it the objects it leaves empty, but for those that are in the text `keep`."""
    if json_value(text, keys, json5=json5) is None:
        return text
    at, _ = _way(text, keys[:-1], json5)
    container = _container(text, at, "{")
    part = container.get(keys[-1])
    assert part is not None
    return _without_empty(_removed(text, container, part), keys[:-1], keep, json5)


def drop_elements(
    text: str, keys: Sequence[str], ours: Callable[[Any], bool], keep: str | None = None, *, json5: bool = False
) -> str:
    """Take the elements out that are ours, and what that leaves empty, as above."""
    found = json_value(text, keys, json5=json5)
    if not isinstance(found, list) or not any(map(ours, found)):
        return text
    for place in reversed([place for place, one in enumerate(found) if ours(one)]):
        container = _container(text, _way(text, keys, json5)[0], "[")
        text = _removed(text, container, container.parts[place])
    return _without_empty(text, keys, keep, json5)


def _without_empty(text: str, keys: Sequence[str], keep: str | None, json5: bool = False) -> str:
    there = json_value(text, keys, json5=json5) if keys else None
    if not keys or there or (keep and json_value(keep, keys, json5=json5) is not None):
        return text
    return drop_json_member(text, keys, keep, json5=json5)


def _parsed(text: str, json5: bool = False) -> Any:
    try:
        found = json5_text.parse_json5(text or _EMPTY) if json5 else json.loads(text or _EMPTY)
    except (ValueError, RecursionError) as error:
        raise BadInput(
            f"it is not JSON: {error}.",
            expected="a JSON object" if json5 else "a JSON object without comments",
            next_step="Mend it first, or add the entry by hand.",
        ) from error
    if not isinstance(found, dict):
        raise BadInput("it holds no JSON object.", expected="a JSON object", next_step="Mend it first.")
    return found


def _way(text: str, keys: Sequence[str], json5: bool = False) -> tuple[int, list[str]]:
    """Where the value under these keys begins, as far as they lead, and the keys that are not there."""
    _parsed(text, json5)
    at = _skip(text, 0)
    for place, key in enumerate(keys):
        part = _container(text, at, "{").get(key)
        if part is None:
            return at, list(keys[place:])
        at = part.value
    return at, []


def _container(text: str, at: int, wanted: str) -> _Container:
    if text[at] != wanted:
        kind = {"{": "an object", "[": "a list"}[wanted]
        raise BadInput(f"{text[at : at + 40]!r} stands where {kind} should.", expected=kind, next_step="Mend it first.")
    start, parts = at, list[_Part]()
    at = _skip(text, at + 1)
    while text[at] not in "}]":
        begins, key = at, None
        if wanted == "{":
            key, at = json5_text.key_at(text, at)
            at = _skip(text, _skip(text, at) + 1)
        value = at
        _, at = json5_text.value_from(text, at)
        parts.append(_Part(key, begins, value, at))
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return _Container(start, at, tuple(parts))


def _inserted(text: str, container: _Container, key: str | None, value: Any) -> str:
    named = f"{key}: " if key else ""
    end = "\r\n" if "\r\n" in text else "\n"
    if container.parts:
        first, last = container.parts[0], container.parts[-1]
        between = text[container.opens + 1 : first.start]
        inline = "\n" not in between
        indent, unit = ("", None) if inline else _style(text, first.start)
        item = named + _rendered(value, indent, unit).replace("\n", end)
        after = text[last.end : container.closes].rstrip()
        if after:  # a comma, or a comment, which stays with what it is about
            comma = "" if json5_text.without_comments(after).strip() else ","
            between = " " if inline and "//" not in after else f"{end}{indent}"
            return f"{text[: last.end]}{comma}{after}{between}{item}{text[last.end + len(after) :]}"
        return f"{text[: last.end]},{' ' if inline else f'{end}{indent}'}{item}{text[last.end :]}"
    outer, unit = _style(text, container.opens)
    if unit is None:
        return f"{text[: container.opens + 1]}{named}{_rendered(value, '', None)}{text[container.closes :]}"
    item = named + _rendered(value, outer + unit, unit).replace("\n", end)
    comments = text[container.opens + 1 : container.closes].rstrip()
    return f"{text[: container.opens + 1]}{comments}{end}{outer}{unit}{item}{end}{outer}{text[container.closes :]}"


def _style(text: str, at: int) -> tuple[str, str | None]:
    """The indentation of the line this stands in, and by how much the text indents; None if it is all in one line."""
    line = text.rfind("\n", 0, at) + 1
    indent = _SPACE.match(text, line, at)
    found = _INDENT.search(text)
    unit = found[1] if found else "  "
    return (indent[0] if indent else ""), None if "\n" not in text.strip() and text.strip() != "{}" else unit


def _rendered(value: Any, indent: str, unit: str | None) -> str:
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", f"\n{indent}")


def _removed(text: str, container: _Container, part: _Part) -> str:
    place = container.parts.index(part)
    before = text[container.parts[place - 1].end if place else container.opens + 1 : part.start]
    if json5_text.without_comments(before) != before:  # comments stay
        left, right = text[: part.start], text[part.end :].lstrip(",")
        if "//" not in before or not right.lstrip(" \t\r").partition("\n")[0]:
            left = left.rstrip()
        at = container.parts[place - 1].end if place and part is container.parts[-1] else len(left)
        return left[:at] + left[at:].removeprefix(",") + right
    if place:
        return text[: container.parts[place - 1].end] + text[part.end :]
    if len(container.parts) > 1:
        return text[: part.start] + text[container.parts[1].start :]
    return text[: container.opens + 1] + text[container.closes :]


def _nested(keys: Sequence[str], value: Any) -> dict[str, Any]:
    for key in reversed(keys):
        value = {key: value}
    return dict(value)


def _skip(text: str, at: int) -> int:
    return json5_text.skip(text, at)
