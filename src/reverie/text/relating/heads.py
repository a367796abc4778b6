"""What a clause is about and what it says of it: the words before its first verb, and that verb."""

from __future__ import annotations

import re
from collections.abc import Sequence

from reverie.text.relating.small_words import NEGATORS, STOP
from reverie.text.relating.values import Value
from reverie.text.relating.verbs import ALSO_NOUNS, ANY_NUMBER, LINKING, VERBS
from reverie.text.relating.word_lists import listed
from reverie.text.relating.words import carries_meaning, stem

TOKEN = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?|:")
_PARTICIPLE = re.compile(r"\w{3,}(?:ed|ing|en|wn|lt|pt)$")
_BEFORE_NOUN = listed(
    "the a an my our your his her their this that these those in on at for with by of from to no every each all both"
    " when during der die das den mein meine im am el la los las mi le les ma mon mes un une en"
)
_PREPOSITIONS = listed("in at on for by with from to go goes via")


def head_of(masked: str, values: list[Value], language: str) -> tuple[tuple[str, ...], str]:
    """What stands before the first verb, and that verb. A clause that begins with its verb is about nobody named."""
    tokens = [match.group() for match in TOKEN.finditer(masked)]
    place = verb_in(tokens)
    found = place >= 0
    if place < 0 and tokens and tokens[0] in NEGATORS:
        return (), ""
    if place < 0:
        place = next((number for number, token in enumerate(tokens) if number and token in _PREPOSITIONS), 0)
        place = place or _first_noun(tokens)
    head = [stem(token, language) for token in tokens[:place] if carries_meaning(token) and token not in NEGATORS]
    if head and tokens[place - 1] == "a":
        head.append("a")  # "customer A pays"
    starts = [match.start() for match in TOKEN.finditer(masked)]
    verb = starts[place] if place < len(starts) else len(masked)
    named = [str(v.amount) if v.dimension == "name" else v.shown for v in values if found and v.end <= verb]
    return (*named, *head), _predicate(tokens[place : place + 5], language)


def _first_noun(tokens: Sequence[str]) -> int:
    """Without a verb we know, the first of several words that carry meaning is what it is about."""
    carrying = [number for number, token in enumerate(tokens) if carries_meaning(token)]
    return carrying[0] + 1 if len(carrying) > 1 else 0


def verb_in(tokens: Sequence[str]) -> int:
    """Where the first verb is, or -1. A form that can be a noun counts only where a noun is not expected."""
    sure = next((place for place, token in enumerate(tokens) if token == ":" or token in LINKING), len(tokens))
    for place, token in enumerate(tokens[:sure]):
        after_noun = place and tokens[place - 1] not in _BEFORE_NOUN
        first = not place or all(before in STOP for before in tokens[:place])
        if token in VERBS and (after_noun or first) and not (place and tokens[place - 1] in _BEFORE_NOUN):
            if token in ALSO_NOUNS and place + 1 < sure < len(tokens):
                continue  # "the build takes", "commit messages are": a surer verb follows
            return place
    return sure if sure < len(tokens) else -1


def takes_any_number(masked: str, predicate: str) -> bool:
    """Whether the verb is one that takes any number of objects; "has" in "has expired" is not."""
    tokens = [match.group() for match in TOKEN.finditer(masked)]
    place = verb_in(tokens)
    return place >= 0 and tokens[place] in ANY_NUMBER and not (tokens[place] in LINKING and predicate)


def _predicate(tokens: Sequence[str], language: str) -> str:
    if not tokens:
        return ""
    if tokens[0] not in LINKING and tokens[0] != ":":
        return stem(tokens[0], language) if tokens[0] in VERBS else ""
    for token in tokens[1:]:
        if (token in VERBS and token not in LINKING) or _PARTICIPLE.match(token):
            return stem(token, language)
        if carries_meaning(token):
            return ""
    return ""
