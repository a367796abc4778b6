"""Rules: which sentences ask for something for good, and which only sound like it.

People say "always" and "never" of printers and neighbours.
"""

from __future__ import annotations

from reverie.deep.clauses import without_lead
from reverie.deep.material import Noted
from reverie.deep.matters import Matter
from reverie.deep.shapes import SHAPES, values
from reverie.deep.subjects import about
from reverie.deep.vocabulary import directed, pattern, plain
from reverie.light.marks import Mark
from reverie.light.tongues import tongue
from reverie.light.weighing import clause

_GROUNDS = frozenset({
    Mark.REMEMBER, Mark.PREFER, Mark.WISH, Mark.DECIDED, Mark.LEARNED, Mark.CHANGED, Mark.SCOPE, Mark.ONCE_MORE,
    Mark.IDENTITY,
})  # fmt: skip
_SAYS_SOMETHING = 2  # stems


def is_a_manner_of_speaking(matter: Matter) -> bool:
    """It would be a rule if it asked the agent for something, were one of theirs, or gave a value."""
    return all(_rules_nothing(note) for note in matter.said) and not _same_value(matter)


def _same_value(matter: Matter) -> bool:
    """Said in several sessions, with the same name or number in it."""
    told = [set(values(note.text)) for note in matter.said]
    return matter.is_theme and len(told) > 1 and bool(set.intersection(*told))


def _rules_nothing(note: Noted) -> bool:
    said, language = plain(note.words), note.candidate.language
    if note.marks & _GROUNDS or directed(language) is None or _is_directed(said, language):
        return False
    if Mark.STANDING not in note.marks:
        return len(about(without_lead(note.text), language)) < _SAYS_SOMETHING
    own_day = Mark.MINE in note.marks and SHAPES["weekday"].search(note.words)
    often = [found.span() for found in pattern("often").finditer(said)]
    clauses = [said[slice(*clause(said, span))] for span in often] or [said]
    valued = own_day or any(sign.isdigit() for piece in clauses for sign in piece)
    return not valued and _is_bare(said, language)


def is_an_order(note: Noted) -> bool:
    """It asks the agent for something for good, in words that leave no doubt: "From now on, call me Ida.\""""
    said, language = plain(note.words), note.candidate.language
    return Mark.STANDING in note.marks and _is_directed(said, language) and not _is_bare(said, language)


def _is_directed(said: str, language: str) -> bool:
    """Addressed to the agent, or a rule of the house."""
    words = directed(language)
    return words is not None and words.search(said) is not None


def _is_bare(said: str, language: str) -> bool:
    """Without its words of frequency nothing in it says that it holds in general."""
    voice = tongue(language)
    return voice is None or not voice.bears(Mark.STANDING, pattern("often").sub(" ", said))
