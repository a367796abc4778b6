"""Sentences with their place in the turn, so that each can be quoted as it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_SENTENCE = 600
_ENDS = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s|$)|(?<=\s)[:;]-?[)(DP](?=\s|$)|[。！？]+[」』”]?|\n+")
_ABBREVIATED = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|approx|Mr|Mrs|Ms|Dr|Prof|St|bzw|z\.\s?B|d\.h|ca|usw|Sr|Sra|Srta|p\.\s?ej|M|Mme"
    r"|Sig|dott|bijv|inkl|exkl|incl|excl|evtl|ggf|resp|dept|[A-Z])\.$"
)
# Only before what they announce: "Tel. 0123", but "No. The wiki is on birch."
_ANNOUNCES = re.compile(
    r"(?:^|[\s(])(?:no|nos|nr|núm|tel|tél|telef|fax|ext|fig|abb|vol|art|sec|kap|cap|pp?|pág|str|max|min|ver|v|est|ab)\.$",
    re.IGNORECASE,
)
_ANNOUNCED = re.compile(r"\s*[+(]?\d")
_STEP = re.compile(r"(?:^|\s)(\d{1,2})\.$")
_ORDINAL = re.compile(r"(?<=\d)\.\s(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)")  # "am 3. November"
_BULLET = re.compile(r"\s*(?:[-*•–]|\d{1,2}[.)])\s+|\s+")


@dataclass(frozen=True, slots=True)
class Sentence:
    """`text` is verbatim, `own` the same with quotations veiled, `start` where it begins in the turn."""

    text: str
    own: str
    start: int

    @property
    def asked(self) -> bool:
        return self.own.rstrip("\"'”’»)] ").endswith(("?", "？"))


def sentences(text: str, own: str, typed: str = "") -> list[Sentence]:
    """Those with words of the person's own. `own` is `text` with foreign parts blanked, as long as it; `typed` is the
    same with quotations left in. Some clients send a whole message between quotation marks: then it counts."""
    found: list[Sentence] = []
    wrapped = typed if typed and not any(letter.isalpha() for letter in own) else ""
    for begin, end in _spans(wrapped or own):
        bullet = _BULLET.match(own, begin, end)
        start = bullet.end() if bullet else begin
        piece = own[start:end].rstrip()[:MAX_SENTENCE]
        if wrapped:
            start += len(text[start:end]) - len(text[start:end].lstrip("\"'“”„«»‘’「『 "))
            piece = own[start:end].rstrip("\"'“”„«»‘’」』 ")[:MAX_SENTENCE]
        if any(letter.isalpha() for letter in (wrapped[start:end] if wrapped else piece)):
            found.append(Sentence(text[start : start + len(piece)], piece, start))
    return found


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
    """The full stop of an abbreviation or a German ordinal."""
    near = max(0, stop.end() - 8), stop.end()
    announces = _ANNOUNCES.search(own, *near) and _ANNOUNCED.match(own, stop.end())
    return bool(_ABBREVIATED.search(own, *near) or announces or _ORDINAL.match(own, stop.start()))
