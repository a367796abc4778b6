"""Prompts are Markdown files, rendered strictly. Whoever overrides one has another hash on the dream."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from secrets import token_hex

from reverie.core.errors import BadInput, BadSetting, NotFound
from reverie.core.hashes import sha256
from reverie.llm.choice import Role

_VARIABLE = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_NAME = re.compile(r"[a-z][a-z_]{0,40}")


@dataclass(frozen=True, slots=True)
class Prompt:
    name: str
    text: str

    @property
    def sha256(self) -> str:
        return sha256(self.text)

    def rendered(self, **values: str) -> str:
        """The text with every `{{ variable }}` filled in. One that was not given, or not asked for, is an error."""
        wanted = {found[1] for found in _VARIABLE.finditer(self.text)}
        if wanted != set(values):
            odd = ", ".join(sorted(wanted ^ set(values)))
            raise BadInput(f"The prompt {self.name} and what it was given differ in: {odd}.")
        return _VARIABLE.sub(lambda found: values[found[1]], self.text)


def prompt(name: str, overrides: Mapping[str, str] | None = None, package: str = "reverie.llm") -> Prompt:
    """The prompt of that name in a package's `prompts/`, or the one put in its place."""
    if overrides and name in overrides:
        return Prompt(name, overrides[name])
    place = files(package) / "prompts" / f"{name}.md"
    if not _NAME.fullmatch(name) or not place.is_file():
        raise NotFound(f"There is no prompt {name!r}.")
    return Prompt(name, place.read_text("utf-8"))


def overrides(folder: str) -> dict[str, str]:
    """The prompts a person put in the place of ours: `curate.md` for `curate`. A name we do not have is a mistake."""
    if not folder:
        return {}
    place = Path(folder).expanduser()
    if not place.is_dir():
        raise BadSetting(f"model_prompts is {folder}.", expected="a folder of Markdown files")
    found = {path.stem: path.read_text("utf-8") for path in sorted(place.glob("*.md"))}
    if unknown := sorted(set(found) - set(Role)):
        raise BadSetting(f"{folder} holds {unknown[0]}.md.", expected=" or ".join(f"{name}.md" for name in Role))
    return found


def delimiter(untrusted: Sequence[str], random: Callable[[], str] = lambda: token_hex(8)) -> str:
    """A word that stands in none of these texts, so that none of them can pretend to end."""
    mark = random()
    while any(mark in text for text in untrusted):
        mark = random()
    return mark
