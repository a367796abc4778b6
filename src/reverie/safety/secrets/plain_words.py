"""Passwords of plain words: "the wifi password is sunflower garden".

A sentence says what the password is, and what it says reads like the name of something and not like a description
("too short", "on the fridge"). The grammar is one row for each language: how a password is called, and what stands for
"is". Whether the words behind it are a name is learned (`training/plain_words.py`). It is right often enough to show a
line to a person or to ask one; never to change what is stored.
"""

from __future__ import annotations

import base64
import json
import re
from functools import cache
from importlib import resources
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from reverie.core.ids import lazy_pattern
from reverie.safety.secrets.values import is_placeholder

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SLOTS = 1 << 14
WORDS = 4  # of a value; behind more of them stands a sentence
_PIECES = (2, 3, 4)  # letters
_SHORT = 4  # letters of the first word between name and verb: "for", "vom", "till"; a longer one makes it another thing
_LANGUAGES = (
    (r"pass(?:word|phrase|code|key)|pwd|pw", "is"),
    (r"\w{0,30}(?:passwort|kennwort|passphrase)|zugangscode|pw", "ist|lautet|heißt"),
    (r"mot de passe", "est"),
    (r"contraseña", "es"),
    (r"senha|palavra-passe", "é"),
    (r"password|parola d['’]ordine", "è"),
    (r"\w{0,30}wachtwoord", "is"),
    (r"\w{0,30}(?:lösenord(?:et)?|adgangskoden?|passord(?:et)?)", "är|er"),
    (r"salasana", "on"),
    (r"hasło|heslo", "to|jest|je"),
    (r"parola", "este"),
    (r"jelszó|κωδικός|пароль", "είναι|–|—|-|:"),
)
IS = "|".join(verbs for _, verbs in _LANGUAGES[:-1])


_OF = rf"(?:\s(?!(?:{{verb}})\s)\S{{{{1,{_SHORT}}}}}(?:\s(?!(?:{{verb}})\s)[^\s.,;:!?]+){{{{0,5}}}})?"
_VALUE = rf"(?P<value>[^\W\d_][^\s.,;:!?]{{2,}}(?:[ ][^\s.,;:!?]+){{0,{WORDS - 1}}})"
_SENTENCES = tuple(
    lazy_pattern(rf"(?<![^\W_])(?:{name}){_OF.format(verb=verb)}\s(?:{verb})\s{_VALUE}(?=\s*(?:[.,;!\n)]|$))", re.I)
    for name, verb in _LANGUAGES
)


class SaidOfPassword(NamedTuple):
    """Words that stand behind "the password is", and whether they read like the password itself."""

    start: int
    end: int
    is_value: bool


def said_of_passwords(text: str) -> list[SaidOfPassword]:
    """What the sentences of a text say of passwords, in text order."""
    spans = {found.span("value") for pattern in _SENTENCES for found in pattern().finditer(text)}
    values = ((start, end, text[start:end]) for start, end in sorted(spans))
    return [SaidOfPassword(at, end, not is_placeholder(said) and name_score(said) > 0) for at, end, said in values]


def name_score(words: str) -> float:
    """How much more these words read like a name of something than like what is said of one."""
    weights, bias = _learned()
    slots = slots_of(words)
    return float(weights[slots].sum()) / sqrt(len(slots)) + bias


def slots_of(words: str) -> list[int]:
    """The slots of a few words: their number, the words, and pieces of them; those of the first word are its own."""
    parts = words.lower().split()[:WORDS]
    found = {f"#{len(parts)}"}
    for number, part in enumerate(parts):
        place, whole = "first" if number == 0 else "later", f" {part[:40]} "
        found.add(f"{place}={whole}")
        found.update(f"{place}{whole[at : at + size]}" for size in _PIECES for at in range(len(whole) - size + 1))
    return sorted({crc32(one.encode()) % SLOTS for one in found})


@cache
def _learned() -> tuple[NDArray[np.float32], float]:
    import numpy as np

    kept = json.loads(resources.files("reverie.safety").joinpath("weights/plain_words.json").read_text("utf-8"))
    weights = np.frombuffer(base64.b64decode(kept["weights"]), np.int8).astype(np.float32) * np.float32(kept["scale"])
    return weights, kept["bias"]
