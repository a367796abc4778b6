"""Light's reading of the very words somebody quotes: the sentences they stand in."""

from __future__ import annotations

import re
from dataclasses import dataclass

from reverie.dreams.light.tagged_sentences import Speech
from reverie.dreams.light.tagger import Reading
from reverie.transcripts.session import Session


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
        words = words.strip(" .")
        start = self.text.find(words)
        if start < 0:
            found = re.search(re.escape(words), self.text, re.IGNORECASE)
            start = found.start() if found else -1
        return start >= 0 and not any(sign.isalnum() for sign in self.own[start : start + len(words)])


class Spans:
    """Reads each turn once, when it is asked for, and remembers it for as long as this object lives."""

    def __init__(self) -> None:
        self._speech: dict[tuple[str, int, int], Speech] = {}
        self._read: dict[tuple[str, int, int, int], list[Span]] = {}

    def at(self, session: Session, number: int, words: str) -> list[Span]:
        """The sentences of a turn that hold these words or a part of them. None: they are not the person's own."""
        return [one for one in self.of(session, number) if _overlap(one.text, words) and not one.quotes(words)]

    def of(self, session: Session, number: int) -> list[Span]:
        """All sentences of the person's own in a turn."""
        key = (session.id, session.revision, len(session.turns), number)
        if key not in self._read:
            speech = self._of(session)
            read = speech.read([number] if number in speech.turns else [])
            self._read[key] = [
                Span(one.sentence.text, one.sentence.own, one.reading) for each in read for one in each.said
            ]
        return self._read[key]

    def plays_a_part(self, session: Session, number: int) -> bool:
        """Whether the turn belongs to a game or a piece of fiction."""
        return number in self._of(session).played

    def _of(self, session: Session) -> Speech:
        key = (session.id, session.revision, len(session.turns))
        if key not in self._speech:
            self._speech[key] = Speech(session)
        return self._speech[key]


def _overlap(sentence: str, words: str) -> bool:
    one, other = " ".join(sentence.split()), " ".join(words.split())
    return one in other or other in one or _shared_run(one, other)


def _shared_run(one: str, other: str) -> bool:
    """Words that begin in one sentence and end in another touch both."""
    tail = other[: max(12, len(other) // 3)]
    return len(other) > 24 and (one.endswith(tail) or tail in one or other[-max(12, len(other) // 3) :] in one)
