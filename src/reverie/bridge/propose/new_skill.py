"""Several changes that belong together and to no skill there is: one new skill, instead of a line each in memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from reverie.bridge.propose.route import KeptOut, Route
from reverie.dreams.light.tagger import tag_sentences
from reverie.skills.amendments.amendment import Create
from reverie.skills.amendments.refine import draft
from reverie.skills.names import new_name
from reverie.text.embedding import embed
from reverie.text.wording.words import normal

FEWEST = 3
_CHAPTER = re.compile(r"^\d+(?:\.\d+)*[.)]\s+")  # "2. Data models"
TOGETHER = 0.5  # likeness from which two statements are about the same


@dataclass(frozen=True, slots=True)
class NewSkill:
    """The rules it would hold, in the order of the managed memory."""

    routes: tuple[Route, ...]
    name: str

    @property
    def amendment(self) -> Create:
        title = self.name.replace("-", " ").capitalize()
        lines = [f"# {title}", "", "## Rules", "", *(f"- {one.text}" for one in self.routes), ""]
        return draft(self.name, "\n".join(lines), description=f"{title}: rules that a managed memory learned.")


Routed = Route | KeptOut | NewSkill


def with_new_skills(routed: Sequence[Route | KeptOut], taken: Sequence[str]) -> list[Routed]:
    """Those that have no home but memory, three or more about one matter, most of which say how something is done."""
    homeless = [one for one in routed if isinstance(one, Route) and one.is_homeless]
    if len(homeless) < FEWEST:
        return list(routed)
    tagged = zip(homeless, tag_sentences([one.text for one in homeless]), strict=True)
    facts = {id(one) for one, found in tagged if found.between(0, len(one.text)).kind == "fact"}
    made = list[NewSkill]()
    for group in _groups(homeless):
        if len(group) >= FEWEST and 2 * sum(id(one) in facts for one in group) < len(group):
            made.append(NewSkill(tuple(group), _name(group, [*taken, *(one.name for one in made)])))
    inside = {id(one) for skill in made for one in skill.routes}
    return [*made, *(one for one in routed if id(one) not in inside)]


def _groups(routes: Sequence[Route]) -> list[list[Route]]:
    """By page and heading; pages whose statements are about the same are put together."""
    pages: dict[tuple[str, str], list[Route]] = {}
    for one in routes:
        pages.setdefault((one.difference.place.path, one.difference.place.heading), []).append(one)
    groups = list[list[Route]]()
    for page in pages.values():
        near = next((group for group in groups if _likeness(group, page) >= TOGETHER), None)
        if near is None:
            groups.append(list(page))
        else:
            near.extend(page)
    return groups


def _likeness(one: Sequence[Route], other: Sequence[Route]) -> float:
    sides = [embed([normal(route.text) for route in side]).mean(axis=0) for side in (one, other)]
    return float(sides[0] @ sides[1])


def _name(group: Sequence[Route], taken: Sequence[str]) -> str:
    place = group[0].difference.place
    plain = place.heading or place.path.rpartition("/")[2].partition(".")[0]
    return new_name(_CHAPTER.sub("", plain), taken, "learned")
