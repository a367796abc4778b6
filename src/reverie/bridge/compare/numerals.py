"""Numbers of several words, as digits: "twenty-one", "four hundred and five", "einundzwanzig", "treinta y cinco".

Numbers of one word are read where two statements are compared (`reverie.text.wording.number_words`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from reverie.text.wording.units import NUMBER_WORDS
from reverie.text.wording.words import normal

_POWERS = {word: number for word, number in NUMBER_WORDS.items() if number in (100, 1000)}
_POWERS |= {"thousand": 1000, "tausend": 1000, "cents": 100, "ciento": 100, "cientos": 100}
_UNITS = {word: number for word, number in NUMBER_WORDS.items() if 1 <= number < 20}
_UNITS |= {"one": 1, "ein": 1, "un": 1}  # articles, unless a larger number stands beside them
_TENS = {normal(word): number for word, number in NUMBER_WORDS.items() if 20 <= number < 100}
_TENS |= {"siebzig": 70, "achtzig": 80, "neunzig": 90, "soixante-dix": 70, "quatre-vingt": 80, "quatre-vingt-dix": 90}
_TENS |= {f"{one}und{ten}": _UNITS[one] + _TENS[ten] for one in _UNITS for ten in list(_TENS) if ten.endswith("ig")}
_VALUES = _UNITS | _TENS


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_WORD = re.compile(_any([*_VALUES, *_POWERS]))
_BETWEEN = rf"(?:[- ](?:(?:and|et|y) )?|(?={_any(_POWERS)}))"
_NUMBER = re.compile(rf"\b(?:{_WORD.pattern})(?:{_BETWEEN}(?:{_WORD.pattern}))*\b")


@lru_cache(maxsize=16_384)
def in_digits(text: str) -> str:
    """The text as it is compared, with every number that takes a word for tens, hundreds or thousands in digits."""
    return _NUMBER.sub(lambda found: _counted(found.group()), normal(text))


def _counted(said: str) -> str:
    words = _WORD.findall(said)
    if all(word in _UNITS for word in words) or (len(words) == 1 and words[0] in NUMBER_WORDS):
        return said
    numbers, total, current, room = list[int](), 0, 0, 10**9
    for word in words:
        if word in _POWERS:
            current, room = max(current, 1) * _POWERS[word], _POWERS[word]
            if room == 1000:
                total, current = total + current, 0
        else:
            if _VALUES[word] >= room:  # no part of the number before it: the next one begins
                numbers.append(total + current)
                total = current = 0
            current += _VALUES[word]
            room = 10 if word in _TENS and not _VALUES[word] % 10 else 1
    return " ".join(map(str, [*numbers, total + current]))
