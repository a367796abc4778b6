"""What was put into the files of one agent, so that it can be put in twice, and taken out to the last byte.

A `ConfigEdit` can be put into the text of one file, and taken out again. Before anything is written, each file is
copied into `installed/<agent>/` of the home, with a record of what it will be. Where a file still is what it was made,
taking out puts the copy back, byte for byte. Where someone wrote to it meanwhile, only what is ours is taken out of it.
"""

from __future__ import annotations

import difflib
import json
import os
import shutil
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from reverie.core.errors import BadInput, NotPermitted
from reverie.core.ids import sha256
from reverie.system import json_edits, toml_yaml_edits
from reverie.system.files import make_folder, read_file, remove_file, replace_file

RECORD = "files.json"
LEAVINGS = {"__pycache__"}  # what Python leaves beside our files


class ConfigEdit(Protocol):
    """`about` says what it is for, in a few words. The text of a file that is not there is empty."""

    @property
    def path(self) -> Path: ...

    @property
    def about(self) -> str: ...

    def is_in(self, text: str) -> bool: ...

    def put_in(self, text: str) -> str: ...

    def take_out(self, text: str, before: str | None) -> str:
        """`before` is the text before it was put in, if that is known: what is empty there may stay empty."""


@dataclass(frozen=True, slots=True)
class _FileEdit:
    path: Path
    about: str


@dataclass(frozen=True, slots=True)
class _KeyedEdit(_FileEdit):
    keys: Sequence[str]


@dataclass(frozen=True, slots=True)
class JsonMember(_KeyedEdit):
    """`json5`: the program reads JSON with comments."""

    value: Any
    json5: bool = False

    def is_in(self, text: str) -> bool:
        return bool(json_edits.json_value(text, self.keys, json5=self.json5) == self.value)

    def put_in(self, text: str) -> str:
        return json_edits.put_json_member(text or "{}\n", self.keys, self.value, json5=self.json5)

    def take_out(self, text: str, before: str | None) -> str:
        return json_edits.drop_json_member(text, self.keys, before, json5=self.json5) if text else text


@dataclass(frozen=True, slots=True)
class JsonElement(_KeyedEdit):
    """An element of a list. It is known again by `mark`, words in it, also when the rest of it is of an older us."""

    value: Any
    mark: str
    json5: bool = False

    def is_in(self, text: str) -> bool:
        there = json_edits.json_value(text, self.keys, json5=self.json5)
        return isinstance(there, list) and [one for one in there if self._is_ours(one)] == [self.value]

    def put_in(self, text: str) -> str:
        return json_edits.append_json_element(text or "{}\n", self.keys, self.value, json5=self.json5)

    def take_out(self, text: str, before: str | None) -> str:
        return json_edits.drop_elements(text, self.keys, self._is_ours, before, json5=self.json5) if text else text

    def _is_ours(self, element: object) -> bool:
        return self.mark in json.dumps(element, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class TomlTable(_KeyedEdit):
    values: Mapping[str, Any]

    def is_in(self, text: str) -> bool:
        return bool(toml_yaml_edits.toml_value(text, self.keys) == self.values)

    def put_in(self, text: str) -> str:
        return toml_yaml_edits.put_table(text, self.keys, self.values)

    def take_out(self, text: str, before: str | None) -> str:
        return toml_yaml_edits.drop_table(text, self.keys)


@dataclass(frozen=True, slots=True)
class TomlKey(_FileEdit):
    """A key of the whole file whose value is a list of words; ours holds `mark`."""

    key: str
    words: Sequence[str]
    mark: Sequence[str]

    def is_in(self, text: str) -> bool:
        return self.taken_by(text) is not None or toml_yaml_edits.toml_value(text, [self.key]) == list(self.words)

    def put_in(self, text: str) -> str:
        return text if self.taken_by(text) else toml_yaml_edits.put_key(text, self.key, list(self.words))

    def take_out(self, text: str, before: str | None) -> str:
        there = toml_yaml_edits.toml_value(text, [self.key])
        return toml_yaml_edits.drop_key(text, self.key, there) if self._is_ours(there) else text

    def taken_by(self, text: str) -> Any:
        """The value someone else set it to, if they did."""
        there = toml_yaml_edits.toml_value(text, [self.key])
        return there if there is not None and not self._is_ours(there) else None

    def _is_ours(self, there: object) -> bool:
        return isinstance(there, list) and all(word in there for word in self.mark)


@dataclass(frozen=True, slots=True)
class YamlMember(_KeyedEdit):
    value: Any

    def is_in(self, text: str) -> bool:
        return bool(toml_yaml_edits.yaml_value(text, self.keys) == self.value)

    def put_in(self, text: str) -> str:
        return toml_yaml_edits.put_yaml_member(text, self.keys, self.value)

    def take_out(self, text: str, before: str | None) -> str:
        return toml_yaml_edits.drop_yaml_member(text, self.keys, before)


@dataclass(frozen=True, slots=True)
class YamlElement(_KeyedEdit):
    """A word in a list."""

    value: str

    def is_in(self, text: str) -> bool:
        there = toml_yaml_edits.yaml_value(text, self.keys)
        return isinstance(there, list) and self.value in there

    def put_in(self, text: str) -> str:
        return text if self.is_in(text) else toml_yaml_edits.append_yaml_element(text, self.keys, self.value)

    def take_out(self, text: str, before: str | None) -> str:
        was_there = before is not None and self.is_in(before)
        return text if was_there else toml_yaml_edits.drop_element(text, self.keys, self.value, before)


@dataclass(frozen=True, slots=True)
class OwnFile(_FileEdit):
    """A file that is all ours. One that someone changed is theirs, and stays."""

    content: str

    def is_in(self, text: str) -> bool:
        return text == self.content

    def put_in(self, text: str) -> str:
        return text or self.content

    def take_out(self, text: str, before: str | None) -> str:
        return "" if text == self.content else text


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file's text now, and as it would be; None where there is none. `about` says what for."""

    path: Path
    now: bytes | None
    then: bytes | None
    about: tuple[str, ...] = ()

    @property
    def diff(self) -> str:
        texts = ((content or b"").decode("utf-8", "backslashreplace") for content in (self.now, self.then))
        old, new = ([line.removesuffix("\n") + "\n" for line in text.splitlines(keepends=True)] for text in texts)
        was, will = ("/dev/null" if content is None else str(self.path) for content in (self.now, self.then))
        return "".join(difflib.unified_diff(old, new, was, will, n=2))


@dataclass(frozen=True, slots=True)
class _Recorded:
    before: bytes | None
    after: str
    folders: Sequence[str]


@dataclass(frozen=True, slots=True)
class Installation:
    folder: Path

    @property
    def is_there(self) -> bool:
        return (self.folder / RECORD).is_file()

    def to_install(self, edits: Iterable[ConfigEdit]) -> list[FileChange]:
        """The changes that putting these in makes; none where they are in already."""
        return [one for one, _ in self._planned(edits) if one.now != one.then]

    def install(self, edits: Sequence[ConfigEdit]) -> list[FileChange]:
        planned = self._planned(edits)
        changes = [one for one, _ in planned if one.now != one.then]
        if changes:
            make_folder(self.folder)
            told = list[dict[str, Any]]()
            for number, (change, kept) in enumerate(planned):
                copy = f"{number}-{change.path.name}.before"
                if kept.before is not None:
                    replace_file(self.folder / copy, kept.before)
                    (self.folder / copy).chmod(0o600)  # settings can hold keys
                one = {"path": str(change.path), "after": kept.after, "folders": kept.folders}
                told.append(one | {"before": copy if kept.before is not None else None})
            replace_file(self.folder / RECORD, json.dumps(told, indent=1).encode())
        for change in changes:
            _write(change)
        return changes

    def to_uninstall(self, edits: Iterable[ConfigEdit]) -> list[FileChange]:
        recorded = self._recorded()
        grouped = _by_file(edits)
        files = dict.fromkeys([*grouped, *recorded])
        changes = [_taken_out(path, grouped.get(path, []), recorded.get(path)) for path in files]
        return [one for one in changes if one.now != one.then]

    def uninstall(self, edits: Iterable[ConfigEdit]) -> list[FileChange]:
        changes, recorded = self.to_uninstall(edits), self._recorded()
        for change in changes:
            _write(change)
        for one in recorded.values():
            for folder in map(Path, reversed(one.folders)):
                if folder.is_dir() and {path.name for path in folder.iterdir()} <= LEAVINGS:
                    shutil.rmtree(folder)
        for file in sorted(self.folder.iterdir()) if self.folder.is_dir() else ():
            remove_file(file)
        if self.folder.is_dir():
            self.folder.rmdir()
        return changes

    def _planned(self, edits: Iterable[ConfigEdit]) -> list[tuple[FileChange, _Recorded]]:
        recorded = self._recorded()
        planned = []
        for path, ours in _by_file(edits).items():
            known = recorded.get(path)
            clean = _taken_out(path, ours, known)
            now, text = (_text(content, path) for content in (clean.now, clean.then))
            with _named(path):
                is_in = all(edit.is_in(now) for edit in ours)
                for edit in ours if not is_in else ():
                    text = edit.put_in(text)
            then = clean.now if is_in else _bytes(text, clean.now)
            change = FileChange(path, clean.now, then, tuple(edit.about for edit in ours))
            to_make = (str(folder) for folder in reversed(path.parents) if not folder.exists())  # outermost first
            folders = known.folders if known else tuple(to_make)
            planned.append((change, _Recorded(clean.then, sha256(then or b""), folders)))
        return planned

    def _recorded(self) -> Mapping[Path, _Recorded]:
        try:
            told = json.loads(read_file(self.folder / RECORD) or b"[]")
            return {
                Path(one["path"]): _Recorded(
                    read_file(self.folder / one["before"]) if one["before"] else None, one["after"], one["folders"]
                )
                for one in told
            }
        except (ValueError, KeyError, TypeError) as error:
            raise BadInput(
                f"{self.folder / RECORD} cannot be read: {error}.", next_step="Take it away: what is ours is found."
            ) from error


def _taken_out(path: Path, edits: Sequence[ConfigEdit], known: _Recorded | None) -> FileChange:
    """The file without what is ours: as it was before if nobody else wrote to it, else by taking each edit out."""
    now = read_file(path)
    if now is None:
        return FileChange(path, None, None)
    if known is not None and sha256(now) == known.after:
        return FileChange(path, now, known.before, ("as it was before",))
    text = _text(now, path)
    before = _text(known.before, path) if known and known.before is not None else None
    with _named(path):
        for edit in reversed(edits):
            text = edit.take_out(text, before)
    is_gone = not text or (text.strip() == "{}" and known is not None and known.before is None)
    return FileChange(path, now, None if is_gone and now else _bytes(text, now), ("what is ours is taken out",))


def _write(change: FileChange) -> None:
    """If it still is what it was when it was looked at."""
    make_folder(change.path.parent)
    if read_file(change.path) != change.now:
        raise NotPermitted(f"{change.path} was changed meanwhile by someone else.", next_step="Run it again.")
    if change.then is None:
        remove_file(change.path)
    else:
        replace_file(change.path, change.then)


def _by_file(edits: Iterable[ConfigEdit]) -> dict[Path, list[ConfigEdit]]:
    """A link is followed: who keeps settings elsewhere wants them written there."""
    grouped = dict[Path, list[ConfigEdit]]()
    for edit in edits:
        grouped.setdefault(Path(os.path.realpath(edit.path)), []).append(edit)
    return grouped


def _text(content: bytes | None, path: Path) -> str:
    try:
        return (content or b"").decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"{path} is not UTF-8.", expected="a text", next_step="Nothing was changed.") from error


def _bytes(text: str, before: bytes | None) -> bytes:
    """With a byte order mark where the file had one."""
    return text.encode("utf-8-sig" if before and before.startswith(BOM_UTF8) else "utf-8")


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """An edit knows no file; what it refuses is said with the file's name."""
    try:
        yield
    except BadInput as error:
        raise BadInput(f"{path}: {error.found}", expected=error.expected, next_step=error.next_step) from error
