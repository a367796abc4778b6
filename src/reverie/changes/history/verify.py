"""Do the records agree with each other and with the files? Looks at everything and changes nothing.

The invariants: every acknowledged write is in state or history, without a gap between one Change and the next; the
ledger is whole and tells of the same bytes; nothing is half done; the projections say the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from reverie.changes.history.change import Change
from reverie.changes.history.projection import Projection
from reverie.changes.history.records import ChangeQuery, HistoryRecords, broken_links
from reverie.core.scope import Scope

MOST_SAID = 5


@dataclass(frozen=True, slots=True)
class Checked:
    name: str
    ok: bool
    said: str


@dataclass(frozen=True, slots=True)
class HistoryVerification:
    """`read` gives the bytes of a document now; `git` is the projection for people."""

    scope: Scope
    records: HistoryRecords
    read: Callable[[str, str], bytes | None]
    git: Projection

    def verify(self) -> list[Checked]:
        checks: dict[str, Callable[[], Iterable[str]]] = {
            "ledger is whole": lambda: broken_links(self.records.rows(self.scope)),
            "ledger tells of the same bytes": lambda: self.records.mismatches(self.scope),
            "history has no gap": self._gaps,
            "nothing is half done": self._half_done,
        }
        return [*(_checked(name, look()) for name, look in checks.items()), self._shown(), self._outside()]

    def _shown(self) -> Checked:
        """Git follows the database: what it does not show yet is no fault, what it shows otherwise is one."""
        found = _checked("git says the same", self.git.verify())
        behind = self.git.behind() if found.ok else []
        if not behind:
            return found
        said = f"as far as it goes; not shown yet: {', '.join(behind)} (the next change or `reverie recover` adds them)"
        return Checked(found.name, True, said)

    def _gaps(self) -> Iterator[str]:
        last: dict[tuple[str, str], bytes | None] = {}
        for change in self._every():
            for edit in change.edits:
                place = (change.target, edit.document)
                if place in last and last[place] != edit.before:
                    yield f"{change.id} does not begin where the change before it left {edit.document}"
                last[place] = edit.after

    def _every(self) -> Iterator[Change]:
        """Oldest first, a few at a time."""
        for target, document in self.records.documents(self.scope):
            number = 0
            while page := self.records.find(
                self.scope, ChangeQuery(target=target, document=document, after=number, limit=200, oldest_first=True)
            ):
                for change in page:
                    yield replace(change, edits=tuple(edit for edit in change.edits if edit.document == document))
                number = page[-1].number or 0

    def _half_done(self) -> Iterator[str]:
        for change in self.records.unsettled(self.scope):
            yield f"{change.id} on {change.subject} was begun and not finished; run `reverie recover`"

    def _outside(self) -> Checked:
        """Not an error: files belong to their harness. It is recorded the next time Reverie looks."""
        moved = []
        for target, document in self.records.documents(self.scope):
            known = self.records.known(self.scope, target, document)
            if known is not None and self.read(target, document) != known.content:
                moved.append(document)
        said = f"written from outside since: {', '.join(moved[:MOST_SAID])}" if moved else "as Reverie last saw them"
        return Checked("files", True, said)


def _checked(name: str, problems: Iterable[str]) -> Checked:
    found = list(problems)
    more = f" (and {len(found) - MOST_SAID} more)" if len(found) > MOST_SAID else ""
    return Checked(name, not found, "; ".join(found[:MOST_SAID]) + more if found else "yes")
