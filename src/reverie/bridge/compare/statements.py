"""A copy of a memory store, and its memories taken apart into statements, each with the place it stands in.

Sentences, items of lists, lines such as "Editor: vim", rows of tables, blocks of code, and the values of JSON are
statements. Headings and front matter say where a statement stands; a label above a list is said with each item.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import takewhile
from typing import Any

from reverie.memory.formats import FORMATS, FRONT_MATTER, fence_after


@dataclass(frozen=True, slots=True)
class Provenance:
    """The version in which a memory came to read as it does, who wrote it, and in which dream, where that is known."""

    store: str = ""
    version: str = ""
    author: str = ""
    dream: str = ""
    sessions: tuple[str, ...] = ()
    at: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A copy of a store at one time: its memories by path. `name` is what people call it: a folder, or a store with
    the server it is on."""

    name: str
    texts: Mapping[str, str]
    told: Callable[[str], Iterator[tuple[str, Provenance]]] = lambda _: iter(())  # of a path, newest first

    def origin_of(self, path: str, words: str) -> Provenance:
        """The version of the memory in which these words came to stand there."""
        since = takewhile(lambda one: words in one[0], self.told(path))
        return reduce(lambda _, one: one[1], since, Provenance())


_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(?P<words>.+?)[ \t#]*$")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_RULE = re.compile(r"[\s|:=*_-]*")  # between the head and the body of a table, or from margin to margin
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_MARKS = re.compile(r"[*_`\"“”„«»]+")
_WRAPPED = re.compile(r"\s*(?P<fence>`{3,}|~{3,})(?:markdown|md)[ \t]*\n(?P<page>(?:(?!(?P=fence)).*\n)*)(?P=fence)\s*")
_SECTION_SIGN = re.compile(r"(?m)^§[ \t]*$")


@dataclass(frozen=True, slots=True)
class StoreStatement:
    """`text` stands alone; `quote` is verbatim in the memory at `path`."""

    text: str
    quote: str
    path: str
    heading: str = ""
    code: bool = False

    @property
    def key(self) -> str:
        """The same for statements that differ in nothing but capitals, spaces, emphasis and the last full stop."""
        if self.code:
            return self.text
        return " ".join(_MARKS.sub("", self.text).casefold().split()).rstrip(" .!;,")


def statements_of(snapshot: Snapshot) -> list[StoreStatement]:
    return [one for path, text in sorted(snapshot.texts.items()) for one in statements_in(path, text)]


def statements_in(path: str, text: str) -> list[StoreStatement]:
    values = _json(text)
    if values is not None:
        return [
            StoreStatement(f"{name}: {value}" if name else value, _written(value, text), path) for name, value in values
        ]
    wrapped = _WRAPPED.fullmatch(text)  # a page that a model gave back as one block is a page
    return list(_statements(path, _SECTION_SIGN.sub("", wrapped["page"] if wrapped else text)))


def _json(text: str) -> list[tuple[str, str]] | None:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return list(_leaves("", json.loads(text)))
    except (ValueError, RecursionError):
        return None


def _written(value: str, text: str) -> str:
    """A value as it stands in a document of JSON."""
    ways = (value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], value.casefold())
    return next((one for one in ways if one in text), value)


def _leaves(name: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(f"{name} {key}".strip(), inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(name, inner)
    elif value is not None and str(value).strip():
        yield name, str(value)


def _statements(path: str, text: str) -> Iterator[StoreStatement]:
    heading = label = ""
    for piece in FORMATS["page"].read(text.encode("utf-8", "surrogateescape")).pieces:
        if piece.entry is None:
            for kind, words, quote in _opaque(piece.raw):
                if kind == "heading":
                    heading, label = words, ""
                elif kind == "label":
                    label = words
                else:
                    yield StoreStatement(words, quote, path, heading, kind == "code")
            continue
        label = label if _ITEM.match(piece.raw) else ""
        words = " ".join(piece.entry.split())
        yield StoreStatement(f"{label} {words}" if label else words, piece.entry, path, heading)


def _opaque(raw: str) -> Iterator[tuple[str, str, str]]:
    """The parts of a page that are no statements: headings, labels, rows of tables, quotations and code. Each with
    what it says, and as it is written."""
    matter = FRONT_MATTER.match(raw)
    fence, block = "", list[str]()
    for line in _COMMENT.sub("", raw[matter.end() :] if matter else raw).splitlines():
        was_fenced, fence = bool(fence), fence_after(line, fence)
        if was_fenced and not fence:
            yield from [("code", "\n".join(block), "\n".join(block))] if block else []
            block = []
        elif was_fenced or line.startswith(("    ", "\t")):
            block.append(line)
        elif not fence and not _RULE.fullmatch(line):
            yield *_line(line), line.strip()
    if block:
        yield "code", "\n".join(block), "\n".join(block)


def _line(line: str) -> tuple[str, str]:
    heading = _HEADING.match(line)
    if heading:
        return "heading", heading["words"]
    words = line[found.end() :].strip() if (found := _ITEM.match(line)) else line.strip()
    if words.rstrip("*_ ").endswith(":"):
        return "label", words.replace("**", "").strip("*_ ")
    if words.startswith("|"):
        words = " | ".join(cell.strip() for cell in words.strip("| ").split("|"))
    return "row", words.lstrip("> ")
