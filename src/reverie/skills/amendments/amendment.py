"""An intended change to one skill, pinned to the bytes it was written against.

Nothing is ever deleted: a retired skill moves to `.archive/<name>/`, as Hermes does it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from reverie.skills.amendments.edits import Edit
from reverie.skills.amendments.threeway import Overlap
from reverie.skills.versions import Bump


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
