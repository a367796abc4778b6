"""Writes a .tar.gz of plain files, in one go. A header of the oldest kind says all there is to say of a member."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from datetime import datetime
from typing import IO, Self

from reverie.storage.backup.manifest import NAME, Member

LEVEL = 3  # behind it, time doubles for a twentieth of the space


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
        name = f"home/{path}" if _fits(f"home/{path}") else f"files/{self._count:06}"
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


def _fits(name: str) -> bool:
    try:
        tarfile.TarInfo(name).tobuf(tarfile.USTAR_FORMAT, "utf-8", "surrogateescape")
    except ValueError:
        return False
    return True


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
