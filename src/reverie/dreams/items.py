"""What a curator returns: a list of items, each an intended change with the words it rests on.

An answer is read item by item: one that cannot be read is reported, and the others stand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

MOST_ITEMS = 60  # of one answer; what comes after is not looked at, and that is said
LONGEST_TEXT = 2_000


class Op(StrEnum):
    ADD = "add"
    REPLACE = "replace"
    MERGE = "merge"
    REMOVE = "remove"
    SKILL_NEW = "skill_new"
    SKILL_AMEND = "skill_amend"

    @property
    def changes_skill(self) -> bool:
        return self in (Op.SKILL_NEW, Op.SKILL_AMEND)


@dataclass(frozen=True, slots=True)
class Citation:
    """Words of a turn, as a curator gives them: not verified yet. `session` is the short id of the Brief."""

    session: str
    turn: int
    words: str


@dataclass(frozen=True, slots=True)
class Item:
    """`replaces` are ids of entries, or of rules of a skill. `steps` and `gotchas` belong to a new skill. `project` is
    the one project it holds in; empty: it holds everywhere. `candidates` names what of Light it was made from."""

    op: Op
    text: str
    evidence: tuple[Citation, ...]
    document: str = ""
    skill: str = ""
    replaces: tuple[str, ...] = ()
    project: str = ""
    kind: str = ""
    sure: bool = False
    because: str = ""
    steps: tuple[str, ...] = ()
    gotchas: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CuratorAnswer:
    """The items of an answer, and one sentence for each part of it that could not be read."""

    items: tuple[Item, ...]
    unread: tuple[str, ...] = ()


def read_answer(value: object) -> CuratorAnswer | str:
    """The items, or what is wrong with the answer as a whole, for whoever gave it."""
    rows = value.get("items") if isinstance(value, Mapping) else value
    if not isinstance(rows, list):
        return 'The answer must be one JSON object of the form {"items": [ ... ]}.'
    items, unread = list[Item](), list[str]()
    for number, row in enumerate(rows[:MOST_ITEMS], 1):
        found = _item(row)
        if isinstance(found, Item):
            items.append(found)
        else:
            unread.append(f"Item {number} was not read: {found}.")
    if len(rows) > MOST_ITEMS:
        unread.append(f"{len(rows) - MOST_ITEMS} items beyond the first {MOST_ITEMS} were not looked at.")
    return CuratorAnswer(tuple(items), tuple(unread))


def _item(row: object) -> Item | str:
    if not isinstance(row, Mapping):
        return "it is not an object"
    if row.get("op") not in list(Op):
        return "its op is none of " + ", ".join(Op)
    evidence = [_citation(one) for one in _list(row.get("evidence"))]
    text = row.get("text") or ""
    if not isinstance(text, str) or len(text) > LONGEST_TEXT:
        return f"its text is not a text of at most {LONGEST_TEXT} characters"
    return Item(
        op=Op(row["op"]),
        text=" ".join(text.split()),
        evidence=tuple(one for one in evidence if one),
        document=_text(row.get("document")),
        skill=_text(row.get("skill")),
        replaces=tuple(one for one in _list(row.get("replaces")) if isinstance(one, str)),
        project=_text(row.get("project")),
        kind=_text(row.get("kind")),
        sure=row.get("certainty") == "sure",
        because=_text(row.get("because"))[:500],
        steps=_lines(row.get("steps")),
        gotchas=_lines(row.get("gotchas")),
    )


def _citation(row: object) -> Citation | None:
    if not isinstance(row, Mapping):
        return None
    session, turn, words = row.get("session"), row.get("turn"), row.get("words")
    if isinstance(turn, str) and turn.strip().isdecimal():
        turn = int(turn)
    if not isinstance(session, str) or not isinstance(turn, int) or not isinstance(words, str) or not words.strip():
        return None
    return Citation(session.strip(), turn, words)


def _list(value: Any) -> list[Any]:
    if isinstance(value, str):
        return [value]
    return value if isinstance(value, list) else []


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _lines(value: object) -> tuple[str, ...]:
    return tuple(" ".join(one.split())[:LONGEST_TEXT] for one in _list(value) if isinstance(one, str) and one.strip())
