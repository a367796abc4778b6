"""The commands of a folder that opencode works in: templates whose words become a person's message, unmarked."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

_FOLDERS = (".opencode/command", ".opencode/commands")
_MOST_FILES = 200
_MOST_CHARACTERS = 100_000
_LEAST_LITERAL = 8  # characters that a template must have of its own to be recognised by
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_FILLED_IN = re.compile(r"\$ARGUMENTS|\$\d+|!`[^`]*`")


@dataclass(frozen=True, slots=True)
class Commands:
    """`unread` names what could not be read: what such a command says cannot be told from what is typed."""

    templates: tuple[re.Pattern[str], ...] = ()
    unread: tuple[str, ...] = ()

    @classmethod
    def of(cls, folder: str | None) -> Commands:
        """Those that are there now; one that has been changed or removed since is not recognised."""
        if not folder or not Path(folder).is_absolute():
            return cls()
        unread, texts = list[str](), list[str]()

        def failed(error: OSError) -> None:
            if not isinstance(error, FileNotFoundError | NotADirectoryError):
                unread.append(str(error.filename))

        try:
            found = [file for place in _FOLDERS for file in _files(Path(folder, place), failed)]
        except ValueError:
            return cls()  # no folder has such a name
        for file in found[:_MOST_FILES]:
            try:
                with file.open(encoding="utf-8", errors="replace") as opened:
                    texts.append(opened.read(_MOST_CHARACTERS))
            except OSError as error:
                failed(error)
        unread += map(str, found[_MOST_FILES : _MOST_FILES + 1])
        return cls(tuple(filter(None, map(_pattern, texts))), tuple(unread))

    def wrote(self, text: str) -> bool:
        return any(template.match(text.strip()) for template in self.templates)


def _files(folder: Path, failed: Callable[[OSError], None]) -> Iterator[Path]:
    for place, folders, names in os.walk(folder, onerror=failed):
        folders.sort()
        yield from (Path(place, name) for name in sorted(names) if name.endswith(".md"))


def _pattern(text: str) -> re.Pattern[str] | None:
    """The beginning of the text, up to the first place that is filled in."""
    literal = _FILLED_IN.split(_FRONT_MATTER.sub("", text).strip(), maxsplit=1)[0].rstrip()
    return re.compile(re.escape(literal)) if len(literal) >= _LEAST_LITERAL else None
