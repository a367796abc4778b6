"""The few attributes of a person that are said in quite different words."""

from __future__ import annotations

import re

_ATTRIBUTES = {
    "home": "live lives living lived resident reside resides wohne wohnt vivo vive habite 住在 搬到",
    "employer": "employer employed job company colleagues hired joined arbeite trabajo trabaja travaille",
    "diet": "vegetarian vegan meat pescatarian omnivore",
    "civil status": "married single divorced engaged widowed verheiratet soltero casado marié",
    "form of address": "geduzt duzen siezen du sie tutear usted tutoyer vouvoyer tú vous",
    "record": "best record beat beating pb fastest longest highest peaked peak",
    "choice": "prefer prefers preferred rather sooner favourite favorite préfère prefiero prefiere bevorzuge lieber"
    " prefiro",
    "name": "called named name renamed heißt llama s'appelle",
    "language of answers": "answer reply respond antworte responde réponds",
}
_SPEAKER_MOVED = (
    r"\b(?:i|i've|i'm|we|we've|user|me he|me|nos hemos|ich bin|wir sind|je me suis|j'ai|nous avons) (?:[^\W\d]+ ){0,3}"
    r"(?:moved|relocated|mudé|mudado|mudamos|umgezogen|déménagé)\b"
)
ATTRIBUTE_PHRASES = (
    (re.compile(_SPEAKER_MOVED), "home"),
    (re.compile(r"\bworks? (?:at|for)\b|\bnew job\b|\bjob at\b|\bstart(?:ed)? at\b"), "employer"),
    (re.compile(r"\bcall me\b|\bbe called\b|\bmy name is\b"), "form of address"),
    (re.compile(r"\b(?:down|up) to \d+(?:[.,]\d+)? ?(?:kg|kilos|pounds|lbs)\b|\bweighs?\b"), "weight"),
)
SINGLE = frozenset({"record", "weight", "home", "civil status", "form of address"})  # there is one at a time
ATTRIBUTE: dict[str, str] = {word: name for name, words in _ATTRIBUTES.items() for word in words.split()}
