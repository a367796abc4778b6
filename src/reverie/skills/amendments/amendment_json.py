"""An Amendment as JSON and back: a proposal waits in the database until someone has looked."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from reverie.skills.amendments.amendment import Amendment, Create, Diff, Merge, NewText, Patch, Retire, Revert
from reverie.skills.amendments.edits import AddRule, RemoveRule, ReplaceRule, ReplaceSection

_KINDS = {kind.__name__: kind for kind in (Create, Patch, Merge, Retire, Revert)}
_PARTS = {kind.__name__: kind for kind in (Diff, NewText, AddRule, ReplaceRule, RemoveRule, ReplaceSection)}


def action_of(amendment: Amendment) -> str:
    """`create`, `patch`, `merge`, `retire` or `revert`: what a policy speaks of."""
    return type(amendment).__name__.lower()


def amendment_as_json(amendment: Amendment) -> dict[str, Any]:
    told: dict[str, Any] = _told(amendment)
    return told


def amendment_from_json(told: Mapping[str, Any]) -> Amendment:
    read = _read(told)
    assert isinstance(read, Create | Patch | Merge | Retire | Revert)
    return read


def _told(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode("ascii")}
    if isinstance(value, Mapping):
        return {"files": {name: _told(content) for name, content in value.items()}}
    if isinstance(value, tuple):
        return [_told(one) for one in value]
    if type(value).__name__ in _KINDS | _PARTS:
        return {"kind": type(value).__name__} | {one.name: _told(getattr(value, one.name)) for one in fields(value)}
    return value


def _read(told: Any) -> Any:
    if isinstance(told, list):
        return tuple(_read(one) for one in told)
    if not isinstance(told, Mapping):
        return told
    if "bytes" in told:
        return base64.b64decode(told["bytes"])
    if "files" in told and "kind" not in told:
        return {name: _read(content) for name, content in told["files"].items()}
    kind = (_KINDS | _PARTS)[told["kind"]]
    return kind(**{name: _read(value) for name, value in told.items() if name != "kind"})
