"""Sessions that ended and wait for the next night: implements `reverie.transcripts.records.EndedSessions`.

A small file each, in `queue/` of the home. An agent's hook writes it in milliseconds, without the database; who brings
transcripts in takes it away. The same transcript waits once, however often it is queued.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from reverie.core.hashes import sha256
from reverie.system.files import make_folder, read_file, remove_file, replace_file
from reverie.transcripts.files.names import kept_name
from reverie.transcripts.records import Ended


@dataclass(frozen=True, slots=True)
class SessionQueue:
    folder: Path

    def put(self, reader: str, transcript: Path) -> Ended:
        make_folder(self.folder)
        path = kept_name(transcript)
        replace_file(self._file(path), json.dumps({"reader": reader, "path": path}).encode())
        return Ended(path, reader)

    def waiting(self) -> list[Ended]:
        """One that cannot be read says nothing: the night reads the usual folders, too."""
        files = sorted(self.folder.glob("*.json")) if self.folder.is_dir() else []
        return [found for file in files if (found := _read(file))]

    def done(self, ended: Ended) -> None:
        remove_file(self._file(ended.path))

    def _file(self, path: str) -> Path:
        return self.folder / f"{sha256(path)[:32]}.json"


def _read(file: Path) -> Ended | None:
    try:
        told = json.loads(read_file(file) or b"null")
        return Ended(str(told["path"]), str(told["reader"]))
    except (ValueError, TypeError, KeyError):
        return None
