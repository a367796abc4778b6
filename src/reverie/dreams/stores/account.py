"""What a dream over a store did, told from its Changes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from reverie.changes.ledger import Change, Edit
from reverie.changes.proposal import drawn_diff
from reverie.dreams.stores.dream import Withheld

CONTEXT = 3


@dataclass(frozen=True, slots=True)
class PageDiff:
    """One page before and after all Changes. None: there was, or is, no such page; both: it was withheld."""

    path: str
    before: bytes | None
    after: bytes | None
    diff: str


def diffs(changes: Iterable[Change], withheld: Iterable[Withheld] = ()) -> list[PageDiff]:
    """By path; pages that read in the end as they did before are not among them. Of what was withheld no word is."""
    sides: dict[str, Edit] = {}
    for change in changes:
        for edit in change.edits:
            first = sides.get(edit.document)
            sides[edit.document] = Edit(edit.document, first.before if first else edit.before, edit.after)
    changed = list[PageDiff]()
    for path, edit in sides.items():
        if edit.before != edit.after:
            bare = replace(edit, document=path.removeprefix("/"))
            changed.append(PageDiff(path, edit.before, edit.after, drawn_diff("", [bare], CONTEXT)))
    kept_out = [PageDiff(one.path, None, None, "") for one in withheld if one.path not in sides]
    return sorted([*changed, *kept_out], key=lambda one: one.path)
