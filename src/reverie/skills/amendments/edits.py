"""What someone intends to do to the words of a skill, and what that makes of its text.

An edit of a section names the section and the rule by their words, so that a change elsewhere is no conflict. Every
line that is not named stays as it is; a new line takes the marker and the line ending of the lines around it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from reverie.skills.markdown import Section, plain_heading, section_named, sections_of
from reverie.skills.page import Page, lines_of, page_of_text, with_ending

ITEM = re.compile(r"(?P<indent>[ \t]*)(?P<mark>[-*+]|(?P<number>\d{1,9})[.)])(?P<gap>[ \t]+)(?=\S)")
NUMBERED = frozenset({"steps", "procedure", "process"})


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
        made = _one(body, edit, page.ending)
        if isinstance(made, Unmade):
            return made
        body = made
    made_page = page.with_body(body)
    if page_of_text(made_page.text) != made_page:
        return Unmade("the text would be read as frontmatter")
    return made_page


def _one(body: str, edit: Edit, ending: str) -> str | Unmade:
    section = section_named(body, edit.section)
    if isinstance(edit, AddRule):
        return _with_rule(body, section, edit, ending)
    if section is None:
        return Unmade(f"there is no section {edit.section!r}")
    if isinstance(edit, ReplaceSection):
        return _with_section(body, section, edit.text, ending)
    new = edit.text if isinstance(edit, ReplaceRule) else None
    return _with_exchange(body, section, edit.old, new, ending)


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
        return _with_new_section(body, edit, ending)
    lines = lines_of(body[section.inside : section.own_end])
    rules = rules_of(lines)
    if any(rule.text == words for rule in rules):
        return Unmade(f"the section {section.heading!r} says so already")
    last = next((rule for rule in reversed(rules) if _is_top_item(rule, rules)), None)
    end = _last_of_list(rules, last, len(lines)) if last else max((rule.end for rule in rules), default=0)
    marker = _next_marker(last) if last else _first_marker(edit.section)
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


def _is_top_item(rule: SkillRule, rules: Sequence[SkillRule]) -> bool:
    mark = ITEM.match(rule.marker + "x")
    widths = [len(other["indent"]) for one in rules if (other := ITEM.match(one.marker + "x"))]
    return mark is not None and len(mark["indent"]) == min(widths)


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


def _next_marker(last: SkillRule) -> str:
    mark = ITEM.match(last.marker + "x")
    if mark is None or mark["number"] is None:
        return last.marker
    return last.marker.replace(mark["number"], str(int(mark["number"]) + 1), 1)


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


def _with_new_section(body: str, edit: AddRule, ending: str) -> str:
    levels = [section.level for section in sections_of(body) if section.level > 1]
    heading = f"{'#' * (min(levels) if levels else 2)} {' '.join(edit.section.split())}"
    before = "".join(_ended(lines_of(body), ending))
    gap = "" if not before.strip() or before.endswith(ending * 2) else ending
    return f"{before}{gap}{heading}{ending}{ending}{''.join(_item(_first_marker(edit.section), edit.text, ending))}"


def _with_exchange(body: str, section: Section, old: str, new: str | None, ending: str) -> str | Unmade:
    lines = lines_of(body[section.inside : section.own_end])
    wanted = " ".join(old.split())
    bare = ITEM.sub("", wanted, count=1) if ITEM.match(wanted) else wanted
    found = [rule for rule in rules_of(lines) if rule.text in (wanted, bare)]
    if len(found) != 1:
        times = "does not say" if not found else f"says {len(found)} times"
        return Unmade(f"the section {section.heading!r} {times}: {wanted[:120]}")
    rule = found[0]
    written = _item(rule.marker, new, ending) if new is not None and new.strip() else []
    if written and lines[rule.end - 1][-1] not in "\r\n":
        written[-1] = written[-1].removesuffix(ending)
    kept = [*lines[: rule.place], *written, *lines[rule.end :]]
    return body[: section.inside] + "".join(kept) + body[section.own_end :]


def _with_section(body: str, section: Section, text: str, ending: str) -> str:
    old = body[section.inside : section.own_end]
    lead = old[: len(old) - len(old.lstrip("\r\n"))]
    tail = old[len(old.rstrip("\r\n")) :] if old.strip() else ending if section.own_end < len(body) else ""
    head = body[: section.inside]
    if head and head[-1] not in "\r\n":
        head += ending
    return head + lead + with_ending(text.strip("\r\n"), ending) + (tail or ending) + body[section.own_end :]
