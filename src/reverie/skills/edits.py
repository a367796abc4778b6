"""Changes to the text of a skill, by its words and not by its line numbers: rules of a section, a unified diff, and two
changes to one text brought together line by line.

An edit of a section names the section and the rule by their words, so that a change elsewhere is no conflict. Every
line that is not named stays as it is; a new line takes the marker and the line ending of the lines around it. A hunk
of a diff must be found exactly as it reads, at the line it names or at the only other place where it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from reverie.skills.page import (
    Page,
    Section,
    lines_of,
    page_of_text,
    plain_heading,
    section_named,
    sections_of,
    with_ending,
)

ITEM = re.compile(r"(?P<indent>[ \t]*)(?P<mark>[-*+]|(?P<number>\d{1,9})[.)])(?P<gap>[ \t]+)(?=\S)")
NUMBERED = frozenset({"steps", "procedure", "process"})
_HUNK = re.compile(r"@@ -(?P<start>\d{1,9})(?:,\d{1,9})? \+\d{1,9}(?:,\d{1,9})? @@")
_SKIPPED = ("--- ", "+++ ", "diff ", "index ", "\\ No newline")


@dataclass(frozen=True, slots=True)
class AddRule:
    """One more item at the end of a section, which is made where it is missing."""

    section: str
    text: str


@dataclass(frozen=True, slots=True)
class ReplaceRule:
    """`old` is the item or line as it reads, without its marker."""

    section: str
    old: str
    text: str


@dataclass(frozen=True, slots=True)
class RemoveRule:
    section: str
    old: str


@dataclass(frozen=True, slots=True)
class ReplaceSection:
    """Everything under the heading, up to the first heading below it."""

    section: str
    text: str


Edit = AddRule | ReplaceRule | RemoveRule | ReplaceSection


@dataclass(frozen=True, slots=True)
class Unmade:
    """The edit does not fit the text. Nothing was changed."""

    why: str


def edited(page: Page, edits: Sequence[Edit]) -> Page | Unmade:
    """The page with all edits made, or why one of them cannot be."""
    body = page.body
    for edit in edits:
        made = _with_edit(body, edit, page.ending)
        if isinstance(made, Unmade):
            return made
        body = made
    made_page = page.with_body(body)
    if page_of_text(made_page.text) != made_page:
        return Unmade("the text would be read as frontmatter")
    return made_page


def _with_edit(body: str, edit: Edit, ending: str) -> str | Unmade:
    section = section_named(body, edit.section)
    if isinstance(edit, AddRule):
        return _with_rule(body, section, edit, ending)
    if section is None:
        return Unmade(f"there is no section {edit.section!r}")
    if isinstance(edit, ReplaceSection):
        old = body[section.inside : section.own_end]
        lead = old[: len(old) - len(old.lstrip("\r\n"))]
        tail = old[len(old.rstrip("\r\n")) :] if old.strip() else ending if section.own_end < len(body) else ""
        head = body[: section.inside]
        if head and head[-1] not in "\r\n":
            head += ending
        return head + lead + with_ending(edit.text.strip("\r\n"), ending) + (tail or ending) + body[section.own_end :]
    new = edit.text if isinstance(edit, ReplaceRule) else ""
    lines = lines_of(body[section.inside : section.own_end])
    wanted = " ".join(edit.old.split())
    bare = ITEM.sub("", wanted, count=1) if ITEM.match(wanted) else wanted
    found = [rule for rule in rules_of(lines) if rule.text in (wanted, bare)]
    if len(found) != 1:
        times = "does not say" if not found else f"says {len(found)} times"
        return Unmade(f"the section {section.heading!r} {times}: {wanted[:120]}")
    rule = found[0]
    written = _item(rule.marker, new, ending) if new.strip() else []
    if written and lines[rule.end - 1][-1] not in "\r\n":
        written[-1] = written[-1].removesuffix(ending)
    kept = [*lines[: rule.place], *written, *lines[rule.end :]]
    return body[: section.inside] + "".join(kept) + body[section.own_end :]


# ---- rules: items of a list, or single lines ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SkillRule:
    """An item with the lines that belong to it, or a line of text. `place` and `end` are line numbers."""

    place: int
    end: int
    marker: str
    text: str


def rules_of(lines: Sequence[str]) -> list[SkillRule]:
    """Each item and each line of text, in order. What stands between code fences is one rule."""
    found: list[SkillRule] = []
    at = 0
    while at < len(lines):
        end = _rule_end(lines, at)
        if lines[at].strip():
            mark = ITEM.match(lines[at])
            marker = mark.group() if mark else re.match(r"[ \t]*", lines[at]).group()  # type: ignore[union-attr]
            words = " ".join("".join(lines[at:end])[len(marker) :].split())
            found.append(SkillRule(at, end, marker, words))
        at = end
    return found


def _rule_end(lines: Sequence[str], at: int) -> int:
    fence = re.match(r"[ \t]*(`{3,}|~{3,})", lines[at])
    if fence:
        closing = (n for n in range(at + 1, len(lines)) if lines[n].strip().startswith(fence[1]))
        return next(closing, len(lines) - 1) + 1
    end = at + 1
    mark = ITEM.match(lines[at])
    width = len(mark["indent"]) if mark else -1
    while mark and end < len(lines) and lines[end].strip() and not ITEM.match(lines[end]):
        if len(lines[end]) - len(lines[end].lstrip(" \t")) <= width:
            break
        end += 1
    return end


def _with_rule(body: str, section: Section | None, edit: AddRule, ending: str) -> str | Unmade:
    words = " ".join(edit.text.split())
    if not words:
        return Unmade("the new rule has no words")
    if section is None:
        levels = [section.level for section in sections_of(body) if section.level > 1]
        heading = f"{'#' * (min(levels) if levels else 2)} {' '.join(edit.section.split())}"
        above = "".join(_ended(lines_of(body), ending))
        blank = "" if not above.strip() or above.endswith(ending * 2) else ending
        item = "".join(_item(_first_marker(edit.section), edit.text, ending))
        return f"{above}{blank}{heading}{ending}{ending}{item}"
    lines = lines_of(body[section.inside : section.own_end])
    rules = rules_of(lines)
    if any(rule.text == words for rule in rules):
        return Unmade(f"the section {section.heading!r} says so already")
    items = [(len(mark["indent"]), rule) for rule in rules if (mark := ITEM.match(rule.marker + "x"))]
    last = next((rule for width, rule in reversed(items) if width == min(other for other, _ in items)), None)
    end = _last_of_list(rules, last, len(lines)) if last else max((rule.end for rule in rules), default=0)
    marker = last.marker if last else _first_marker(edit.section)
    if last and (mark := ITEM.match(last.marker + "x")) and mark["number"] is not None:
        marker = marker.replace(mark["number"], str(int(mark["number"]) + 1), 1)
    gap = [ending] if not last and end else []
    new = [*gap, *_item(marker, edit.text, ending)]
    before = _ended(lines[:end], ending)
    after = lines[end:]
    if after and after[0].strip():
        new.append(ending)
    if not after and section.own_end < len(body):
        new.append(ending)
    head = body[: section.inside]
    if head and head[-1] not in "\r\n":
        head += ending
    return head + "".join([*before, *new, *after]) + body[section.own_end :]


def _last_of_list(rules: Sequence[SkillRule], last: SkillRule, most: int) -> int:
    """Items and lines indented under the last item go before the new one."""
    end = last.end
    width = len(last.marker) - len(last.marker.lstrip(" \t"))
    for rule in rules:
        indent = len(rule.marker) - len(rule.marker.lstrip(" \t"))
        if rule.place >= last.end:
            if indent <= width:
                break
            end = rule.end
    return min(end, most)


def _first_marker(section: str) -> str:
    return "1. " if plain_heading(section) in NUMBERED else "- "


def _item(marker: str, text: str, ending: str) -> list[str]:
    first, *rest = text.strip().splitlines()
    under = " " * len(marker)
    return [f"{marker}{first.strip()}{ending}", *(f"{under}{line.strip()}{ending}" for line in rest if line.strip())]


def _ended(lines: Sequence[str], ending: str) -> list[str]:
    done = list(lines)
    if done and done[-1][-1] not in "\r\n":
        done[-1] += ending
    return done


@dataclass(frozen=True, slots=True)
class _Hunk:
    start: int
    old: tuple[str, ...]
    new: tuple[str, ...]


def patched(text: str, diff: str, ending: str) -> str | Unmade:
    """The text with every hunk applied, or why one does not fit."""
    lines = lines_of(text)
    hunks = list(_hunks(diff))
    if not hunks:
        return Unmade("the diff has no hunk (a line that begins with '@@ -')")
    floor, moved = 0, 0
    for number, hunk in enumerate(hunks, 1):
        bare, wide, named = [line.rstrip("\r\n") for line in lines], len(hunk.old), hunk.start - 1 + moved
        fits = [at for at in range(floor, len(bare) - wide + 1) if tuple(bare[at : at + wide]) == hunk.old]
        place = named if named in fits else fits[0] if len(fits) == 1 else None
        if not hunk.old:
            place = min(max(named + 1, floor), len(lines))
        if place is None:
            first = next((line for line in hunk.old if line.strip()), "(empty)")[:120]
            return Unmade(f"hunk {number} of the diff does not stand in the text: {first}")
        # The new lines; one that was there keeps the ending it had.
        endings: dict[str, list[str]] = {}
        for line in lines[place : place + len(hunk.old)]:
            endings.setdefault(line.rstrip("\r\n"), []).append(line[len(line.rstrip("\r\n")) :])
        new = [line + (endings[line].pop(0) if endings.get(line) else ending) for line in hunk.new]
        lines[place : place + len(hunk.old)] = new
        floor, moved = place + len(new), moved + len(new) - len(hunk.old)
    inner = (line if line[-1] in "\r\n" else line + ending for line in lines[:-1])
    return "".join([*inner, *lines[-1:]])


def _hunks(diff: str) -> Iterator[_Hunk]:
    start: int | None = None
    old: list[str] = []
    new: list[str] = []
    for line in diff.splitlines():
        head = _HUNK.match(line)
        if head or (not old and not new and line.startswith(_SKIPPED)):
            if start is not None:
                yield _Hunk(start, tuple(old), tuple(new))
            start, old, new = (int(head["start"]) if head else None), [], []
        elif start is not None and not line.startswith("\\"):
            mark, rest = (line[:1] or " "), line[1:]
            old += [rest] if mark in " -" else []
            new += [rest] if mark in " +" else []
    if start is not None:
        yield _Hunk(start, tuple(old), tuple(new))


@dataclass(frozen=True, slots=True)
class Overlap:
    """Lines both sides changed. `first` counts from 1 in the text both began with; `base` may be empty."""

    first: int
    base: tuple[str, ...]
    ours: tuple[str, ...]
    theirs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Change:
    start: int
    end: int
    lines: tuple[str, ...]


def merge_lines(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> list[str] | tuple[Overlap, ...]:
    """The lines with both changes made, or every place where they clash: where they touch and are not the same. Whether
    a sentence may stand between two others is for a person to say."""
    left, right = _changes(base, ours), _changes(base, theirs)
    made: list[str] = []
    overlaps: list[Overlap] = []
    at = 0
    while left or right:
        mine, yours = _together(left, right)
        start = min(change.start for change in mine + yours)
        end = max(change.end for change in mine + yours)
        first, second = _result(base, start, end, mine), _result(base, start, end, yours)
        made += base[at:start]
        if not yours or first == second:
            made += first
        elif not mine:
            made += second
        else:
            overlaps.append(Overlap(start + 1, tuple(base[start:end]), tuple(first), tuple(second)))
        at = end
    return tuple(overlaps) if overlaps else [*made, *base[at:]]


def _changes(base: Sequence[str], new: Sequence[str]) -> list[_Change]:
    codes = SequenceMatcher(None, base, new, autojunk=False).get_opcodes()
    return [_Change(start, end, tuple(new[low:high])) for tag, start, end, low, high in codes if tag != "equal"]


def _together(left: list[_Change], right: list[_Change]) -> tuple[list[_Change], list[_Change]]:
    """Take the next changes from both lists that touch one another, directly or through others."""
    mine: list[_Change] = []
    yours: list[_Change] = []
    end = min(changes[0].start for changes in (left, right) if changes)
    grew = True
    while grew:
        grew = False
        for changes, taken in ((left, mine), (right, yours)):
            while changes and changes[0].start <= end:
                taken.append(changes.pop(0))
                end = max(end, taken[-1].end)
                grew = True
    return mine, yours


def _result(base: Sequence[str], start: int, end: int, changes: Sequence[_Change]) -> list[str]:
    made: list[str] = []
    at = start
    for change in changes:
        made += [*base[at : change.start], *change.lines]
        at = change.end
    return [*made, *base[at:end]]
