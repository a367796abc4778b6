"""A short list of cues, for where the trained tagger cannot be loaded. It reads English, and little of that."""

from __future__ import annotations

import re
from collections.abc import Iterator

_CUES = {
    "instruction": r"\b(?:always|never|from now on|going forward|every time|whenever|make sure|remember that)\b",
    "preference": r"\bi (?:really |strongly )?(?:prefer|like|love|hate|dislike|avoid|can't stand|would rather)\b",
    "decision": r"\bwe(?:'ve| have)? (?:decided|agreed|settled)\b",
    "update": r"\b(?:no longer|moved to|switched to|changed to|is now|are now|from (?:monday|today|next) on)\b",
    "correction": r"\b(?:that's wrong|that is wrong|not like that|i told you)\b",
}
_SURE = 0.8
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_WORD = re.compile(r"\S+")


def words(text: str) -> Iterator[tuple[int, int, str, float]]:
    """Each word with the kind of its sentence and how surely it is of it; a question is of none."""
    for sentence in _SENTENCE.finditer(text):
        said = sentence[0].lower().replace("’", "'")
        kind = next((name for name, cue in _CUES.items() if re.search(cue, said)), None)
        asked = said.rstrip().endswith("?")
        name, chance = ("question", 1.0) if asked else (kind, _SURE) if kind else ("none", 1.0)
        for word in _WORD.finditer(text, sentence.start(), sentence.end()):
            yield word.start(), word.end(), name, chance
