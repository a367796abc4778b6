"""Prompts are Markdown files. Whoever overrides one has another hash on the dream."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reverie.core.errors import BadSetting
from reverie.core.hashes import sha256
from reverie.llm.choice import Role


@dataclass(frozen=True, slots=True)
class Prompt:
    name: str
    text: str

    @property
    def sha256(self) -> str:
        return sha256(self.text)


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
