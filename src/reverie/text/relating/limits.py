"""When, where and under which condition a clause holds: "on Fridays", "in the kitchen", "while the tests are red".

Told by prepositions and conjunctions, which are few in any language: one that begins a time, a place or a condition
opens a limit, and it ends at a comma, at the next such word or, after a preposition, at a verb. Of a clause only the
part that denies counts, or one that begins with a condition.
"""

from __future__ import annotations

import re

from reverie.text.relating.small_words import NEGATORS
from reverie.text.relating.stance import FRAGMENT, denies
from reverie.text.relating.values import Value
from reverie.text.relating.verbs import LINKING
from reverie.text.relating.word_lists import listed
from reverie.text.relating.words import carries_meaning, stem

_CONDITION = listed(
    "if unless when whenever while once until till before after except wenn falls während bevor solange sobald bis"
    " außer cuando si mientras hasta excepto quand lorsque pendant tant avant après sauf"
)
_PLACE_OR_TIME = listed(
    "on in at during within without with over under between near outside inside via into am im auf bei vor"
    " nach ohne mit um en durante sin con entre dans sans avec chez sur à"
)
_PART = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


def limits(text: str, plain: str, values: list[Value], language: str) -> tuple[frozenset[str], ...]:
    """The stems and values of each limit of what `text` denies. `plain` is the text with blanks for its values."""
    found: list[frozenset[str]] = []
    place = 0
    for cut in [*FRAGMENT.finditer(plain), None] if denies(text) else ():
        end = cut.start() if cut else len(plain)
        parts = [(match.start(), match.group()) for match in _PART.finditer(plain, place, end)]
        if parts and (parts[0][1] in _CONDITION or denies(text[place:end])):
            parts += [(value.start, named(value)) for value in values if place <= value.start < end]
            found += _opened([part for _, part in sorted(parts)], language)
        place = cut.end() if cut else end
    return tuple(found)


def _opened(parts: list[str], language: str) -> list[frozenset[str]]:
    found: list[set[str]] = []
    opened, conditional = False, False
    for part in parts:
        if part in _CONDITION or (part in _PLACE_OR_TIME and not conditional):
            opened, conditional = True, part in _CONDITION
            found.append(set())
        elif part in LINKING and not conditional:
            opened = False
        elif opened and part[0] == "=":
            found[-1].add(part)
        elif opened and part not in NEGATORS and carries_meaning(part):
            found[-1].add(stem(part, language))
    return [frozenset(each) for each in found if each]


def named(value: Value) -> str:
    """The same for the same value, however it is written, and no word."""
    amount = sorted(value.amount) if isinstance(value.amount, frozenset) else value.amount
    return f"={value.dimension} {amount}"
