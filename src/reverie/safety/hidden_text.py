"""What an agent reads and a person does not see: encoded passages, stretches a renderer hides, invisible characters.

Encoded passages are found and decoded; what comes out is scanned like any other text. Each finder reads the text once.
Decoded text is shorter than what it was decoded from, so unpacking one layer inside another ends; `scan` bounds it
anyway, and text still encoded below that is reported, not trusted.

Hidden stretches are comments, reference definitions, CSS, terminal concealment. Some writing systems and emoji need
invisible characters; those are no finding.
"""

import binascii
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

from reverie.core.ids import lazy_pattern
from reverie.safety.rules import RuleMatch
from reverie.safety.views import without_breaks

_BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
# Letters that make words; coordinates and formulas have fewer vowels.
_FEWEST_VOWELS = 0.25


class Decoded(NamedTuple):
    text: str
    start: int
    end: int
    encoding: str


_FINDERS = {
    "base64": lazy_pattern(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}+(?:\r?\n[A-Za-z0-9+/_-]{16,}+)*+={0,2}"),
    "hex": lazy_pattern(r"(?<![0-9A-Fa-f])(?:(?:0x)?[0-9A-Fa-f]{2}[\s:,-]?){12,}+"),
    "character escapes": lazy_pattern(
        r"(?:\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\u\{[0-9A-Fa-f]{1,6}\}|\\[0-3][0-7]{2}){4,}+"
    ),
    "character codes": lazy_pattern(r"(?<![\d.])(?:\d{2,3}[\s,;]{1,2}){8,}+(?:\d{2,3})?"),
    "binary": lazy_pattern(r"(?<![01])(?:[01]{7,8}[\s,]?){6,}+"),
    "spaced-out letters": lazy_pattern(r"(?<!\w)[^\W\d_](?:[^\w\n]{1,8}[^\W\d_](?!\w)){7,}+"),
    "tag characters": lazy_pattern("[\U000e0020-\U000e007e]{2,}+"),
    "variation selectors": lazy_pattern("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}+"),
}
_INVISIBLE = ("tag characters", "variation selectors")


def _readable(raw: bytes) -> str | None:
    """Decoded bytes that are text: UTF-8 or UTF-16, nearly all of it printable."""
    for encoding in ("utf-8", "utf-16-le"):
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            continue  # the next encoding may fit
        printable = sum(char.isprintable() or char in "\n\t\r" for char in text[:4_000])
        # Nearly any bytes are UTF-16 of something; only Latin text is told from chance there.
        likely = encoding == "utf-8" or text[:400].isascii()
        if len(text) >= 6 and printable >= 0.95 * min(len(text), 4_000) and likely:
            return text
    return None


def _from_base64(found: str) -> str | None:
    packed = "".join(found.split()).rstrip("=").replace("-", "+").replace("_", "/")
    packed = packed[: len(packed) - (len(packed) % 4 == 1)]
    plain = _readable(binascii.a2b_base64(packed + "=" * (-len(packed) % 4)))
    # Base32 looks like base64 in capitals, so it is tried where that gave no text.
    capitals = "".join(found.split()).rstrip("=")
    if plain or not capitals.isupper() or capitals.strip(_BASE32):
        return plain or None
    bits = "".join(f"{_BASE32.index(char):05b}" for char in capitals)
    return _readable(bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) - 7, 8)))


def _from_hex(found: str) -> str | None:
    digits = re.sub(r"0x|[\s:,-]", "", found)
    return _readable(binascii.unhexlify(digits[: len(digits) - len(digits) % 2]))


def _from_escapes(found: str) -> str | None:
    def char(match: re.Match[str]) -> str:
        code = int(match[1] or match[2] or match[3], 16) if not match[4] else int(match[4], 8)
        return chr(code) if code < 0x110000 else "?"

    pattern = r"\\x([0-9A-Fa-f]{2})|\\u([0-9A-Fa-f]{4})|\\u\{([0-9A-Fa-f]{1,6})\}|\\([0-3][0-7]{2})"
    return re.sub(pattern, char, found)


def _from_decimal(found: str) -> str | None:
    codes = [int(code) for code in re.split(r"[\s,;]+", found.strip(" \t\r\n,;"))]
    return "".join(map(chr, codes)) if all(code in (9, 10, 13) or 32 <= code < 127 for code in codes) else None


def _from_binary(found: str) -> str | None:
    groups = re.split(r"[\s,]+", found.strip(" ,\n"))
    digits = groups if len(groups) > 1 else [found[at : at + 8] for at in range(0, len(found), 8)]
    return _readable(bytes(int(group, 2) for group in digits if group))


def _from_spaced(found: str) -> str | None:
    """Letters set apart: the widest gap, if gaps differ, was a space between words."""
    letters = re.sub(r"\W+", "", found)
    if sum(letter in "aeiouAEIOU" for letter in letters) < _FEWEST_VOWELS * len(letters) and letters.isascii():
        return None
    gaps = re.findall(r"[^\w]+", found)
    widest, narrowest = max(map(len, gaps)), min(map(len, gaps))
    if widest == narrowest:
        return re.sub(r"[^\w]+", "", found)
    return re.sub(r"[^\w]+", lambda gap: " " if len(gap[0]) > narrowest else gap[0].strip(), found)


def _from_selectors(found: str) -> str | None:
    codes = (ord(char) for char in found)
    raw = bytes(code - 0xFE00 if code < 0xFF00 else code - 0xE0100 + 16 for code in codes)
    return _readable(raw)


_DECODERS: dict[str, Callable[[str], str | None]] = {
    "base64": _from_base64,
    "hex": _from_hex,
    "character escapes": _from_escapes,
    "character codes": _from_decimal,
    "binary": _from_binary,
    "spaced-out letters": _from_spaced,
    "tag characters": lambda found: "".join(chr(ord(char) - 0xE0000) for char in found),
    "variation selectors": _from_selectors,
}


def _found_encoded(encoding: str, text: str) -> Iterator[Decoded]:
    for found in _FINDERS[encoding]().finditer(text):
        plain = _DECODERS[encoding](found[0])
        if plain:
            yield Decoded(plain, found.start(), found.end(), encoding)


def decoded_passages(text: str) -> Iterator[Decoded]:
    """Every passage of the text that decodes to text."""
    # Encodings made of letters are looked for after invisible characters and string joints are gone.
    if not text.isascii():
        for name in _INVISIBLE:
            yield from _found_encoded(name, text)
    bare = without_breaks(text)
    for name in _DECODERS:
        if name not in _INVISIBLE:
            for passage in _found_encoded(name, bare.text):
                yield passage._replace(start=bare.trace(passage.start), end=bare.trace(passage.end - 1) + 1)
    # Percent and entity encoding mix with plain text, so the whole line is read.
    percent, entities, end = text.count("%") >= 3, text.count("&#") >= 3, 0
    if not percent and not entities:
        return
    from html import unescape
    from urllib.parse import unquote

    for line in text.splitlines(keepends=True):
        start, end = end, end + len(line)
        if percent and line.count("%") >= 3 and (plain := unquote(line.replace("+", " "))) != line.replace("+", " "):
            yield Decoded(plain, start, end, "URL encoding")
        if entities and line.count("&#") >= 3 and (plain := unescape(line)) != line:
            yield Decoded(plain, start, end, "HTML entities")


_LONGEST_STRETCH = 4_000


# One pattern for all openers; where each hidden stretch ends is looked up with str.find.
_openers = lazy_pattern(
    r"(?P<html><!--)"
    r"|(?P<reference>^[ \t]{0,3}\[(?://|comment|_|#|hidden)[^\]\n]{0,20}\]:[ \t]{0,3}(?:#|<>|\S{1,20})"
    r"[ \t]{1,3}[\"'(])"
    r"|(?P<css><[a-z]{1,12}\b[^<>]{0,200}?(?:display\s?:\s?none|visibility\s?:\s?hidden|font-size\s?:\s?0|opacity\s?:\s?0(?![.\d])"
    r"|color\s?:\s?(?:white|#fff(?:fff)?|transparent)|\shidden(?=[\s>=])|left\s?:\s?-\d{3,})[^<>]{0,200}>)"
    r"|(?P<template>\{#|\{/\*|%%\s)"
    r"|(?P<terminal>\x1b\[8m)",
    re.MULTILINE,
)


_CLOSERS = {"html": "-->", "reference": "\n", "css": "</", "template": "}", "terminal": "\x1b["}


def hidden_stretches(folded: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and kind of each stretch, in a folded text. An opener never closed hides all that follows."""
    found = _openers().search(folded)
    while found:
        kind = found.lastgroup or "html"
        end = folded.find(_CLOSERS[kind], found.end(), found.end() + _LONGEST_STRETCH)
        end = end if end >= 0 else min(len(folded), found.end() + _LONGEST_STRETCH)
        yield found.start(), end, kind
        # Openers inside a stretch open nothing new; going on after it keeps the work linear.
        found = _openers().search(folded, end)


_ZERO_WIDTH = "\u200b\u200c\u200d\u2060\u2061\u2062\u2063\u2064\ufeff\u180e"
_FILLERS = "\u115f\u1160\u3164\uffa0"
_CANDIDATE = (
    "[\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]++"
)
# A run this long between two letters carries data; joiners and markers come one or two at a time.
_LONG_RUN = 6
# One or two strays come from copying out of a web page; more inside Latin words is done on purpose.
_MANY_INSIDE_WORDS = 3


_runs = lazy_pattern(_CANDIDATE)
_right_to_left = lazy_pattern("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")


def _joins_letters(char: str) -> bool:
    """Arabic, Syriac, N'Ko, Indic scripts, Tibetan, Myanmar, Khmer, Mongolian: there, joiners are spelling."""
    code = ord(char)
    return 0x0600 <= code <= 0x0FFF or 0x1000 <= code <= 0x109F or 0x1780 <= code <= 0x18AF or 0xFB50 <= code <= 0xFEFC


def _is_pictograph(char: str) -> bool:
    code = ord(char)
    return (
        0x1F000 <= code <= 0x1FAFF or 0x2190 <= code <= 0x2BFF or 0x3030 <= code <= 0x3299 or char in "#*©®‼⁉™ℹ\ufe0f"
    )


def _is_selector(char: str) -> bool:
    return "\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef"


def _is_spelling(before: str, run: str, after: str) -> bool:
    """A run that emoji, ideographs or a joining script need at this place."""
    if not before:
        return run == "\ufeff"
    if run == "\u200d" and before != "" and _is_pictograph(before):
        return after == "" or _is_pictograph(after) or after in "♀♂"
    if run in ("\ufe0f", "\ufe0e", "\ufe0f\u200d"):
        return _is_pictograph(before) or before.isdigit()
    if len(run) == 1 and _is_selector(run):
        code = ord(before)
        is_ideograph = 0x2E80 <= code <= 0x9FFF or 0xF900 <= code <= 0xFAFF or 0x20000 <= code <= 0x323AF
        return is_ideograph or _joins_letters(before)
    if run in ("\u200c", "\u200d", "\u200c\u200c"):
        return _joins_letters(before)
    if run in ("\u115f", "\u1160"):
        return "\u1100" <= after <= "\u11ff"
    return False


def _kind_of_run(text: str, start: int, end: int) -> tuple[str, float] | None:
    run, before, after = text[start:end], text[start - 1 : start], text[end : end + 1]
    # England, Scotland, Wales: a black flag, up to six tag letters, the closing tag.
    tags = "\U000e0000" <= run[0] <= "\U000e007f" and run[-1] == "\U000e007f" and len(run) <= 8
    if _is_spelling(before, run, after) or (tags and before == "\U0001f3f4"):
        return None
    if any("\U000e0000" <= char <= "\U000e007f" for char in run):
        return "tag characters", 1.0
    if sum(map(_is_selector, run)) >= 2:
        return "variation selectors", 1.0
    if any(char in "\u202d\u202e" for char in run):
        return "direction override", 1.0
    if any(char in _FILLERS for char in run):
        return "Hangul filler", 1.0
    if len(run) >= _LONG_RUN:
        return "zero-width run", 1.0
    if any(char in "\u200e\u200f\u061c\u202a\u202b\u202c\u2066\u2067\u2068\u2069" for char in run):
        near = _right_to_left().search(text, max(0, start - 200), end + 200)
        return None if near else ("direction mark", 0.3)
    return "zero-width", 0.3


def invisible_runs(text: str) -> Iterator[RuleMatch]:
    """Each run of invisible characters that its neighbours do not explain."""
    if text.isascii():
        return
    inside = 0
    for found in _runs().finditer(text):
        start, end = found.span()
        kind = _kind_of_run(text, start, end)
        if kind is None:
            continue
        name, weight = kind
        before, after = text[start - 1 : start], text[end : end + 1]
        in_a_word = before.isalpha() and after.isalpha() and before < "\u0530" and after < "\u0530"
        inside += name in ("zero-width", "direction mark") and in_a_word
        if inside >= _MANY_INSIDE_WORDS:
            weight, inside = 1.0, 0
        yield RuleMatch(name, "invisible", weight, start, end)
