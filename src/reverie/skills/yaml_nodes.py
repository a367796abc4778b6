"""Frontmatter as a tree of nodes that know where they stand in the text.

Nothing is ever constructed: a scalar is its text, so `1.10` stays "1.10", a date stays as written and a tag runs no
code. What a reader could be hurt by (aliases, tags, depth, size) is a Problem. The library is only asked for events,
which come one by one, so that a bomb is put down before it goes off.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

LARGEST = 32 * 1024  # characters of frontmatter; people write about one thousand
MOST_EVENTS = 2_500
DEEPEST = 16
MOST_PROBLEMS = 20
_COLON = re.compile(r"\s*:")
# What the library lets through from below when an escape names no character or a directive is cut short.
_STUMBLES = (ValueError, ArithmeticError, LookupError, AttributeError, TypeError, AssertionError, NotImplementedError)

Value = str | list["Value"] | dict[str, "Value"]
_EXPECTED = {
    "yaml.syntax": ("plain YAML", "Quote text that has a colon, a hash or a quotation mark in it."),
    "yaml.size": ("a page of frontmatter at most", "Move the text into the body."),
    "yaml.depth": ("at most 16 levels", "Flatten it."),
    "yaml.mapping": ("keys and values, such as 'name: deploy'", "Write at least a name and a description."),
    "yaml.documents": ("one", "Remove the '...' or the second part."),
    "yaml.tag": ("text without types", "Remove the part that begins with '!'."),
    "yaml.anchor": ("no anchors", "Remove the '&' or quote the text."),
    "yaml.alias": ("each value written out", "Write the value where the '*' stands, or quote the text."),
    "yaml.merge": ("each key written out", "Write the keys where the '<<' stands."),
    "yaml.key": ("keys of plain text", "Quote the key."),
    "yaml.duplicate": ("each key once", "Keep the one that is meant; the last one counts now."),
    "yaml.flow": ("one '- ' line for each part, for strict readers", "Nothing, unless a strict reader is used."),
    "yaml.indentation": ("the same width everywhere, for strict readers", "Indent by two spaces throughout."),
}


@dataclass(frozen=True, slots=True)
class Scalar:
    """`style` is '' for plain, or the character that begins it: ' " | >"""

    text: str
    style: str
    start: int
    end: int
    column: int = 0


@dataclass(frozen=True, slots=True)
class Listing:
    items: tuple[Node, ...]
    flow: bool
    start: int
    end: int
    column: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    pairs: tuple[tuple[Scalar, Node], ...]
    flow: bool
    start: int
    end: int
    column: int = 0

    def get(self, key: str) -> Node | None:
        """The last one counts, as it does for the readers that allow a key twice."""
        return next((node for name, node in reversed(self.pairs) if name.text == key), None)


Node = Scalar | Listing | Table


@dataclass(frozen=True, slots=True)
class Tree:
    """`root` is None where there is no mapping to be read."""

    root: Table | None
    problems: tuple[SkillProblem, ...]


def value_of(node: Node) -> Value:
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, Listing):
        return [value_of(one) for one in node.items]
    return {key.text: value_of(node) for key, node in node.pairs}


@lru_cache(maxsize=1024)
def read_tree(text: str) -> Tree:
    """The tree of one YAML mapping. Linear in its size, whatever it holds."""
    if len(text) > LARGEST:
        found = f"it has {len(text):,} characters, more than {LARGEST:,}"
        return Tree(None, (_problem("error", "yaml.size", found),))
    depth = 0
    for character in text:
        depth = max(0, depth + (character in "[{") - (character in "]}"))
        if depth > DEEPEST:
            found = "it opens more than 16 brackets without closing them"
            return Tree(None, (_problem("error", "yaml.depth", found),))
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    composer = _Composer(text, YAML(typ="safe", pure=True).parse(text))
    try:
        root = composer.document()
    except _Abandoned:
        root = None
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        composer.report("error", "yaml.syntax", f"line {mark.line + 1 if mark else 1} is no YAML ({error.problem})")
        root = None
    except (YAMLError, *_STUMBLES) as error:
        why = (str(error).splitlines() or [type(error).__name__])[0]
        composer.report("error", "yaml.syntax", f"it is no YAML ({why})")
        root = None
    return Tree(root, tuple(composer.problems))


class _Abandoned(Exception):
    """Reading stopped; the problem is reported."""


@dataclass
class _Composer:
    text: str
    events: Iterator[Any]
    problems: list[SkillProblem] = field(default_factory=list)
    seen: int = 0

    def report(self, severity: Severity, kind: str, found: str) -> None:
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(_problem(severity, kind, found))

    def document(self) -> Table | None:
        root: Node | None = None
        for event in iter(self._next, None):
            name = type(event).__name__
            if name == "StreamEndEvent":
                break
            if name in ("StreamStartEvent", "DocumentStartEvent", "DocumentEndEvent"):
                continue
            if root is not None:
                self._abandon("yaml.documents", "it holds more than one YAML document")
            root = self._node(event, 1)
        if not isinstance(root, Table):
            self.report("error", "yaml.mapping", "it is empty" if root is None else "it is no list of keys and values")
            return None
        return root

    def _next(self) -> Any:
        self.seen += 1
        if self.seen > MOST_EVENTS:
            self._abandon("yaml.size", f"it holds more than {MOST_EVENTS:,} YAML parts")
        return next(self.events)

    def _abandon(self, kind: str, found: str) -> None:
        self.report("error", kind, found)
        raise _Abandoned

    def _node(self, event: Any, depth: int) -> Node:
        if depth > DEEPEST:
            self._abandon("yaml.depth", f"it is nested more than {DEEPEST} levels deep")
        kind, start, stop = type(event).__name__, event.start_mark, event.end_mark
        if getattr(event, "tag", None) is not None:
            self.report("error", "yaml.tag", f"line {start.line + 1} has a tag ({str(event.tag)[:40]})")
        if getattr(event, "anchor", None) is not None and kind != "AliasEvent":
            self.report("warning", "yaml.anchor", f"line {start.line + 1} has an anchor (&{str(event.anchor)[:40]})")
        match kind:
            case "ScalarEvent":
                return Scalar(event.value, event.style or "", start.index, stop.index, start.column)
            case "SequenceStartEvent":
                items: list[Node] = []
                while type(end := self._next()).__name__ != "SequenceEndEvent":
                    items.append(self._node(end, depth + 1))
                flow = self._flow(event)
                last = end.end_mark.index if flow or not items else items[-1].end
                return Listing(tuple(items), flow, start.index, last, start.column)
            case "MappingStartEvent":
                return self._table(event, depth)
            case _:
                self.report("error", "yaml.alias", f"line {start.line + 1} refers to an anchor (*)")
                return Scalar("", "*", start.index, stop.index, start.column)

    def _table(self, event: Any, depth: int) -> Node:
        pairs: list[tuple[Scalar, Node]] = []
        end = event
        while type(end := self._next()).__name__ != "MappingEndEvent":
            key, node = self._node(end, depth + 1), self._node(self._next(), depth + 1)
            if isinstance(key, Scalar):
                if isinstance(node, Scalar) and not node.text and not node.style:
                    # A value left empty stands right behind the colon of its key.
                    colon = _COLON.match(self.text, key.end)
                    at = colon.end() if colon else key.end
                    node = Scalar("", "", at, at, key.column)
                pairs.append((key, node))
            else:
                self.report("error", "yaml.key", f"line {end.start_mark.line + 1} has a key that is no text")
            if isinstance(key, Scalar) and key.text == "<<" and not key.style:
                self.report("error", "yaml.merge", f"line {end.start_mark.line + 1} merges another mapping (<<)")
        for name, times in Counter(key.text for key, _ in pairs).items():
            if times > 1:
                self.report("error", "yaml.duplicate", f"the key {name[:60]!r} stands there {times} times")
        flow = self._flow(event)
        if len({node.column for _, node in pairs if isinstance(node, Table)}) > 1:
            self.report("warning", "yaml.indentation", "its nested parts are indented by different widths")
        stop = end.end_mark.index if flow or not pairs else max(pairs[-1][1].end, pairs[-1][0].end)
        return Table(tuple(pairs), flow, event.start_mark.index, stop, event.start_mark.column)

    def _flow(self, event: Any) -> bool:
        if event.flow_style:
            self.report("warning", "yaml.flow", f"line {event.start_mark.line + 1} uses brackets")
        return bool(event.flow_style)


def _problem(severity: Severity, kind: str, found: str) -> SkillProblem:
    expected, next_step = _EXPECTED[kind]
    return SkillProblem(severity, kind, f"The frontmatter cannot be taken as it is: {found}.", expected, next_step)


Severity = Literal["error", "warning", "advice"]


@dataclass(frozen=True, slots=True)
class SkillProblem:
    """`error`: agents cannot use the skill as written, or would read it differently from one another.
    `warning`: the reference validator of agentskills.io refuses it, but Hermes and others take it.
    `advice`: allowed, and better otherwise.
    """

    severity: Severity
    kind: str
    found: str
    expected: str
    next_step: str

    def __str__(self) -> str:
        return f"{self.found} Expected {self.expected}. {self.next_step}"


def conforms(problems: Iterable[SkillProblem]) -> bool:
    """Whether the reference validator would accept the skill."""
    return all(problem.severity == "advice" for problem in problems)


def usable(problems: Iterable[SkillProblem]) -> bool:
    """Whether an agent can follow the skill at all."""
    return all(problem.severity != "error" for problem in problems)
