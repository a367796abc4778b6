"""The built-in reader: what in a Session may be worth keeping. Deterministic, linear in the text, no writes."""

from __future__ import annotations

from collections.abc import Iterator

from reverie.dreams.light.candidate import About, Candidate, Kind
from reverie.dreams.light.dates import dates_in
from reverie.dreams.light.language_detection import plain, speaks_of_self
from reverie.dreams.light.lessons import lessons
from reverie.dreams.light.repeated_requests import recurring
from reverie.dreams.light.same_topic import Echoes, subjects
from reverie.dreams.light.tagged_sentences import Heard, Spoken, spoken
from reverie.transcripts.session import Evidence, Session, quote

NOTICED = 0.12  # from where something is worth a look; set on authors held out of the training
MOST_PER_TURN = 4
REPLACED = 0.4  # how much of a change an earlier turn must speak of to count as what it changes
_LONG_AGO = 100  # turns; further back nothing is looked for, so that a long session stays linear
_FEWEST_WORDS = 2
_CHANGES = ("update", "correction", "contradiction")
_REQUESTS = ("one_off", "command")
_KINDS = {
    "fact": Kind.PROJECT_FACT,
    "instruction": Kind.PROJECT_DECISION,
    "preference": Kind.USER_PREFERENCE,
    "update": Kind.SUPERSESSION_SIGNAL,
    "correction": Kind.CORRECTION,
    "decision": Kind.PROJECT_DECISION,
    "contradiction": Kind.CORRECTION,
    "lesson": Kind.PROJECT_FACT,
    "procedure": Kind.RECURRING_WORKFLOW,
}


def notice(session: Session) -> list[Candidate]:
    """Candidates in the order of the turns they rest on."""
    people = spoken(session)
    echoes = Echoes({turn.number: turn.own for turn in people})
    found = [one for place in range(len(people)) for one in _told(session, people, place, echoes)]
    found += recurring(session, _requests(people), people[0].language if people else "und")
    found += lessons(session)
    return sorted(found, key=lambda candidate: candidate.first_turn)


def _told(session: Session, people: list[Heard], place: int, echoes: Echoes) -> Iterator[Candidate]:
    turn = people[place]
    kept = [one for one in turn.said if one.reading.keep >= NOTICED and not one.sentence.asked and _says_enough(one)]
    strongest = sorted(kept, key=lambda one: -one.reading.keep)[:MOST_PER_TURN]
    for one in sorted(strongest, key=lambda each: each.sentence.start):
        earlier = _overtaken(session, people, place, one, echoes) if one.reading.kind in _CHANGES else []
        yield _candidate(session, turn, one, earlier)


def _says_enough(one: Spoken) -> bool:
    return len(one.clause.split()) >= _FEWEST_WORDS or not one.clause.isascii()


def _candidate(session: Session, turn: Heard, one: Spoken, earlier: list[Evidence]) -> Candidate:
    kind, about = kind_and_subject(one.reading.kind, one.clause, turn.language)
    dates = dates_in(plain(one.clause), turn.said_on)
    return Candidate(
        kind=kind,
        text=one.clause,
        confidence=one.reading.keep,
        explicitness=one.reading.keep,
        evidence=(quote(session, turn.number, one.clause), *earlier),
        about=about,
        language=turn.language,
        dates=tuple(dict.fromkeys(spoken.day for spoken in dates)),
        marks=(one.reading.kind,),
    )


def kind_and_subject(kind: str, words: str, language: str) -> tuple[Kind, About]:
    """What a candidate is called, and whom it is about: a wish or a fact of someone's own is about the person."""
    of_self = speaks_of_self(words, language)
    named = Kind.USER_PREFERENCE if kind == "instruction" and of_self else _KINDS[kind]
    own = named is Kind.USER_PREFERENCE or (of_self and kind in ("fact", "contradiction"))
    return named, "person" if own else "world"


def _overtaken(session: Session, people: list[Heard], place: int, one: Spoken, echoes: Echoes) -> list[Evidence]:
    """As context: what was said before and no longer holds."""
    earlier = [turn.number for turn in people[max(0, place - _LONG_AGO) : place]]
    valued, nearest = echoes.valued(one.sentence.own, earlier), echoes.nearest(one.clause, earlier, REPLACED)
    numbers = {number for number in (valued, nearest) if number}
    return [_closest(session, turn, one.clause) for turn in people[:place] if turn.number in numbers and turn.said]


def _closest(session: Session, turn: Heard, text: str) -> Evidence:
    words = subjects(text)
    closest = max(turn.said, key=lambda one: len(words & subjects(one.sentence.own)))
    return quote(session, turn.number, closest.sentence.text, "context")


def _requests(people: list[Heard]) -> dict[int, str]:
    """The last task each turn sets, if it sets one."""
    return {
        turn.number: one.sentence.text
        for turn in people
        for one in turn.said
        if one.reading.keep < NOTICED and one.reading.why in _REQUESTS and not one.sentence.asked
    }
