"""The hand-written edits of labelled/store_edits.txt, and stores made of them with what was done to each statement."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

EDITS = Path(__file__).parent / "labelled/store_edits.txt"
BEHAVIOUR = ("add", "change", "negate", "extend", "delete")  # what a person has to be told of
SAME = ("reword", "touch", "move", "split", "merge", "join", "reorder", "keep")


@dataclass(frozen=True)
class Edit:
    """A statement with what could become of it."""

    text: str
    path: str
    heading: str
    set_aside: bool
    reworded: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    negated: tuple[str, ...] = ()


def read_edits(path: Path = EDITS) -> list[Edit]:
    found: list[Edit] = []
    place, heading = "", ""
    for line in path.read_text("utf-8").splitlines():
        mark, _, text = line.partition(" ")
        if mark == "=":
            place, heading = (cell.strip() for cell in text.split("|"))
        elif mark == ".":
            found.append(Edit(text, place, heading, len(found) % 2 == 1))
        elif mark in ("~", ">", "!"):
            last = found[-1]
            name = {"~": "reworded", ">": "changed", "!": "negated"}[mark]
            found[-1] = replace(last, **{name: (*getattr(last, name), text)})
    return found


TOUCHES = (
    (r"\bevery\b", "each"),
    (r"\bdo not\b", "don't"),
    (r"^The ", "Our "),
    (r"^(?=[A-Z][a-z])", "Note: "),
    (r"\.$", ", please."),
    (r"\bcannot\b", "can not"),
    (r"\bneeds?\b", "requires"),
    (r"^(?=[A-Z][a-z])", "Reminder: "),
    (r"\band\b", "&"),
    (r"\bat most\b", "no more than"),
    (r"\.$", " (standing rule)."),
    (r"\bmandatory\b", "required"),
    (r"\bpercent\b", "%"),
    (r"\bshown\b", "displayed"),
    (r"\bput\b", "place"),
    (r"\ban? ", "one "),
)


QUALIFIERS = (
    ", except on public holidays",
    ", but only for internal users",
    " unless the customer asks otherwise",
    " and write down why",
    " in the first week of a quarter",
    "; the team in Lisbon is exempt",
    ", and tell Mara about it",
    " if the amount is above 50 euros",
    ", with a note in the shared calendar",
    " until the end of the year",
    " and never by email",
    ", starting with the Berlin office",
    "; interns may not do this",
    " after a second person has looked",
    ", or ask the owner first",
    " during the trial period only",
)


def qualified(text: str, aside: bool) -> list[str]:
    """The statement with something more to it, which makes it another one."""
    return [f"{text.rstrip('.')}{words}." for words in QUALIFIERS[aside::2]]


def touched_up(text: str) -> list[str]:
    """The same statement with a word or two exchanged for others that mean the same."""
    found = [re.sub(pattern, words, text, count=1) for pattern, words in TOUCHES]
    return [one for one in dict.fromkeys(found) if one != text]


@dataclass
class Case:
    """Two copies of a store; for each statement what was done to it: (kind, old, new)."""

    before: dict[str, str] = field(default_factory=dict)
    after: dict[str, str] = field(default_factory=dict)
    done: list[tuple[str, str, str]] = field(default_factory=list)


@dataclass
class _Line:
    path: str
    heading: str
    text: str


def cases(edits: Sequence[Edit], many: int, seed: int) -> Iterator[Case]:
    for number in range(many):
        yield _case(edits, random.Random(f"{seed}/{number}"))


def _case(edits: Sequence[Edit], dice: random.Random) -> Case:
    """A third of the statements is edited one by one; then memories are split, merged and put into another order."""
    chosen = dice.sample(list(edits), k=len(edits))
    fresh, held = chosen[:3], chosen[3:]
    case = Case()
    after = list[_Line]()
    for edit in sorted(held, key=lambda one: one.path):
        kind = dice.choice(("change", "negate", "delete", "extend", "reword", "reword", "touch", "move", *["keep"] * 8))
        new = _became(kind, edit, dice)
        case.done.append((kind, edit.text, new))
        path = dice.choice([one.path for one in held]) if kind == "move" else edit.path
        heading = next(one.heading for one in held if one.path == path)
        if new:
            after.append(_Line(path, heading, new))
    for edit in fresh:
        case.done.append(("add", "", edit.text))
        after.append(_Line(edit.path, edit.heading, edit.text))
    case.before = _written([_Line(one.path, one.heading, one.text) for one in held], dice)
    case.after = _written(_rearranged(after, case, dice), dice)
    return case


def _became(kind: str, edit: Edit, dice: random.Random) -> str:
    among = {"change": edit.changed, "negate": edit.negated, "reword": edit.reworded, "delete": ("",)}
    among["extend"] = tuple(qualified(edit.text, edit.set_aside))
    among["touch"] = tuple(touched_up(edit.text)[1::2])
    return dice.choice(among.get(kind) or (edit.text,))


def _rearranged(lines: list[_Line], case: Case, dice: random.Random) -> list[_Line]:
    """One memory is split in two, two become one, one is put into another order, two sentences become one."""
    kept = {new for kind, _, new in case.done if kind == "keep"}
    paths = dice.sample(sorted({one.path for one in lines}), k=4)
    for place, line in enumerate(lines):
        kind = ""
        if line.path == paths[0] and place % 2:
            kind, line.path, line.heading = "split", line.path.replace(".md", "-more.md"), f"More on {line.heading}"
        elif line.path == paths[1]:
            kind, line.path = "merge", paths[2]
        elif line.path == paths[3]:
            kind = "reorder"
        if kind and line.text in kept:
            case.done = [(kind, old, new) if new == line.text else (was, old, new) for was, old, new in case.done]
    free = [one for one in lines if one.text in kept and one.path not in paths]
    pair = next(((a, b) for a in free for b in free if a is not b and a.path == b.path), None)
    if pair:
        joined = f"{pair[0].text.rstrip('.')}; {pair[1].text[0].lower()}{pair[1].text[1:]}"
        texts = {one.text for one in pair}
        case.done = [("join", old, joined) if new in texts else (was, old, new) for was, old, new in case.done]
        lines = [one for one in lines if one not in pair] + [_Line(pair[0].path, pair[0].heading, joined)]
    return lines


def _written(lines: Sequence[_Line], dice: random.Random) -> dict[str, str]:
    pages: dict[str, list[_Line]] = {}
    for line in dice.sample(list(lines), k=len(lines)):
        pages.setdefault(line.path, []).append(line)
    return {path: _page(page, dice.random() < 0.3) for path, page in sorted(pages.items())}


def _page(lines: Sequence[_Line], prose: bool) -> str:
    body = " ".join(one.text for one in lines) if prose else "\n".join(f"- {one.text}" for one in lines)
    return f"# {lines[0].heading}\n\n{body}\n"
