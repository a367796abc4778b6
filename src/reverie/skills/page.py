"""A Markdown file cut into its frontmatter, its body and the sections of that, and joined again without loss; and one
key of the frontmatter set, and nothing else changed.

The five parts lie side by side and are the file, byte for byte: bytes that are not UTF-8, a byte order mark and every
line ending travel through as they are.

The value of a key is written anew within its own span, in the style it had: a quoted value stays quoted, a bracketed
list bracketed. A key that is not there yet is put last. The result is read again before it is handed out: what would
not read back as meant, or would change the meaning of another key, is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from reverie.core.errors import BadInput
from reverie.skills.yaml_nodes import Listing, Node, Scalar, Table, Tree, Value, read_tree, value_of

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


BOM = "\ufeff"
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_FENCE = re.compile(r"---[ \t]*(?:\r\n|\r|\n)")
_CLOSING = re.compile(r"(?<![^\r\n])---[ \t]*(?:\r\n|\r|\n|\Z)")
_ENDING = re.compile(r"\r\n|\r|\n")
LARGEST_BODY = 400_000  # characters; beyond this a body is shown and kept, but not taken apart
SAME = (
    ("gotchas", "pitfalls", "common pitfalls", "common mistakes", "caveats", "warnings", "watch out"),
    ("steps", "procedure", "process", "instructions", "workflow"),
    ("when to use", "when to use this skill", "use when", "usage", "triggers"),
    ("verification", "verify", "checks", "how to verify"),
)
_PLAIN = re.compile(r"[A-Za-z0-9_](?:[\w ./+@-]*[\w./+@-])?", re.ASCII)
_LOADED = re.compile(
    r"true|false|yes|no|on|off|null|y|n|[\d_]+(?:\.[\d_]*)?(?:e[+-]?\d+)?|0[xo][\da-f_]+|\d{4}-\d\d?-\d\d?[ t].*",
    re.IGNORECASE,
)
_BREAK = re.compile(r"\r\n|\r|\n")
_COLON = re.compile(r"\s*:")


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
    sections = list[Section]()
    for place, (text, level, first, last) in enumerate(found, 1):
        own_end = starts[found[place][2]] if place < len(found) else len(body)
        end = next((starts[other[2]] for other in found[place:] if other[1] <= level), len(body))
        sections.append(Section(text, level, starts[first], starts[last], own_end, end))
    return tuple(sections)


@cache
def _parser() -> MarkdownIt:
    """Blocks only, and no quotations: a long one takes seconds, and no section begins in one."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").disable(["blockquote", "reference"])
    parser.core.ruler.disable("inline")
    return parser


# ---- setting a key of the frontmatter --------------------------------------------------------------------------------


Path = tuple[str, ...]


def with_value(page: Page, path: Path, value: str | int | Sequence[str]) -> Page:
    """The page with the key at `path` set, made where it is missing. Text that another reader would take for a number
    is quoted when the key is new, a number is not; an old key keeps its style."""
    meant: Value = value if isinstance(value, str) else str(value) if isinstance(value, int) else list(value)
    quoted = not isinstance(value, int)
    if not page.opening:
        fence = f"---{page.ending}"
        gap = "" if not page.body or _BREAK.match(page.body) else page.ending
        page = Page(page.mark, fence, "", fence, gap + page.body)
        matter = _added(page, None, path, meant, quoted)
        return _checked(page, {}, path, meant, matter)
    root = page.tree.root
    if root is None and page.matter.strip():
        raise _refused(page, path, "its frontmatter cannot be read")
    before = value_of(root) if root else {}
    node = _node_at(root, path) if root else None
    if root is None or node is None:
        return _checked(page, before, path, meant, _added(page, root, path, meant, quoted))
    if isinstance(node, Scalar) or node.flow:
        return _checked(page, before, path, meant, _replaced(page, node, meant))
    parent = _node_at(root, path[:-1])
    assert isinstance(parent, Table)
    key_end = next(key.end for key, _ in reversed(parent.pairs) if key.text == path[-1])
    return _checked(page, before, path, meant, _replaced_block(page, key_end, node, meant))


def _node_at(root: Table, path: Path) -> Node | None:
    node: Node | None = root
    for key in path:
        node = node.get(key) if isinstance(node, Table) else None
    return node


def _replaced(page: Page, node: Node, value: Value) -> str:
    matter, start = page.matter, node.start
    if isinstance(value, str):
        style = node.style if isinstance(node, Scalar) else ""
        written = _scalar(value, style if style in ("'", '"') else "", new=False)
    else:
        written = _listing(value, node, page)
    if isinstance(node, Scalar) and node.style in ("|", ">"):
        written += page.ending  # a block ends with its line
    gap = " " if matter[start - 1 : start] == ":" and not _BREAK.match(written) else ""
    return matter[:start] + gap + written + matter[node.end :]


def _replaced_block(page: Page, key_end: int, node: Listing | Table, value: Value) -> str:
    """A value that stands on the lines below its key. What is written behind the colon there is a comment and stays."""
    matter = page.matter
    colon = _COLON.match(matter, key_end)
    start = colon.end() if colon else node.start
    comment = matter[start : _line_end(matter, start)].rstrip()
    old = matter[start : node.end]
    tail = old[len(old.rstrip()) :] + matter[node.end :]
    if isinstance(value, str) or not value:
        written = _scalar(value, "", new=False) if isinstance(value, str) else "[]"
        return f"{matter[:start]} {written}{comment}{tail}"
    return f"{matter[:start]}{comment}{_listing(value, node, page)}{tail}"


def _added(page: Page, root: Table | None, path: Path, value: Value, quoted: bool) -> str:
    matter, ending = page.matter, page.ending
    # The deepest part of the path that is there, and the keys still to be written.
    parent: Node | None = root
    rest = path
    while rest and isinstance(parent, Table) and (below := parent.get(rest[0])) is not None:
        parent, rest = below, rest[1:]
    if isinstance(parent, Table) and parent.flow:
        inner = _flow(value)
        for key in reversed(rest[1:]):
            inner = f"{{{_scalar(key, '', new=True)}: {inner}}}"
        comma = ", " if parent.pairs else ""
        at = len(matter[: parent.end - 1].rstrip(" "))
        return f"{matter[:at]}{comma}{_scalar(rest[0], '', new=True)}: {inner}{matter[at:]}"
    if isinstance(parent, Scalar):  # `metadata:` with nothing behind it
        if parent.text or parent.style:
            raise _refused(page, path, f"{path[len(path) - len(rest) - 1]!r} is no list of keys")
        step = _step(root)
        block = _block(rest, value, parent.column + step, step, quoted)
        return _inserted(matter, _line_end(matter, parent.start), block, ending)
    if isinstance(parent, Listing):
        raise _refused(page, path, f"{path[len(path) - len(rest) - 1]!r} is a list")
    if parent is None or parent is root:
        block = _block(rest, value, parent.column if parent else 0, _step(parent), quoted)
        return _inserted(matter, len(matter), block, ending)
    at = parent.end if _at_line_start(matter, parent.end) else _line_end(matter, parent.end)
    return _inserted(matter, at, _block(rest, value, parent.column, _step(parent), quoted), ending)


def _step(parent: Table | None) -> int:
    """The indentation of a mapping's parts below it; strict readers want one width for all of them."""
    below = [node.column for _, node in parent.pairs if isinstance(node, Table) and not node.flow] if parent else []
    return below[0] - parent.column if parent and below else 2


def _block(path: Path, value: Value, indent: int, step: int, quoted: bool) -> list[str]:
    lines = [f"{' ' * (indent + step * depth)}{_scalar(key, '', new=True)}:" for depth, key in enumerate(path)]
    if isinstance(value, str):
        lines[-1] += f" {_scalar(value, '', new=quoted)}"
    else:
        lead = " " * (indent + step * len(path))
        lines += [f"{lead}- {_scalar(str(one), '', new=True)}" for one in value]
        lines[-1] += "" if value else " []"
    return lines


def _inserted(matter: str, at: int, lines: list[str], ending: str) -> str:
    before = matter[:at]
    lead = "" if not before or _at_line_start(matter, at) else ending
    return f"{before}{lead}{ending.join(lines)}{'' if lead and at < len(matter) else ending}{matter[at:]}"


def _at_line_start(matter: str, at: int) -> bool:
    return at == 0 or matter[at - 1] in "\r\n"


def _line_end(matter: str, at: int) -> int:
    """The end of the line before its line break, so that a comment behind a value stays behind it."""
    found = _BREAK.search(matter, at)
    return found.start() if found else len(matter)


# ---- how values are written -----------------------------------------------------------------------------------------


def _scalar(text: str, style: str, *, new: bool) -> str:
    simple = _PLAIN.fullmatch(text) is not None and not (new and _LOADED.fullmatch(text))
    if style == "" and simple:
        return text
    if style == "'" and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    if character.isprintable():
        return character
    return f"\\u{ord(character):04x}" if ord(character) <= 0xFFFF else f"\\U{ord(character):08x}"


def _flow(value: Value) -> str:
    if isinstance(value, str):
        return _scalar(value, "", new=True)
    return "[" + ", ".join(_scalar(str(one), "", new=True) for one in value) + "]"


def _listing(value: Value, node: Node, page: Page) -> str:
    """A list in the style of the one that stood there; where none stood, one line for each part."""
    if (isinstance(node, Listing) and node.flow) or not value:
        return _flow(value)
    line = _BREAK.split(page.matter[: node.start])[-1]
    column = node.column if isinstance(node, Listing) else len(line) - len(line.lstrip(" ")) + 2
    lines = (f"{' ' * column}- {_scalar(str(one), '', new=True)}" for one in value)
    return page.ending + page.ending.join(lines)


def _checked(page: Page, before: Value, path: Path, value: Value, matter: str) -> Page:
    made = Page(page.mark, page.opening, matter, page.closing, page.body)
    root = made.tree.root
    meant = deepcopy(before)
    here = meant
    for key in path[:-1]:
        below = here.get(key) if isinstance(here, dict) else None
        if not isinstance(below, dict):
            below = {}
            if isinstance(here, dict):
                here[key] = below
        here = below
    if isinstance(here, dict):
        here[path[-1]] = value
    if page_of_text(made.text) != made or root is None or value_of(root) != meant:
        raise _refused(page, path, "the key could not be set without changing something else")
    return made


def _refused(page: Page, path: Path, why: str) -> BadInput:
    return BadInput(
        f"The key {'.'.join(path)!r} was not set: {why}.",
        expected="frontmatter that is plain YAML",
        next_step="Correct the frontmatter by hand; `reverie skills` lists its problems.",
    )
