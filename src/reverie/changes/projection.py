"""Git as a projection of Changes, for people: what a commit says, which Changes have none yet, and when to project. And
whether the records agree with each other, with the files and with git.

The true copy is the database. A commit tells of one landed Change in the words of that Change, and its last lines
(trailers) say by name who, why and on what. `Ledger` holds the number and hash of the ledger's row: a ledger that was
cut or exchanged no longer fits the commits made from it. Whatever text a Change brings, it stays within its line.

`HistoryVerification` looks at everything and changes nothing. The invariants: every acknowledged write is in state or
history, without a gap between one Change and the next; the ledger is whole and tells of the same bytes; nothing is
half done; the projections say the same.
"""

from __future__ import annotations

import re
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from reverie.changes.ledger import Anchored, Change, ChangeQuery, HistoryRecords, Via, broken_links
from reverie.core.errors import ReverieError
from reverie.core.scope import Scope
from reverie.memory.operation import Add, Remove, Replace

REASON_IN_SUBJECT = 60
LONGEST_PARAGRAPH = 2_000
_CHANGE = re.compile(r"^Reverie-Change: (\S+)$", re.MULTILINE)
_LEDGER = re.compile(r"^Ledger: (\d+) ([0-9a-f]{64})$", re.MULTILINE)
SECONDS = 1.0
MOST_SAID = 5


class LedgerParted(ReverieError):
    """The commits tell of a row that the ledger does not have, or has differently."""


@dataclass(frozen=True, slots=True)
class Projected:
    """The Change a commit says it was made from."""

    change: str
    number: int
    hash: str


@dataclass(frozen=True, slots=True)
class Late:
    """One target or skills folder whose git is behind. `waits` is its newest Change, which is not in git yet."""

    name: str
    waits: str
    why: str

    def __str__(self) -> str:
        return f"The git history of {self.name} is behind ({self.waits} is not in it yet): {self.why}"


@dataclass(frozen=True, slots=True)
class Behind:
    """Changes git does not show yet, and why. Nothing is lost: the next time catches up."""

    late: tuple[Late, ...]

    def __str__(self) -> str:
        return "\n".join(map(str, self.late))


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """Repositories made anew. `kept` is where those went that were damaged or held commits made by hand."""

    names: tuple[str, ...]
    commits: int
    kept: tuple[Path, ...] = ()

    def __str__(self) -> str:
        kept = [f"Kept, as it was damaged or held work done by hand: {path}" for path in self.kept]
        names = ", ".join(self.names) or "nothing, as nothing was changed yet"
        return "\n".join([f"Made anew with {self.commits:,} commits: {names}", *kept])


class Projection(Protocol):
    def catch_up(self) -> Behind | None:
        """Show what landed since. What fails is said, never raised: it delays the projection, not a landing."""

    def rebuild(self, name: str | None = None, *, keep: bool = True) -> Rebuilt:
        """Make it anew from all Changes, for one target or all. `keep=False`: nothing of the old one stays anywhere."""

    def verify(self) -> list[str]:
        """Faults of it, in sentences. Changes it does not show yet are no fault."""

    def behind(self) -> list[str]:
        """The number of changes it does not show yet, by target or folder."""


def still_to_project(recorded: Iterator[Anchored], last: Projected | None) -> Iterator[Anchored]:
    """The Changes after the last one that has a commit. `recorded` begins with that one, which must be the same."""
    if last is not None:
        found = next(recorded, None)
        if found is None or projected(found) != last:
            raise LedgerParted(
                f"Its newest commit tells of change {last.change}, row {last.number} of the ledger, "
                + ("and the ledger ends before it." if found is None else "and that row is another one now."),
                expected="the ledger these commits were made from",
                next_step="Was an older database put back? Look into it, then make the git history anew.",
            )
    return recorded


def projected(recorded: Anchored) -> Projected:
    return Projected(recorded.change.id, recorded.change.number or 0, recorded.hash)


def read_back(message: str) -> Projected | None:
    """The Change a commit was made from, by the last paragraph of its message; None when it is not one of ours."""
    trailers = message.rstrip().rpartition("\n\n")[2]
    change, row = _CHANGE.search(trailers), _LEDGER.search(trailers)
    return Projected(change[1], int(row[1]), row[2]) if change and row else None


# ---- what a commit says ----------------------------------------------------------------------------------------------


def commit_message(recorded: Anchored) -> str:
    """Subject, reasons, trailers. Reasons are indented, so that no line of theirs can be taken for anything else."""
    change, grounds = recorded.change, recorded.change.grounds
    said = dict.fromkeys(printable_line(text) for text in (grounds.reason, grounds.because or ""))
    wrapper = textwrap.TextWrapper(76, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
    paragraphs = [wrapper.fill(_short(text, LONGEST_PARAGRAPH)) for text in said if text]
    cited = dict.fromkeys(f"{one.session_id}#{one.turn}" for one in grounds.evidence)
    trailers = [
        ("Reverie-Change", change.id),
        ("Actor", grounds.actor),
        ("Origin", str(grounds.origin or "")),
        *(("Evidence", place) for place in cited),
        ("Dream", grounds.dream or ""),
        ("Proposal", grounds.proposal or ""),
        ("Approved-By", grounds.approved_by or ""),
        ("Policy", grounds.policy or ""),
        ("Undoes", grounds.undoes or ""),
        ("Ledger", f"{change.number} {recorded.hash}"),
    ]
    last = "\n".join(f"{name}: {value}" for name, text in trailers if (value := printable_line(text)))
    return "\n\n".join([subject(change), *paragraphs, last]) + "\n"


def subject(change: Change) -> str:
    reason = _short(printable_line(change.grounds.reason), REASON_IN_SUBJECT)
    return f"{printable_line(_what(change))}: {reason}" if reason else printable_line(_what(change))


def printable_line(text: str) -> str:
    """A text as one line of visible characters: a break becomes a space, what cannot be seen a replacement mark."""
    return "".join(char if char.isprintable() else "\ufffd" for char in " ".join(text.split()))


def _short(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    words, _, _ = text[:most].rpartition(" ")
    return f"{words if len(words) > most // 2 else text[: most - 1]}…"


def _what(change: Change) -> str:
    match change.grounds.via, change.operations:
        case Via.FOUND, _:
            return f"Begin with {change.subject}"
        case Via.OUTSIDE, _:
            return f"Notice an edit of {change.subject}"
        case Via.UNDO, _:
            return f"Undo a change of {change.subject}"
        case _, (Add(),):
            return f"Add an entry to {change.subject}"
        case _, (Replace(),):
            return f"Replace an entry of {change.subject}"
        case _, (Remove(),):
            return f"Remove an entry of {change.subject}"
        case _, (_, *_):
            return f"Change {len(change.operations)} entries of {change.subject}"
    if all(edit.before is None for edit in change.edits):
        return f"Add {change.subject}"
    if all(edit.after is None for edit in change.edits):
        return f"Remove {change.subject}"
    return f"Amend {change.subject}"


class Throttle:
    """Calls through when the last call was long enough ago; `finish` does what is still to be done."""

    def __init__(self, project: Callable[[], object]) -> None:
        self._project = project
        self._last: float | None = None
        self._due = False

    def __call__(self) -> None:
        if self._last is not None and time.monotonic() - self._last < SECONDS:
            self._due = True
            return
        self._project()
        self._due = False
        self._last = time.monotonic()

    def finish(self) -> None:
        if self._due:
            self._project()
            self._due = False


# ---- do the records agree with each other and with the files? --------------------------------------------------------


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
            "nothing is half done": lambda: (
                f"{change.id} on {change.subject} was begun and not finished; run `reverie recover`"
                for change in self.records.unsettled(self.scope)
            ),
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
        for target, document in self.records.documents(self.scope):
            asked = ChangeQuery(target=target, document=document, limit=200, oldest_first=True)
            number, last = 0, list[bytes | None]()  # a few at a time
            while page := self.records.find(self.scope, replace(asked, after=number)):
                for change, edit in ((change, edit) for change in page if (edit := change.edit(document))):
                    if last and last[0] != edit.before:
                        yield f"{change.id} does not begin where the change before it left {document}"
                    last = [edit.after]
                number = page[-1].number or 0

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
