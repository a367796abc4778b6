"""What a backup says of itself. It is the last member of the archive: one without it was cut short.

    manifest.json                 this, written out
    tables/<table>-<number>.jsonl rows, one JSON object a line; bytes as {"base64": "…"}
    home/<path>                   a file of the home; `files/<number>` where a path is too long for a tar header

Derived state (index, git, views) is not in it, and nothing of the engine: both are made again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from reverie.core.clock import moment, rfc3339
from reverie.core.errors import BadInput, SchemaTooNew

NAME = "manifest.json"
FORMAT = "reverie-backup"
VERSION = 1
KEPT = ("reverie.toml", "policy.toml", "memory", "skills", "ab", "routes")
_HASH_DIGITS = 64


@dataclass(frozen=True, slots=True)
class BackupStep:
    """The progress of a backup or a restore. `total` is None where nobody counted."""

    doing: str
    done: int
    total: int | None = None


Watch = Callable[[BackupStep], None]


@dataclass(frozen=True, slots=True)
class LedgerHead:
    """The end of a workspace's ledger, and whether the chain up to it was whole."""

    number: int
    hash: str
    whole: bool


@dataclass(frozen=True, slots=True)
class Member:
    """A member of the archive: rows of a `table`, or the file at `path` in the home."""

    name: str
    bytes: int
    sha256: str
    table: str = ""
    path: str = ""
    executable: bool = False


@dataclass(frozen=True, slots=True)
class Manifest:
    schema: str
    created_at: datetime
    tables: Mapping[str, int]
    ledger: Mapping[str, LedgerHead]
    members: tuple[Member, ...]
    folders: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def files(self) -> int:
        return sum(1 for member in self.members if member.path)


def manifest_bytes(manifest: Manifest) -> bytes:
    told = {"format": FORMAT, "version": VERSION} | asdict(manifest) | {"created_at": rfc3339(manifest.created_at)}
    return json.dumps(told, indent=1).encode()


def read_manifest(content: bytes) -> Manifest:
    try:
        told = json.loads(content)
        _refuse_newer_format(told)
        manifest = _manifest(told)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise damaged(f"its {NAME} cannot be read") from error
    for path in (*(member.path for member in manifest.members if member.path), *manifest.folders):
        # Only below the four places that are kept, and spelt in the one way that leads there.
        parts = PurePosixPath(path).parts
        plain = "/".join(parts) == path and ".." not in parts and "\0" not in path
        if not plain or parts[0] not in KEPT or (parts[0].endswith(".toml") and len(parts) > 1):
            raise damaged(f"it would write to {path[:200]!r}")
    return manifest


def damaged(why: str) -> BadInput:
    return BadInput(
        f"This backup cannot be used: {why}.",
        expected="a file that `reverie backup` wrote, whole and unaltered",
        next_step="Take another backup. Nothing was changed.",
    )


def _refuse_newer_format(told: Mapping[str, Any]) -> None:
    if told["format"] != FORMAT:
        raise damaged("it is not one of Reverie's")
    if told["version"] != VERSION:
        raise SchemaTooNew(
            f"This backup has format {told['version']!r}; this Reverie reads {VERSION}.",
            expected="a Reverie at least as new as the one that wrote it",
            next_step="Upgrade with `pip install --upgrade reverie`. Nothing was changed.",
        )


def _manifest(told: Mapping[str, Any]) -> Manifest:
    created_at = moment(_text(told["created_at"]))
    schema = _text(told["schema"])
    if created_at is None or not (schema.isascii() and schema.isdigit()):
        raise ValueError
    return Manifest(
        schema,
        created_at,
        {_text(name): _count(rows) for name, rows in told["tables"].items()},
        {
            workspace: LedgerHead(int(h["number"]), _text(h["hash"]), bool(h["whole"]))
            for workspace, h in told["ledger"].items()
        },
        tuple(_member(one) for one in told["members"]),
        tuple(_text(path) for path in told["folders"]),
        tuple(_text(path) for path in told["left_out"]),
    )


def _member(one: Mapping[str, Any]) -> Member:
    member = Member(
        _text(one["name"]),
        _count(one["bytes"]),
        _text(one["sha256"]),
        _text(one["table"]),
        _text(one["path"]),
        bool(one["executable"]),
    )
    if len(member.sha256) != _HASH_DIGITS or bool(member.table) == bool(member.path):
        raise ValueError
    return member


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise TypeError
    return value
