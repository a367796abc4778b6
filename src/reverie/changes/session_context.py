"""`home.context`: exactly the block a session starts with, recorded, so that what an agent was told has an answer.

Memory first, then the skills the task calls for, within a budget of tokens. The same inputs give the same bytes, so
that prompt caches hold; a session that asks again gets what it got. What looks unsafe is withheld and listed: nothing
gets into a prompt that Reverie builds just because it stands in a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from reverie.core.clock import Clock
from reverie.core.errors import NotFound
from reverie.core.ids import Ids
from reverie.core.scope import Scope
from reverie.memory.library import Entry, Memory
from reverie.safety.scan import scan, scan_skill
from reverie.skills.library import CHARACTERS_A_TOKEN, FoundSkill, Skills, match

DEFAULT_BUDGET = 6_000


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """The task a context was made for."""

    task: str = ""
    tags: tuple[str, ...] = ()
    budget: int = DEFAULT_BUDGET
    targets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GivenContext:
    """A context as it was given. `left_out` and `withheld` say what is not in it and why."""

    id: str
    at: datetime
    session: str | None
    asked: ContextRequest
    text: str
    skills: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()


class Contexts(Protocol):
    def keep(self, scope: Scope, given: GivenContext) -> None:
        """Store what was given, with the ledger's row at once."""

    def last(self, scope: Scope, session: str | None = None, until: datetime | None = None) -> GivenContext | None:
        """The latest one: of a session, or given at or before a time."""


@dataclass(frozen=True, slots=True)
class ContextBuilder:
    scope: Scope
    memory: Memory
    skills: Skills
    contexts: Contexts
    ids: Ids
    clock: Clock

    def __call__(
        self,
        task: str = "",
        *,
        tags: Sequence[str] = (),
        budget: int = DEFAULT_BUDGET,
        targets: Sequence[str] = (),
        session: str | None = None,
    ) -> GivenContext:
        """The block for a session that is about to do `task`. With the id of a session it is frozen for that one."""
        if session is not None and (earlier := self.contexts.last(self.scope, session)):
            return earlier
        asked = ContextRequest(task, tuple(sorted(set(tags))), budget, tuple(targets))
        given = self._made(asked, session)
        self.contexts.keep(self.scope, given)
        return given

    def as_of(self, when: datetime, session: str | None = None) -> GivenContext:
        """The context given last at or before a time, byte for byte."""
        found = self.contexts.last(self.scope, session, when)
        if found is None:
            raise NotFound(
                f"No context was given {f'to {session} ' if session else ''}by then.",
                next_step="`reverie rules --as-of` shows what memory said at that time.",
            )
        return found

    def _made(self, asked: ContextRequest, session: str | None) -> GivenContext:
        safe, withheld = list[Entry](), list[str]()
        for entry in (each for name in asked.targets or self.memory.present() for each in self.memory.entries(name)):
            report = scan(entry.text, "memory")
            if report.blocked:
                withheld.append(f"{entry.target}/{entry.document} {entry.id}: {report.findings[0].category}")
            else:
                safe.append(entry)
        space = asked.budget * CHARACTERS_A_TOKEN
        lines, left_out = _fitting(safe, space)
        space -= sum(map(len, lines))
        skills, unsafe = self._matched(asked, max(0, space) // CHARACTERS_A_TOKEN)
        parts = ["# What you know\n", *lines] if lines else []
        if skills:
            parts.append("\n# Skills for this task\n" if parts else "# Skills for this task\n")
        for found in skills:
            version = f" ({found.skill.version})" if found.skill.version else ""
            parts.append(f"\n## {found.skill.name}{version}\n\n{found.skill.body.strip()}\n")
        return GivenContext(
            self.ids.new("ctx"),
            self.clock.now(),
            session,
            asked,
            "".join(parts),
            tuple(one.path for one in skills),
            tuple(left_out),
            (*withheld, *unsafe),
        )

    def _matched(self, asked: ContextRequest, budget: int) -> tuple[list[FoundSkill], list[str]]:
        if not (asked.task or asked.tags) or budget < 1:
            return [], []
        every = list(self.skills.distinct())
        by_skill = {id(found.skill): found for found in every}
        chosen: list[FoundSkill] = []
        withheld: list[FoundSkill] = []
        for one in match((found.skill for found in every), asked.task, asked.tags, budget_tokens=budget):
            found = by_skill[id(one.skill)]
            blocked = scan_skill(found.folder.files(found.skill.subject)).blocked
            (withheld if blocked else chosen).append(found)
        return chosen, [f"{found.path}: the safety scan would keep it out" for found in withheld]


def _fitting(entries: Sequence[Entry], space: int) -> tuple[list[str], list[str]]:
    """The lines of memory that fit; critical rules have the first claim, but all stand in the order of the files."""
    chosen: set[int] = set()
    for at in sorted(range(len(entries)), key=lambda at: not entries[at].critical):
        length = len(entries[at].text) + 3
        if length <= space:
            chosen.add(at)
            space -= length
    lines, place = [], ""
    for at in sorted(chosen):
        entry = entries[at]
        if f"{entry.target}/{entry.document}" != place:
            place = f"{entry.target}/{entry.document}"
            lines.append(f"\n## {place}\n\n")
        indented = entry.text.replace("\n", "\n  ")
        lines.append(f"- {indented}\n")
    left_out = [f"{entries[at].id}: no room" for at in range(len(entries)) if at not in chosen]
    return lines, left_out
