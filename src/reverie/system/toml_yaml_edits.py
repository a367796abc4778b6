"""Small changes to a TOML or YAML text that leave every other byte of it as it was, comments included.

TOML: a table is put at the end, a key of the whole file at the beginning. YAML: what is put in is one line, or a part
of one where its neighbours stand in brackets. Each change is checked by reading the text before and after: what is not
ours says the same, or nothing is changed.
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
    return _checked_toml(text, made, keys, dict(values))


def drop_table(text: str, keys: Sequence[str]) -> str:
    """Take out a table and those under it: what stands between their headers and the next. Comments right before the
    next header are the next one's."""
    if toml_value(text, keys) is None:
        return text
    names = (rf"[\"']?{re.escape(key)}[\"']?" for key in keys)
    header = re.compile(r"\[\[?\s*" + r"\s*\.\s*".join(names) + r"\s*[.\]]")
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
    return _checked_toml(text, left, keys, None)


def put_key(text: str, key: str, value: Any) -> str:
    """A key of the whole file, in a line at its beginning."""
    return _checked_toml(text, f"{key} = {_rendered(value)}{_newline(text)}{text}", [key], value)


def drop_key(text: str, key: str, value: Any) -> str:
    """Take that line out, if it still says the same."""
    if parse_toml(text).get(key) != value:
        return text
    line = f"{key} = {_rendered(value)}"
    lines = text.splitlines(keepends=True)
    left = "".join(one for one in lines if one.strip() != line)
    return _checked_toml(text, left, [key], None)


def _checked_toml(before: str, after: str, keys: Sequence[str], value: Any) -> str:
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


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def yaml_value(text: str, keys: Sequence[str]) -> Any:
    found = _parsed(text)
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def put_yaml_member(text: str, keys: Sequence[str], value: Any) -> str:
    """Set a value under these keys, in the place of the one there is."""
    text = drop_yaml_member(text, keys)
    node, rest = _way(text, keys)
    return _checked_yaml(text, _inserted(text, node, f"{rest[0]}: ", _nested(rest[1:], value)), keys, value)


def append_yaml_element(text: str, keys: Sequence[str], value: Any) -> str:
    """Put a value behind the last of the list under these keys, making what is not there."""
    node, rest = _way(text, keys)
    if rest:
        made = _inserted(text, node, f"{rest[0]}: ", _nested(rest[1:], [value]))
    elif _is_null(node):
        made = _filled(text, node, _flow([value]))
    else:
        made = _inserted(text, node, "", value)
    return _checked_yaml(text, made, keys, [*(yaml_value(text, keys) or ()), value])


def drop_yaml_member(text: str, keys: Sequence[str], keep: str | None = None) -> str:
    """Take a member out, and with it the mappings it leaves empty, but for those that are in the text `keep`."""
    parent, rest = _way(text, keys[:-1])
    if rest or parent is None or parent.id != "mapping":
        return text
    place = next((at for at, (key, _) in enumerate(parent.value) if key.value == keys[-1]), None)
    if place is None:
        return text
    if len(parent.value) == 1 and keys[:-1] and not (keep and yaml_value(keep, keys[:-1]) is not None):
        return drop_yaml_member(text, keys[:-1], keep)
    spans = [(key.start_mark.index, _end(value)) for key, value in parent.value]
    return _checked_yaml(text, _removed(text, parent, spans, place), keys, None)


def drop_element(text: str, keys: Sequence[str], value: Any, keep: str | None = None) -> str:
    """Take an element out, and what that leaves empty, as above."""
    there = yaml_value(text, keys)
    if not isinstance(there, list) or value not in there:
        return text
    if there == [value] and not (keep and yaml_value(keep, keys) is not None):
        return drop_yaml_member(text, keys, keep)
    node, _ = _way(text, keys)
    spans = [(item.start_mark.index, _end(item)) for item in node.value]
    made = _removed(text, node, spans, there.index(value))
    return _checked_yaml(text, made, keys, [one for at, one in enumerate(there) if at != there.index(value)])


def _parsed(text: str) -> Any:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        found = YAML(typ="safe", pure=True).load(text)
    except (YAMLError, ValueError, RecursionError) as error:
        told = getattr(error, "problem", None) or str(error).splitlines()[0]
        raise BadInput(f"it is not YAML: {told}.", expected="a YAML file", next_step="Mend it first.") from error
    if found is not None and not isinstance(found, dict):
        raise BadInput("it holds no YAML mapping.", expected="a YAML mapping", next_step="Mend it first.")
    return found or {}


def _way(text: str, keys: Sequence[str]) -> tuple[Any, list[str]]:
    """The node under these keys, as far as they lead, and the keys that are not there; None for an empty text."""
    from ruamel.yaml import YAML

    _parsed(text)
    node = YAML(typ="safe", pure=True).compose(text)
    for place, key in enumerate(keys):
        if node is None or _is_null(node):
            return node, list(keys[place:])
        if node.id != "mapping":
            raise BadInput(
                f"{key!r} stands below what is no mapping.", expected="a mapping", next_step="Mend it first."
            )
        found = next(((name, value) for name, value in reversed(node.value) if name.value == key), None)
        if found is None:
            return node, list(keys[place:])
        name, node = found
        if node.start_mark.index == node.end_mark.index:  # it would stand at whatever comes next
            node.start_mark.index = node.end_mark.index = text.index(":", name.end_mark.index) + 1
    return node, []


def _inserted(text: str, node: Any, named: str, value: Any) -> str:
    """One more member (`named`) or element behind the last of a node, written as its neighbours are."""
    line_end = "\r\n" if "\r\n" in text else "\n"
    if node is None:
        return f"{text}{line_end if text and not text.endswith(line_end) else ''}{named}{_flow(value)}{line_end}"
    if _is_null(node):
        return _filled(text, node, f"{{{named}{_flow(value)}}}")
    if node.id == "scalar" or bool(named) != (node.id == "mapping"):
        kind = "a mapping" if named else "a list"
        raise BadInput(f"{node.value!r:.40} stands where {kind} should.", expected=kind, next_step="Mend it first.")
    if node.flow_style:
        at = _end(_last(node)) if node.value else node.end_mark.index - 1
        return f"{text[:at]}{', ' if node.value else ''}{named}{_flow(value)}{text[at:]}"
    at = text.find("\n", _end(node))
    head, tail = (f"{text}{line_end}", "") if at < 0 else (text[: at + 1], text[at + 1 :])
    return f"{head}{' ' * node.start_mark.column}{named or '- '}{_flow(value)}{line_end}{tail}"


def _filled(text: str, node: Any, written: str) -> str:
    """Something in the place of nothing: of `~`, or right behind a colon."""
    start, end = node.start_mark.index, node.end_mark.index
    return f"{text[:start]}{' ' if start == end else ''}{written}{text[end:]}"


def _removed(text: str, node: Any, spans: Sequence[tuple[int, int]], place: int) -> str:
    start, end = spans[place]
    if node.flow_style:
        if place:
            return text[: spans[place - 1][1]] + text[end:]
        return text[:start] + text[spans[1][0] if len(spans) > 1 else end :]
    line = text.rfind("\n", 0, start) + 1
    after = text.find("\n", end)
    left = text[:line] + (text[after + 1 :] if after >= 0 else "")
    if len(spans) > 1 or (node.start_mark.column == 0 and node.id == "mapping"):
        return left
    return f"{text[:line].rstrip()} {'{}' if node.id == 'mapping' else '[]'}\n{left[line:]}"


def _last(node: Any) -> Any:
    return node.value[-1][1] if node.id == "mapping" else node.value[-1]


def _end(node: Any) -> int:
    """Where the last word of a node ends; a block itself ends only where the next begins."""
    while node.id != "scalar" and not node.flow_style and node.value:
        node = _last(node)
    return int(node.end_mark.index)


def _is_null(node: Any) -> bool:
    return bool(node is not None and node.id == "scalar" and str(node.tag).endswith(":null"))


def _flow(value: Any) -> str:
    plain = isinstance(value, str) and value.isidentifier() and value.lower() not in ("null", "true", "false", "yes")
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    return value if plain else json.dumps(value, ensure_ascii=False)


def _nested(keys: Sequence[str], value: Any) -> Any:
    for key in reversed(keys):
        value = {key: value}
    return value


def _checked_yaml(before: str, after: str, keys: Sequence[str], value: Any) -> str:
    """The new text, if it says this under these keys (None: has nothing there) and else what it said before."""
    expected = at = _parsed(before)
    for key in keys[:-1]:
        at[key] = at[key] if isinstance(at.get(key), dict) else {}
        at = at[key]
    at.pop(keys[-1], None)
    at.update({} if value is None else {keys[-1]: value})
    if _parsed(after) != expected:
        raise BadInput("it cannot be changed without changing more.", next_step=f"Set {'.'.join(keys)} by hand.")
    return after
