"""The shape an answer must have, as plain values: it is sent as JSON schema and checked here, strictly.

A field that is not in the shape makes the whole answer wrong. So a model cannot hand in what it was not asked for: a
score, a path, an Origin, an authority.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, assert_never


@dataclass(frozen=True, slots=True)
class Text:
    longest: int = 2_000
    among: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number."""

    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Truth:
    """Yes or no."""


@dataclass(frozen=True, slots=True)
class Several:
    of: Shape
    most: int
    least: int = 0


@dataclass(frozen=True, slots=True)
class Record:
    fields: Mapping[str, Shape]


Shape = Text | Whole | Truth | Several | Record


def json_schema(shape: Shape) -> dict[str, Any]:
    """What a provider is sent. Every field is required and no other is allowed."""
    match shape:
        case Text(longest, among):
            return {"type": "string", "enum": list(among)} if among else {"type": "string", "maxLength": longest}
        case Whole(least, most):
            return {"type": "integer", "minimum": least, "maximum": most}
        case Truth():
            return {"type": "boolean"}
        case Several(of, most, least):
            return {"type": "array", "items": json_schema(of), "maxItems": most, "minItems": least}
        case Record(fields):
            properties = {name: json_schema(field) for name, field in fields.items()}
            return {
                "type": "object",
                "properties": properties,
                "required": list(properties),
                "additionalProperties": False,
            }
    assert_never(shape)


def faults(value: object, shape: Shape, place: str = "the answer") -> Iterator[str]:
    """What is wrong with a value, in our own words: nothing a model wrote is repeated."""
    match shape:
        case Text(longest, among):
            yield from _text_faults(value, longest, among, place)
        case Whole(least, most):
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
                yield f"{place} is not a whole number from {least} to {most}"
        case Truth():
            if not isinstance(value, bool):
                yield f"{place} is neither true nor false"
        case Several(of, most, least):
            if not isinstance(value, list) or not least <= len(value) <= most:
                yield f"{place} is not a list of {least} to {most}"
            else:
                for number, one in enumerate(value, 1):
                    yield from faults(one, of, f"{place}, number {number}")
        case Record(fields):
            yield from _record_faults(value, fields, place)


def _text_faults(value: object, longest: int, among: tuple[str, ...], place: str) -> Iterator[str]:
    if not isinstance(value, str):
        yield f"{place} is not a text"
    elif among and value not in among:
        yield f"{place} is none of {', '.join(among)}"
    elif not among and len(value) > longest:
        yield f"{place} is longer than {longest} characters"


def _record_faults(value: object, fields: Mapping[str, Shape], place: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{place} is not an object"
        return
    if missing := [name for name in fields if name not in value]:
        yield f"{place} lacks {', '.join(missing)}"
    if extra := len(set(value) - set(fields)):
        yield f"{place} has {extra} more field{'s' if extra > 1 else ''} than was asked for"
    for name, field in fields.items():
        if name in value:
            yield from faults(value[name], field, f"{place}, {name}")
