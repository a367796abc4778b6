"""What the tests of readers ask of a reader."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reverie.transcripts.readers import SNIFFED_BYTES, Event, Opened, Reader
from reverie.transcripts.session import Head, Said


@dataclass(frozen=True)
class Reads:
    reader: Reader

    def read(self, path: Path) -> list[Event]:
        return list(self.reader.read(path))

    def said(self, path: Path) -> list[Said]:
        return [event for event in self.read(path) if isinstance(event, Said)]

    def head(self, path: Path) -> Head:
        (found,) = [event.head for event in self.read(path) if isinstance(event, Opened)]
        return found

    def the_one_about(self, path: Path, words: str) -> Said:
        (found,) = [one for one in self.said(path) if words in one.whole]
        return found

    def sureness(self, path: Path, raw: bytes | None = None) -> float:
        return self.reader.recognises(path, (path.read_bytes() if raw is None else raw)[:SNIFFED_BYTES])
