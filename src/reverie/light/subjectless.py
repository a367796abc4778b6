"""Sentences that name nobody: whose are they? After one about someone else, mostly that person's.

"O meu chefe prefere chá. Ele é inglês. Nunca bebe café." Languages that leave the subject out show it in the verb.
"""

from __future__ import annotations

import re

from reverie.light.marks import Mark
from reverie.light.tongues import Tongue

_PRONOUN = re.compile(
    r"^\W*(?:(?:and|but|so|und|aber|y|pero|et|mais|e|ma|mas|en|maar) )?(?:he|she|er|él|ella|il|elle|lui|lei|ele|ela"
    r"|hij|zij)\b"
)
_LEAD = (
    r"^\W*(?:(?:y|e|ed|mas|pero|ma|però|também|también|anche|además|no|não|non|nunca|jamás|jamais|mai|siempre"
    r"|sempre|solo|sólo"
    r"|só|apenas|soltanto|nem|ni|né|se|si|lo|la|le|já|ya|già) )*+"
)
_THIRD = re.compile(_LEAD + r"(?!que\b|me\b|mi\b)\w+(?:a|e|á|é|à|è|ê|an|en|am|em)\b")
_FIRST = re.compile(_LEAD + r"(?:(?:me|mi) |\w+(?:o|ei|í|mos|amo)\b)")
_DROPPING = ("es", "pt", "it")


def goes_on_about(words: str, tongue: Tongue) -> bool:
    """Whether a sentence after one about someone else is about them too. `words` are in lower case."""
    if _PRONOUN.match(words):
        return True
    if tongue.code not in _DROPPING or tongue.bears(Mark.MINE, words) or tongue.bears(Mark.OWN, words):
        return False
    return bool(_THIRD.match(words)) and not _FIRST.match(words)
