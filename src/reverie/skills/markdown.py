"""The sections of a Markdown body: each heading and the stretch of text it stands over."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from reverie.skills.page import lines_of

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

LARGEST_BODY = 400_000  # characters; beyond this a body is shown and kept, but not taken apart


SAME = (
    ("gotchas", "pitfalls", "common pitfalls", "common mistakes", "caveats", "warnings", "watch out"),
    ("steps", "procedure", "process", "instructions", "workflow"),
    ("when to use", "when to use this skill", "use when", "usage", "triggers"),
    ("verification", "verify", "checks", "how to verify"),
)


@dataclass(frozen=True, slots=True)
class Section:
    """`start` is where the heading begins, `inside` where its own text begins, `own_end` where the first heading below
    it begins, and `end` where the next heading of its level or above begins. All are places in the body."""

    heading: str
    level: int
    start: int
    inside: int
    own_end: int
    end: int


def section_named(body: str, heading: str) -> Section | None:
    """The first section with this heading, else the first with a heading that means the same: Hermes says Pitfalls
    where others say Gotchas. Capitals, a closing colon and spaces do not matter."""
    wanted = plain_heading(heading)
    named = {plain_heading(one.heading): one for one in reversed(sections_of(body))}
    alike = next((group for group in SAME if wanted in group), ())
    return next((named[name] for name in (wanted, *alike) if name in named), None)


def plain_heading(heading: str) -> str:
    return re.sub(r"[\s*_`]+", " ", heading).strip(" :#").casefold()


@lru_cache(maxsize=256)
def sections_of(body: str) -> tuple[Section, ...]:
    if len(body) > LARGEST_BODY:
        return ()
    starts = [0]
    for line in lines_of(body):
        starts.append(starts[-1] + len(line))
    # Heading, level, first line and the line behind it, for each heading that is in no list.
    found = []
    tokens = _parser().parse(body)
    for token, inline in pairwise(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map and not inline.content.startswith(">"):
            found.append((inline.content.strip(), int(token.tag[1:]), token.map[0], token.map[1]))
    return tuple(
        Section(
            text,
            level,
            starts[first],
            starts[last],
            starts[found[place + 1][2]] if place + 1 < len(found) else len(body),
            next((starts[other[2]] for other in found[place + 1 :] if other[1] <= level), len(body)),
        )
        for place, (text, level, first, last) in enumerate(found)
    )


@cache
def _parser() -> MarkdownIt:
    """Blocks only, and no quotations: a long one takes seconds, and no section begins in one."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").disable(["blockquote", "reference"])
    parser.core.ruler.disable("inline")
    return parser
