"""Numbers written as words, as digits: "three days" and "3 days" are one amount, "half past seven" is 7:30."""

from __future__ import annotations

import re

from reverie.text.wording.units import HAN_DIGITS, HAN_POWERS, NUMBER_WORDS

_WORD_NUMBER = re.compile(r"\b(" + "|".join(sorted(NUMBER_WORDS, key=len, reverse=True)) + r")\b")
_ONE = re.compile(r"(?<!the )(?<!this )(?<!that )(?<!which )(?<!new )(?<!no )\bone (?=(?!of|day|or|to)[a-z])")
_ONE_TIME = re.compile(
    r"\b(?:una?|une|uma|ein|eine) "
    r"(?=(?:vez|fois|mal|veces|stunde|hora|heure|semana|semaine|woche|mes|mois|monat|día|jour|tag)\b)"
)
_ELEVEN = re.compile(r"(?<=\ba las )once\b")
_PAST = {"half past": "30", "quarter past": "15"}
_PAST_HOUR = re.compile(r"\b(?P<past>half past|quarter past) (?P<hour>\d{1,2})\b")
_HALF_HOUR = re.compile(r"\b(?P<hour>\d{1,2}) (?:y media|et demie|e meia)\b")
_HAN_NUMBER = re.compile(r"(?<!周)(?<!期)[零一二三四五六七八九两十百千万]+(?=[点天个分岁月号年次元块人秒小周页台只])")
_A_UNIT = re.compile(
    r"\b((?:after|in|for|within|takes?|lasts?|about|of) )an? (?=(?:minute|hour|day|week|month|year)\b)"
)
_HALVES = re.compile(r"\b(?:half an hour|eine halbe stunde|media hora|une demi-heure)\b")


def spelled(text: str) -> str:
    """Number words as digits, so that "three days" and "3 days" are one amount."""
    text = _HALVES.sub("30 minutes", text)
    text = _ELEVEN.sub("11", text)
    text = _ONE.sub("1 ", text)
    text = _ONE_TIME.sub("1 ", text)
    text = _A_UNIT.sub(r"\g<1>1 ", text)
    text = _WORD_NUMBER.sub(lambda match: str(NUMBER_WORDS[match.group()]), text)
    # "ish": people do not say which half of the day they mean
    text = _PAST_HOUR.sub(lambda match: f"{match['hour']}:{_PAST[match['past']]}ish", text)
    text = _HALF_HOUR.sub(r"\g<hour>:30", text)
    return _HAN_NUMBER.sub(lambda match: str(_han(match.group())), text)


def _han(digits: str) -> int:
    total, current = 0, 0
    for digit in digits:
        if digit in HAN_POWERS:
            total += max(current, 1) * HAN_POWERS[digit]
            current = 0
        else:
            current = HAN_DIGITS[digit]
    return total + current
