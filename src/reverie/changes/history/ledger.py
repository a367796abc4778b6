"""The ledger: one row for every change, verdict and mark, each bound to the one before by its hash.

A row holds who, what, when and why by name, and digests of content that are salted: the chain stays whole when the
content is erased, and a short secret cannot be guessed from it. A chain proves that nothing was altered or left out,
not that what was written is true. A cut at the end shows only against an anchor: the last hash, kept elsewhere.

Whose row it is and what it says are hashed by themselves, with a salt, and the row's own hash is made of that digest.
So they can be erased: salt, user and body go, the digest stays, and every hash still holds. Rows from before schema
0013 have one hash over everything; an erased one is held by its neighbours alone. Either way a later row of the kind
`erasure` names every row that was emptied: one that nobody names was tampered with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from reverie.changes.history.change import Change
from reverie.core.clock import rfc3339
from reverie.core.hashes import canonical, sha256

BEGINNING = "0" * 64
ERASURE = "erasure"
RESTORE = "restore"


@dataclass(frozen=True, slots=True)
class Row:
    number: int
    at: datetime
    kind: str
    user: str
    body: Mapping[str, Any]
    previous: str
    hash: str = ""
    salt: str | None = None
    details: str | None = None  # the salted digest of user and body; None in rows from before schema 0013
    erased: bool = False

    def salted(self, salt: str) -> Row:
        """The row with the digest of what can be erased."""
        return replace(self, salt=salt, details=self._digest(salt))

    def sealed(self) -> Row:
        """The row with the hash of everything else in it."""
        told: dict[str, Any] = {"number": self.number, "at": rfc3339(self.at), "kind": self.kind}
        told |= {"previous": self.previous}
        told |= {"user": self.user, "body": self.body} if self.details is None else {"details": self.details}
        return replace(self, hash=sha256(canonical(told)))

    @property
    def altered(self) -> bool:
        if self.erased:
            return self.details is not None and self.hash != self.sealed().hash
        if self.details is not None and self.details != self._digest(self.salt or ""):
            return True
        return self.hash != self.sealed().hash

    def _digest(self, salt: str) -> str:
        return sha256(salt.encode() + canonical({"user": self.user, "body": self.body}))


def ranges(numbers: Iterable[int]) -> list[list[int]]:
    """Numbers as first and last of each run: an erasure may name thousands of rows."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return runs


def broken_links(rows: Iterable[Row]) -> Iterator[str]:
    """Faults of a chain, in words; none when it is whole."""
    emptied: set[int] = set()
    yield from _links(rows, emptied)
    yield from (f"row {number} was emptied, and no erasure says so" for number in sorted(emptied))


def _links(rows: Iterable[Row], emptied: set[int]) -> Iterator[str]:
    previous, expected = BEGINNING, 1
    for one in rows:
        if one.number != expected:
            yield f"row {expected} is missing: the next one is {one.number}"
        elif one.previous != previous:
            yield f"row {one.number} does not continue row {expected - 1}"
        if one.altered:
            yield f"row {one.number} was altered"
        if one.erased:
            emptied.add(one.number)
        elif one.kind == ERASURE:
            for first, last in one.body.get("rows", ()):
                emptied.difference_update(range(first, min(last, one.number) + 1))
        previous, expected = one.hash, one.number + 1


def digest(salt: str, content: bytes | None) -> str | None:
    return None if content is None else sha256(salt.encode() + content)


def ledger_body(change: Change, salt: str) -> dict[str, Any]:
    """The ledger's row of a settled Change: no content, only names and salted digests."""
    grounds = change.grounds
    named = {
        "change": change.id,
        "target": change.target,
        "subject": change.subject,
        "standing": str(change.standing),
        "via": str(grounds.via),
        "actor": grounds.actor,
        "origin": str(grounds.origin) if grounds.origin else None,
        "proposal": grounds.proposal,
        "dream": grounds.dream,
        "undoes": grounds.undoes,
        "approved_by": grounds.approved_by,
        "policy": grounds.policy,
        "edits": [
            {"document": edit.document, "before": digest(salt, edit.before), "after": digest(salt, edit.after)}
            for edit in change.edits
        ],
        "grounds": digest(salt, canonical([grounds.reason, grounds.because, [e.quote for e in grounds.evidence]])),
    }
    return {name: value for name, value in named.items() if value is not None}
