"""From an item about a skill to the amendment it would be, written with the skills' own editing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from reverie.core.errors import BadInput
from reverie.dreams import words
from reverie.dreams.brief.gather import Material
from reverie.dreams.items import Item, Op
from reverie.skills.amend import amended, draft, refine
from reverie.skills.library import FoundSkill
from reverie.skills.skill import Amended, Create, Patch, new_name

GOTCHAS = "Gotchas"
NEAR = 0.6  # of the words of a new skill's name and purpose stand in those of an old one


@dataclass(frozen=True, slots=True)
class DraftedAmendment:
    """An amendment as it would be proposed. `folder` is the key of the folder its skill lies in, empty for a new one;
    `text` is how its document would read."""

    folder: str
    amendment: Create | Patch
    text: str

    @property
    def subject(self) -> str:
        return self.amendment.subject


def drafted(item: Item, material: Material, now: datetime) -> DraftedAmendment | str:
    """The amendment, or why there is none."""
    try:
        if item.op is Op.SKILL_AMEND:
            return _amendment(item, material, now)
        return _new_skill(item, material, now)
    except BadInput as error:
        return str(error)


def _amendment(item: Item, material: Material, now: datetime) -> DraftedAmendment | str:
    found = material.skills.get(item.skill) or next(
        (one for one in material.skills.values() if item.skill in (one.path, one.skill.name)), None
    )
    if found is None:
        return f"there is no skill {item.skill!r}"
    short = next(key for key, one in material.skills.items() if one is found)
    shown = next(one for one in material.brief.skills if one.id == short)
    rule = next((one for one in shown.rules if one.id in item.replaces), None)
    if item.replaces and rule is None:
        return f"the skill has no rule {item.replaces[0]!r}"
    text = material.restored(item.text)
    if rule is not None:
        patch = refine(found.skill, section=rule.section, replace={material.restored(rule.text): text})
    else:
        patch = refine(found.skill, section=GOTCHAS, add=[text, *item.gotchas])
    return _drafted(found.folder.key, found.folder.files(found.skill.subject), patch, now)


def _new_skill(item: Item, material: Material, now: datetime) -> DraftedAmendment | str:
    if not item.steps:
        return "a new skill needs steps"
    if near := _near(item, list(material.skills.values())):
        return f"the skill {near.path} is about the same"
    beside = [one.skill.subject for one in material.skills.values()]
    name = new_name(item.skill, beside, "lesson")
    lines = [f"# {name.replace('-', ' ').capitalize()}", "", "## When to use", "", material.restored(item.text), ""]
    lines += ["## Steps", "", *(f"{n}. {material.restored(step)}" for n, step in enumerate(item.steps, 1)), ""]
    if item.gotchas:
        lines += [f"## {GOTCHAS}", "", *(f"- {material.restored(line)}" for line in item.gotchas), ""]
    made = draft(name, "\n".join(lines), description=material.restored(item.text)[:200], beside=beside)
    return _drafted("", {}, made, now)


def _drafted(folder: str, before: dict[str, bytes], change: Patch | Create, now: datetime) -> DraftedAmendment | str:
    made = amended(before, change, now)
    if not isinstance(made, Amended) or not made.files_after:
        return "nothing of the skill would change"
    text = "\n".join((after or b"").decode("utf-8", "replace") for after in made.files_after.values())
    return DraftedAmendment(folder, change, text)


def _near(item: Item, skills: Sequence[FoundSkill]) -> FoundSkill | None:
    wanted = words.stems(f"{item.skill.replace('-', ' ')} {item.text}")
    for one in skills:
        said = words.stems(f"{one.skill.name.replace('-', ' ')} {one.skill.description} {one.skill.body[:400]}")
        commands = [command for step in item.steps for command in words.commands(step)]
        has_all = bool(commands) and all(command in one.skill.body for command in commands)
        if has_all or (wanted and len(wanted & said) / len(wanted) >= NEAR):
            return one
    return None
