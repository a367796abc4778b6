"""Writes and reads a .tar.gz of plain files. A header of the oldest kind says all there is to say of a member.

    tables/<table>-<number>.jsonl rows, one JSON object a line; bytes as {"base64": "…"}
    home/<path>                   a file of the home; `files/<number>` where a path is too long for a tar header
    manifest.json                 what the backup says of itself; an archive without it was cut short

Derived state (index, git, views) is not in it, and nothing of the engine: both are made again.

It is read with nothing trusted. Whatever is not a regular file is refused before its content is looked at: links,
devices, folders and the extended headers that can grow without bound. So is what unpacks to far more than it could
honestly hold.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import tarfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import IO, Any, Self

from reverie.core.clock import moment, rfc3339
from reverie.core.errors import BadInput, SchemaTooNew

NAME = "manifest.json"
FORMAT = "reverie-backup"
VERSION = 1
KEPT = ("reverie.toml", "policy.toml", "memory", "skills", "ab", "routes")
_HASH_DIGITS = 64
MOST_MEMBERS = 200_000
MOST_BYTES = 2**31  # of one member; no row of either database can be longer
MOST_MANIFEST = 2**27
ALWAYS_FINE = 2**26  # bytes that may come out of any backup …
MOST_RATIO = 300  # … and how many more for each byte of the file; at our level one letter repeated gives 222
_BLOCK = 2**20
LEVEL = 3  # behind it, time doubles for a twentieth of the space


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
        if told["format"] != FORMAT:
            raise damaged("it is not one of Reverie's")
        if told["version"] != VERSION:
            raise SchemaTooNew(
                f"This backup has format {told['version']!r}; this Reverie reads {VERSION}.",
                expected="a Reverie at least as new as the one that wrote it",
                next_step="Upgrade with `pip install --upgrade reverie`. Nothing was changed.",
            )
        created_at = moment(_text(told["created_at"]))
        schema = _text(told["schema"])
        if created_at is None or not (schema.isascii() and schema.isdigit()):
            raise ValueError
        manifest = Manifest(
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


def _member(one: Mapping[str, Any]) -> Member:
    name, digest, table, path = (_text(one[name]) for name in ("name", "sha256", "table", "path"))
    member = Member(name, _count(one["bytes"]), digest, table, path, bool(one["executable"]))
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


class Packing:
    """Members go in one after the other; what is handed back belongs into the manifest."""

    def __init__(self, file: IO[bytes], at: datetime) -> None:
        self._at = int(at.timestamp())
        self._packed = gzip.GzipFile("", "wb", LEVEL, file, self._at)
        self._tar = tarfile.TarFile(
            fileobj=self._packed, mode="w", format=tarfile.USTAR_FORMAT, encoding="utf-8", errors="surrogateescape"
        )
        self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self._tar.close()
        self._packed.close()

    def add_rows(self, table: str, number: int, content: bytes) -> Member:
        name = f"tables/{table}-{number:06}.jsonl"
        return Member(name, len(content), self._add(name, io.BytesIO(content), len(content)), table=table)

    def add_file(self, path: str, content: IO[bytes], size: int, executable: bool) -> Member:
        name = f"home/{path}"
        try:
            tarfile.TarInfo(name).tobuf(tarfile.USTAR_FORMAT, "utf-8", "surrogateescape")
        except ValueError:  # too long for a header
            name = f"files/{self._count:06}"
        return Member(name, size, self._add(name, content, size), path=path, executable=executable)

    def add_manifest(self, content: bytes) -> None:
        self._add(NAME, io.BytesIO(content), len(content))

    def _add(self, name: str, content: IO[bytes], size: int) -> str:
        self._count += 1
        header = tarfile.TarInfo(name)
        header.size, header.mtime, header.mode = size, self._at, 0o600
        hashed = HashingStream(content)
        self._tar.addfile(header, io.BufferedReader(hashed))
        return hashed.digest()


class HashingStream(io.RawIOBase):
    """Passes bytes on and keeps their hash."""

    def __init__(self, inner: IO[bytes]) -> None:
        self._inner = inner
        self._hash = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        content = self._inner.read(len(buffer))
        self._hash.update(content)
        buffer[: len(content)] = content
        return len(content)

    def digest(self) -> str:
        return self._hash.hexdigest()


class Unpacking:
    def __init__(self, file: IO[bytes], watch: Watch | None = None) -> None:
        self._file = file
        self._size = os.fstat(file.fileno()).st_size
        self._limit = ALWAYS_FINE + MOST_RATIO * self._size
        self._watch = watch

    def verified(self) -> tuple[Manifest, bytes]:
        """The manifest, once every byte of the backup was read and found to be as it says."""
        found: dict[str, tuple[int, str, int]] = {}
        said = b""
        for header, content in self._members("Checking"):
            if said or header.name in found or len(found) >= MOST_MEMBERS:
                raise damaged(f"{header.name[:200]!r} is one member too many")
            if header.name == NAME:
                if header.size > MOST_MANIFEST:
                    raise damaged(f"its manifest has {header.size:,} bytes")
                said = content.readall()
            else:
                size, lines = 0, 0
                while block := content.read(_BLOCK):
                    size, lines = size + len(block), lines + block.count(b"\n")
                found[header.name] = size, content.digest(), lines
        if not said:
            raise damaged("it ends before its manifest")
        manifest = read_manifest(said)
        _compare(manifest, found)
        return manifest, said

    def members(self, manifest: Manifest) -> Iterator[tuple[Member, IO[bytes]]]:
        """Each with its content. Whoever consumed it all without an error has what was verified."""
        known = {member.name: member for member in manifest.members}
        for header, content in self._members("Restoring"):
            member = known.pop(header.name, None)
            if member is not None:
                yield member, io.BufferedReader(content, _BLOCK)
                if content.digest() != member.sha256:
                    raise damaged(f"{member.name!r} changed while it was read")
        if known:
            raise damaged("members vanished while it was read")

    def _members(self, doing: str) -> Iterator[tuple[tarfile.TarInfo, _Content]]:
        self._file.seek(0)
        with _explained():
            tar = tarfile.open(  # noqa: SIM115 - it holds nothing but the file, which is the caller's
                fileobj=_Unpacked(self._file, self._limit),
                mode="r|",
                tarinfo=_PlainFile,
                bufsize=_BLOCK,
                encoding="utf-8",
                errors="surrogateescape",
            )
            while header := tar.next():
                content = tar.extractfile(header)
                assert content is not None  # as for any regular file
                yield header, _Content(content)
                if self._watch:
                    self._watch(BackupStep(doing, self._file.tell(), self._size))
            # To the end of the file, so that its checksum is looked at; behind a tar's end there are only zeros.
            while tar.fileobj is not None and (block := tar.fileobj.read(_BLOCK)):
                if block.strip(b"\0"):
                    raise damaged("something is behind its end")


class _Unpacked(gzip.GzipFile):
    def __init__(self, file: IO[bytes], limit: int) -> None:
        super().__init__(fileobj=file, mode="rb")
        self._left = limit

    def read(self, size: int | None = -1) -> bytes:
        content = super().read(size)
        self._left -= len(content)
        if self._left < 0:
            raise damaged(f"it unpacks to more than {MOST_RATIO} times its size")
        return content


class _Content(HashingStream):
    """Of one member: read by the caller, explained here."""

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]
        with _explained():
            return super().readinto(buffer)


class _PlainFile(tarfile.TarInfo):
    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        found = super().frombuf(buf, encoding, errors)
        if found.type != tarfile.REGTYPE or not 0 <= found.size <= MOST_BYTES:
            raise damaged(f"{found.name[:200]!r} is not a plain file of at most {MOST_BYTES:,} bytes")
        return found


def _compare(manifest: Manifest, found: dict[str, tuple[int, str, int]]) -> None:
    """Each was found with its size, its hash and how many lines it has."""
    rows = dict.fromkeys(manifest.tables, 0)
    for member in manifest.members:
        if member.name not in found:
            raise damaged(f"{member.name[:200]!r} is missing")
        size, digest, lines = found.pop(member.name)
        if (size, digest) != (member.bytes, member.sha256):
            raise damaged(f"{member.name[:200]!r} is not what was written: its hash differs")
        if member.table:
            rows[member.table] = rows.get(member.table, 0) + lines
    if found:
        raise damaged(f"{next(iter(found))[:200]!r} is not in its manifest")
    if rows != manifest.tables:
        raise damaged("its tables do not have the rows it says")


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except (tarfile.TarError, gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise damaged(f"it is damaged or no .tar.gz ({error})") from error
