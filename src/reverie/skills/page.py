"""A Markdown file cut into its frontmatter, its body and the sections of that, and joined again without loss."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from reverie.skills.yaml_nodes import Tree, read_tree

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


BOM = "\ufeff"
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_FENCE = re.compile(r"---[ \t]*(?:\r\n|\r|\n)")
_CLOSING = re.compile(r"(?<![^\r\n])---[ \t]*(?:\r\n|\r|\n|\Z)")
_ENDING = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Page:
    """`opening` and `closing` are the lines of three hyphens. Without frontmatter the three middle parts are empty."""

    mark: str
    opening: str
    matter: str
    closing: str
    body: str

    @property
    def text(self) -> str:
        return self.mark + self.opening + self.matter + self.closing + self.body

    def with_body(self, body: str) -> Page:
        ended = not self.closing or self.closing[-1] in "\r\n" or not body
        closing = self.closing if ended else self.closing + self.ending
        return Page(self.mark, self.opening, self.matter, closing, body)

    def to_bytes(self) -> bytes:
        return self.text.encode("utf-8", "surrogateescape")

    @property
    def ending(self) -> str:
        """The line ending of the page."""
        found = _ENDING.search(self.opening or self.body)
        return found.group() if found else "\n"

    @property
    def tree(self) -> Tree:
        """The frontmatter, read; empty, without a problem, where there is none."""
        return read_tree(self.matter) if self.opening else Tree(None, ())


def page_of(content: bytes) -> Page:
    return page_of_text(content.decode("utf-8", "surrogateescape"))


def page_of_text(text: str) -> Page:
    mark = BOM if text.startswith(BOM) else ""
    rest = text[len(mark) :]
    opening = _FENCE.match(rest)
    closing = _CLOSING.search(rest, opening.end()) if opening else None
    if opening is None or closing is None:
        return Page(mark, "", "", "", rest)
    return Page(mark, opening.group(), rest[opening.end() : closing.start()], closing.group(), rest[closing.end() :])


def lines_of(text: str) -> list[str]:
    """The lines with their endings. Only what ends a line in Markdown does: `\\r\\n`, `\\n` and `\\r`."""
    return LINE.findall(text)


def with_ending(text: str, ending: str) -> str:
    return _ENDING.sub(lambda _: ending, text)


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
