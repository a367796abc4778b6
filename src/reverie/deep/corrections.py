"""What a person says of a skill by its name: "print-proof still says 300, it has to be 350 dpi"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from reverie.deep.clauses import clauses
from reverie.deep.composing import by_shape
from reverie.deep.decision import Drafted
from reverie.deep.matters import Matter
from reverie.deep.procedures import drafted_of
from reverie.deep.vocabulary import pattern, plain
from reverie.deep.wording import canonical
from reverie.kernel.errors import BadInput
from reverie.skills.edits import rules_of
from reverie.skills.library import Found
from reverie.skills.markdown import sections_of
from reverie.skills.refining import refine


def corrected(matter: Matter, skills: Sequence[Found], now: datetime) -> Drafted | None:
    """The skill they name with the one rule put right that has another value; with one more gotcha where none has."""
    for found in (one for one in skills if _is_named(matter, one.skill.name)):
        changes = {(section, old): new for section, old, new in _put_right(matter, found)}
        try:
            if len(changes) == 1:
                [((section, old), new)] = changes.items()
                patch = refine(found.skill, section=section, replace={old: new})
            else:
                patch = refine(found.skill, section="Gotchas", add=[canonical(matter)])
        except BadInput:  # it says so already, or has no room for it
            continue
        return drafted_of(found.folder.key, found.folder.files(found.skill.subject), patch, now)
    return None


def _is_named(matter: Matter, name: str) -> bool:
    """By its name, as a skill or a step of one: not everything that is called so is meant."""
    told = [plain(note.words) for note in matter.every if pattern("of_a_skill").search(plain(note.words))]
    return any(name.lower() in words or name.replace("-", " ").lower() in words for words in told)


def _put_right(matter: Matter, found: Found) -> Iterator[tuple[str, str, str]]:
    body = found.skill.body
    said = [piece for note in matter.said for piece in clauses(note.text).affirmed]
    for section in sections_of(body):
        for rule in rules_of(body[section.inside : section.own_end].splitlines(keepends=True)):
            new = next((text for piece in said if (text := by_shape(rule.text, piece))), "")
            if new and new != rule.text:
                yield section.heading, rule.text, new
