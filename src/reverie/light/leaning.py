"""Sentences that lean on the one before: "The database moved last night. It is on db2.internal now."

A line of memory stands alone, so the "it" gets its name back where the sentence before leaves no doubt.
"""

from __future__ import annotations

import re
from functools import cache

from reverie.light.phrases import phrase
from reverie.light.phrases import words as alternatives

_IT = re.compile(
    r"^(?:(?:and|so|but|now) )?(?P<it>it(?='s\b)|it(?= (?:is|has|runs|lives|uses|listens|sits|stands|goes|costs"
    r"|starts)\b))"
    r"|^(?:I |we )?(?:(?:really|always|never|only|also|still|don't|do not|doesn't) )*(?:want|wants|need|needs|like"
    r"|likes|use|uses|keep|keeps|have|has|see|hate|hates) (?P<thing>it)(?= \w)",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"^\W*(?:(?:und|y|e|et|en|jetzt|nun|ahora|adesso|agora|nu) )?(?:es ist|er ist|sie ist|jetzt ist (?:es|er|sie)"
    r"|es |c'est"
    r"|il est|elle est|è |é |está |het is|hij is)"
)
_DONE_TO = re.compile(
    r"\b(?:moved|changed|switched|migrated|relocated|renamed|replaced|upgraded|rebuilt|reinstalled)"
    r" (?:the|our|my) (?P<what>[a-z][\w-]*(?: [\w-]+){0,2}?)"
    r"(?= (?:last|yesterday|today|again|on|over|this|to|from|away|in|a|to)\b|[.,;!]|$)",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"^(?:(?:\w+[,:] |heads[- ]up[:,] |no[,.] ))?(?:(?:the|our|my) )?(?P<what>[A-Za-z][\w-]*(?: [\w-]+){0,2}?)"
    r" (?:isn't|is not|is no longer|is|was|has|moved|changed|no longer|doesn't|runs|lives|uses)\b",
    re.IGNORECASE,
)
_GONE = re.compile(r"\b(?:is|are) (?:dead|off|out|over|gone|history|cancelled|canceled|impossible)\b", re.IGNORECASE)
_IS = re.compile(r"^'s\b")
_NOBODY = frozenset({"it", "that", "this", "there", "he", "she", "they", "we", "you", "i", "what", "which", "who"})


_AND = r"\W*(?:(?:and|und|en|et|y|e|og|och|a|i) )?"


def generalises(words: str) -> bool:
    """Whether a sentence only says that the one before holds in general. `words` are in lower case."""
    return bool(_generality().match(words))


def asks_to_remember(words: str) -> re.Match[str] | None:
    """Where a question is a polite order to remember. `words` are in lower case."""
    return phrase("asks_to_remember").search(words)


@cache
def _generality() -> re.Pattern[str]:
    return re.compile(rf"{_AND}(?:{alternatives('generalises')})\W*$")


def leans(words: str) -> bool:
    """Whether a sentence goes on about the thing of the one before. `words` are in lower case."""
    return bool(_IT.match(words) or _ELSEWHERE.match(words))


def named(text: str, before: str) -> str:
    """The English sentence with the name of the thing in the place of its "it"; as it is where nothing names it."""
    it = _IT.match(text)
    found = _DONE_TO.search(before) or _SUBJECT.match(before)
    what = found["what"] if found else ""
    if not it or not what or what.split()[0].lower() in _NOBODY or _GONE.search(before):
        return text
    name = what if what[0].isupper() else f"the {what}"
    if it["thing"]:  # "The dollar sign is back. I never want it in front of commands."
        return f"{text[: it.start('thing')]}{name}{text[it.end('thing') :]}"
    rest = text[it.end("it") :]
    return f"{name[0].upper()}{name[1:]}{_IS.sub(' is', rest)}"
