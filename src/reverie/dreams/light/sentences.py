"""Where the sentences of a turn begin and end, so that each can be quoted as it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_SENTENCE = 600
_ENDS = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s|$)|(?<=\s)[:;]-?[)(DP](?=\s|$)|[。！？]+[」』”]?|\n+")
_ABBREVIATED = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|approx|Mr|Mrs|Ms|Dr|Prof|St|bzw|z\.\s?B|d\.h|ca|usw|Sr|Sra|Srta|p\.\s?ej|M|Mme"
    r"|Sig|dott|bijv|inkl|exkl|incl|excl|evtl|ggf|resp|dept|[A-Z])\.$"
)
_ANNOUNCES = re.compile(r"(?:^|[\s(])[^\W\d_]{1,4}\.$")  # a number: "Tel. 0123", but "No. The wiki is on birch."
_ANNOUNCED = re.compile(r"\s*[+(]?\d")
_STEP = re.compile(r"(?:^|\s)(\d{1,2})\.$")
_ORDINAL = re.compile(  # "am 3. November", "8. sınıf"
    r"(?<=\d)\.\s(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|[^\W\d_A-ZÀ-Þ])"
)
_BULLET = re.compile(r"\s*(?:[-*•–]|\d{1,2}[.)])\s+|\s+")
_MARKS = "\"'“”„«»‘’「『」』 "


def sentences(own: str, typed: str) -> Iterator[tuple[int, int]]:
    """Where those with words of the person's own begin and end. `typed` is what a person typed, foreign parts blanked;
    `own` the same with veiled quotations. Some clients send a whole message between quotation marks: then it counts."""
    wrapped = not any(letter.isalpha() for letter in own)
    read = typed if wrapped else own
    for begin, end in _spans(read):
        bullet = _BULLET.match(own, begin, end)
        start = bullet.end() if bullet else begin
        piece = read[start:end].rstrip(_MARKS if wrapped else None)
        if wrapped:
            start, piece = start + len(piece) - len(piece.lstrip(_MARKS)), piece.lstrip(_MARKS)
        if any(letter.isalpha() for letter in piece):
            yield start, start + min(len(piece), MAX_SENTENCE)


def _spans(own: str) -> Iterator[tuple[int, int]]:
    start = 0
    for stop in _ENDS.finditer(own):
        if stop[0] == "." and (_is_inside(own, stop) or _counts(own, start, stop)):
            continue
        if own[start : stop.end()].strip():
            yield start, stop.end()
        start = stop.end()
    if own[start:].strip():
        yield start, len(own)


def _counts(own: str, start: int, stop: re.Match[str]) -> bool:
    """The number of a step told in line: "whenever we deliver: 1. resize 2. watermark"."""
    found = _STEP.search(own, max(start, stop.end() - 5), stop.end())
    if not found:
        return False
    first, before = found[1] == "1", own[start : found.start()]
    return before.rstrip().endswith(":") if first else f" {int(found[1]) - 1}. " in before


def _is_inside(own: str, stop: re.Match[str]) -> bool:
    """The full stop of an abbreviation or of an ordinal."""
    near = max(0, stop.end() - 8), stop.end()
    announces = _ANNOUNCES.search(own, *near) and _ANNOUNCED.match(own, stop.end())
    return bool(_ABBREVIATED.search(own, *near) or announces or _ORDINAL.match(own, stop.start()))
