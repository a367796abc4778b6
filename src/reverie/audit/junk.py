"""Entries that say nothing, or nothing that still holds: junk, and dates that are over.

Precision first: an entry that begins like chatter but states a rule is left alone (how junk sounds is data,
`junk.toml`). And a date alone is no expiry: "moved on 2026-01-10" stays true. There has to be a word such as until, due
or expires.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cache
from importlib.resources import files

from reverie.dreams.light.language import dates_in

_OPENINGS = {
    "narrated": "It tells of one conversation instead of saying something that holds.",
    "meeting": "It tells of one session instead of saying something that holds.",
    "spoken": "It is the assistant talking, not something to remember.",
    "requested": "It is a request for one occasion, long answered.",
    "logged": "It logs a piece of work that is over.",
}
_WHOLE = {
    "greeting": "It is a greeting or a thank-you.",
    "reply": "It is a greeting or a thank-you.",
    "empty": "It says nothing.",
    "noise": "It is a signal of the harness, not a statement.",
}
_LONGEST_TOLD = 300  # what is longer than this says more than its opening
_SPEAKER = re.compile(r"^\s*\**(?:user|human|assistant|ai|claude|system|bot)\**\s*:", re.IGNORECASE | re.MULTILINE)
_DUMPS = (
    (re.compile(r"^Traceback \(most recent call last\):", re.MULTILINE), 1, "It is a stack trace."),
    (re.compile(r"^\s+at [^\n]{2,200}:\d+(?::\d+)?\)?$", re.MULTILINE), 2, "It is a stack trace."),
    (
        re.compile(
            r"^\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d[^\n]{0,40}\b(?:INFO|ERROR|WARN(?:ING)?|DEBUG|FATAL)\b", re.MULTILINE
        ),
        2,
        "It is a piece of a log.",
    ),
    (re.compile(r"^npm (?:ERR!|error)", re.MULTILINE), 2, "It is the output of a failed command."),
    (
        re.compile(r"^[d-][r-][w-][xst-](?:[r-][w-][xst-]){2}[.+@]? +\d", re.MULTILINE),
        2,
        "It is the listing of a folder.",
    ),
    (re.compile(r"\Adiff --git |\A--- \S+\n\+\+\+ \S+\n@@ ", re.MULTILINE), 1, "It is a diff."),
)
_CODE_LINE = re.compile(
    r"\s*(?:(?:async )?def |class \w+|import \w|from \w[\w.]* import|return\b|if .*:$|for .* in .*:$|else:|elif "
    r"|while .*:$|try:|except"
    r"|(?:const|let|var|function|export|public|private|static) |[}\])]+[;,]?$|#include|package \w+;?$|fn \w+|@\w+"
    r"|\w[\w.\[\]\"']* ?(?:[-+*/]?=|:=) ?\S|[\w.]+\(.*\)[;:]?$|.*[{;]$|//|/\*|#!|<\/?\w+[^>]*>$)"
)
_FENCE = re.compile(r"\s*(?:```|~~~)")
_FEWEST_LINES, _MOSTLY = 6, 0.85


def junk(text: str) -> str:
    """Why an entry is junk, or nothing."""
    bare = text.strip().strip("*_ ")
    phrases = _phrases()
    for name, why in _WHOLE.items():
        if phrases[name].fullmatch(bare):
            return why
    for pattern, least, why in _DUMPS:
        if len(pattern.findall(text)) >= least:
            return why
    # Code from end to end. A snippet with a sentence beside it explains something.
    lines = [line for line in text.splitlines() if line.strip() and not _FENCE.match(line)]
    if len(lines) >= _FEWEST_LINES and sum(bool(_CODE_LINE.match(line)) for line in lines) >= _MOSTLY * len(lines):
        return "It is code, not a statement."
    if _is_data(text):
        return "It is data as a program printed it."
    if len(_SPEAKER.findall(text)) >= 2:
        return "It is a piece of a transcript."
    if len(bare) > _LONGEST_TOLD or phrases["lasting"].search(bare):
        return ""
    return next((why for name, why in _OPENINGS.items() if phrases[name].match(bare)), "")


@cache
def _phrases() -> dict[str, re.Pattern[str]]:
    """One expression of alternatives for each group in `junk.toml`."""
    table = tomllib.loads((files("reverie.audit") / "junk.toml").read_text("utf-8"))
    words = {name: "".join(text.splitlines()) for name, text in table["words"].items()}

    def expression(lines: str) -> re.Pattern[str]:
        lines = re.sub(r"<(\w+)>", lambda found: words[found[1]], lines)
        return re.compile("|".join(f"(?:{line})" for line in lines.splitlines() if line), re.IGNORECASE)

    groups = {"lasting": table["lasting"], **table["openings"], **table["whole"]}
    return {name: expression(lines) for name, lines in groups.items()}


def _is_data(text: str) -> bool:
    stripped = text.strip()
    if len(stripped) < 60 or stripped[0] not in "{[":
        return False
    try:
        return isinstance(json.loads(stripped), dict | list)
    except ValueError:
        return False


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
_LONGEST_DATED = 200


def expired(text: str, today: date, *, only_dated: bool = False) -> str:
    """Which words are over and since when, or nothing. `only_dated`: only those that say until which day."""
    for sentence in _SENTENCE.split(text):
        lower = sentence.lower()
        if found := _past(lower, today):
            return f"It holds until {found:%Y-%m-%d}, which is over."
        word = _RELATIVE.search(lower) if not only_dated and len(text) <= _LONGEST_DATED else None
        if word and _APPOINTED.search(lower) and not _HABIT.search(lower):
            return f"It says “{word.group()}” and not which day: that was right only when it was written."
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
