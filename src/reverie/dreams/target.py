"""What a night needs of the place whose memory it is about: files of a harness, or a memory store. Values only.

A night asks nothing else of a target before it lands, so that both kinds give the same decisions for the same sessions
and entries, where limits and ownership are the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from reverie.dreams.brief import BriefDocument, BriefEntry
from reverie.dreams.decide import Gates, Limits
from reverie.dreams.rooms import Rooms
from reverie.language.finding import Finder
from reverie.memory.operation import Operation
from reverie.skills.edits import rules_of
from reverie.skills.library import Found

OWN_SKILLS = "skills"


@dataclass(frozen=True, slots=True)
class DreamTarget:
    """`owner` is the person whose memory it is; empty: it is nobody's. `surfaces` is what agents read besides, and a
    night does not change. `new_skills` is the folder of a skill that is new.

    `asks`: a person is asked about what does not land by itself. Where nobody is asked, what is only unsure is included
    and marked, and what is for a person is withheld. `people_needed`: how many people have to agree before what stands
    is changed, where it is nobody's; 0: its owner decides.
    """

    name: str
    owner: str
    documents: tuple[BriefDocument, ...]
    entries: tuple[BriefEntry, ...]
    surfaces: tuple[BriefEntry, ...] = ()
    skills: tuple[Found, ...] = ()
    new_skills: str = OWN_SKILLS
    gates: Gates = field(default_factory=Gates)
    limits: Limits = field(default_factory=Limits)
    search: Finder | None = None
    instructions: str = ""
    asks: bool = True
    people_needed: int = 0
    waiting: frozenset[tuple[Operation, ...]] = frozenset()


def target_of_files(rooms: Rooms, shelf: str, instructions: str = "") -> DreamTarget:
    """The files of a harness: they belong to the owner of the Home, who is asked."""
    skills = tuple(rooms.skills.every()) if rooms.skills else ()
    folders: Mapping[str, object] = rooms.skills.folders if rooms.skills else {}
    beside = f"{shelf}-skills"
    return DreamTarget(
        shelf, rooms.owner, tuple(_documents(rooms, shelf)), tuple(_entries(rooms, shelf)),
        tuple(_surfaces(rooms, shelf, skills)), skills, beside if beside in folders else OWN_SKILLS, rooms.gates,
        rooms.limits, rooms.search, instructions, waiting=frozenset(_waiting(rooms, shelf)),
    )  # fmt: skip


def _waiting(rooms: Rooms, shelf: str) -> Iterator[tuple[Operation, ...]]:
    for one in rooms.review.waiting(every=True):
        if one.shelf_name == shelf and one.suggestion.operations:
            yield one.suggestion.operations


def _documents(rooms: Rooms, shelf: str) -> Iterator[BriefDocument]:
    used = {one.document: one for one in rooms.memory.usage(shelf)}
    for place in rooms.memory.shelf(shelf).places():
        yield BriefDocument(
            place.document, place.purpose, place.audience, used[place.document].characters, place.budget,
            place.elsewhere,
        )  # fmt: skip


def _entries(rooms: Rooms, shelf: str) -> Iterator[BriefEntry]:
    for number, one in enumerate(rooms.memory.entries(shelf), 1):
        yield BriefEntry(
            f"e{number}", one.document, one.text, one.since or one.seen, one.since is not None, one.critical, one.sha256
        )


def _surfaces(rooms: Rooms, shelf: str, skills: Iterable[Found]) -> Iterator[BriefEntry]:
    for number, (where, text) in enumerate(rooms.surfaces(shelf), 1):
        yield BriefEntry(f"x{number}", where, text)
    for found in skills:
        for rule in rules_of(found.skill.body.splitlines(keepends=True)):
            if not rule.text.startswith("#"):  # a heading says nothing that could be contradicted
                yield BriefEntry("", found.path, rule.text)
