"""An intended change to one skill, pinned to the bytes it was written against; and the same as JSON, as it waits in the
database until someone has looked.

Nothing is ever deleted: a retired skill moves to `.archive/<name>/`, as Hermes does it.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from reverie.skills.edits import AddRule, Edit, Overlap, RemoveRule, ReplaceRule, ReplaceSection
from reverie.skills.skill import Bump


@dataclass(frozen=True, slots=True)
class Diff:
    """A unified diff of the whole document."""

    text: str


@dataclass(frozen=True, slots=True)
class NewText:
    """The words of the whole body; of the whole document when they begin with frontmatter."""

    text: str


@dataclass(frozen=True, slots=True)
class Create:
    """A new skill. `files` are named by their paths below the root, the document among them."""

    subject: str
    files: Mapping[str, bytes]


@dataclass(frozen=True, slots=True)
class Patch:
    """`base` is the document as it was when the patch was written."""

    subject: str
    base: bytes
    change: tuple[Edit, ...] | Diff | NewText
    bump: Bump


@dataclass(frozen=True, slots=True)
class Merge:
    """`absorbed` becomes part of `subject`, whose body becomes `text`, and is retired."""

    subject: str
    base: bytes
    absorbed: str
    absorbed_base: bytes
    text: str
    bump: Bump = "minor"


@dataclass(frozen=True, slots=True)
class Retire:
    subject: str
    base: bytes


@dataclass(frozen=True, slots=True)
class Revert:
    """Back to older bytes. `base` and `to` name the same files; None is a file that is not there."""

    subject: str
    base: Mapping[str, bytes | None]
    to: Mapping[str, bytes | None]


Amendment = Create | Patch | Merge | Retire | Revert


@dataclass(frozen=True, slots=True)
class Amended:
    """The files that change, whole; None is one that goes. A file that is in here and was not among the files given
    is expected not to exist."""

    files_after: Mapping[str, bytes | None]


@dataclass(frozen=True, slots=True)
class Clashed:
    """The amendment does not fit what is there now. Nothing was changed."""

    why: str
    lines: tuple[Overlap, ...] = field(default=())


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
