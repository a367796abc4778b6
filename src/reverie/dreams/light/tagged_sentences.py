"""What people say in a session, sentence by sentence, as the tagger reads it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache

from reverie.core.origin import Origin
from reverie.dreams.light.language_detection import UNKNOWN, language_of, plain
from reverie.dreams.light.pasted_text import edges, typed, veiled
from reverie.dreams.light.phrases import phrase
from reverie.dreams.light.role_play import in_play
from reverie.dreams.light.sentences import Sentence, sentences
from reverie.dreams.light.tagger import Reading, Tagged, tag
from reverie.safety.sensitive import asked_to_remember
from reverie.transcripts.noise import heard
from reverie.transcripts.session import Session, Turn

REMEMBERED, LASTING = 0.97, 0.7
MANY = 150  # characters of a turn
_PEOPLE = (Origin.OWNER, Origin.MEMBER)  # a tool's words in a person's message have Origin tool and are left out
# Where a clause may begin and end; what is worth keeping is quoted from one such place to another.
_BREAK = re.compile(r"[,;:.!?…、。，；：！？]+[\"'”’»)]*\s*|\s[–—-]\s|\s*[()]\s*")


@dataclass(frozen=True, slots=True)
class Spoken:
    """A sentence with the tagger's reading of it. `clause` is the part of it that is worth keeping, if anything is."""

    sentence: Sentence
    reading: Reading
    clause: str


@dataclass(frozen=True, slots=True)
class Heard:
    """A person's turn: their own words in it, sentence by sentence."""

    number: int
    own: str
    language: str
    said: tuple[Spoken, ...]
    said_on: date | None


def spoken(session: Session) -> list[Heard]:
    """The turns of people, without those in which they play a part."""
    speech = Speech(session)
    return speech.read(list(speech.turns))


class Speech:
    """The turns of people in a session, by number; what concerns all of them is looked at once."""

    def __init__(self, session: Session) -> None:
        people = [one for one in session.turns if one.role == "user" and one.noise is None and one.origin in _PEOPLE]
        self.session = session
        self.played = in_play(session)
        self.turns = {turn.number: turn for turn in people if turn.number not in self.played}
        self._main = language_of(" ".join(turn.text[:200] for turn in people[:20]))

    def read(self, numbers: Sequence[int]) -> list[Heard]:
        return [self._heard(self.turns[one]) for one in numbers]

    def _heard(self, turn: Turn) -> Heard:
        at = turn.at or self.session.head.started_at
        own, language, said = _said(edges(heard(turn.text)), self._main)
        verbatim = tuple(one for one in said if one.sentence.text in turn.text)
        return Heard(turn.number, own, language, verbatim, at.date() if at else None)


@lru_cache(maxsize=4_096)  # turns: a night reads each of them twice, once to notice and once to verify
def _said(text: str, main: str) -> tuple[str, str, tuple[Spoken, ...]]:
    """The person's own words in a text, their language, and their sentences as the tagger reads them."""
    by_hand = typed(text)
    own, tagged = veiled(by_hand), tag([by_hand])[0]
    language, many = language_of(own, main), len(own.strip()) > MANY
    read = [(one, _read(tagged, one, many, language)) for one in sentences(text, own, by_hand)]
    return own, language, tuple(Spoken(one, reading, _clause(text, one, reading)) for one, reading in read)


def _read(tagged: Tagged, sentence: Sentence, among_many: bool, language: str) -> Reading:
    """Among many words a sentence is also read by itself, so that they do not drown it. What the person asks to be
    remembered is to be kept, whatever it is; so is what they say to hold from now on. In a language the tagger has not
    learned, its doubts say nothing."""
    reading = tagged.between(sentence.start, sentence.start + len(sentence.text))
    if among_many:
        alone = _alone(sentence.text)
        surer = max(alone, reading, key=lambda one: one.keep)
        start, end = (
            (surer.start + sentence.start, surer.end + sentence.start) if surer is alone else (surer.start, surer.end)
        )
        keep, doubt = ((getattr(alone, name) + getattr(reading, name)) / 2 for name in ("keep", "doubt"))
        reading = replace(surer, keep=round(keep, 4), doubt=round(doubt, 4), start=start, end=end)
    reading = replace(reading, doubt=0.0) if language == UNKNOWN else reading
    least = REMEMBERED if asked_to_remember(sentence.text) else LASTING if _from_now_on(sentence) else 0.0
    if reading.keep >= least:
        return reading
    return replace(reading, keep=least, doubt=0.0, start=sentence.start, end=sentence.start + len(sentence.text))


@lru_cache(maxsize=4_096)
def _alone(sentence: str) -> Reading:
    return tag([sentence])[0].between(0, len(sentence))


def _from_now_on(sentence: Sentence) -> bool:
    return not sentence.asked and phrase("from_now_on").search(plain(sentence.own)) is not None


def _clause(text: str, sentence: Sentence, reading: Reading) -> str:
    """The words worth keeping, from where their clause begins to where it ends."""
    start, end = sentence.start, sentence.start + len(sentence.text)
    breaks = [start, end]
    for found in _BREAK.finditer(text, start, end):
        before, after = found[0][-1], text[found.end() : found.end() + 1]
        if not (before in ".,:" and after.isalnum() and after.isascii()):  # as in "10:30", "3.5" and "e.g"
            breaks += [found.start(), found.end()]
    first = max((place for place in breaks if place <= reading.start), default=start)
    last = min((place for place in breaks if place >= reading.end), default=end)
    if last < end and not text[last:end].strip(" .!?…\"'”’»)"):
        last = end
    return text[first:last].strip(" ,;:–—-")
