"""What a model suggests, as Light's own Candidates. All but the wording is ours: who said it, how sure, how plainly.

A suggestion rests on a sentence in a person's own words that the built-in reader made nothing of. What a person pasted,
played or heard from a tool is not theirs, whoever suggests it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from reverie.kernel.origin import Origin
from reverie.light.candidate import Candidate, Kind
from reverie.light.dates import dates_in
from reverie.light.games import in_play
from reverie.light.kinds import about, explicitness
from reverie.light.marks import Mark
from reverie.light.regions import edges, own_words
from reverie.light.sentences import Sentence, sentences
from reverie.light.tongues import language_of, plain, tongue
from reverie.light.weighing import Setting, weigh
from reverie.models.suggested import Suggested
from reverie.sessions.noise import heard
from reverie.sessions.session import Evidence, Session

FROM_A_MODEL = "was suggested by a model"  # a mark
CONFIDENCE = 0.6  # of what no cue of ours speaks for: enough to be thought over, not to be sure
_OWN = 2 / 3  # of the letters of a quotation must be the person's
_PEOPLE = (Origin.OWNER, Origin.MEMBER)
_DOUBTS = frozenset({Mark.QUESTION, Mark.SUPPOSED, Mark.HEDGED, Mark.OTHERS})


class _NotTaken(ValueError):
    """Why a suggestion is dropped."""


def taken(
    session: Session, suggested: Iterable[Suggested], found: Sequence[Candidate]
) -> tuple[list[Candidate], Counter[str]]:
    """The suggestions that say something new, and how many were dropped, by reason. What the built-in reader has
    noticed itself is not counted: there the two agree."""
    playing = in_play(session)
    known = [(one.turn, one.quote) for candidate in found for one in candidate.evidence if one.weight == "support"]
    more: list[Candidate] = []
    dropped: Counter[str] = Counter()
    for one in suggested:
        if any(_same_words(item, turn, words) for item in one.quotes for turn, words in known):
            continue
        try:
            more.append(_candidate(session, one, playing))
        except _NotTaken as error:
            dropped[str(error)] += 1
    return more, dropped


def _same_words(item: Evidence, turn: int, words: str) -> bool:
    return item.turn == turn and (item.quote in words or words in item.quote)


def _candidate(session: Session, one: Suggested, playing: frozenset[int]) -> Candidate:
    said = [_sentence(session, item, playing) for item in one.quotes if item.origin in _PEOPLE]
    if not said or any(item.origin is Origin.TOOL for item in one.quotes):
        raise _NotTaken("rests on words that are no person's")
    own = " ".join(sentence.own for sentence in said)
    language = language_of(own)
    marks = _marks(said, language)
    if marks & _DOUBTS:
        raise _NotTaken("rests on a question, a guess or hearsay")
    kind = Kind(one.kind)
    at = session.turn(one.quotes[0].turn).at or session.head.started_at
    return Candidate(
        kind, one.text, CONFIDENCE, explicitness(marks), one.quotes, about(kind, marks), language,
        tuple(dict.fromkeys(spoken.day for spoken in dates_in(plain(own), at.date() if at else None))),
        (*sorted(marks), FROM_A_MODEL),
    )  # fmt: skip


def _sentence(session: Session, item: Evidence, playing: frozenset[int]) -> Sentence:
    """The sentence a quotation begins in, if it is the person's own."""
    text = edges(heard(session.turn(item.turn).text))
    own = own_words(text)
    start = text.find(item.quote)
    words = own[start : start + len(item.quote)] if start >= 0 else ""
    if item.turn in playing or _letters(words) < _OWN * _letters(item.quote):
        raise _NotTaken("quotes what a person only passed on or played")
    holding = [one for one in sentences(text, own) if one.text in item.quote or item.quote in one.text]
    return holding[0] if holding else Sentence(item.quote, words, 0)


def _letters(text: str) -> int:
    return max(1, sum(letter.isalpha() for letter in text))


def _marks(said: Sequence[Sentence], language: str) -> frozenset[Mark]:
    voice = tongue(language)
    if voice is None:
        return frozenset()
    return frozenset(mark for sentence in said for mark in weigh(sentence, voice, Setting()).marks)
