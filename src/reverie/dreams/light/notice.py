"""The built-in reader: what in a Session may be worth keeping. Deterministic, linear in the text, no writes.

`notice` is the way in for people who hold no Home: from a session dict to its Candidates.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reverie.dreams.light.candidate import About, Candidate, Kind
from reverie.dreams.light.language import dates_in, lowered, speaks_of_self
from reverie.dreams.light.spans import Span, Speech
from reverie.dreams.light.tool_use import lessons
from reverie.transcripts.messages import plain_events
from reverie.transcripts.readers import Intake
from reverie.transcripts.session import Session, Turn, quote

# From where something is worth a look, in a short turn, among many words, and in a question: "could you put the total
# first? always"; set on turns not trained on.
NOTICED, NOTICED_AMONG_MANY, NOTICED_IN_QUESTION = 0.05, 0.2, 0.8
MOST_PER_TURN = 4
_FEWEST_WORDS = 2
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


def notice_candidates(session: Session) -> list[Candidate]:
    """Candidates in the order of the turns they rest on."""
    speech = Speech(session)
    found = [one for number in speech.turns for one in _told(session, session.turn(number), speech)]
    return sorted([*found, *lessons(session)], key=lambda candidate: candidate.first_turn)


def _told(session: Session, turn: Turn, speech: Speech) -> Iterator[Candidate]:
    at = turn.at or session.head.started_at
    kept = list[Span]()
    for one in speech.of(turn.number):
        says_enough = len(one.clause.split()) >= _FEWEST_WORDS or not one.clause.isascii()
        least = NOTICED_IN_QUESTION if one.asked else NOTICED_AMONG_MANY if one.among_many else NOTICED
        known = any(one.clause in other.clause for other in kept)
        if says_enough and one.reading.keep >= least and not known:
            kept.append(one)
    strongest = sorted(kept, key=lambda one: -one.reading.keep)[:MOST_PER_TURN]
    for one in (one for one in kept if one in strongest):
        kind, about = kind_and_subject(one.reading.kind, one.clause, one.language)
        dates = dates_in(lowered(one.clause), at.date() if at else None)
        yield Candidate(
            kind=kind,
            text=one.clause,
            confidence=one.reading.keep,
            explicitness=round(one.reading.keep * (1 - one.reading.doubt), 4),
            evidence=(quote(session, turn.number, one.clause),),
            about=about,
            language=one.language,
            dates=tuple(dict.fromkeys(spoken.day for spoken in dates)),
            marks=(one.reading.kind,),
        )


def kind_and_subject(kind: str, words: str, language: str) -> tuple[Kind, About]:
    """The kind of a candidate, and its subject: a wish or a fact of someone's own is about the person."""
    of_self = speaks_of_self(words, language)
    named = Kind.USER_PREFERENCE if kind == "instruction" and of_self else _KINDS[kind]
    own = named is Kind.USER_PREFERENCE or (of_self and kind in ("fact", "contradiction"))
    return named, "person" if own else "world"


NOBODY = "owner"


def notice(session: Mapping[str, Any]) -> list[Candidate]:
    """Candidates of `{"id", "user", "messages": [...]}`. The session's user counts as the owner.

    Nothing is redacted: nothing is stored, and the words come back to the one who handed them in.
    Raises `NotATranscript` when it is not a session.
    """
    owner = str(session.get("user") or session.get("user_id") or NOBODY)
    intake = Intake(owner, lambda text: (text, {}))
    reading = next(intake.sessions(plain_events(session)))
    turns = tuple(reading.turns())
    return notice_candidates(Session(reading.head, turns))
