"""The small language the detectors are written in, and the one loop that runs them.

The rules are data: `detectors/*.toml`, one file per family of attack.

A rule is a regular expression that is tried only where one of its anchors, a plain substring, stands. One walk over the
words of a text finds all anchors; every expression looks at a bounded stretch after its anchor. So the work is the
length of the text plus a bounded amount per anchor, and `Budget` counts: a text made to be slow is refused.

In an expression: a space is a gap (white space, punctuation, bullets: `ignore.all\n- previous`), `~3` is up to three
words of anything, `<name>` is one of the words of its file or of `detectors/vocabulary.toml`.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Any, NamedTuple

from reverie.core.ids import lazy_pattern

_GAP = r"(?:[\W_]{1,12})"
_WORDS = r"(?:[^\W_]{1,32}+[\W_]{1,8}+){0,%s}?"
# Anchors are filed under the first letters of their first word; a shorter word is a whole word.
_HEAD = 4
_FAMILIES = (
    *("overrides", "leaks", "impersonation", "personas", "languages", "persistence", "triggers", "authority"),
    *("sending", "transfers", "credentials", "execution", "damage"),
)


class RuleMatch(NamedTuple):
    """A rule that matched, before it is known what the span is in the original text."""

    rule: str
    category: str
    weight: float
    start: int
    end: int


class TooMuchWork(Exception):
    """The text holds more anchors than any honest text of its length."""


class MatchBudget:
    """Counts regular-expression attempts. The allowance grows with the text, so total work stays linear."""

    def __init__(self, length: int) -> None:
        self.spent = 0
        self.allowed = 20_000 + length

    def spend(self) -> None:
        self.spent += 1
        if self.spent > self.allowed:
            raise TooMuchWork


@dataclass(frozen=True, slots=True)
class PatternRule:
    """`weight` 1 blocks by itself; weights of different rules near each other add up. `on` overrides it per surface."""

    name: str
    category: str
    weight: float
    anchors: tuple[str, ...]
    pattern: str
    on: Mapping[str, float] = field(default_factory=dict)

    @property
    def expression(self) -> re.Pattern[str]:
        return compiled(self.pattern)

    def weighs(self, surface: str) -> float:
        return self.on.get(surface, self.weight)


_words = lazy_pattern(r"[^\W_]++")
_first_word = lazy_pattern(r"[^\W_]{1,4}")


def _filed(anchor: str) -> str:
    """Of an anchor in plain words only the first: the gap after it may be a bullet or a dot instead of a space."""
    first, _, rest = anchor.partition(" ")
    return first if first.isalpha() and rest.replace(" ", "").replace("'", "").isalpha() else anchor


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    for _ in range(3):
        pattern = re.sub(r"<(\w+)>", lambda found: _vocabulary().get(found[1], found[0]), pattern)
    pattern = re.sub(r"\[(?:\\.|[^\]\\])+\]| ", lambda found: _GAP if found[0] == " " else found[0], pattern)
    pattern = re.sub(r"~(\d+)", lambda found: _WORDS % found[1], pattern)
    # Words end where gaps begin: with no character in both, there is one way to read a stretch, and no backtracking.
    pattern = pattern.replace(r"\w+", r"[^\W_]{1,32}").replace(r"\w*", r"[^\W_]{0,32}")
    # Every quantifier gets an end, so that an attempt reads a bounded stretch whatever follows the anchor.
    pattern = re.sub(r"(?<!\\)([)\]])\*|(\\[Sds])\*", lambda found: f"{found[1] or found[2]}{{0,16}}", pattern)
    pattern = re.sub(r"(?<!\\)([)\]])\+|(\\[Sds])\+", lambda found: f"{found[1] or found[2]}{{1,16}}", pattern)
    return re.compile(re.sub(r"\{(\d+),\}", lambda found: f"{{{found[1]},{64 + int(found[1])}}}", pattern))


class RuleBook:
    """Rules found by the words of a text.

    An anchor is looked up by the first letters of its first word, which must begin a word of the text, so one walk over
    the words serves all rules. Anchors without such a word (signs, scripts written without spaces, text whose gaps are
    gone) are searched for one by one.
    """

    def __init__(self, rules: Iterable[PatternRule], *, gapless: bool = False) -> None:
        self._by_head: dict[str, list[tuple[str, int, PatternRule]]] = {}
        self._loose: dict[str, list[PatternRule]] = {}
        self._ready: dict[str, dict[str, Callable[[str, int], re.Match[str] | None]]] = {}
        for one in rules:
            for anchor in one.anchors if gapless else dict.fromkeys(map(_filed, one.anchors)):
                word = None if gapless else _first_word().search(anchor)
                if word is None or not anchor.isascii():
                    self._loose.setdefault(anchor, []).append(one)
                else:
                    self._by_head.setdefault(word[0], []).append((anchor, word.start(), one))

    def __iter__(self) -> Iterator[PatternRule]:
        yield from {one.name: one for target in self._by_head.values() for _, _, one in target}.values()
        yield from {one.name: one for target in self._loose.values() for one in target}.values()

    def run(self, text: str, surface: str, budget: MatchBudget) -> Iterator[RuleMatch]:
        ready = self._ready.setdefault(surface, {})
        for place, one in chain(self._at_words(text), self._at_signs(text)):
            match = ready.get(one.name)
            if match is None:
                weighs = one.weighs(surface) > 0
                match = ready[one.name] = one.expression.match if weighs else lambda text, place: None
            budget.spend()
            found = match(text, place)
            if found:
                yield RuleMatch(one.name, one.category, one.weighs(surface), place, found.end())

    def _at_words(self, text: str) -> Iterator[tuple[int, PatternRule]]:
        by_head = self._by_head
        for word in _words().finditer(text):
            target = by_head.get(word[0][:_HEAD])
            if target is None:
                continue
            begin = word.start()
            for anchor, offset, one in target:
                if text.startswith(anchor, begin - offset) and begin >= offset:
                    yield begin - offset, one

    def _at_signs(self, text: str) -> Iterator[tuple[int, PatternRule]]:
        ascii_only = text.isascii()
        for anchor, rules in self._loose.items():
            if ascii_only and not anchor.isascii():
                continue
            place = text.find(anchor)
            while place >= 0:
                yield from ((place, one) for one in rules)
                place = text.find(anchor, place + 1)


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads((files("reverie.safety") / "detectors" / f"{name}.toml").read_text("utf-8"))


def _one_line(text: str) -> str:
    return "".join(map(str.strip, text.splitlines()))


def _named(text: str, fragments: Mapping[str, str]) -> str:
    return re.sub(r"<(\w+)>", lambda found: _one_line(fragments.get(found[1], found[0])), _one_line(text))


def _rules_of(family: str) -> Iterator[PatternRule]:
    """The name of a rule begins with its category: `override.ignore`. Anchors are separated by `|`, or a list."""
    table = _table(family)
    words, anchors = table.get("words", {}), table.get("anchors", {})
    for row in table["rules"]:
        listed = row["anchors"]
        places = _named(listed, anchors).split("|") if isinstance(listed, str) else listed
        pattern = _named(_named(row["pattern"], words), words)
        category = row["name"].partition(".")[0]
        yield PatternRule(row["name"], category, row["weight"], tuple(places), pattern, row.get("on", {}))


@cache
def _vocabulary() -> dict[str, str]:
    return {name: _one_line(words) for name, words in _table("vocabulary").items()}


@cache
def rule_book() -> RuleBook:
    """All rules. Loaded at the first scan, so that importing the room stays cheap."""
    return RuleBook(chain.from_iterable(map(_rules_of, _FAMILIES)))


@cache
def gapless_rules() -> RuleBook:
    """Rules for text whose words run together or are cut in the wrong places."""
    return RuleBook(_rules_of("gapless"), gapless=True)
