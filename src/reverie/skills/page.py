"""A Markdown file cut into its frontmatter and its body, and joined again without loss.

The five parts lie side by side and are the file, byte for byte: bytes that are not UTF-8, a byte order mark and every
line ending travel through as they are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from reverie.skills.yaml_nodes import Tree, read_tree

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
        return _tree(self.matter) if self.opening else Tree(None, ())


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


@lru_cache(maxsize=1024)
def _tree(matter: str) -> Tree:
    return read_tree(matter)
