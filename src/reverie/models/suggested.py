"""What a model may suggest, and the checks it has to pass. What fails one is dropped and counted, never mended."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from reverie.kernel.errors import NotVerbatim
from reverie.models.covering import Cover
from reverie.models.passages import Passage
from reverie.models.schema import Record, Several, Text, Whole
from reverie.safety.redact import redact
from reverie.sessions.session import Evidence, quote

KINDS = (
    "user_preference",
    "communication_preference",
    "project_fact",
    "project_decision",
    "correction",
    "recurring_workflow",
    "supersession_signal",
    "stale_signal",
    "skill_candidate",
)
LONGEST = 160
MOST = 12
_MOST_QUOTES = 4
_GROUNDED = 1 / 3  # of the words of a suggestion must stand in its quotations
_STAND_IN = re.compile(r"<[a-z]{2,10}-[0-9][0-9.]*>|\[redacted:")
_WORD = re.compile(r"\w+")
_TELLING = re.compile(r"\w*\d\w*|https?://\S+")

_QUOTE = Record({"turn": Whole(1, 10_000_000), "words": Text(600)})
_ONE = Record({"kind": Text(among=KINDS), "text": Text(LONGEST), "quotes": Several(_QUOTE, _MOST_QUOTES, 1)})
SHAPE = Record({"suggestions": Several(_ONE, MOST)})


@dataclass(frozen=True, slots=True)
class Suggested:
    """Something a model thinks worth keeping, resting on words that are really there. Who said them, we know."""

    kind: str
    text: str
    quotes: tuple[Evidence, ...]


class _Invented(ValueError):
    """Why a suggestion is dropped."""


def checked(value: Any, cover: Cover, shown: Sequence[Passage]) -> tuple[list[Suggested], Counter[str]]:
    """The suggestions of an answer that hold, and how many did not, by reason."""
    good: dict[tuple[str, str], Suggested] = {}
    dropped: Counter[str] = Counter()
    for one in value["suggestions"]:
        try:
            found = _suggested(one, cover, shown)
            good.setdefault((found.kind, found.text), found)
        except _Invented as error:
            dropped[str(error)] += 1
    return list(good.values()), dropped


def _suggested(one: dict[str, Any], cover: Cover, shown: Sequence[Passage]) -> Suggested:
    quotes = tuple(_quoted(cited["turn"], cited["words"], cover, shown) for cited in one["quotes"])
    text = cover.restored(" ".join(one["text"].split()))
    for reason in objections(text, [item.quote for item in quotes]):
        raise _Invented(reason)
    return Suggested(one["kind"], text, tuple(dict.fromkeys(quotes)))


def _quoted(turn: int, words: str, cover: Cover, shown: Sequence[Passage]) -> Evidence:
    words = words.strip()
    if turn not in {passage.turn for passage in shown}:
        raise _Invented("cites a turn that was not shown")
    if not any(passage.turn == turn and words in passage.text for passage in shown):
        raise _Invented("quotes words that were not shown")
    if not _says_something(words):
        raise _Invented("quotes next to nothing")
    try:
        return quote(cover.session, turn, cover.restored(words))
    except NotVerbatim as error:
        raise _Invented("quotes words that do not stand in the session") from error


def _says_something(words: str) -> bool:
    """Two words, or four characters of a script that does not part them."""
    return len(_WORD.findall(words)) > 1 or sum(ord(letter) > 0x2E80 for letter in words) >= 4


def objections(text: str, quotes: Sequence[str], longest: int = LONGEST) -> Iterator[str]:
    """What speaks against a wording that is to rest on these quotations."""
    if not text.isprintable() or not 3 <= len(text) <= longest:
        yield "is no plain sentence"
    if _STAND_IN.search(text):
        yield "speaks of something hidden"
    if redact(text).found:
        yield "holds a secret"
    said = " ".join(quotes).casefold()
    if any(telling.casefold().strip(".,;:!?)") not in said for telling in _TELLING.findall(text)):
        yield "has a number, name or address that was not said"
    if not _rests_on(text, said):
        yield "says something other than its quotations"


def _rests_on(text: str, said: str) -> bool:
    units = list(_units(text.casefold()))
    known = set(_units(said))
    return bool(units) and sum(unit in known for unit in units) >= _GROUNDED * len(units)


def _units(text: str) -> Iterable[str]:
    """Beginnings of words, so that an ending does not matter; single characters where words are not parted."""
    for word in _WORD.findall(text):
        if any(ord(letter) > 0x2E80 for letter in word):
            yield from word
        elif len(word) > 2:
            yield word[:4]
