"""What an installer does to one file: something that can be put into its text, and taken out again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from reverie.system.config_files import json_edits, toml_edits, yaml_edits


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
        ...


@dataclass(frozen=True, slots=True)
class JsonMember:
    """`json5`: the program reads JSON with comments."""

    path: Path
    about: str
    keys: Sequence[str]
    value: Any
    json5: bool = False

    def is_in(self, text: str) -> bool:
        return bool(json_edits.json_value(text, self.keys, json5=self.json5) == self.value)

    def put_in(self, text: str) -> str:
        return json_edits.put_json_member(text or "{}\n", self.keys, self.value, json5=self.json5)

    def take_out(self, text: str, before: str | None) -> str:
        return json_edits.drop_json_member(text, self.keys, before, json5=self.json5) if text else text


@dataclass(frozen=True, slots=True)
class JsonElement:
    """An element of a list. It is known again by `mark`, words in it, also when the rest of it is of an older us."""

    path: Path
    about: str
    keys: Sequence[str]
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
class TomlTable:
    path: Path
    about: str
    keys: Sequence[str]
    values: Mapping[str, Any]

    def is_in(self, text: str) -> bool:
        return bool(toml_edits.toml_value(text, self.keys) == self.values)

    def put_in(self, text: str) -> str:
        return toml_edits.put_table(text, self.keys, self.values)

    def take_out(self, text: str, before: str | None) -> str:
        return toml_edits.drop_table(text, self.keys)


@dataclass(frozen=True, slots=True)
class TomlKey:
    """A key of the whole file whose value is a list of words; ours holds `mark`."""

    path: Path
    about: str
    key: str
    words: Sequence[str]
    mark: Sequence[str]

    def is_in(self, text: str) -> bool:
        return self.taken_by(text) is not None or toml_edits.toml_value(text, [self.key]) == list(self.words)

    def put_in(self, text: str) -> str:
        return text if self.taken_by(text) else toml_edits.put_key(text, self.key, list(self.words))

    def take_out(self, text: str, before: str | None) -> str:
        there = toml_edits.toml_value(text, [self.key])
        return toml_edits.drop_key(text, self.key, there) if self._is_ours(there) else text

    def taken_by(self, text: str) -> Any:
        """The value someone else set it to, if they did."""
        there = toml_edits.toml_value(text, [self.key])
        return there if there is not None and not self._is_ours(there) else None

    def _is_ours(self, there: object) -> bool:
        return isinstance(there, list) and all(word in there for word in self.mark)


@dataclass(frozen=True, slots=True)
class YamlMember:
    path: Path
    about: str
    keys: Sequence[str]
    value: Any

    def is_in(self, text: str) -> bool:
        return bool(yaml_edits.yaml_value(text, self.keys) == self.value)

    def put_in(self, text: str) -> str:
        return yaml_edits.put_yaml_member(text, self.keys, self.value)

    def take_out(self, text: str, before: str | None) -> str:
        return yaml_edits.drop_yaml_member(text, self.keys, before)


@dataclass(frozen=True, slots=True)
class YamlElement:
    """A word in a list."""

    path: Path
    about: str
    keys: Sequence[str]
    value: str

    def is_in(self, text: str) -> bool:
        there = yaml_edits.yaml_value(text, self.keys)
        return isinstance(there, list) and self.value in there

    def put_in(self, text: str) -> str:
        return text if self.is_in(text) else yaml_edits.append_yaml_element(text, self.keys, self.value)

    def take_out(self, text: str, before: str | None) -> str:
        was_there = before is not None and self.is_in(before)
        return text if was_there else yaml_edits.drop_element(text, self.keys, self.value, before)


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file that is all ours. One that someone changed is theirs, and stays."""

    path: Path
    about: str
    content: str

    def is_in(self, text: str) -> bool:
        return text == self.content

    def put_in(self, text: str) -> str:
        return text or self.content

    def take_out(self, text: str, before: str | None) -> str:
        return "" if text == self.content else text
