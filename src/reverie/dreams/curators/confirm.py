"""What makes the built-in curator sure: the person says the same again in another session.

Said again is what names the value that an entry would get, or what the network that compares statements takes for the
same, read either way. A sentence by itself can be a joke, a plan or another one's wish, however plain it looks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from reverie.dreams import words
from reverie.dreams.brief.gather import Material
from reverie.dreams.items import Citation
from reverie.dreams.light.candidate import Noted
from reverie.dreams.light.spans import Span, Spans
from reverie.dreams.verify.case import ASSERTED, WANTED
from reverie.text.relation import RelationKind, chances_of

SAME = 0.8  # the chance that two statements say the same or one of them more, the mean of both ways of reading them
SOMEBODY_ELSES = 0.5
MOST_COMPARED = 24  # sentences that share a word with what was said


def confirmed(said: Noted, text: str, old: str, material: Material) -> list[Citation]:
    """Where the same person says in another session what `said` says, and `text` would say in the place of `old`."""
    values = [one for one in words.missing(words.values(text), [old]) if len(one) > 1 and one not in old] if old else []
    about, spans = words.stems(f"{said.words} {text}"), Spans()
    near = ((place, span) for place, span in _elsewhere(said, material, spans) if _is_near(span, about, values))
    return [
        Citation(short, number, span.text)
        for (short, number), span in islice(near, MOST_COMPARED)
        if _names(values, span, old, text) or _says_the_same(said, span)
    ]


def _elsewhere(said: Noted, material: Material, spans: Spans) -> Iterator[tuple[tuple[str, int], Span]]:
    """What this person said in the other sessions, as their own."""
    for short, session in material.sessions.items():
        if session.id == said.session_id or session.head.user != said.speaker:
            continue
        for turn in session.turns:
            if turn.role == "user" and turn.noise is None and turn.origin is said.origin:
                yield from (((short, turn.number), span) for span in spans.of(session, turn.number))


def _is_near(span: Span, about: Sequence[str] | frozenset[str], values: Sequence[str]) -> bool:
    own = span.reading.others < SOMEBODY_ELSES
    return own and (bool(words.stems(span.own) & set(about)) or any(words.stands_in(one, span.own) for one in values))


def _names(values: Sequence[str], span: Span, old: str, text: str) -> bool:
    """It names what is new; a “not” there is about what goes."""
    gone = words.missing(words.values(old), [text])
    denied = words.negated(span.own) and not any(words.stands_in(one, span.own) for one in gone)
    return not denied and any(words.stands_in(one, span.own) for one in values)


def _says_the_same(said: Noted, span: Span) -> bool:
    if span.asked or span.reading.keep < ASSERTED or not said.marks & WANTED:
        return False
    if words.missing(words.values(span.own), [said.words]):  # "1 row more" is not "2 rows more"
        return False
    ways = ((said.words, span.text), (span.text, said.words))
    same = [chances_of(*way) for way in ways]
    return sum(one.get(kind, 0.0) for one in same for kind in (RelationKind.SAME, RelationKind.REFINES)) / 2 >= SAME
