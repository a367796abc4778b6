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
_EXPECTED = {  # and what to do
    "bytes.utf8": ("UTF-8", "Save it as UTF-8."),
    "bytes.mark": ("three hyphens first", "Save without it."),
    "bytes.nul": ("text", "Remove them."),
    "frontmatter.hyphens": (
        "them only in the lines around it, for readers that look no further",
        "Write fewer or more of them.",
    ),
    "keys.unknown": (
        f"only {', '.join(sorted(ALLOWED))} on top",
        "Move them under 'metadata', unless your agent reads them here, as Hermes does.",
    ),
    "tools.list": ("names with spaces between them", "Write one line."),
    "name.long": ("at most 64", "Shorten it."),
    "name.characters": ("small letters, digits and single hyphens between them", "Rename the skill and its folder."),
    "name.folder": ("the same", "Rename one of them."),
    "body.empty": ("what to do", "Write the steps."),
    "version.form": ("a version such as 1.2.0", "Nothing, or write one."),
    "priority.form": ("a number, higher first", "Write a number."),
}


def _problem(severity: Severity, kind: str, found: str) -> SkillProblem:
    return SkillProblem(severity, kind, found, *_EXPECTED[kind])


def problems_of(skill: Skill) -> tuple[SkillProblem, ...]:
    """Every problem of a skill, the worst first."""
    page = page_of(skill.content)
    found = list[SkillProblem]()
    if _NO_TEXT.search(page.text):
        found.append(_problem("error", "bytes.utf8", "The file has bytes that are not UTF-8."))
    if page.mark:
        found.append(_problem("warning", "bytes.mark", "The file begins with a byte order mark."))
    if "\0" in page.body:
        found.append(_problem("advice", "bytes.nul", "The file has NUL characters in it."))
    found += _of_folder(skill, page) if skill.shape == "folder" else _of_file(skill, page)
    order: dict[Severity, int] = {"error": 0, "warning": 1, "advice": 2}
    return tuple(sorted(dict.fromkeys(found), key=lambda problem: order[problem.severity]))


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
        # The reference validator ends the frontmatter at the first three hyphens, wherever they stand.
        cut, hyphens, _ = page.matter.partition("---")
        tree = read_tree(cut) if hyphens else page.tree
        cut_matter = value_of(tree.root) if tree.root else {}
        read = _of_matter(cut_matter if isinstance(cut_matter, dict) else {}, skill.subject) if hyphens else own
        if conforms([*own, *page.tree.problems]) and not conforms([*tree.problems, *read]):
            yield _problem("warning", "frontmatter.hyphens", "The frontmatter has three hyphens in it.")
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


def _of_matter(matter: Mapping[str, Value], subject: str) -> Iterator[SkillProblem]:
    extra = sorted(set(matter) - ALLOWED)
    if extra:
        found = f"The specification does not know {', '.join(map(repr, extra))[:200]}."
        yield _problem("warning", "keys.unknown", found)
    yield from _of_name(matter.get("name"), subject)
    yield from _of_text(matter, "description", LONGEST_DESCRIPTION, required=True)
    if "compatibility" in matter:
        yield from _of_text(matter, "compatibility", LONGEST_COMPATIBILITY, required=False)
    if not isinstance(matter.get("allowed-tools", ""), str):
        yield _problem("advice", "tools.list", "'allowed-tools' is a list.")


def _of_name(value: Value | None, subject: str) -> Iterator[SkillProblem]:
    if not isinstance(value, str) or not value.strip():
        found = "There is no name." if value in (None, "") else "The name is no text."
        write = f"Write 'name: {basename(subject)}'."
        yield SkillProblem("error", "name.missing", found, "a name such as 'deploy'", write)
        return
    name = unicodedata.normalize("NFKC", value.strip())
    if len(name) > LONGEST_NAME:
        yield _problem("error", "name.long", f"The name has {len(name)} characters.")
    reasons = {
        "has capital letters": name != name.lower(),
        "begins or ends with a hyphen": name.startswith("-") or name.endswith("-"),
        "has two hyphens side by side": "--" in name,
        "has other characters in it": not all(one.isalnum() or one == "-" for one in name),
    }
    if reason := next((reason for reason, holds in reasons.items() if holds), ""):
        severity: Severity = "warning" if _HERMES_NAME.fullmatch(name) else "error"
        yield _problem(severity, "name.characters", f"The name {name[:80]!r} {reason}.")
    if unicodedata.normalize("NFKC", basename(subject)) != name:
        found = f"The name is {name[:80]!r} and the folder is {basename(subject)!r}."
        yield _problem("warning", "name.folder", found)


def _of_text(matter: Mapping[str, Value], key: str, most: int, *, required: bool) -> Iterator[SkillProblem]:
    value = matter.get(key)
    if not isinstance(value, str) or (required and not value.strip()):
        found = f"There is no {key}." if value in (None, "") else f"The {key} is no text, or empty."
        write = "Say what the skill does and when to use it."
        yield SkillProblem("error", f"{key}.missing", found, "a sentence", write)
    elif len(value) > most:
        found = f"The {key} has {len(value):,} characters."
        yield SkillProblem("error", f"{key}.long", found, f"at most {most:,}", "Shorten it.")


def _of_body(skill: Skill, page: Page) -> Iterator[SkillProblem]:
    if not skill.body.strip():
        yield _problem("advice", "body.empty", "The skill has no body.")
    move = "Move parts of it to references/."
    if len(page.text) > LONGEST_FOR_HERMES:
        found, most = f"The file has {len(page.text):,} characters.", "at most 100,000, which is where Hermes stops"
        yield SkillProblem("advice", "body.long", found, most, move)
    elif skill.body.count("\n") > MOST_LINES:
        yield SkillProblem("advice", "body.long", "The body has more than 500 lines.", "fewer", move)


# ---- a flat file, or a plain procedure -----------------------------------------------------------------------------


def _of_file(skill: Skill, page: Page) -> Iterator[SkillProblem]:
    """No specification says how these must look; only what cannot be read is an error, and brackets are usual."""
    usual = {"yaml.flow", "yaml.anchor", "yaml.indentation"}
    yield from (replace(one, severity="advice") if one.kind in usual else one for one in page.tree.problems)
    if not page.opening and page.body.startswith("---"):
        yield replace(_no_frontmatter(page), severity="warning")
    if skill.version and not is_version(skill.version):
        yield _problem("advice", "version.form", f"The version {skill.version[:40]!r} cannot be counted up.")
    if "priority" in skill.frontmatter and skill.priority is None:
        yield _problem("advice", "priority.form", "The priority is no number.")
    yield from _of_body(skill, page)
