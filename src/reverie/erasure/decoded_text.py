"""Text as it would read once it is decoded, with where each part of it stands in what was written.

Other programs write the same words in URLs, in HTML, escaped, as quoted-printable mail, misread, in base64, base32 or
hexadecimal, and compressed inside those. A view is a text with its escapes undone, once or several times over; what is
packed as a whole is unpacked to bytes. What is found in either is taken out where it stands.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import unicodedata
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

# How a byte that is not the first of a character reads in Latin-1 or on Windows; a soft hyphen is more often one.
_TAILS = {*map(chr, range(0x80, 0xC0)), *bytes(range(0x80, 0xC0)).decode("cp1252", "ignore")} - {"\u00ad"}
_TAIL_BYTES = re.escape("".join(sorted(_TAILS)))
ROUNDS = 3  # how often something may have been escaped over again
LARGEST_UNPACKED = 2**26
_ESCAPE = re.compile(
    r"(?P<percent>(?:%[0-9A-Fa-f]{2})+)"
    r"|(?P<entity>&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});)"
    r"|(?P<unicode>(?:\\+u[0-9A-Fa-f]{4})+)"
    r"|(?P<long>(?:\\+U[0-9A-Fa-f]{8})+)"
    r"|(?P<octal>(?:\\+[0-3][0-7]{2})+)"  # as git writes names
    r"|(?P<tag></?[A-Za-z][^<>]{0,400}>)"
    r"|(?P<byte>(?:\\+x[0-9A-Fa-f]{2})+)"
    r"|(?P<mail>(?:=[0-9A-F]{2})+|=\r?\n)"
    rf"|(?P<misread>(?:\u00c3\u00ad|[\u00c2-\u00f4][{_TAIL_BYTES}]{{1,3}})+)"  # UTF-8 that was read as another
    r"|(?P<unseen>[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]+)"
)
_HEX = re.compile(r"[0-9A-Fa-f][0-9A-Fa-f :-]{8,}[0-9A-Fa-f]")
_BASE32 = re.compile(r"[A-Z2-7]{16,}={0,6}")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{12,}(?:\r?\n[ \t>]*[A-Za-z0-9+/_-]{4,})*={0,2}")
_AROUND = re.compile(r"([+/])")
MOST_BEFORE = 8  # folders of a path
_URL_SAFE = str.maketrans("-_", "+/")
_SEPARATORS = re.compile(r"[\W_]+")
_ASCII_SIGNS = bytes(one for one in range(128) if not chr(one).isalnum())
_WHITE = re.compile(r"[\s>]+")


@dataclass(frozen=True, slots=True)
class DecodedView:
    """`earlier` is the text it was made from, by undoing its escapes."""

    text: str
    earlier: DecodedView | None = None

    def spans(self, found: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """The same places in what was written first."""
        wanted = list(found)
        if not wanted or self.earlier is None:
            return wanted
        at = _undone(self.earlier)
        return [(at[start], at[end]) for start, end in wanted]


def decoded_views(text: str) -> Iterator[DecodedView]:
    """The text without its escapes, once, twice, three times; nothing where it has none. `at` is worked out only for
    who asks: few texts hold what is looked for."""
    earlier = DecodedView(text)
    for _ in range(ROUNDS):
        # Quick: nearly every text is asked.
        has_no_sign = earlier.text.isascii() and not any(sign in earlier.text for sign in ("%", "&", "\\", "=", "<"))
        if has_no_sign or not _ESCAPE.search(earlier.text):
            return
        plain = _ESCAPE.sub(lambda found: "".join(char for char, _ in _decoded(found)), earlier.text)
        earlier = DecodedView(plain, earlier)
        yield earlier


def _undone(view: DecodedView) -> tuple[int, ...]:
    """For each character of the text without its escapes where it begins in what was written, and where that ends."""
    at: list[int] = []
    last = 0
    where = _undone(view.earlier) if view.earlier else range(len(view.text) + 1)
    for found in _ESCAPE.finditer(view.text):
        at.extend(where[last : found.start()])
        for char, start in _decoded(found):
            at.extend([where[found.start() + start]] * len(char))
        last = found.end()
    at.extend(where[last:])
    return tuple(at)


def _decoded(found: re.Match[str]) -> Iterator[tuple[str, int]]:
    """Each character with where in the escape it begins."""
    match found.lastgroup:
        case "percent" | "mail" | "byte":
            pieces = list(re.finditer(r"[0-9A-Fa-f]{2}", found.group()))
            yield from _characters(bytes(int(one.group(), 16) for one in pieces), [one.start() - 1 for one in pieces])
        case "misread":
            raw = b"".join(one.encode("latin-1" if one < "\u0100" else "cp1252") for one in found.group())
            yield from _characters(raw, list(range(len(raw))))
        case "octal":
            pieces = list(re.finditer(r"\\+([0-7]{3})", found.group()))
            yield from _characters(bytes(int(one[1], 8) for one in pieces), [one.start() for one in pieces])
        case "long":
            for one in re.finditer(r"\\+U([0-9A-Fa-f]{8})", found.group()):
                yield chr(min(int(one[1], 16), 0x10FFFF)), one.start()
        case "entity":
            yield html.unescape(found.group()), 0
        case "unicode":
            pieces = list(re.finditer(r"\\+u([0-9A-Fa-f]{4})", found.group()))
            units = "".join(chr(int(one[1], 16)) for one in pieces).encode("utf-16-le", "surrogatepass")
            offset = 0
            for char in units.decode("utf-16-le", "replace"):
                yield char, pieces[min(offset, len(pieces) - 1)].start()
                offset += 2 if ord(char) > 0xFFFF else 1


def _characters(raw: bytes, starts: list[int]) -> Iterator[tuple[str, int]]:
    offset = 0
    for char in raw.decode("utf-8", "surrogateescape"):
        yield char, max(0, starts[offset])
        offset += len(char.encode("utf-8", "surrogateescape"))


def packed(text: str) -> Iterator[tuple[int, int, bytes]]:
    """Runs of hexadecimal and base64 with the bytes they stand for. What is neither stands for bytes, too: nobody's."""
    for found in _HEX.finditer(text):
        digits = re.sub(r"[ :-]", "", found.group())
        for one in (digits, digits[1:]):  # the last letter of a word may stand right before it
            yield found.start(), found.end(), bytes.fromhex(one[: len(one) // 2 * 2])
    for found in _BASE32.finditer(text):
        run = found.group().rstrip("=")
        with suppress(binascii.Error):
            yield found.start(), found.end(), base64.b32decode(run + "=" * (-len(run) % 8))
    for found in _BASE64.finditer(text):
        run = _WHITE.sub("", found.group()).rstrip("=").translate(_URL_SAFE)
        parts = _AROUND.split(run, MOST_BEFORE + 1)  # a path may stand right before it
        behind = ("".join(parts[at:]) for at in range(2, len(parts), 2)) if len(parts) <= 2 * MOST_BEFORE else ()
        for one in (run, *behind):
            whole = one[:-1] if len(one) % 4 == 1 else one
            with suppress(ValueError):
                if raw := base64.b64decode(whole + "=" * (-len(whole) % 4)):
                    yield found.start(), found.end(), raw


def inflated(raw: bytes) -> bytes | None:
    """The decompressed bytes, if it is gzip or zlib."""
    if raw[:2] != b"\x1f\x8b" and not (raw[:1] == b"\x78" and len(raw) > 2 and int.from_bytes(raw[:2]) % 31 == 0):
        return None
    try:
        return zlib.decompressobj(47).decompress(raw, LARGEST_UNPACKED)
    except zlib.error:
        return None


def wide_encoding(raw: bytes) -> str:
    """The kind of UTF-16 or UTF-32 that the bytes look like, with its mark or without; empty for none."""
    if len(raw) % 4 == 0 and raw[:64].count(0) * 3 >= 2 * len(raw[:64]) > 0:
        return "utf-32-le" if raw[:1] != b"\0" else "utf-32-be"
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16-le" if raw[:1] == b"\xff" else "utf-16-be"
    some = raw[:4096]
    for name, zeros in (("utf-16-le", some[1::2]), ("utf-16-be", some[::2])):
        if len(zeros) > 3 and zeros.count(0) * 2 > len(zeros) and some.count(0) * 4 < 3 * len(some):
            return name
    return ""


def flat(text: str) -> str:
    """Letters and digits alone, without case, accents and whatever stands between them."""
    return _SEPARATORS.sub("", unicodedata.normalize("NFKD", text).casefold())


def core_of(wanted: str) -> bytes:
    """The longest part of a flat text that is written with the same bytes whatever its form; empty if there is none. A
    double s may be written as one letter."""
    plain = _SEPARATORS.sub("", unicodedata.normalize("NFC", wanted)).lower()
    return max(re.findall(r"[a-z0-9]{4,}", plain.replace("ss", "ß")), key=len, default="").encode()


def may_hold(text: str, cores: Iterable[bytes]) -> bool:
    """Whether one of them stands in a text, whatever signs stand between its letters."""
    bare = text.encode("utf-8", "surrogatepass").translate(None, _ASCII_SIGNS).lower()
    return any(core in bare for core in cores)


def places_of_flat(text: str, whole: str, wanted: str) -> Iterator[tuple[int, int]]:
    """Where a flat text stands in another, however that is written. `whole` is that one flat."""
    start = whole.find(wanted)
    at = [number for number, char in enumerate(text) for _ in flat(char)] if start >= 0 else []
    while start >= 0 and start + len(wanted) <= len(at):
        end = start + len(wanted)
        yield at[start], at[end - 1] + 1
        start = whole.find(wanted, end)
