"""Everything that is wrong with a skill, at once, each with what was found, what was expected and what to do.

For a SKILL.md folder the measure is the Agent Skills specification: `conforms(problems)` says what the reference
validator, skills-ref, says. We differ from it on purpose in these ways:

- What it refuses and Hermes takes is a `warning` and not an `error`: names with '.' or '_', a folder with another name,
  keys on top such as `version`, lists in brackets, anchors, a byte order mark. It still does not conform.
- It looks for three hyphens anywhere, even in the middle of a line; we look for a line of its own. A file whose
  frontmatter it closes in the middle of a line is refused here although it may pass there.
- Frontmatter of more than 32,768 characters, 2,500 parts or 16 levels is refused here and not there.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import replace
from posixpath import basename

from reverie.skills.page import Page, page_of
from reverie.skills.skill import Skill, frontmatter_of, is_version
from reverie.skills.yaml_nodes import Severity, SkillProblem, Value, conforms, read_tree, value_of

LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1024
LONGEST_COMPATIBILITY = 500
LONGEST_FOR_HERMES = 100_000  # characters of SKILL.md
MOST_LINES = 500  # of a body, as the specification advises
ALLOWED = frozenset({"name", "description", "license", "allowed-tools", "metadata", "compatibility"})
_HERMES_NAME = re.compile(r"[a-z0-9][a-z0-9._-]*", re.ASCII)
_NO_TEXT = re.compile("[\ud800-\udfff]")


def problems_of(skill: Skill) -> tuple[SkillProblem, ...]:
    """Every problem of a skill, the worst first."""
    page = page_of(skill.content)
    found = [*_of_bytes(page), *(_of_folder(skill, page) if skill.shape == "folder" else _of_file(skill, page))]
    order: dict[Severity, int] = {"error": 0, "warning": 1, "advice": 2}
    return tuple(sorted(dict.fromkeys(found), key=lambda problem: order[problem.severity]))


def _of_bytes(page: Page) -> Iterator[SkillProblem]:
    if _NO_TEXT.search(page.text):
        yield SkillProblem(
            "error", "bytes.utf8", "The file has bytes that are not UTF-8.", "UTF-8", "Save it as UTF-8."
        )
    if page.mark:
        yield SkillProblem(
            "warning",
            "bytes.mark",
            "The file begins with a byte order mark.",
            "three hyphens first",
            "Save without it.",
        )
    if "\0" in page.body:
        yield SkillProblem("advice", "bytes.nul", "The file has NUL characters in it.", "text", "Remove them.")


# ---- a folder with SKILL.md ---------------------------------------------------------------------------------------


def _of_folder(skill: Skill, page: Page) -> Iterator[SkillProblem]:
    if not page.opening:
        yield _no_frontmatter(page)
        return
    yield from page.tree.problems
    matter = frontmatter_of(page)
    if page.tree.root is not None:
        own = list(_of_matter(matter, skill.subject))
        yield from own
        if conforms([*own, *page.tree.problems]) and not _conforms_when_cut(page, skill.subject):
            yield SkillProblem(
                "warning",
                "frontmatter.hyphens",
                "The frontmatter has three hyphens in it.",
                "them only in the lines around it, for readers that look no further",
                "Write fewer or more of them.",
            )
    yield from _of_body(skill, page)


def _no_frontmatter(page: Page) -> SkillProblem:
    begun = page.body.startswith("---")
    found = "The frontmatter is not closed." if begun else "The file has no frontmatter."
    return SkillProblem(
        "error",
        "frontmatter.missing",
        found,
        "a line of three hyphens, a name and a description, and a line of three hyphens",
        "Close it with a line of three hyphens." if begun else "Write them at the very beginning.",
    )


def _conforms_when_cut(page: Page, subject: str) -> bool:
    """The reference validator ends the frontmatter at the first three hyphens, wherever they stand."""
    cut, hyphens, _ = page.matter.partition("---")
    if not hyphens:
        return True
    tree = read_tree(cut)
    matter = value_of(tree.root) if tree.root else {}
    return conforms([*tree.problems, *_of_matter(matter if isinstance(matter, dict) else {}, subject)])


def _of_matter(matter: Mapping[str, Value], subject: str) -> Iterator[SkillProblem]:
    extra = sorted(set(matter) - ALLOWED)
    if extra:
        yield SkillProblem(
            "warning",
            "keys.unknown",
            f"The specification does not know {', '.join(map(repr, extra))[:200]}.",
            f"only {', '.join(sorted(ALLOWED))} on top",
            "Move them under 'metadata', unless your agent reads them here, as Hermes does.",
        )
    yield from _of_name(matter.get("name"), subject)
    yield from _of_text(matter, "description", LONGEST_DESCRIPTION, required=True)
    if "compatibility" in matter:
        yield from _of_text(matter, "compatibility", LONGEST_COMPATIBILITY, required=False)
    if not isinstance(matter.get("allowed-tools", ""), str):
        yield SkillProblem(
            "advice", "tools.list", "'allowed-tools' is a list.", "names with spaces between them", "Write one line."
        )


def _of_name(value: Value | None, subject: str) -> Iterator[SkillProblem]:
    if not isinstance(value, str) or not value.strip():
        found = "There is no name." if value in (None, "") else "The name is no text."
        yield SkillProblem(
            "error", "name.missing", found, "a name such as 'deploy'", f"Write 'name: {basename(subject)}'."
        )
        return
    name = unicodedata.normalize("NFKC", value.strip())
    if len(name) > LONGEST_NAME:
        yield SkillProblem("error", "name.long", f"The name has {len(name)} characters.", "at most 64", "Shorten it.")
    reason = _bad_name(name)
    if reason:
        severity: Severity = "warning" if _HERMES_NAME.fullmatch(name) else "error"
        yield SkillProblem(
            severity,
            "name.characters",
            f"The name {name[:80]!r} {reason}.",
            "small letters, digits and single hyphens between them",
            "Rename the skill and its folder.",
        )
    if unicodedata.normalize("NFKC", basename(subject)) != name:
        yield SkillProblem(
            "warning",
            "name.folder",
            f"The name is {name[:80]!r} and the folder is {basename(subject)!r}.",
            "the same",
            "Rename one of them.",
        )


def _bad_name(name: str) -> str | None:
    if name != name.lower():
        return "has capital letters"
    if name.startswith("-") or name.endswith("-"):
        return "begins or ends with a hyphen"
    if "--" in name:
        return "has two hyphens side by side"
    return None if all(one.isalnum() or one == "-" for one in name) else "has other characters in it"


def _of_text(matter: Mapping[str, Value], key: str, most: int, *, required: bool) -> Iterator[SkillProblem]:
    value = matter.get(key)
    if not isinstance(value, str) or (required and not value.strip()):
        found = f"There is no {key}." if value in (None, "") else f"The {key} is no text, or empty."
        yield SkillProblem(
            "error", f"{key}.missing", found, "a sentence", "Say what the skill does and when to use it."
        )
    elif len(value) > most:
        yield SkillProblem(
            "error", f"{key}.long", f"The {key} has {len(value):,} characters.", f"at most {most:,}", "Shorten it."
        )


def _of_body(skill: Skill, page: Page) -> Iterator[SkillProblem]:
    if not skill.body.strip():
        yield SkillProblem("advice", "body.empty", "The skill has no body.", "what to do", "Write the steps.")
    if len(page.text) > LONGEST_FOR_HERMES:
        yield SkillProblem(
            "advice",
            "body.long",
            f"The file has {len(page.text):,} characters.",
            "at most 100,000, which is where Hermes stops",
            "Move parts of it to references/.",
        )
    elif skill.body.count("\n") > MOST_LINES:
        yield SkillProblem(
            "advice", "body.long", "The body has more than 500 lines.", "fewer", "Move parts of it to references/."
        )


# ---- a flat file, or a plain procedure -----------------------------------------------------------------------------


def _of_file(skill: Skill, page: Page) -> Iterator[SkillProblem]:
    """No specification says how these must look; only what cannot be read is an error, and brackets are usual."""
    usual = {"yaml.flow", "yaml.anchor", "yaml.indentation"}
    yield from (replace(one, severity="advice") if one.kind in usual else one for one in page.tree.problems)
    if not page.opening and page.body.startswith("---"):
        yield replace(_no_frontmatter(page), severity="warning")
    if skill.version and not is_version(skill.version):
        yield SkillProblem(
            "advice",
            "version.form",
            f"The version {skill.version[:40]!r} cannot be counted up.",
            "a version such as 1.2.0",
            "Nothing, or write one.",
        )
    if "priority" in skill.frontmatter and skill.priority is None:
        yield SkillProblem(
            "advice", "priority.form", "The priority is no number.", "a number, higher first", "Write a number."
        )
    yield from _of_body(skill, page)
