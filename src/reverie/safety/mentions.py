"""Telling a mention from a use: a title, an example or a test case that quotes an attack does not carry it out."""

import re
from functools import cache

# Only what stands before the quotation counts: an attacker chooses what comes after his own words.
_REACH = 90


@cache
def _introduced() -> re.Pattern[str]:
    nouns = (
        "titled?|called|named|phrases?|attacks?|attackers?|injections?|examples?|e\\.g\\.|such as|slides?|talks?"
        "|chapters?|papers?|songs?|jokes?|t-?shirts?|stickers?|thesis|strings?|payloads?|malicious|tests?"
        "|detects?|blocks?|rejects?|filters?"
        "|variations?|patterns?|jailbreaks?|adversarial|headline|quotes?|novels?|games?|memes?"
    )
    return re.compile(rf"\b(?:{nouns})\b[^\n]{{0,70}}[\"'`“‘«「(*]{{1,4}}$")


def is_mention(folded: str, start: int, end: int) -> bool:
    """Whether the span is quoted, closed again soon, and introduced as something people say or write."""
    before = folded[max(0, start - _REACH) : start]
    if not before or before[-1] not in "\"'`“‘«「(*":
        return False
    after = folded[end : end + 80]
    return bool(_introduced().search(before)) and any(mark in after for mark in "\"'`”’»」)*")
