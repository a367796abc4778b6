"""Past dates: what was to hold or to happen until a day that is over, and days that only meant something when said.

A date alone is no expiry: "moved on 2026-01-10" stays true. There has to be a word such as until, due or expires.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

from reverie.dreams.light.dates import dates_in

_SENTENCE = re.compile(r"(?<=[.!?;。！？；])(?<!\d\.)\s+|\n+")
_NUMERIC = re.compile(r"\b(\d{1,2})[./](\d{1,2})[./](20\d\d)\b")
_BEFORE = re.compile(
    r"(?:\b(?:until|till|through|thru|due(?: on| by)?|deadline(?: is| for [^,;]{1,60}? is|:)?|expires?(?: on)?"
    r"|expiry(?: is|:)?"
    r"|ends?(?: on)?|valid (?:to|until|through)|by|scheduled for|planned for|reminder[^,;]{0,40}? (?:on|for)"
    r"|appointment[^,;]{0,40}? on"
    r"|bis(?: zum| einschließlich)?|frist[^,;]{0,40}?(?: ist(?: der)?|:)|fällig am|läuft am|hasta(?: el)?|vence el"
    r"|plazo[^,;]{0,20}?:?"
    r"|jusqu'au|échéance[^,;]{0,20}?:?|expire le|até(?: o dia)?|prazo[^,;]{0,20}?:?|fino al|scade il|entro il"
    r"|tot(?: en met)?"
    r"|до|истекает)|截止(?:日期|时间)?[:：]?|締め?切り[はが]?[:：]?|期限[はが]?[:：]?)\s*(?:the )?\Z"
)
_AFTER = re.compile(r"\s*(?:まで|之前|前截止|截止)")
_RANGE = re.compile(
    r"\b(?:vacation|holiday|leave|trip|out of office|urlaub|vacaciones|congés|férias)\b.*\b(?:from|vom|del|du)\b"
)
_OVER = re.compile(
    r"\b(?:was|were|used|had|until then|since then|now|every|each|yearly|annually|always|war|waren|wurde"
    r"|seitdem|jedes"
    r"|era|fue|était|foi|if|when|before|after)\b"
)
_RELATIVE = re.compile(
    r"\b(?:tomorrow(?!'s)|tonight|this (?:afternoon|evening|morning)|later today|next (?:week|month|(?:mon|tues"
    r"|wednes|thurs|fri|satur|sun)day))\b"
)
_HABIT = re.compile(
    r"\b(?:every|each|always|never|usually|often|whenever|when|if|daily|weekly|monthly|until|before|after|like[sd]?"
    r"|prefers?|must|should"
    r"|don't|do not|avoid|not)\b|[\"“`]"
)
_APPOINTED = re.compile(
    r"\b(?:is|are|was|call|meet|meeting|meetings|demo|appointment|deadline|due|scheduled|remind|reminder|flight"
    r"|interview|launch|release"
    r"|ship|send|finish|submit|present|review|visit|have|has)\b"
)
_LONGEST = 200


def expired(text: str, today: date, *, only_dated: bool = False) -> str:
    """Which words are over and since when, or nothing. `only_dated`: only those that say until which day."""
    for sentence in _SENTENCE.split(text):
        lower = sentence.lower()
        if found := _past(lower, today):
            return f"It holds until {found:%Y-%m-%d}, which is over."
        if not only_dated and len(text) <= _LONGEST and (word := _only_then(lower)):
            return f"It says “{word}” and not which day: that was right only when it was written."
    return ""


def _past(sentence: str, today: date) -> date | None:
    """The last day a sentence speaks of, if it is an expiry and lies behind us."""
    days = list(_days(sentence))
    if not days or _OVER.search(sentence) or "instead" in sentence[: days[-1][1]]:
        return None
    last = max(day for _, _, day in days)
    ends = any(_BEFORE.search(sentence[:start]) or _AFTER.match(sentence, end) for start, end, _ in days)
    is_range = len(days) == 2 and _RANGE.search(sentence)
    return last if (ends or is_range) and last < today - timedelta(1) else None


def _days(sentence: str) -> Iterator[tuple[int, int, date]]:
    for spoken in dates_in(sentence, None):
        yield spoken.start, spoken.end, spoken.day
    for found in _NUMERIC.finditer(sentence):
        day, month, year = (int(part) for part in found.groups())
        if day > 12 or "." in found.group():  # 04/05/2026 is a day in April here and in May there
            try:
                yield found.start(), found.end(), date(year, month, day)
            except ValueError:
                continue  # 31.02.2026 is a number, not a date


def _only_then(sentence: str) -> str:
    found = _RELATIVE.search(sentence)
    if not found or _HABIT.search(sentence) or not _APPOINTED.search(sentence):
        return ""
    return found.group()
