"""An answer of the right shape for any JSON schema, the same one each time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_DEEPEST = 12


def shaped(schema: Mapping[str, Any], depth: int = 0) -> object:
    """The smallest value the schema allows: required fields only, lists as short as they may be."""
    if depth > _DEEPEST:
        return None
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    for union in ("anyOf", "oneOf", "allOf"):
        if schema.get(union):
            return shaped(schema[union][0], depth + 1)
    return _of_type(schema, depth)


def _of_type(schema: Mapping[str, Any], depth: int) -> object:
    match schema.get("type"):
        case "object":
            wanted = schema.get("required", ())
            return {name: shaped(schema.get("properties", {}).get(name, {}), depth + 1) for name in wanted}
        case "array":
            return [shaped(schema.get("items", {}), depth + 1) for _ in range(schema.get("minItems", 0))]
        case "integer" | "number":
            return schema.get("minimum", 0)
        case "boolean":
            return False
        case "string":
            return "x" * max(schema.get("minLength", 0), 1)
        case _:
            return None
