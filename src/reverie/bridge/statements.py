"""The memories of a store taken apart into statements, and whether one statement only words another otherwise.

Sentences, items of lists, lines such as "Editor: vim", rows of tables, blocks of code, and the values of JSON are
statements. Headings and front matter say where a statement stands; a label above a list is said with each item.

Whether two say the same is what the network that relates statements says, read either way; but a value, a path or a
name of code that became another one is a change, however near the rest is. Nothing is asked of a model.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Any

from reverie.bridge.source import Snapshot
from reverie.dreams.light.language import detect_language as spoken_in
from reverie.dreams.light.spans import sentences
from reverie.memory.formats import FORMATS, FRONT_MATTER, fence_after
from reverie.text.relation import RelationKind, chances_of, differs_plainly
from reverie.text.units import NUMBER_WORDS
from reverie.text.values import NAME, Value, exchanged, find_values, spelled
from reverie.text.words import NEGATORS, OPEN_MODALS, carries_meaning, denies, language_of, normal, raw_words, stem

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
    if text.lstrip().startswith(("{", "[")):
        with suppress(ValueError, RecursionError):
            found = list[StoreStatement]()
            for name, value in _leaves("", json.loads(text)):  # each is quoted as it is written there
                ways = (value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], value.casefold())
                quoted = next((one for one in ways if one in text), value)
                found.append(StoreStatement(f"{name}: {value}" if name else value, quoted, path))
            return found
    wrapped = _WRAPPED.fullmatch(text)  # a page that a model gave back as one block is a page
    return list(_statements(path, _SECTION_SIGN.sub("", wrapped["page"] if wrapped else text)))


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
    """Each with the label it stands below: that of the list it is in, or of the item it hangs from."""
    heading, begun = "", False  # `begun`: the entry before ended within its line
    labels = list[tuple[int, str]]()  # from the outermost, each with its indent; -1 where it is no item itself
    for piece in FORMATS["page"].read(text.encode("utf-8", "surrogateescape")).pieces:
        if piece.entry is None:
            for kind, words, written in _opaque(piece.raw):
                if kind == "heading":
                    heading, labels = words, []
                elif kind == "label":
                    at = _indent(written) if _ITEM.match(written) else -1
                    labels = [*((depth, one) for depth, one in labels if depth < at), (at, words)]
                else:
                    quote = written if kind == "code" else written.strip()
                    yield StoreStatement(words, quote, path, heading, kind == "code")
            continue
        if not begun:
            indent = _indent(piece.raw)
            is_item = indent or _ITEM.match(piece.raw)
            labels = [(depth, one) for depth, one in labels if depth < indent] if is_item else []
        begun = not piece.raw.endswith("\n")
        words = " ".join(piece.entry.split())
        yield StoreStatement(f"{labels[-1][1]} {words}" if labels else words, piece.entry, path, heading)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


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
            kind, words = "row", line[item.end() :].strip() if (item := _ITEM.match(line)) else line.strip()
            if heading := _HEADING.match(line):
                kind, words = "heading", heading["words"]
            elif words.rstrip("*_ ").endswith(":"):
                kind, words = "label", words.replace("**", "").strip("*_ ")
            else:
                cells = " | ".join(cell.strip() for cell in words.strip("| ").split("|"))
                words = (cells if words.startswith("|") else words).lstrip("> ")
            *said, last = [words[start:end].strip() for start, end in sentences(words, words)] or [words]
            if kind == "label" and last.endswith(":"):  # what stands before it in the line is said by itself
                yield from (("row", one, one) for one in said)
                words = last
            yield kind, words, line
    if block:
        yield "code", "\n".join(block), "\n".join(block)


# ---- numbers of several words ----------------------------------------------------------------------------------------

_POWERS = {word: number for word, number in NUMBER_WORDS.items() if number in (100, 1000)}
_POWERS |= {"thousand": 1000, "tausend": 1000, "cents": 100, "ciento": 100, "cientos": 100}
_UNITS = {word: number for word, number in NUMBER_WORDS.items() if 1 <= number < 20}
_UNITS |= {"one": 1, "ein": 1, "un": 1}  # articles, unless a larger number stands beside them
_TENS = {normal(word): number for word, number in NUMBER_WORDS.items() if 20 <= number < 100}
_TENS |= {"siebzig": 70, "achtzig": 80, "neunzig": 90, "soixante-dix": 70, "quatre-vingt": 80, "quatre-vingt-dix": 90}
_TENS |= {f"{one}und{ten}": _UNITS[one] + _TENS[ten] for one in _UNITS for ten in list(_TENS) if ten.endswith("ig")}
_VALUES = _UNITS | _TENS


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_WORD = re.compile(_any([*_VALUES, *_POWERS]))
_BETWEEN = rf"(?:[- ](?:(?:and|et|y) )?|(?={_any(_POWERS)}))"
_NUMBER = re.compile(rf"\b(?:{_WORD.pattern})(?:{_BETWEEN}(?:{_WORD.pattern}))*\b")


@lru_cache(maxsize=16_384)
def in_digits(text: str) -> str:
    """The text as it is compared, with every number that takes a word for tens, hundreds or thousands in digits."""

    def counted(found: re.Match[str]) -> str:
        words = _WORD.findall(found.group())
        if all(word in _UNITS for word in words) or (len(words) == 1 and words[0] in NUMBER_WORDS):
            return found.group()
        numbers, total, current, room = list[int](), 0, 0, 10**9
        for word in words:
            if word in _POWERS:
                current, room = max(current, 1) * _POWERS[word], _POWERS[word]
                if room == 1000:
                    total, current = total + current, 0
            else:
                if _VALUES[word] >= room:  # no part of the number before it: the next one begins
                    numbers.append(total + current)
                    total = current = 0
                current += _VALUES[word]
                room = 10 if word in _TENS and not _VALUES[word] % 10 else 1
        return " ".join(map(str, [*numbers, total + current]))

    return _NUMBER.sub(counted, normal(text))


# ---- two statements --------------------------------------------------------------------------------------------------

_NO_MORE, _NO_LESS = re.compile(r"\bnot? more than\b"), re.compile(r"\bno(?:t less| less| fewer) than\b")
_SPAN = re.compile(r"`([^`\n]+)`")
_PART = re.compile(r"[^\W_]+")
_CODE = re.compile(r"\d|_|^-{1,2}\w|^[~.]?/\w|\w[./:\\@]\w|\w\(\)|[{}<>=$#]")
OPEN = 0.5  # neither a rewording for sure, nor a change for sure
TRANSLATED = 0.6  # of two languages, with no value that differs
LONG, AROUND = 24, 4  # words of a statement that is long, and of those around what differs in it
ADDED = 3  # words behind which something was said that was not said before
SMALL_WORDS = 0.9  # of a mere rewording, where only small words differ and the network says the same
SURE_CONFLICT = 0.75
LONGEST = 600  # characters of a statement that are compared


@lru_cache(maxsize=16_384)
def only_reworded(old: str, new: str) -> float:
    """0..1."""
    mine, theirs, differ = _told(old), _told(new), differs_plainly(_read(old), _read(new))
    if differ:
        return 0.0
    if _words(old) == _words(new) or (differ is False and raw_words(_read(old)) == raw_words(_read(new))):
        return 1.0
    if _exact(old, new):
        return 0.0
    if not set(mine) & set(theirs):
        spoken = {spoken_in(one, "") for one in (old, new)}
        if len(spoken) == 2 and "" not in spoken:  # surely two languages: their words say nothing
            return TRANSLATED
    before, after = _read(old)[:LONGEST], _read(new)[:LONGEST]
    parts = [(before, after), *_where_they_differ(before, after)]
    ways = [chances_of(*pair).get(RelationKind.SAME, OPEN) for part in parts for pair in (part, part[::-1])]
    chance = min((there + back) / 2 for there, back in zip(ways[::2], ways[1::2], strict=True))
    if mine == theirs:  # only small words differ
        chance = max(chance, SMALL_WORDS if chance >= OPEN else OPEN)
    else:
        less, more = _bounds(before, after)
        chance = max(less, min(chance, more))
    return chance if _leaves_open(before) == _leaves_open(after) else min(chance, OPEN)


@lru_cache(maxsize=16_384)
def _read(text: str) -> str:
    """As it is compared: numbers in digits, and "no more than" as the bound it is, not as a denial."""
    return _NO_MORE.sub("at most", _NO_LESS.sub("at least", in_digits(text)))


def _words(text: str) -> list[str]:
    return [one.strip(".,;:!?()[]*_") for one in _read(text).split()]


def _told(text: str) -> list[str]:
    """What a sentence says, in order: without articles and punctuation, each word by its stem."""
    language = language_of(_read(text))
    return [
        stem(word, language) if word.isalpha() else word
        for word in _words(text)
        if word and (not word.isalpha() or carries_meaning(word) or word in NEGATORS)
    ]


def _exact(old: str, new: str) -> bool:
    """Whether a value became another one, or a number, a path, an option or a name of code stands on one side only. An
    amount, a date or a time can be written in many ways: those are compared as values."""
    before, after = (spelled(_read(one)[:LONGEST]) for one in (old, new))
    mine, theirs = ([one for one in find_values(text) if one.dimension != NAME] for text in (before, after))
    if exchanged(mine, theirs):
        return True
    code, code_too = _code(old, before, mine), _code(new, after, theirs)
    gone, come, both = code - code_too, code_too - code, code & code_too
    if len(gone) == len(come):  # the same name in another spelling: `resnet50`, "ResNet-50"
        spelt = [sorted("".join(_PART.findall(one)) for one in side) for side in (gone, come)]
        return spelt[0] != spelt[1]
    return not all(  # or its parts among the other words of the other side
        {part for one in side for part in _PART.findall(one)}
        <= {part for word in text.split() if _bare(word) not in both for part in _PART.findall(word)}
        for side, text in ((gone, after), (come, before))
    )


def _code(written: str, text: str, values: Sequence[Value]) -> frozenset[str]:
    """The names of code, by their look or because they are written as code."""
    counted = {part for one in values for part in one.shown.split()}
    spans = {_bare(word) for span in _SPAN.findall(written) for word in spelled(_read(span)).split()}
    words = {_bare(word) for word in text.split()}
    return frozenset(word for word in words if (_CODE.search(word) or word in spans) and word not in counted)


def _bare(word: str) -> str:
    return word.strip(",;:!?()[]{}*'…–—").rstrip(".")


def _where_they_differ(old: str, new: str) -> list[tuple[str, str]]:
    """Of two long statements the parts that are not the same, with a few words around: the rest would drown them."""
    before, after = old.split(), new.split()
    if max(len(before), len(after)) < LONG:
        return []
    edits = [
        (slice(max(0, i - AROUND), j + AROUND), slice(max(0, m - AROUND), n + AROUND), j - i + n - m)
        for kind, i, j, m, n in SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
        if kind != "equal"
    ]
    if 2 * sum(many for *_, many in edits) > len(before) + len(after):
        return []
    parts = [(" ".join(before[here]), " ".join(after[there])) for here, there, _ in edits]
    return [(one, other) for one, other in parts if _told(one) != _told(other)]


def _leaves_open(text: str) -> bool:
    """Whether a modal verb permits or advises: "can" where another says "must". With a denial it forbids."""
    words = raw_words(text)
    return bool(OPEN_MODALS & set(words)) and not denies(text)


def _bounds(old: str, new: str) -> tuple[float, float]:
    """Two words in each other's place are a change. What denies or says some words more is never folded away; what only
    has a word or two more is never surely a change."""
    before, after = (one.replace(",", " ").replace(";", " ").rstrip(".!").split() for one in (old, new))
    edits = {code[0] for code in SequenceMatcher(None, before, after, autojunk=False).get_opcodes()} - {"equal"}
    added = abs(len(before) - len(after)) if edits in ({"insert"}, {"delete"}) else 0
    mine, theirs = raw_words(old), raw_words(new)
    moved = [one != other for one, other in zip(mine, theirs, strict=False)].count(True)
    if sorted(mine) == sorted(theirs) and moved == 2:
        return 0.0, 0.0
    if bool(NEGATORS & set(mine)) != bool(NEGATORS & set(theirs)) or denies(old) != denies(new) or added >= ADDED:
        return 0.0, OPEN
    told = any(carries_meaning(word) for word in (Counter(mine) - Counter(theirs)) | (Counter(theirs) - Counter(mine)))
    return (OPEN if added else 0.0), (OPEN if added and told else 1.0)
