"""How much a new text of a skill changes what an agent would do: the part of the version to count up.

A rule that is gone or says something else changes the meaning; a rule that is new adds to it; the rest is wording.
What is a rule: an item of a list, a line of code, and a sentence that orders or forbids.

Every refinement leaves its stamp in the frontmatter: the next version, one more refinement, and the day. A key that is
there is counted on where it stands. A new one stands where the shape's readers expect it: on top in a flat file; under
`metadata` in a SKILL.md, because the Agent Skills validator refuses other keys on top. There values are text, as the
specification wants them.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, datetime
from difflib import SequenceMatcher

from reverie.skills.amendments.edits import ITEM
from reverie.skills.frontmatter_keys import with_value
from reverie.skills.page import Page, lines_of, page_of
from reverie.skills.skill import bare_name, count_of, frontmatter_of, place_of, setting_value
from reverie.skills.versions import Bump, bumped

_ON_TOP = ("skill_id", "version", "tags", "triggers", "priority", "last_refined", "refinements")


def stamped(page: Page, subject: str, before: bytes, bump: Bump, now: datetime) -> Page:
    """`before` is what the skill is now. A version the amendment itself wrote is kept."""
    flat = subject.endswith(".md")
    if flat and not page.opening:
        page = with_value(page, ("skill_id",), bare_name(subject))
    old, new = (_text(one, "version") for one in (page_of(before), page))
    if old == new:
        page = _set(page, "version", bumped(old, bump), flat=flat)
    refinements = _text(page_of(before), "refinements")
    page = _set(page, "last_refined", f"{now.astimezone(UTC):%Y-%m-%d}", flat=flat)
    count = count_of(refinements) + 1
    return _set(page, "refinements", count if flat else str(count), flat=flat)


def _set(page: Page, key: str, value: str | int, *, flat: bool) -> Page:
    path = place_of(frontmatter_of(page), key)
    return with_value(page, path or place_for(key, flat=flat), value)


def place_for(key: str, *, flat: bool) -> tuple[str, ...]:
    """Where a key goes that is nowhere yet."""
    if flat and key in _ON_TOP:
        return (key,)
    return ("metadata", key) if key == "version" else ("metadata", "reverie", key)


def _text(page: Page, key: str) -> str:
    value = setting_value(frontmatter_of(page), key)
    return value.strip() if isinstance(value, str) else ""


# ---- how much changed ------------------------------------------------------------------------------------------------

_ORDERS = re.compile(
    r"\b(?:must|shall|should|always|never|only|don'?t|do not|required?|avoid|ensure|make sure|before|after|unless|"
    r"instead|forbidden|mandatory|at least|at most)\b",
    re.IGNORECASE,
)
_FIXED = re.compile(r"`[^`]+`|\d+(?:[.,:]\d+)*|https?://\S+|\b(?:not?|never|always|only|n't)\b", re.IGNORECASE)
_FENCE = re.compile(r"[ \t]*(?:`{3,}|~{3,})")


def guessed_bump(old: str, new: str) -> Bump:
    """The bump a body's change calls for. A guess, for a person to correct."""
    before, after = _rules(old), _rules(new)
    gone, come = list((before - after).elements()), list((after - before).elements())
    bumps: set[Bump] = {"patch"}
    for rule in gone:
        heir = _heir(rule, come)
        if heir is not None:
            come.remove(heir)
        bumps.add(_between(rule, heir))
    if come:
        bumps.add("minor")
    return "major" if "major" in bumps else "minor" if "minor" in bumps else "patch"


def _rules(body: str) -> Counter[str]:
    found: Counter[str] = Counter()
    fenced = False
    for line in lines_of(body):
        fenced = fenced != bool(_FENCE.match(line))
        words = " ".join(ITEM.sub("", line, count=1).split())
        if words and (fenced or ITEM.match(line) or _ORDERS.search(line)) and not _FENCE.match(line):
            found[words] += 1
    return found


def _heir(rule: str, come: list[str]) -> str | None:
    """The new rule that took the place of an old one: the likeliest, if it is like it at all."""
    likeness = [(SequenceMatcher(None, rule.split(), other.split()).ratio(), other) for other in come]
    best = max(likeness, key=lambda pair: pair[0], default=(0.0, ""))
    return best[1] if best[0] >= 0.4 else None


def _between(old: str, new: str | None) -> Bump:
    if new is None or Counter(_FIXED.findall(old)) - Counter(_FIXED.findall(new)):
        return "major"
    if old.casefold().strip(".!") == new.casefold().strip(".!"):
        return "patch"
    from reverie.text.relation import RelationKind, relate

    match relate(old, new).kind:
        case RelationKind.SAME:
            return "patch"
        case RelationKind.REFINES:
            return "minor"
        case _:
            return "major"
