"""What people say in a session, sentence by sentence, as the tagger reads it. Where the sentences of a turn begin and
end is told exactly, so that each can be quoted as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from reverie.core.scope import Origin
from reverie.dreams.light.language import UNKNOWN, detect_language, lowered
from reverie.dreams.light.own_words import edges, expression, in_play, typed, veiled
from reverie.dreams.light.tagger import Reading, Tagged, tag_sentences
from reverie.safety.sensitive import asked_to_remember
from reverie.transcripts.session import Session, heard

MAX_SENTENCE = 600
_ENDS = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s|$)|(?<=\s)[:;]-?[)(DP](?=\s|$)|[。！？]+[」』”]?|\n+")
_ABBREVIATED = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|approx|Mr|Mrs|Ms|Dr|Prof|St|bzw|z\.\s?B|d\.h|ca|usw|Sr|Sra|Srta|p\.\s?ej|M|Mme"
    r"|Sig|dott|bijv|inkl|exkl|incl|excl|evtl|ggf|resp|dept|[A-Z])\.$"
)
_ANNOUNCES = re.compile(r"(?:^|[\s(])[^\W\d_]{1,4}\.$")  # a number: "Tel. 0123", but "No. The wiki is on birch."
_ANNOUNCED = re.compile(r"\s*[+(]?\d")
_STEP = re.compile(r"(?:^|\s)(\d{1,2})\.$")
_ORDINAL = re.compile(  # "am 3. November", "8. sınıf", but "after 22:00. bring cake"
    r"(?:(?<=[^\d:.,]\d)|(?<=[^\d:.,]\d\d)|(?<=^\d)|(?<=^\d\d))\.\s(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez|[^\W\d_A-ZÀ-Þ])"
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


REMEMBERED, LASTING = 0.97, 0.7
MANY = 150  # characters of a turn
MOST_ANNOUNCED = 400  # characters of what a colon announces
STEPS = frozenset({"procedure", "lesson"})  # kinds that can announce what is to be done
_PEOPLE = (Origin.OWNER, Origin.MEMBER)  # a tool's words in a person's message have Origin tool and are left out
# Where a clause may begin and end; what is worth keeping is quoted from one such place to another. A full stop inside
# a sentence belongs to an ordinal or an abbreviation.
_BREAK = re.compile(r"[,;:!?…、，；：！？]+[\"'”’»)]*\s*|\s[–—-]\s|\s*[()]\s*")


@dataclass(frozen=True, slots=True)
class Span:
    """A sentence of a person as the tagger reads it. `own` is the same with veiled quotations, `clause` the part of it
    that is worth keeping, if anything is; `among_many`: it stands in a long turn."""

    text: str
    own: str
    reading: Reading
    clause: str
    language: str
    among_many: bool

    @property
    def asked(self) -> bool:
        return _is_question(self.own)

    def quotes(self, words: str) -> bool:
        """Whether these words stand between quotation marks in it: somebody else's, or only mentioned."""
        words = words.strip(" .")
        start = self.text.find(words)
        if start < 0:
            found = re.search(re.escape(words), self.text, re.IGNORECASE)
            start = found.start() if found else -1
        return start >= 0 and not any(sign.isalnum() for sign in self.own[start : start + len(words)])


class Speech:
    """The turns of people in a session, by number; those in which they play a part are empty."""

    def __init__(self, session: Session) -> None:
        people = [one for one in session.turns if one.role == "user" and one.noise is None and one.origin in _PEOPLE]
        self.played = in_play(session)
        self.turns = {turn.number: turn.text[self.played.get(turn.number, 0) :] for turn in people}
        self._main = detect_language(" ".join(turn.text[:200] for turn in people[:20]))
        self._read: dict[int, list[Span]] = {}

    def of(self, number: int) -> list[Span]:
        """All sentences of the person's own in a turn."""
        if number not in self._read:
            text = self.turns.get(number, "").strip()
            said = _said(edges(heard(text)), self._main) if text else ()
            self._read[number] = [one for one in said if one.text in text and one.clause in text]
        return self._read[number]


class Spans:
    """Reads each turn once, when it is asked for, and remembers it for as long as this object lives."""

    def __init__(self) -> None:
        self._speech: dict[tuple[str, int, int], Speech] = {}

    def at(self, session: Session, number: int, words: str) -> list[Span]:
        """The sentences of a turn that hold these words or a part of them. None: they are not the person's own."""
        return [one for one in self.of(session, number) if _overlap(one.text, words) and not one.quotes(words)]

    def of(self, session: Session, number: int) -> list[Span]:
        return self._of(session).of(number)

    def plays_a_part(self, session: Session, number: int) -> bool:
        """Whether all of the turn belongs to a game or a piece of fiction."""
        speech = self._of(session)
        return number in speech.played and not speech.turns.get(number, "").strip()

    def _of(self, session: Session) -> Speech:
        key = (session.id, session.revision, len(session.turns))
        if key not in self._speech:
            self._speech[key] = Speech(session)
        return self._speech[key]


@lru_cache(maxsize=4_096)  # turns: a night reads each of them twice, once to notice and once to verify
def _said(text: str, main: str) -> tuple[Span, ...]:
    """The sentences of the person's own words in a text, as the tagger reads them."""
    by_hand = typed(text)
    own, tagged = veiled(by_hand), tag_sentences([by_hand])[0]
    language, many = detect_language(own, main), len(own.strip()) > MANY

    def read() -> Iterator[Span]:
        for start, end in sentences(own, by_hand):
            reading = _read(tagged, text[start:end], start, many)
            if language == UNKNOWN:
                reading = replace(reading, doubt=0.0, others=0.0)  # it has not learned that one
            yield Span(text[start:end], own[start:end], reading, _clause(text, start, end, reading), language, many)

    return tuple(read())


def _read(tagged: Tagged, sentence: str, start: int, among_many: bool) -> Reading:
    """Among many words a sentence is also read by itself, so that they do not drown it. What the person asks to be
    remembered is to be kept, whatever it is; so is what they say to hold from now on. Neither makes it their own."""
    end = start + len(sentence)
    reading = tagged.between(start, end)
    if among_many:
        alone = read_alone(sentence)
        both = (alone.keep, reading.keep), (alone.doubt, reading.doubt), (alone.others, reading.others)
        keep, doubt, others = (round(sum(one) / 2, 4) for one in both)
        surer = replace(alone, start=alone.start + start, end=alone.end + start)
        reading = replace(surer if alone.keep >= reading.keep else reading, keep=keep, doubt=doubt, others=others)
    least = REMEMBERED if asked_to_remember(sentence) else LASTING if _from_now_on(sentence) else 0.0
    return reading if reading.keep >= least else replace(reading, keep=least, doubt=0.0, start=start, end=end)


def is_to_last(sentence: str) -> bool:
    """Whether the person says in so many words that it is to be remembered, or holds from now on."""
    return asked_to_remember(sentence) or _from_now_on(sentence)


def _from_now_on(sentence: str) -> bool:
    return not _is_question(sentence) and expression("from_now_on").search(lowered(sentence)) is not None


def _is_question(sentence: str) -> bool:
    return sentence.rstrip("\"'”’»)] ").endswith(("?", "？"))


@lru_cache(maxsize=4_096)
def read_alone(sentence: str) -> Reading:
    """A sentence without those beside it."""
    return tag_sentences([sentence])[0].between(0, len(sentence))


def _clause(text: str, start: int, end: int, reading: Reading) -> str:
    """The words worth keeping, from where their clause begins to where it ends; of a procedure the whole sentence. What
    such words announce belongs to them: "this is how we do a batch: …", to the end of the line."""
    breaks = [start, end]
    for found in _BREAK.finditer(text, start, end):
        before, after = found[0][-1], text[found.end() : found.end() + 1]
        if not (before in ",:" and after.isalnum() and after.isascii()):  # as in "10:30" and "3,5"
            breaks += [found.start(), found.end()]
    first = max((place for place in breaks if place <= reading.start), default=start)
    last = min((place for place in breaks if place >= reading.end), default=end)
    if last < end and not text[last:end].strip(" .!?…\"'”’»)"):
        last = end
    if reading.kind in STEPS:
        announced = text[reading.end : end].find(":") >= 0
        line = text.find("\n", end) if "\n" in text[end:] else len(text)
        first = start if reading.kind == "procedure" else first
        last = line if announced and line - first <= MOST_ANNOUNCED else end
    return text[first:last].strip(" ,;:–—-")


def _overlap(sentence: str, words: str) -> bool:
    one, other = (" ".join(text.split()).rstrip(" .!?…") for text in (sentence, words))
    if one in other or other in one:
        return True
    part = max(12, len(other) // 3)  # words that begin in one sentence and end in another touch both
    return len(other) > 24 and (other[:part] in one or other[-part:] in one)
