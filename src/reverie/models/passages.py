"""The few passages of a Session a model gets to see: what the built-in reader noticed, and what stands beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from reverie.models.covering import Cover
from reverie.models.using import SHARE
from reverie.sessions.session import Evidence, Turn

_LONGEST_SENTENCE = 400
# A full stop inside a word ends nothing: versions, addresses and stand-ins stay whole. A sentence has the white space
# behind it, so that neighbours put together are the text again.
_SENTENCE = re.compile(rf"(?:[^\n.!?。！？]|[.!?](?!\s|$)){{1,{_LONGEST_SENTENCE}}}[.!?。！？]*\s*|\S\s*")


@dataclass(frozen=True, slots=True)
class Passage:
    """Covered words of one turn, as they are sent."""

    turn: int
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class _Sentence:
    turn: int
    place: int
    text: str
    rank: int


# How much a sentence is wanted, the lowest first.
_NOTICED, _BESIDE, _SAME_TURN, _ANSWERED, _PERSON = range(5)


def salient(cover: Cover, noticed: Iterable[Evidence], share: float = SHARE) -> tuple[Passage, ...]:
    """At most this share of the transcript's characters: what was noticed first, then its surroundings.

    What is left goes to other things people said, so that a language the built-in reader has no cues for is read, too.
    """
    room = int(cover.session.characters * share)
    chosen: list[_Sentence] = []
    for sentence in sorted(_ranked(cover, noticed), key=lambda one: (one.rank, one.turn, one.place)):
        if len(sentence.text) <= room:
            room -= len(sentence.text)
            chosen.append(sentence)
    return tuple(_passages(cover, chosen))


def _ranked(cover: Cover, noticed: Iterable[Evidence]) -> Iterator[_Sentence]:
    quotes: dict[int, list[str]] = {}
    for evidence in noticed:
        quotes.setdefault(evidence.turn, []).append(cover.hidden(evidence.quote))
    for turn in cover.session.turns:
        if turn.number in quotes:
            yield from _of_noticed(turn.number, cover.words(turn.number), quotes[turn.number])
        elif turn.role == "user":
            yield from _edges(cover, turn, _PERSON)
        elif turn.role == "assistant" and turn.number + 1 in quotes:
            yield from _edges(cover, turn, _ANSWERED)


def _of_noticed(number: int, words: str, quotes: list[str]) -> Iterator[_Sentence]:
    spans = _spans(words)
    quoted = [(start, start + len(quote)) for quote in quotes if (start := words.find(quote)) >= 0]
    meant = {place for place, span in enumerate(spans) if any(_meet(span, one) for one in quoted)}
    for place, (start, end) in enumerate(spans):
        beside = not quoted or {place - 1, place + 1} & meant
        rank = _NOTICED if place in meant else _BESIDE if beside else _SAME_TURN
        yield _Sentence(number, place, words[start:end], rank)


def _edges(cover: Cover, turn: Turn, rank: int) -> Iterator[_Sentence]:
    """The first and the last sentence: there people say what they want, and agents ask."""
    words = cover.words(turn.number)
    spans = _spans(words)
    for place in sorted({0, len(spans) - 1} if spans else ()):
        start, end = spans[place]
        yield _Sentence(turn.number, place, words[start:end], rank)


def _spans(words: str) -> list[tuple[int, int]]:
    return [found.span() for found in _SENTENCE.finditer(words) if found[0].strip()]


def _meet(one: tuple[int, int], two: tuple[int, int]) -> bool:
    return one[0] < two[1] and two[0] < one[1]


def _passages(cover: Cover, chosen: list[_Sentence]) -> Iterator[Passage]:
    """Sentences that follow each other become one passage, in the order of the conversation."""
    together: list[_Sentence] = []
    for sentence in sorted(chosen, key=lambda one: (one.turn, one.place)):
        if together and (sentence.turn, sentence.place) != (together[-1].turn, together[-1].place + 1):
            yield _passage(cover, together)
            together = []
        together.append(sentence)
    if together:
        yield _passage(cover, together)


def _passage(cover: Cover, sentences: list[_Sentence]) -> Passage:
    number = sentences[0].turn
    return Passage(number, cover.session.turn(number).role, "".join(one.text for one in sentences).strip())
