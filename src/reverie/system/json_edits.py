"""Small changes to a JSON text that leave every other byte of it as it was: order, indentation, line ends.

A member or an element is put behind the last one, written as its neighbours are. Taking it out again leaves the text
as it was before. What is no JSON, or has something else where an object or a list should be, is refused. `json5` takes
what people write by hand, too: comments, commas before a bracket, keys without quotation marks. All JSON is JSON5.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from reverie.core.errors import BadInput

_BLANK = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_COMMENT = re.compile(r"(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')|//[^\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'", re.DOTALL)
_WORD = re.compile(r"[^\s,:{}\[\]\"'/]+")
_ESCAPE = re.compile(r"\\(\r?\n|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_NAMED: dict[str, Any] = {"true": True, "false": False, "null": None}
_DEEPEST = 200
_RAW, _RAW_ESCAPED = "\u2028", "\\u2028"
_SPACE = re.compile(r"[ \t\r\n]*")
_INDENT = re.compile(r"\n([ \t]+)\S")
_EMPTY = "{}\n"


def parse_json5(text: str) -> Any:
    value, end = value_from(text, skip(text, 0))
    if skip(text, end) != len(text):
        raise ValueError(f"there is more behind the value: {text[end : end + 20]!r}")
    return value


def skip(text: str, at: int) -> int:
    """Past spaces and comments."""
    found = _BLANK.match(text, at)
    return found.end() if found else at


def without_comments(text: str) -> str:
    return _COMMENT.sub(lambda found: found[1] or "", text)


def key_at(text: str, at: int) -> tuple[str, int]:
    if text[at : at + 1] in ('"', "'"):
        return _string(text, at)
    found = _WORD.match(text, at)
    if found is None:
        raise ValueError(f"a key should stand at {text[at : at + 20]!r}")
    return found[0], found.end()


def value_from(text: str, at: int, depth: int = 0) -> tuple[Any, int]:
    """The value that begins here, and where it ends."""
    if depth > _DEEPEST:
        raise ValueError("it is nested too deeply")
    opens = text[at : at + 1]
    if opens in ('"', "'"):
        return _string(text, at)
    if opens not in ("{", "["):
        return _word(text, at)
    members, elements = dict[str, Any](), list[Any]()
    closes, at = {"{": "}", "[": "]"}[opens], skip(text, at + 1)
    while text[at : at + 1] != closes:
        key = ""
        if opens == "{":
            key, at = key_at(text, at)
            at = _past(text, skip(text, at), ":")
        value, at = value_from(text, at, depth + 1)
        members[key] = value
        elements.append(value)
        at = skip(text, at)
        if text[at : at + 1] != closes:
            at = _past(text, at, ",")
    return (members if opens == "{" else elements), at + 1


def _past(text: str, at: int, mark: str) -> int:
    if text[at : at + 1] != mark:
        raise ValueError(f"{mark!r} should stand at {text[at : at + 20]!r}")
    return skip(text, at + 1)


def _string(text: str, at: int) -> tuple[str, int]:
    found = _STRING.match(text, at)
    if found is None:
        raise ValueError(f"a string does not end: {text[at : at + 20]!r}")
    inner = found[1] if found[1] is not None else found[2]
    return str(json.loads(f'"{_ESCAPE.sub(_escape, inner.replace(_RAW, _RAW_ESCAPED))}"', strict=False)), found.end()


def _escape(found: re.Match[str]) -> str:
    """As JSON writes it."""
    what = found[1]
    if what.endswith("\n"):
        return ""
    if what[0] == "x" and len(what) == 3:
        return f"\\u00{what[1:]}"
    return found[0] if what in '"\\/bfnrtu' else what


def _word(text: str, at: int) -> tuple[Any, int]:
    found = _WORD.match(text, at)
    word = found[0] if found else ""
    if word in _NAMED:
        return _NAMED[word], at + len(word)
    try:
        number = int(word, 16) if "0x" in word.lower() else float(word) if re.search(r"[.eEN]|Inf", word) else int(word)
    except ValueError:
        raise ValueError(f"no value stands at {text[at : at + 20]!r}") from None
    return number, at + len(word)


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
    whole: dict[str, Any] = {keys[-1]: value}
    for key in reversed(rest):
        whole = {key: whole}
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
        found = parse_json5(text or _EMPTY) if json5 else json.loads(text or _EMPTY)
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
    at = skip(text, 0)
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
    at = skip(text, at + 1)
    while text[at] not in "}]":
        begins, key = at, None
        if wanted == "{":
            key, at = key_at(text, at)
            at = skip(text, skip(text, at) + 1)
        value = at
        _, at = value_from(text, at)
        parts.append(_Part(key, begins, value, at))
        at = skip(text, at)
        if text[at] == ",":
            at = skip(text, at + 1)
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
            comma = "" if without_comments(after).strip() else ","
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
    if without_comments(before) != before:  # comments stay
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
