"""What every refinement leaves in the frontmatter: the next version, one more refinement, and the day.

A key that is there is counted on where it stands. A new one stands where the shape's readers expect it: on top in a
flat file; under `metadata` in a SKILL.md, because the Agent Skills validator refuses other keys on top. There values
are text, as the specification wants them.
"""

from __future__ import annotations

from datetime import UTC, datetime

from reverie.skills.frontmatter_keys import with_value
from reverie.skills.page import Page, page_of
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
