"""Find encoded passages and decode them. What comes out is scanned like any other text.

Each finder reads the text once. Decoded text is shorter than what it was decoded from, so unpacking one layer inside
another ends; `_DEEPEST` bounds it anyway, and text still encoded below that is reported, not trusted.
"""

import binascii
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from reverie.safety.readings.text_variants import without_breaks

_BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
# Letters that make words; coordinates and formulas have fewer vowels.
_FEWEST_VOWELS = 0.25


class Decoded(NamedTuple):
    text: str
    start: int
    end: int
    encoding: str


@cache
def _finders() -> dict[str, re.Pattern[str]]:
    word = "(?<![A-Za-z0-9+/_-])"
    return {
        "base64": re.compile(word + r"[A-Za-z0-9+/_-]{16,}+(?:\r?\n[A-Za-z0-9+/_-]{16,}+)*+={0,2}"),
        "hex": re.compile(r"(?<![0-9A-Fa-f])(?:(?:0x)?[0-9A-Fa-f]{2}[\s:,-]?){12,}+"),
        "escapes": re.compile(r"(?:\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\u\{[0-9A-Fa-f]{1,6}\}|\\[0-3][0-7]{2}){4,}+"),
        "decimal": re.compile(r"(?<![\d.])(?:\d{2,3}[\s,;]{1,2}){8,}+(?:\d{2,3})?"),
        "binary": re.compile(r"(?<![01])(?:[01]{7,8}[\s,]?){6,}+"),
        "spaced": re.compile(r"(?<!\w)[^\W\d_](?:[^\w\n]{1,8}[^\W\d_](?!\w)){7,}+"),
        "tags": re.compile("[\U000e0020-\U000e007e]{2,}+"),
        "selectors": re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}+"),
    }


_INVISIBLE = ("tags", "selectors")


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
    return plain or _from_base32("".join(found.split()).rstrip("="))


def _from_base32(packed: str) -> str | None:
    """Base32 looks like base64 in capitals, so it is tried where that gave no text."""
    if not packed.isupper() or packed.strip(_BASE32):
        return None
    bits = "".join(f"{_BASE32.index(char):05b}" for char in packed)
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


def _from_tags(found: str) -> str | None:
    return "".join(chr(ord(char) - 0xE0000) for char in found)


def _from_selectors(found: str) -> str | None:
    codes = (ord(char) for char in found)
    raw = bytes(code - 0xFE00 if code < 0xFF00 else code - 0xE0100 + 16 for code in codes)
    return _readable(raw)


_DECODERS: dict[str, tuple[Callable[[str], str | None], str]] = {
    "base64": (_from_base64, "base64"),
    "hex": (_from_hex, "hex"),
    "escapes": (_from_escapes, "character escapes"),
    "decimal": (_from_decimal, "character codes"),
    "binary": (_from_binary, "binary"),
    "spaced": (_from_spaced, "spaced-out letters"),
    "tags": (_from_tags, "tag characters"),
    "selectors": (_from_selectors, "variation selectors"),
}


def _found(name: str, text: str) -> Iterator[Decoded]:
    decode, encoding = _DECODERS[name]
    for found in _finders()[name].finditer(text):
        plain = decode(found[0])
        if plain:
            yield Decoded(plain, found.start(), found.end(), encoding)


def _lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, line
        start += len(line)


def _encoded_lines(text: str) -> Iterator[Decoded]:
    """Percent and entity encoding mix with plain text, so the whole line is read."""
    percent = text.count("%") >= 3
    entities = text.count("&#") >= 3
    if not percent and not entities:
        return
    from html import unescape
    from urllib.parse import unquote

    for start, line in _lines(text):
        if percent and line.count("%") >= 3 and (plain := unquote(line.replace("+", " "))) != line.replace("+", " "):
            yield Decoded(plain, start, start + len(line), "URL encoding")
        if entities and line.count("&#") >= 3 and (plain := unescape(line)) != line:
            yield Decoded(plain, start, start + len(line), "HTML entities")


def decoded_passages(text: str) -> Iterator[Decoded]:
    """Every passage of the text that decodes to text."""
    # Encodings made of letters are looked for after invisible characters and string joints are gone.
    if not text.isascii():
        for name in _INVISIBLE:
            yield from _found(name, text)
    bare = without_breaks(text)
    for name in _DECODERS:
        if name not in _INVISIBLE:
            for passage in _found(name, bare.text):
                yield passage._replace(start=bare.trace(passage.start), end=bare.trace(passage.end - 1) + 1)
    yield from _encoded_lines(text)
