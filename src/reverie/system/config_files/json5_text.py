"""JSON as people write it by hand (JSON5), read with the places of everything in it. All JSON is JSON5."""

from __future__ import annotations

import json
import re
from typing import Any

_BLANK = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_COMMENT = re.compile(r"(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*')|//[^\n]*|/\*.*?\*/", re.DOTALL)
_STRING = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'", re.DOTALL)
_WORD = re.compile(r"[^\s,:{}\[\]\"'/]+")
_ESCAPE = re.compile(r"\\(\r?\n|x[0-9a-fA-F]{2}|.)", re.DOTALL)
_NAMED: dict[str, Any] = {"true": True, "false": False, "null": None}
_DEEPEST = 200


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


_RAW, _RAW_ESCAPED = "\u2028", "\\u2028"


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
