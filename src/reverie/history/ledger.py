"""The ledger: one row for every change, verdict and mark, each bound to the one before by its hash.

A row holds who, what, when and why by name, and digests of content that are salted: the chain stays whole when the
content is erased, and a short secret cannot be guessed from it. A chain proves that nothing was altered or left out,
not that what was written is true. A cut at the end shows only against an anchor: the last hash, kept elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

from reverie.history.change import Change
from reverie.kernel.clock import rfc3339
from reverie.kernel.hashes import canonical, sha256

BEGINNING = "0" * 64


@dataclass(frozen=True, slots=True)
class Row:
    number: int
    at: datetime
    kind: str
    user: str
    body: Mapping[str, Any]
    previous: str
    hash: str = ""

    def sealed(self) -> Row:
        """The row with the hash of everything else in it."""
        told = asdict(self) | {"at": rfc3339(self.at)}
        del told["hash"]
        return replace(self, hash=sha256(canonical(told)))


def broken_links(rows: Iterable[Row]) -> Iterator[str]:
    """What is wrong with a chain, in words; nothing when it is whole."""
    previous, expected = BEGINNING, 1
    for one in rows:
        if one.number != expected:
            yield f"row {expected} is missing: the next one is {one.number}"
        elif one.previous != previous:
            yield f"row {one.number} does not continue row {expected - 1}"
        if one.hash != one.sealed().hash:
            yield f"row {one.number} was altered"
        previous, expected = one.hash, one.number + 1


def digest(salt: str, content: bytes | None) -> str | None:
    return None if content is None else sha256(salt.encode() + content)


def told(change: Change, salt: str) -> dict[str, Any]:
    """What the ledger says of a settled Change: no content, only names and salted digests."""
    grounds = change.grounds
    named = {
        "change": change.id,
        "shelf": change.shelf,
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
