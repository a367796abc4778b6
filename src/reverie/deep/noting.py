"""What Deep is given of a session: Light's candidates, and what only means something beside them.

A person who takes a wish back says nothing worth keeping, and a person who explains how something is done, step by
step, says nothing that fits a line; both matter once they meet what was said elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from reverie.deep.material import Noted
from reverie.deep.vocabulary import pattern, plain
from reverie.kernel.origin import Origin
from reverie.light.candidate import MAX_WORDING, Candidate, Kind
from reverie.light.games import in_play
from reverie.light.notice import notice
from reverie.light.regions import edges, own_words
from reverie.light.sentences import Sentence, sentences
from reverie.light.tongues import language_of
from reverie.sessions.noise import heard
from reverie.sessions.session import Session, Turn, quote

TAKES_BACK, TELLS_STEPS = "takes something back", "tells a procedure"
_PEOPLE = (Origin.OWNER, Origin.MEMBER)


def noted(session: Session, user: str, new_id: Callable[[], str]) -> list[Noted]:
    """Everything in the session that may matter, each with whose words it is and when they were said."""
    found = notice(session)
    seen = {(one.first_turn, one.evidence[0].quote) for one in found}
    found += [one for one in _beside(session) if (one.first_turn, one.evidence[0].quote) not in seen]
    found.sort(key=lambda one: one.first_turn)
    return [_noted(session, user, one, new_id()) for one in found]


def _noted(session: Session, user: str, candidate: Candidate, name: str) -> Noted:
    turn = session.turn(candidate.first_turn)
    return Noted(name, candidate, session.id, _speaker(turn, user, candidate), turn.at or session.head.started_at)


def _speaker(turn: Turn, user: str, candidate: Candidate) -> str | None:
    """The person whose words they are: the one the turn names, if it is not the one whose session it is."""
    if candidate.origin is Origin.OWNER:
        return user
    return (turn.said.name or user) if candidate.origin is Origin.MEMBER else None


def _beside(session: Session) -> Iterator[Candidate]:
    turns = [turn for turn in session.turns if turn.role == "user" and turn.noise is None and turn.origin in _PEOPLE]
    playing = in_play((turn.number, turn.text) for turn in turns)
    for turn in turns:
        text = edges(heard(turn.text))
        for sentence in sentences(text, own_words(text)) if turn.number not in playing else ():
            if sentence.text in turn.text and (kind := _kind(sentence)):
                yield _candidate(session, turn, sentence, *kind)


def _kind(sentence: Sentence) -> tuple[Kind, str] | None:
    words = plain(sentence.own)
    if sentence.asked:
        return None
    if pattern("retracts").search(words):
        return Kind.CORRECTION, TAKES_BACK
    return (Kind.RECURRING_WORKFLOW, TELLS_STEPS) if pattern("steps").search(words) else None


def _candidate(session: Session, turn: Turn, sentence: Sentence, kind: Kind, mark: str) -> Candidate:
    evidence = (quote(session, turn.number, sentence.text),)
    language = language_of(sentence.own)
    return Candidate(kind, sentence.text.strip()[:MAX_WORDING], 0.6, 0.6, evidence, "world", language, marks=(mark,))
