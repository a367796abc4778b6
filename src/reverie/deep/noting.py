"""What Deep is given of a session: Light's candidates, and what only means something beside them.

A person who takes a wish back says nothing worth keeping; one who explains step by step how something is done says
nothing that fits a line; one who mentions how things are now says nothing new, unless memory says otherwise. All of
it matters once it meets what was said elsewhere or what is known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from reverie.deep.material import AGAIN, BESIDE, Noted
from reverie.deep.vocabulary import pattern, patterns, plain
from reverie.kernel.origin import Origin
from reverie.light.candidate import MAX_WORDING, Candidate, Kind
from reverie.light.games import in_play
from reverie.light.marks import Mark
from reverie.light.notice import notice
from reverie.light.regions import edges, own_words
from reverie.light.routines import routines
from reverie.light.sentences import Sentence, sentences
from reverie.light.tongues import language_of, tongue
from reverie.light.weighing import Setting, weigh
from reverie.sessions.noise import heard
from reverie.sessions.session import Session, Turn, quote

TAKES_BACK, TELLS_STEPS, NOT_MEANT = "takes something back", "tells a procedure", "was not meant"
PLANTED = "asks on a page to be remembered"
_READ = 20_000
_A_FEW, _MOST_AGAIN = 4, 60
_DOUBTS = frozenset({
    Mark.QUESTION, Mark.SUPPOSED, Mark.HEDGED, Mark.DOUBTED, Mark.OTHERS, Mark.INTENT, Mark.PASSING, Mark.REACTION,
    Mark.THIS_ONE, Mark.VIEW,
})  # fmt: skip
_SOON = 200
_CHANGE = (BESIDE, Mark.CHANGED, Mark.STATE)
_PEOPLE = (Origin.OWNER, Origin.MEMBER)


Widen = Callable[[Sequence[Candidate]], Iterable[Candidate]]


def noted(session: Session, user: str, new_id: Callable[[], str], widen: Widen = lambda _: ()) -> list[Noted]:
    """Everything in the session that may matter, each with whose words it is and when they were said.

    `widen` may add what someone else notices besides what Light did."""
    found = notice(session)
    found += widen(found)
    seen = {(one.first_turn, one.evidence[0].quote) for one in found}
    found += [one for one in _beside(session) if (one.first_turn, one.evidence[0].quote) not in seen]
    found += [*_planted(session), *routines(session)]
    seen |= {(one.first_turn, one.evidence[0].quote) for one in found}
    found += [one for one in _again(session) if (one.first_turn, one.evidence[0].quote) not in seen]
    found.sort(key=lambda one: one.first_turn)
    return [_noted(session, user, _marked(session, one), new_id()) for one in found]


def _planted(session: Session) -> Iterator[Candidate]:
    """Text of a tool that asks to be remembered: noted so that it can be told, never kept."""
    for turn in session.turns:
        if turn.role != "tool" or turn.noise is not None:
            continue
        text = turn.text[:_READ]
        asked = pattern("planted").search(plain(text))
        if asked and (words := text[slice(*asked.span())].strip()):
            evidence = (quote(session, turn.number, words),)
            yield Candidate(Kind.PROJECT_FACT, "A page asked to be remembered.", 0.0, 0.0, evidence, marks=(PLANTED,))


def _marked(session: Session, candidate: Candidate) -> Candidate:
    """Marked as not meant, if its speaker says so in the same breath or in their next words."""
    said = session.turn(candidate.first_turn)
    rest = said.text.partition(candidate.evidence[0].quote)[2]
    later = (turn for turn in session.turns[said.number :] if turn.role == "user" and turn.noise is None)
    following = next((turn.text[:_SOON] for turn in later), "")
    after = [sentence.own for text in (rest[:_SOON], following) for sentence in sentences(text, own_words(text))[:2]]
    if said.role != "user" or not any(pattern("unsaid").search(plain(words)) for words in after):
        return candidate
    return replace(candidate, marks=(*candidate.marks, NOT_MEANT))


def _noted(session: Session, user: str, candidate: Candidate, name: str) -> Noted:
    turn = session.turn(candidate.first_turn)
    return Noted(name, candidate, session.id, _speaker(turn, user, candidate), turn.at or session.head.started_at)


def _speaker(turn: Turn, user: str, candidate: Candidate) -> str | None:
    """The person whose words they are: the one the turn names, if it is not the one whose session it is."""
    if candidate.origin is Origin.OWNER:
        return user
    return (turn.said.name or user) if candidate.origin is Origin.MEMBER else None


def _beside(session: Session) -> Iterator[Candidate]:
    told = 0
    for turn, sentence in _spoken(session):
        kind = _kind(sentence)
        if kind is None and told == turn.number and not (sentence.asked or _is_doubtful(sentence)):
            kind = Kind.SUPERSESSION_SIGNAL, _CHANGE  # "We're off Etherpad. Minutes are in HackMD."
        told = turn.number if kind and kind[1] == _CHANGE and not _is_anothers(sentence) else 0
        if kind:
            yield _candidate(session, turn, sentence, *kind)
    yield from _notices(session)


def _is_anothers(sentence: Sentence) -> bool:
    return any(one.search(plain(sentence.own)) for one in patterns("another"))


def _again(session: Session) -> Iterator[Candidate]:
    """What people say at work: worth nothing by itself, but "put it behind a flag in Unleash" shows where flags are."""
    told = ((turn, _before_the_question(one)) for turn, one in _spoken(session))
    said = ((turn, one) for turn, one in told if not one.asked and len(one.own.split()) >= _A_FEW)
    meant = ((turn, one) for turn, one in said if not _is_doubtful(one))
    for turn, sentence in islice(meant, _MOST_AGAIN):
        yield _candidate(session, turn, sentence, Kind.PROJECT_FACT, (AGAIN,))


def _before_the_question(sentence: Sentence) -> Sentence:
    """ "Our glaze firing is 1240, so which cone am I after?" tells something before it asks."""
    at = sentence.own.rfind(", ") if sentence.asked else -1
    return Sentence(sentence.text[:at], sentence.own[:at], sentence.place) if at > 0 else sentence


def _spoken(session: Session) -> Iterator[tuple[Turn, Sentence]]:
    """The sentences of people, but for those of a game."""
    playing = in_play(session)
    for turn in session.turns:
        if turn.role != "user" or turn.noise is not None or turn.origin not in _PEOPLE or turn.number in playing:
            continue
        text = edges(heard(turn.text))
        yield from ((turn, one) for one in sentences(text, own_words(text)) if one.text in turn.text)


def _notices(session: Session) -> Iterator[Candidate]:
    """What an operator tells of a change. Their other words are there every day anyway."""
    for turn in (turn for turn in session.turns if turn.origin is Origin.OPERATOR and turn.noise is None):
        text = edges(turn.text)
        for sentence in sentences(text, own_words(text)):
            words = plain(sentence.own)
            told = any(one.search(words) for one in (pattern("turns"), pattern("over"), *patterns("moves")))
            if told and sentence.text in turn.text and (kind := _kind(sentence)):
                yield _candidate(session, turn, sentence, *kind)


def _kind(sentence: Sentence) -> tuple[Kind, tuple[str, ...]] | None:
    words = plain(sentence.own)
    if sentence.asked:
        return None
    if pattern("retracts").search(words):
        return Kind.CORRECTION, (TAKES_BACK,)
    if pattern("steps").search(words):
        return Kind.RECURRING_WORKFLOW, (TELLS_STEPS,)
    told = any(pattern(name).search(words) for name in ("turns", "now", "over", "not_so"))
    if not told or _is_doubtful(sentence):
        return None
    return Kind.SUPERSESSION_SIGNAL, _CHANGE


def _is_doubtful(sentence: Sentence) -> bool:
    voice = tongue(language_of(sentence.own))
    return voice is None or bool(_DOUBTS & weigh(sentence, voice, Setting()).marks.keys())


def _candidate(session: Session, turn: Turn, sentence: Sentence, kind: Kind, marks: tuple[str, ...]) -> Candidate:
    evidence = (quote(session, turn.number, sentence.text),)
    language = language_of(sentence.own)
    return Candidate(kind, sentence.text.strip()[:MAX_WORDING], 0.6, 0.6, evidence, "world", language, marks=marks)
