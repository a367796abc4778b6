"""`home.skills`: the skills in every folder agents read them from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from reverie.core.errors import BadInput, NotFound
from reverie.skills.match_skills import DEFAULT_BUDGET, Match, Outcomes, match
from reverie.skills.skill import Skill, bare_name, read_skill


def folder_name(target: str) -> str:
    """The name of the folder that the agent of a target reads skills from."""
    return f"{target.replace('/', '-')}-skills"


class Folder(Protocol):
    """A place skills lie in. `name` is what people type; `key` is the same folder under every name."""

    @property
    def name(self) -> str: ...

    @property
    def key(self) -> str: ...

    @property
    def reach(self) -> str: ...

    @property
    def root(self) -> Path: ...

    def subjects(self) -> list[str]: ...

    def files(self, subject: str, /) -> dict[str, bytes]: ...

    def held(self, subject: str, /) -> AbstractContextManager[Any]: ...


@dataclass(frozen=True, slots=True)
class FoundSkill:
    """A skill and the folder it lies in."""

    folder: Folder
    skill: Skill

    @property
    def path(self) -> str:
        return f"{self.folder.name}/{self.skill.subject}"


@dataclass(frozen=True, slots=True)
class Skills:
    """`touch` records how a skill stands now: reading is noticing. `seen` are those that ever stood in a folder.
    `outcomes` are how skills did, by their names."""

    folders: Mapping[str, Folder]
    touch: Callable[[Folder, str], None]
    seen: Callable[[Folder], Iterable[str]]
    outcomes: Callable[[], Mapping[str, Outcomes]] = dict

    def every(self) -> Iterator[FoundSkill]:
        """All of them, folder by folder. One that cannot be read as a skill still is one; its problems say why."""
        for folder in self.folders.values():
            there = folder.subjects()
            for gone in set(self.seen(folder)).difference(there):
                self.touch(folder, gone)
            for subject in there:
                self.touch(folder, subject)
                yield FoundSkill(folder, read_skill(subject, folder.files(subject)))

    def distinct(self) -> Iterator[FoundSkill]:
        """Without copies: of those that say the same in several folders, as in the profiles of Hermes, the first."""
        seen = set[tuple[str, bytes]]()
        for found in self.every():
            said = (found.skill.subject, found.skill.content)
            if said not in seen:
                seen.add(said)
                yield found

    def seen_from(self, folder: str) -> list[FoundSkill]:
        """All of them; of those that several agents have, only that in this folder, if it is there."""
        found = list(self.every())
        own = {one.skill.subject for one in found if one.folder.name == folder}
        return [one for one in found if one.folder.name == folder or one.skill.subject not in own]

    def get(self, name: str) -> FoundSkill:
        """The one skill meant by its name, its path in a folder, or folder and path; of copies, the first."""
        meant = [
            (folder, subject)
            for folder in self.folders.values()
            for subject in folder.subjects()
            if name in (subject, bare_name(subject), f"{folder.name}/{subject}")
        ]
        if len({(subject, repr(folder.files(subject))) for folder, subject in meant}) > 1:
            paths = " or ".join(f"{folder.name}/{subject}" for folder, subject in meant)
            raise BadInput(f"{len(meant)} skills are called {name!r}.", expected=paths)
        if not meant:
            raise NotFound(f"There is no skill {name!r}.", next_step="`reverie skills list` shows them.")
        folder, subject = meant[0]
        self.touch(folder, subject)
        return FoundSkill(folder, read_skill(subject, folder.files(subject)))

    def folder(self, name: str) -> Folder:
        if name not in self.folders:
            raise BadInput(f"There is no folder of skills {name!r}.", expected=f"one of {', '.join(self.folders)}")
        return self.folders[name]

    def match(self, task: str, tags: Sequence[str] = (), budget: int = DEFAULT_BUDGET) -> list[Match]:
        """The skills a task calls for, best first, within a budget of tokens."""
        skills = (found.skill for found in self.distinct())
        return match(skills, task, tags, budget_tokens=budget, outcomes=self.outcomes())
