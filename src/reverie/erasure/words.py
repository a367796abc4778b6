"""Finding words that are to go, in every form they may have been written down in, and taking them out.

Words are compared without case, accents' encoding, punctuation and the space between them, so that a sentence is found
that was wrapped, quoted or shouted. Text inside JSON, inside JSON in a string, and in base64 is looked into. What was
encoded by somebody else (base64 in a tool's output, a URL, an HTML page) is found by its encoded forms.
"""

from __future__ import annotations

import base64
import html
import json
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import quote, quote_plus

from reverie.erasure.decoded_text import (
    core_of,
    decoded_views,
    flat,
    inflated,
    may_hold,
    packed,
    places_of_flat,
    wide_encoding,
)
from reverie.memory.formats import FORMATS, FormatName

ERASED = "[erased]"
_EACH = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u0e00-\u0eff"  # scripts without spaces: a word each
_WORD = re.compile(rf"[{_EACH}]|(?:[^\W_{_EACH}]|[\u0300-\u036f])+")
_BASE64 = re.compile(r"[A-Za-z0-9+/]{16,}={0,2}")
_NOT_UTF8 = re.compile(r"[\udc80-\udcff]")  # what "surrogateescape" makes of bytes that are no UTF-8
_SHORTEST_ENCODED = 5  # bytes; encoded forms of less stand everywhere by chance
_SHORTEST_FLAT = 12  # letters; shorter ones come about by chance where words meet
_DEEPEST = 4  # what is packed in what is packed

# In our own JSON: names of kinds, which are nobody's words, and names of rows, which only go as a whole.
_OF_STATEMENTS = {"op", "kind", "origin", "weight", "verb", "form", "action", "language", "marks", "dates"}
_OF_RUNS = {"status", "mode", "role", "type", "via", "phase", "harness", "curator", "models", "stop_reason"}
_KINDS = frozenset(_OF_STATEMENTS | _OF_RUNS | {"fate", "reasons", "policy", "permissions", "outcome"})
_OF_ROWS = {"id", "ref", "dream", "change", "proposal", "candidates", "entry", "key", "old_sha256"}
_NAMES = frozenset(_OF_ROWS | {"staged", "settled", "earlier"})

Phrase = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    start: int
    end: int


def fold_case(text: str) -> str:
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


def words(text: str) -> list[Word]:
    return [Word(fold_case(found.group()), found.start(), found.end()) for found in _WORD.finditer(text)]


def phrase(text: str) -> Phrase:
    return tuple(word.text for word in words(text))


Spans = Callable[[str], Iterable[tuple[int, int]]]


def without(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with a mark in the place of each span; spans that meet are one."""
    parts, last = list[str](), 0
    for start, end in sorted(spans):
        if start < last:
            last = max(last, end)
            continue
        parts += [text[last:start], ERASED]
        last = end
    return "".join([*parts, text[last:]]) if parts else text


@dataclass(frozen=True)
class Scrubber:
    """`texts` are to go wherever they stand; `partial`: also as a part of longer words, which then go as a whole.
    `exact` are names and ids: values that are nothing but that. `spans` finds more, where only hashes are known."""

    texts: tuple[str, ...] = ()
    exact: frozenset[str] = frozenset()
    partial: bool = False
    whole_below: int = 0  # a phrase of fewer words counts only where nothing else is said
    more: Spans | None = None
    met: set[Phrase] = field(default_factory=set, compare=False)  # what stood there, word for word

    def __bool__(self) -> bool:
        return bool(self.texts or self.exact or self.more)

    # ---- text --------------------------------------------------------------------------------------------------------

    @cached_property
    def phrases(self) -> list[Phrase]:
        return [found for found in dict.fromkeys(map(phrase, self.texts)) if found]

    @cached_property
    def _by_word(self) -> dict[str, list[Phrase]]:
        """By the longest word of each: there may be thousands of phrases, and most texts have none of them."""
        found: dict[str, list[Phrase]] = {}
        for one in self.phrases:
            found.setdefault(max(one, key=len), []).append(one)
        return found

    @cached_property
    def _encoded(self) -> re.Pattern[str] | None:
        """Only of a text that was named: what Reverie itself quoted it wrote down in known forms."""
        forms = dict.fromkeys(form for text in self.texts for form in encoded_forms(text)) if self.partial else ()
        return re.compile("|".join(map(re.escape, sorted(forms, key=len, reverse=True)))) if forms else None

    @cached_property
    def _wide(self) -> dict[str, re.Pattern[bytes]]:
        """UTF-16, as some editors write a file."""
        if not self.texts or not self.partial:
            return {}
        return {
            name: re.compile(b"|".join(re.escape(text.encode(name, "surrogatepass")) for text in self.texts))
            for name in ("utf-16-le", "utf-16-be")
        }

    def spans(self, text: str, deep: int = 0) -> list[tuple[int, int]]:
        found = [match.span() for match in self._encoded.finditer(text)] if self._encoded else []
        found += self._standing(text)
        if not self.partial and not self.more:
            return found
        for view in decoded_views(text):
            found += view.spans(self._standing(view.text))
        if deep < _DEEPEST:
            found += [(start, end) for start, end, raw in packed(text) if self._holds(raw, deep + 1)]
        return found

    def _holds(self, raw: bytes, deep: int) -> bool:
        """Whether it stands in bytes that were packed into a text: as text, in UTF-16, or compressed."""
        unpacked = inflated(raw)
        if unpacked is not None and deep < _DEEPEST and self._holds(unpacked, deep + 1):
            return True
        encoding = wide_encoding(raw)
        text = raw.decode(encoding, "replace") if encoding else None
        if text is None:
            try:
                text = raw.decode("utf-8")
            except UnicodeDecodeError:  # most are words that are no base64: look closer only where a part of it stands
                lower = raw.lower()
                may_hold_it = bool(self.more) or any(part in lower for part in self._parts)
                text = raw.decode("utf-8", "replace") if may_hold_it else ""
        return bool(text) and bool(self.spans(text, deep))

    @cached_property
    def _parts(self) -> list[bytes]:
        """The longest piece of each text that is the same in every form of writing it."""
        pieces = (re.findall(r"[a-z0-9]+", text.lower().replace("ss", "ß")) for text in self.texts)
        return [max(some, key=len).encode() if some else b"" for some in pieces]

    @cached_property
    def _flat(self) -> list[str]:
        """Longer texts are found whatever stands between their letters: nothing, the marks of a list, unseen signs."""
        if not self.partial:
            return []
        return [one for one in dict.fromkeys(map(flat, self.texts)) if len(one) >= _SHORTEST_FLAT]

    @cached_property
    def _cores(self) -> list[bytes]:
        return [core_of(text) for text in self.texts if len(flat(text)) >= _SHORTEST_FLAT]

    def _standing(self, text: str) -> list[tuple[int, int]]:
        whole = flat(text) if self._flat and may_hold(text, self._cores) else ""
        flat_ones = [span for one in self._flat if one in whole for span in places_of_flat(text, whole, one)]
        every = words(text) if flat_ones else []
        found = [self._whole_words(every, *span) for span in flat_ones]
        standing, wanted = self._wanted(text)
        for one in wanted:
            for at in self._places(one, standing):
                here = standing[at : at + len(one)]
                found.append((here[0].start, here[-1].end))
                self.met.add(tuple(word.text for word in here))
        return [*found, *self.more(text)] if self.more else found

    def _whole_words(self, every: Sequence[Word], start: int, end: int) -> tuple[int, int]:
        first = bisect_right(every, start, key=lambda word: word.end)
        here = every[first : bisect_left(every, end, key=lambda word: word.start)]
        if not here:
            return start, end
        self.met.add(tuple(word.text for word in here))
        return min(start, here[0].start), max(end, here[-1].end)

    def _wanted(self, text: str) -> tuple[list[Word], list[Phrase]]:
        """The words of a text, and the phrases that may stand in it."""
        if not self._by_word:
            return [], []
        if self.partial:
            flat = fold_case(text)
            wanted = [one for rarest, some in self._by_word.items() if rarest in flat for one in some]
            return (words(text), wanted) if wanted else ([], [])
        standing = words(text)
        there = self._by_word.keys() & {word.text for word in standing}
        return standing, [one for rarest in there for one in self._by_word[rarest]]

    def _places(self, wanted: Phrase, standing: Sequence[Word]) -> Iterator[int]:
        count = len(wanted)
        if count < self.whole_below and count != len(standing):
            return
        for at in range(len(standing) - count + 1):
            if all(self._fits(wanted[n], standing[at + n].text, n == 0, n == count - 1) for n in range(count)):
                yield at

    def _fits(self, wanted: str, word: str, first: bool, last: bool) -> bool:
        if word == wanted:
            return True
        if not self.partial:
            return False
        if first and last:
            return wanted in word
        return (first and word.endswith(wanted)) or (last and word.startswith(wanted))

    def has(self, text: str) -> bool:
        return bool(self.spans(text))

    def clean(self, text: str) -> str:
        return without(text, self.spans(text))

    # ---- values of a database ----------------------------------------------------------------------------------------

    def value(self, text: str) -> str:
        """A text, or the text of a JSON value, that is kept in a column."""
        if text in self.exact:
            return ERASED
        if text[:1] in ("{", "[", '"'):
            try:
                told = json.loads(text)
            except (ValueError, RecursionError):
                return self.clean(text)
            new = self.told(told)
            return text if new == told else json.dumps(new, ensure_ascii=text.isascii())
        raw = b""
        if _BASE64.fullmatch(text) and len(text) % 4 == 0:
            with suppress(ValueError):
                raw = base64.b64decode(text, validate=True)
        unpacked = self.content(raw) if raw else raw
        return self.clean(text) if unpacked == raw else base64.b64encode(unpacked).decode("ascii")

    def told(self, value: Any) -> Any:
        """The same JSON value without it."""
        if isinstance(value, str):
            return self.value(value)
        if isinstance(value, list):
            return [self.told(one) for one in value]
        if isinstance(value, dict):
            return {key if key.isidentifier() else self.clean(key): self._under(key, one) for key, one in value.items()}
        return value

    def _under(self, key: str, value: Any) -> Any:
        if key in _KINDS:
            return value
        if key in _NAMES and isinstance(value, str):
            return ERASED if value in self.exact else value
        return self.told(value)

    # ---- files -------------------------------------------------------------------------------------------------------

    def content(self, content: bytes) -> bytes:
        """Bytes of any kind of file."""
        if self.partial and (encoding := wide_encoding(content)):
            text = content.decode(encoding, "surrogatepass") if len(content) % 2 == 0 else ""
            if cleaned := self.clean(text):  # its mark, if it has one, is its first character
                return content if cleaned == text else cleaned.encode(encoding, "surrogatepass")
        text = content.decode("utf-8", "surrogateescape")
        cleaned = self.clean(text)
        content = content if cleaned == text else cleaned.encode("utf-8", "surrogateescape")
        if self.partial and _NOT_UTF8.search(cleaned):
            content = self.clean(content.decode("latin-1")).encode("latin-1")  # a byte a letter
        for name, pattern in self._wide.items():
            content = pattern.sub(ERASED.encode(name), content)
        unpacked = inflated(content) if self.partial else None
        return ERASED.encode() if unpacked is not None and self._holds(unpacked, 1) else content

    def document(self, content: bytes, form: FormatName | None, name: str = "") -> bytes:
        """A document of memory or a file of a skill: a statement that has it goes whole, elsewhere the words do."""
        if form in ("hermes", "list", "page") or name.endswith(".md"):
            chosen = FORMATS["list" if form is None else "page" if form == "whole" else form]
            pieces = list(chosen.read(content).pieces)
            gone = [at for at, piece in enumerate(pieces) if piece.entry is not None and self.has(piece.entry)]
            for at in reversed(gone):
                pieces = chosen.removed(pieces, at)
            if gone:
                content = "".join(piece.raw for piece in pieces).encode("utf-8", "surrogateescape")
        return self.content(content)


def encoded_forms(text: str) -> Iterator[str]:
    """As other programs may have written it: in base64 at any offset, in hexadecimal, in a URL, in HTML, in JSON."""
    for form in dict.fromkeys((text, unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text))):
        raw = form.encode("utf-8", "surrogatepass")
        if len(raw) < _SHORTEST_ENCODED:
            continue
        for before in range(3):
            bits = (before * 8, (before + len(raw)) * 8)
            for encode in (base64.b64encode, base64.urlsafe_b64encode):
                yield encode(b"\0" * before + raw).decode("ascii")[-(-bits[0] // 6) : bits[1] // 6]
        yield from (raw.hex(), raw.hex().upper())
        escaped = json.dumps(form)[1:-1]
        others = (quote(raw, safe=""), quote(raw), quote_plus(raw), html.escape(form), escaped)
        yield from (other for other in (*others, json.dumps(escaped)[1:-1]) if other != form)
