"""Light's reading of the very words somebody quotes: the sentences they stand in."""

from __future__ import annotations

import re
from dataclasses import dataclass

from reverie.light.games import in_play
from reverie.light.speech import spoken
from reverie.light.tagger import Reading
from reverie.sessions.session import Session


@dataclass(frozen=True, slots=True)
class Span:
    """A sentence of a person as Light reads it. `own` is the same with veiled quotations."""

    text: str
    own: str
    reading: Reading

    @property
    def asked(self) -> bool:
        return self.text.rstrip("\"'”’»)] ").endswith(("?", "？"))

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
            self._read[key] = {
                turn.number: [Span(one.sentence.text, one.sentence.own, one.reading) for one in turn.said]
                for turn in spoken(session)
            }
        return self._read[key].get(number, [])

    def plays_a_part(self, session: Session, number: int) -> bool:
        """Whether the turn belongs to a game or a piece of fiction."""
        key = (session.id, session.revision, len(session.turns))
        if key not in self._played:
            self._played[key] = in_play(session)
        return number in self._played[key]


def _overlap(sentence: str, words: str) -> bool:
    one, other = " ".join(sentence.split()), " ".join(words.split())
    return one in other or other in one or _shared_run(one, other)


def _shared_run(one: str, other: str) -> bool:
    """Words that begin in one sentence and end in another touch both."""
    tail = other[: max(12, len(other) // 3)]
    return len(other) > 24 and (one.endswith(tail) or tail in one or other[-max(12, len(other) // 3) :] in one)
