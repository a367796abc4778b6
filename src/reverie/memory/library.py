"""`home.memory`: what stands in the targets now."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime

from reverie.core.errors import BadInput, NotFound, ReverieError
from reverie.memory.target import Target
from reverie.memory.targets import Targets

_LOOK = "`reverie memory list` shows them."


@dataclass(frozen=True, slots=True)
class Entry:
    """One statement in a document. Its id is ours; the file knows nothing of it.

    `since` is when its present wording came in, None if that was before Reverie first looked; `seen` is when that
    wording was first seen, so it is at least that old. `change` brought it. `said` is when the words were said that it
    rests on, where a night landed it by itself.
    """

    target: str
    document: str
    text: str
    sha256: str
    id: str
    since: datetime | None
    seen: datetime
    critical: bool
    change: str
    said: datetime | None = None


@dataclass(frozen=True, slots=True)
class DocumentUsage:
    """The size of a document, in characters. A document that is not there yet is empty."""

    document: str
    characters: int
    budget: int | None


@dataclass(frozen=True, slots=True)
class Memory:
    """`touch` records what a target holds now and says what it found: reading is noticing."""

    targets: Targets
    touch: Callable[[Target], list[Entry]]

    def entries(self, target: str) -> Iterator[Entry]:
        """Every statement in a target, in order."""
        yield from self.touch(self.target(target))

    def present(self) -> list[str]:
        """The targets that hold something."""
        return [target.name for target in self.targets.standing()]

    def default(self) -> str:
        """The target that is meant when none is named: Hermes' where there is one, else the home's own."""
        present = self.present()
        return "hermes" if "hermes" in present else "home"

    def touch_all(self) -> list[ReverieError]:
        """Look at every target, also at one whose files are gone. One that cannot be read does not keep the others from
        being looked at."""
        failed = []
        for target in self.targets.present():
            try:
                self.touch(target)
            except ReverieError as error:
                failed.append(error)
        return failed

    def entry(self, target: str, wanted: str) -> Entry:
        """The one entry meant by its id or by words that stand in no other."""
        entries = list(self.entries(target))
        found = [entry for entry in entries if entry.id == wanted] or [e for e in entries if wanted in e.text]
        if len(found) == 1:
            return found[0]
        if not found:
            raise NotFound(f"No entry on {target!r} has the id or the words {wanted[:80]!r}.", next_step=_LOOK)
        shown = "; ".join(f"{entry.id} {entry.text[:40]!r}" for entry in found[:5])
        raise BadInput(f"{len(found)} entries hold {wanted[:80]!r}: {shown}.", expected="words of one only, or its id")

    def usage(self, target: str) -> list[DocumentUsage]:
        chosen = self.target(target)
        texts = ((place, (chosen.read(place.document) or b"").decode("utf-8", "replace")) for place in chosen.places())
        return [DocumentUsage(place.document, len(text), place.budget) for place, text in texts]

    def target(self, name: str) -> Target:
        return self.targets.named(name)


def budget_of(memory: Memory, path: str) -> int | None:
    """The budget of a document, in characters, by the path people call it by; None where it has none."""
    for name in memory.present():
        if path.startswith(f"{name}/"):
            places = memory.target(name).places()
            return next((one.budget for one in places if path == f"{name}/{one.document}"), None)
    return None
