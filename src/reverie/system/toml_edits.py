"""Small changes to a TOML text that leave every other byte of it as it was, comments included.

A table is put at the end, a key of the whole file at the beginning. Each change is checked by reading the text before
and after: what is not ours says the same, or nothing is changed.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from reverie.core.errors import BadInput


def parse_toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except ValueError as error:
        raise BadInput(f"it is not TOML: {error}.", expected="a TOML file", next_step="Mend it first.") from error


def toml_value(text: str, keys: Sequence[str]) -> Any:
    found: Any = parse_toml(text)
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def put_table(text: str, keys: Sequence[str], values: Mapping[str, Any]) -> str:
    """A table at the end, in the place of the one there is."""
    text = drop_table(text, keys)
    block = _block(keys, values).replace("\n", _newline(text))
    end = "" if text.endswith("\n") else _newline(text)
    made = f"{text}{end}{block}" if text else block.lstrip()
    return _checked(text, made, keys, dict(values))


def drop_table(text: str, keys: Sequence[str]) -> str:
    """Take out a table and those under it: what stands between their headers and the next. Comments right before the
    next header are the next one's."""
    if toml_value(text, keys) is None:
        return text
    header = re.compile(r"\[\[?\s*" + r"\s*\.\s*".join(map(_named, keys)) + r"\s*[.\]]")
    kept, block = list[str](), list[str]()
    inside = False
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("["):
            was, inside = inside, bool(header.match(line.lstrip()))
            if was and not inside:
                kept += _trailing_comments(block)
            block = []
        (block if inside else kept).append(line)
    left = "".join(kept)
    if text.endswith("".join(block)) and inside:  # it was the last: the empty line before it is ours
        left = re.sub(r"(\r?\n)\r?\n\Z", r"\1", left)
    return _checked(text, left, keys, None)


def put_key(text: str, key: str, value: Any) -> str:
    """A key of the whole file, in a line at its beginning."""
    return _checked(text, f"{key} = {_rendered(value)}{_newline(text)}{text}", [key], value)


def drop_key(text: str, key: str, value: Any) -> str:
    """Take that line out, if it still says the same."""
    if parse_toml(text).get(key) != value:
        return text
    line = f"{key} = {_rendered(value)}"
    lines = text.splitlines(keepends=True)
    left = "".join(one for one in lines if one.strip() != line)
    return _checked(text, left, [key], None)


def _checked(before: str, after: str, keys: Sequence[str], value: Any) -> str:
    """The text after, if it differs from the one before in what is ours and in nothing else."""
    wanted = _without(parse_toml(before), keys)
    if value is not None:
        inner = wanted
        for key in keys[:-1]:
            inner = inner.setdefault(key, {})
        inner[keys[-1]] = value
    try:
        said = tomllib.loads(after)
    except ValueError:
        said = {}
    if said != wanted:
        name = ".".join(keys)
        raise BadInput(
            f"{name} cannot be changed without touching what stands beside it.", next_step="Edit it by hand."
        )
    return after


def _without(told: dict[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    """The file's values without these keys, and without the tables that are only there for them."""
    if len(keys) > 1 and isinstance(told.get(keys[0]), dict):
        inner = _without(dict(told[keys[0]]), keys[1:])
        return {key: inner if key == keys[0] else one for key, one in told.items() if inner or key != keys[0]}
    return {key: one for key, one in told.items() if key != keys[0]}


def _trailing_comments(block: list[str]) -> list[str]:
    start = len(block)
    while start > 1 and block[start - 1].lstrip()[:1] in ("#", ""):
        start -= 1
    comments = block[start:]
    while comments and not comments[0].strip():
        comments = comments[1:]
    return comments


def _block(keys: Sequence[str], values: Mapping[str, Any]) -> str:
    flat = {key: value for key, value in values.items() if not isinstance(value, dict)}
    deep = {key: value for key, value in values.items() if isinstance(value, dict)}
    lines = [f"[{'.'.join(keys)}]", *(f"{key} = {_rendered(value)}" for key, value in flat.items())]
    tables = [_block([*keys, key], value).rstrip("\n") for key, value in deep.items()]
    return "\n" + "\n".join([*lines, *tables]) + "\n"


def _rendered(value: Any) -> str:
    """A string, a number, or a list of them. JSON's strings are TOML's, too."""
    return json.dumps(value, ensure_ascii=False)


def _named(key: str) -> str:
    return rf"[\"']?{re.escape(key)}[\"']?"


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
