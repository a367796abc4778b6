"""Light's reading of the very words somebody quotes: which marks the sentence bears that they stand in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from reverie.light.games import in_play
from reverie.light.marks import Mark
from reverie.light.notice import Heard, spoken, weighed_sentences
from reverie.light.tongues import tongue
from reverie.light.weighing import Weighed
from reverie.sessions.session import Session


@dataclass(frozen=True, slots=True)
class Span:
    """A sentence of a person as Light reads it. `own` says that they said it themselves: it is not pasted or quoted."""

    text: str
    own: str
    marks: frozenset[Mark]
    confidence: float
    kept: bool

    def quotes(self, words: str) -> bool:
        """Whether these words stand between quotation marks in it: somebody else's, or only mentioned."""
        found = re.search(re.escape(words.strip(" .")), self.text, re.IGNORECASE)
        return found is not None and not any(sign.isalnum() for sign in self.own[found.start() : found.end()])


class Spans:
    """Reads each session once, for as long as this object lives."""

    def __init__(self) -> None:
        self._read: dict[tuple[str, int, int], dict[int, list[Span]]] = {}
        self._played: dict[tuple[str, int, int], frozenset[int]] = {}

    def at(self, session: Session, number: int, words: str) -> list[Span]:
        """The sentences of a turn that hold these words or a part of them. None: they are not the person's own."""
        return [one for one in self.of(session, number) if _overlap(one.text, words) and not one.quotes(words)]

    def of(self, session: Session, number: int) -> list[Span]:
        """All sentences of the person's own in a turn."""
        key = (session.id, session.revision, len(session.turns))
        if key not in self._read:
            heard = spoken(session)
            self._read[key] = {turn.number: list(_of_turn(session, heard, place)) for place, turn in enumerate(heard)}
        return self._read[key].get(number, [])

    def plays_a_part(self, session: Session, number: int) -> bool:
        """Whether the turn belongs to a game or a piece of fiction."""
        key = (session.id, session.revision, len(session.turns))
        if key not in self._played:
            self._played[key] = in_play(session)
        return number in self._played[key]


def _of_turn(session: Session, heard: list[Heard], place: int) -> Iterator[Span]:
    turn = heard[place]
    voice = tongue(turn.language)
    if voice is None:
        yield from (Span(one.text, one.own, frozenset(), 0.0, False) for one in turn.sentences)
        return
    before = heard[place - 1] if place else None
    found = {id(one.sentence): one for one in weighed_sentences(session, turn, voice, before)}
    for sentence in turn.sentences:
        yield _span(sentence.text, sentence.own, found.get(id(sentence)))


def _span(text: str, own: str, weighed: Weighed | None) -> Span:
    if weighed is None:  # a sentence that only says that another one holds in general
        return Span(text, own, frozenset({Mark.STANDING}), 0.5, False)
    return Span(text, own, frozenset(weighed.marks), weighed.confidence, weighed.kept)


def _overlap(sentence: str, words: str) -> bool:
    one, other = " ".join(sentence.split()), " ".join(words.split())
    return one in other or other in one or _shared_run(one, other)


def _shared_run(one: str, other: str) -> bool:
    """Words that begin in one sentence and end in another touch both."""
    tail = other[: max(12, len(other) // 3)]
    return len(other) > 24 and (one.endswith(tail) or tail in one or other[-max(12, len(other) // 3) :] in one)
