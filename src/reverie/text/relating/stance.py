"""Yes and no: what a clause affirms, denies, prefers, and declares over."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from reverie.text.relating.cues import ENDED
from reverie.text.relating.opposites import ANY_PHRASE, ATTITUDE, PHRASES, PLAIN_NO, SIDES
from reverie.text.relating.small_words import NEGATORS
from reverie.text.relating.values import Value, masked
from reverie.text.relating.words import carries_meaning, raw_words, stem

FRAGMENT = re.compile(r"[,;:()]|\b(?:but|and|or|so|instead of|rather than|pero|aber|mais|sondern|sino)\b")
_CONTRAST = re.compile(r"(?<=\w), not (?:the |a )?\w+(?: \w+)?[.!]?$|(?<=\w) (?:instead of|rather than) .*$")
_NOT_THIS = re.compile(r"\b(?:instead of|rather than|not|statt|en lugar de|au lieu de) (?:the |a )?([^\W\d_]+)")
_LEFT_BEHIND = re.compile(
    r"\b(?:switch|mov|migrat|chang|upgrad|went|gewechselt|cambia)\w* (?:\w+ ){0,3}"
    r"(?:from|von|de) ([^\W\d_]+) (?:to|zu|nach|a|à) "
    r"|\b(?:renamed|replaced) (?:the )?([^\W\d_]+) "
)


def stance(text: str, tokens: Sequence[str]) -> tuple[int, int, dict[str, int]]:
    """Attitude, polarity, and the sides taken on the other axes. `tokens` are the words outside of phrases."""
    _, sides, negations = phrases_out(text)
    for token in tokens:
        axis, sign = SIDES.get(token, ("", 0))
        if axis:
            sides.setdefault(axis, sign)
    asserted, contrasted = _CONTRAST.subn("", text)  # "use spaces, not tabs" says yes to something
    denied = _denied(raw_words(phrases_out(asserted)[0]) if contrasted else tokens, negations)
    attitude, polarity = _yes_or_no(sides, denied)
    return attitude, polarity, {axis: sign * polarity for axis, sign in sides.items()}


def phrases_out(text: str) -> tuple[str, dict[str, int], int]:
    """The text without the phrases that take a side, the sides they take, and how many of them deny."""
    body, sides, negations = _phrases(text)
    return body, dict(sides), negations


@lru_cache(maxsize=8192)
def _phrases(text: str) -> tuple[str, tuple[tuple[str, int], ...], int]:
    if not ANY_PHRASE.search(text):
        return text, (), 0
    sides: dict[str, int] = {}
    negations = 0
    for pattern, axis, sign in PHRASES:
        text, found = pattern.subn(lambda match: " " * len(match.group()), text)
        if found and axis == "not":
            negations += 1
        elif found and axis:
            sides[axis] = sign
    return text, tuple(sides.items()), negations


def _yes_or_no(sides: dict[str, int], denied: bool) -> tuple[int, int]:
    """Attitude and polarity. Takes what is a plain yes or no out of the sides."""
    sign = -1 if denied else 1
    attitude = sides.pop(ATTITUDE, 0) * sign
    if attitude:
        return attitude, attitude
    for axis in PLAIN_NO & sides.keys():
        sign *= sides.pop(axis)
    return 0, sign


def _denied(tokens: Sequence[str], negations: int) -> bool:
    negations += sum(token in NEGATORS for token in tokens)
    if negations and any(token == "ne" or token.startswith("n'") for token in tokens):
        return True  # French says it twice and means it once
    return negations % 2 == 1


def says_no(tokens: Sequence[str]) -> bool:
    """By a word of negation, which denies what follows; "forbidden" and "broken" deny what comes before them."""
    return any(token in NEGATORS for token in tokens)


def negated(text: str, values: list[Value], language: str) -> frozenset[str]:
    """What stands in a fragment with a negation, or is named as the thing not to take."""
    gone: set[str] = set()
    if denies(text):
        for fragment, stems in _fragments(text, values, language):
            gone.update(stems if denies(fragment) else ())
    gone.update(stem(match.group(1), language) for match in _NOT_THIS.finditer(text))
    return frozenset(gone)


def denies(text: str) -> bool:
    _, sides, negations = phrases_out(text)
    return bool(negations) or -1 in sides.values() or any(token in NEGATORS for token in raw_words(text))


def ended(text: str, values: list[Value], language: str) -> frozenset[str]:
    gone: set[str] = set()
    if ENDED.search(text):
        for fragment, stems in _fragments(text, values, language):
            if ENDED.search(fragment):
                gone.update(stems)
    for match in _LEFT_BEHIND.finditer(text):
        gone.update(stem(word, language) for word in match.groups() if word)
    return frozenset(gone)


def _fragments(text: str, values: list[Value], language: str) -> Iterator[tuple[str, list[str]]]:
    """Each piece between commas and conjunctions, with the stems and names in it."""
    plain, place = masked(text, values), 0
    for cut in [*FRAGMENT.finditer(plain), None]:
        end = cut.start() if cut else len(text)
        words = raw_words(plain[place:end])
        stems = [stem(word, language) for word in words if carries_meaning(word) and word not in NEGATORS]
        names = [str(v.amount) for v in values if v.dimension == "name" and place <= v.start < end]
        yield plain[place:end], stems + names
        place = cut.end() if cut else end
