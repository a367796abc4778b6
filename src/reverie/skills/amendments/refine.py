"""Making amendments from what a caller has: rules for a section, a diff, or a new text. Nothing here writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reverie.core.errors import BadInput
from reverie.skills.amendments.amend import intended
from reverie.skills.amendments.amendment import Clashed, Create, Diff, Merge, NewText, Patch, Retire
from reverie.skills.amendments.edits import AddRule, Edit, RemoveRule, ReplaceRule
from reverie.skills.amendments.version_bump import guessed_bump, place_for
from reverie.skills.frontmatter_keys import with_value
from reverie.skills.names import checked_subject
from reverie.skills.page import Page, page_of
from reverie.skills.skill import MAIN, Skill, bare_name
from reverie.skills.versions import FIRST, Bump


def refine(
    skill: Skill,
    *,
    section: str = "",
    add: Sequence[str] = (),
    replace: Mapping[str, str] | None = None,
    remove: Sequence[str] = (),
    diff: str = "",
    text: str = "",
    bump: Bump | None = None,
) -> Patch:
    """A patch of this skill: rules of a section, a unified diff of the document, or a new text of the body.

    Without `bump` it is guessed from what changes. What does not fit the skill as it stands raises BadInput.
    """
    edits: tuple[Edit, ...] = (
        *(ReplaceRule(section, old, new) for old, new in (replace or {}).items()),
        *(RemoveRule(section, old) for old in remove),
        *(AddRule(section, rule) for rule in add),
    )
    if [bool(section and edits), bool(diff), bool(text)].count(True) != 1 or bool(edits) != bool(section):
        raise BadInput(
            "It is not clear what is to change.",
            expected="either a section with rules to add, replace or remove, or a diff, or a text",
            next_step="Give one of the three.",
        )
    change = edits or (Diff(diff) if diff else NewText(text))
    made = intended(page_of(skill.content), change)
    if isinstance(made, Clashed):
        raise BadInput(
            f"{skill.subject} was not refined: {made.why}.", next_step="Read the skill again and say what is to change."
        )
    return Patch(skill.subject, skill.content, change, bump or guessed_bump(skill.body, made.body))


def draft(
    subject: str,
    body: str,
    *,
    description: str = "",
    tags: Sequence[str] = (),
    triggers: Sequence[str] = (),
    beside: Sequence[str] = (),
) -> Create:
    """A new skill: a folder with SKILL.md, or a flat file when the subject ends in `.md`."""
    checked_subject(subject, beside)
    flat = subject.endswith(".md")
    page = Page("", "", "", "", body.lstrip("\r\n"))
    page = with_value(page, ("skill_id" if flat else "name",), bare_name(subject))
    if description:
        page = with_value(page, ("description",), description)
    page = with_value(page, place_for("version", flat=flat), FIRST)
    for key, values in (("tags", tags), ("triggers", triggers)):
        if values:
            page = with_value(page, place_for(key, flat=flat), values)
    return Create(subject, {subject if flat else f"{subject}/{MAIN[0]}": page.to_bytes()})


def merge(into: Skill, absorbed: Skill, text: str, bump: Bump = "minor") -> Merge:
    return Merge(into.subject, into.content, absorbed.subject, absorbed.content, text, bump)


def retire(skill: Skill) -> Retire:
    return Retire(skill.subject, skill.content)
