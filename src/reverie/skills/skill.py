"""A Skill as it stands in its files: three shapes, read without loss.

`folder` is `name/SKILL.md` with whatever lies beside it; `flat` is one Markdown file with frontmatter; `plain` is a
Markdown procedure without any. What cannot be read is a Problem, and the rest is still shown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from posixpath import basename
from typing import Literal

from reverie.core.errors import NotFound
from reverie.skills.names import ARCHIVE
from reverie.skills.page import Page, Section, page_of, sections_of
from reverie.skills.yaml_nodes import SkillProblem, Value, value_of

Shape = Literal["folder", "flat", "plain"]
MAIN = ("SKILL.md", "skill.md")
_TRUE, _FALSE = frozenset({"true", "yes", "on", "1"}), frozenset({"false", "no", "off", "0"})
_PRIORITIES = {"critical": 10.0, "highest": 10.0, "high": 8.0, "medium": 5.0, "normal": 5.0, "low": 2.0, "lowest": 1.0}


@dataclass(frozen=True, slots=True)
class Skill:
    """`version` is the text in the file, never a number. `priority` is None where the file gives none; a higher one
    comes first. `support` names the files beside the document, by their paths below the root."""

    subject: str
    shape: Shape
    document: str
    content: bytes
    name: str
    description: str
    version: str
    tags: tuple[str, ...]
    triggers: tuple[str, ...]
    priority: float | None
    refinements: int
    last_refined: str
    enabled: bool
    frontmatter: Mapping[str, Value]
    body: str
    support: tuple[str, ...]
    problems: tuple[SkillProblem, ...]

    @property
    def sections(self) -> tuple[Section, ...]:
        return sections_of(self.body)

    @property
    def archived(self) -> bool:
        return self.subject.startswith(f"{ARCHIVE}/")


def read_skill(subject: str, files: Mapping[str, bytes]) -> Skill:
    """The skill in these files, which are named by their paths below the root the subject is named below."""
    document = document_of(subject, files)
    if document is None:
        raise NotFound(
            f"There is no skill {subject!r}.",
            expected="a Markdown file, or a folder with SKILL.md in it",
            next_step="`reverie skills` lists them.",
        )
    content = files[document]
    page = page_of(content)
    matter = frontmatter_of(page)
    first = _text(matter, "priority")
    off = any(_text(matter, key).casefold() in _TRUE for key in ("disabled", "disable-model-invocation", "archived"))
    state = (_text(matter, "state") or _text(matter, "status")).casefold()
    return Skill(
        subject=subject,
        shape="folder" if not subject.endswith(".md") else "flat" if page.opening else "plain",
        document=document,
        content=content,
        name=_text(matter, "name") or _text(matter, "skill_id") or bare_name(subject),
        description=_text(matter, "description"),
        version=_text(matter, "version"),
        tags=_listed(setting_value(matter, "tags")),
        triggers=_listed(setting_value(matter, "triggers")),
        priority=float(first) if re.fullmatch(r"-?\d{1,9}(?:\.\d{1,9})?", first) else _PRIORITIES.get(first.casefold()),
        refinements=count_of(_text(matter, "refinements")),
        last_refined=_text(matter, "last_refined"),
        enabled=not off and _text(matter, "enabled").casefold() not in _FALSE and state not in ("disabled", "archived"),
        frontmatter=matter,
        body=page.body,
        support=tuple(sorted(set(files) - {document})) if not subject.endswith(".md") else (),
        problems=page.tree.problems,
    )


def document_of(subject: str, files: Mapping[str, bytes]) -> str | None:
    """The file a skill is read from, if it is among these."""
    names = (subject,) if subject.endswith(".md") else tuple(f"{subject}/{name}" for name in MAIN)
    return next((name for name in names if name in files), None)


def bare_name(subject: str) -> str:
    """The last part of a subject, without the ending of a flat file."""
    return basename(subject).removesuffix(".md")


def frontmatter_of(page: Page) -> dict[str, Value]:
    root = page.tree.root
    matter = value_of(root) if root else {}
    return matter if isinstance(matter, dict) else {}


def key_paths(key: str) -> tuple[tuple[str, ...], ...]:
    """Where a key may stand, in the order in which it counts: Hermes writes `metadata.hermes.tags`."""
    return ((key,), ("metadata", "reverie", key), ("metadata", key), ("metadata", "hermes", key))


def place_of(matter: Mapping[str, Value], key: str) -> tuple[str, ...] | None:
    return next((path for path in key_paths(key) if _at(matter, path) is not None), None)


def setting_value(matter: Mapping[str, Value], key: str) -> Value | None:
    path = place_of(matter, key)
    return _at(matter, path) if path else None


def _at(matter: Mapping[str, Value], path: tuple[str, ...]) -> Value | None:
    here: Value | Mapping[str, Value] | None = matter
    for key in path:
        here = here.get(key) if isinstance(here, Mapping) else None
    return here  # type: ignore[return-value]  # a mapping below the top is a dict


def _text(matter: Mapping[str, Value], key: str) -> str:
    value = setting_value(matter, key)
    return value.strip() if isinstance(value, str) else ""


def _listed(value: Value | None) -> tuple[str, ...]:
    """A list, or a line of parts with commas between them."""
    parts = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    texts = (part.strip() for part in parts if isinstance(part, str))
    return tuple(dict.fromkeys(text for text in texts if text))


def count_of(text: str) -> int:
    return int(text) if re.fullmatch(r"[0-9]{1,9}", text) else 0
