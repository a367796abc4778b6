"""What can be counted and compared in a text: amounts with units, dates, times of day, weekdays, versions, identifiers.

Every Value has a dimension; two Values can only differ when they share one. Numbers written as words are read as
digits: "three days" and "3 days" are one amount, "half past seven" is 7:30.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from reverie.text.units import HAN_DIGITS, HAN_POWERS, MONTHS, NUMBER_WORDS, ORDINALS, PERIODS, RHYTHMS, UNITS, WEEKDAYS

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


NAME = "name"  # the dimension of what is no amount: a path, a host, an option
_NUMBER = r"\d+(?:[,\u202f]\d{3}(?!\d))*(?:[.,]\d{1,3}(?!\d))?(?:\.\d+)?"
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
_DAY = "|".join(sorted(WEEKDAYS, key=len, reverse=True))
_UNIT = "|".join(re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True))
_UNIT_END = r"(?![a-z0-9/])"

_PATTERNS: tuple[tuple[str, str], ...] = (
    ("iso", r"\b(?P<iy>\d{4})-(?P<im>\d\d)-(?P<id>\d\d)\b"),
    ("monthday", rf"\b(?P<mm>{_MONTH})\.? (?P<md>\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (?P<my>\d{{4}}))?"),
    ("daymonth", rf"\b(?P<dd>\d{{1,2}})(?:st|nd|rd|th|\.)?(?: of| de)? (?P<dm>{_MONTH})\b(?: (?P<dy>\d{{4}}))?"),
    ("month", rf"\b(?:in|of|until|by|since|till|im|bis|en|de|em|nel) (?P<om>{_MONTH})\b(?! \d)"),
    ("slashed", r"(?<![\w/.])(?P<sm>0?\d|1[0-2])/(?P<sd>[0-2]?\d|3[01])(?:/\d{2,4})?(?![\w/])"),
    (
        "address",
        r"(?:https?://\S+|(?<![\w/])[~.]?/[\w.~-]+(?:/[\w.~-]*)*"
        r"|(?<![\w/])(?!and/or\b|e\.g|i\.e)[a-z_][\w-]*(?:[./:@][\w-]+)+(?::\d+)?/?)",
    ),
    ("hoursmin", r"\b(?P<hh>\d+) ?h(?:ours?|rs?)?,? (?:and )?(?P<hm>\d+) ?m(?:in(?:utes?)?)?\b"),
    ("dotted", r"(?:\bat|\bum|\bà|\ba las|\bàs) (?P<th>\d{1,2})\.(?P<tm>[0-5]\d)(?![\d.]|%| ?(?:percent|euro|dollar))"),
    ("clock", r"\b(?P<ch>\d{1,3})(?::|h| h )(?P<cm>\d\d)(?::(?P<cs>\d\d))?(?: ?(?P<cx>[ap])\.?m\b\.?|ish\b)?"),
    (
        "oclock",
        r"\b(?P<oh>\d{1,2})(?: ?(?P<ox>[ap])\.?m\b\.?| uhr\b| o'clock"
        r"| (?P<op>in the (?:morning|evening|afternoon)|at night))",
    ),
    (
        "hour",
        r"\b(?:at|by|um|a las) (?P<bh>1?\d|2[0-4])(?![\w:%-]|[.,]\d)"
        r"(?= ?(?:$|[.,;)]|and |to |or |on |in (?!the (?:morning|evening|afternoon))|sharp|every|each|daily))"
        r"|\b(?:until|from|after|before|till|bis|ab) (?P<bu>[6-9]|1\d|2[0-4])(?![\w:%-]|[.,]\d)"
        r"(?= ?(?:$|[.,;)]|to |on ))",
    ),
    ("version", r"\bv(?P<vn>\d+(?:\.\d+)*)\b|\b(?P<vd>\d+\.\d+\.\d+(?:\.\d+)*)\b"),
    (
        "often",
        r"\b(?:(?P<fn>once|twice|thrice|\d+ ?(?:times|x)) (?:a|an|per|each|every) "
        r"|every (?P<fo>other |second |\d+(?:nd|rd|th) )?)(?P<fp>day|week|month|quarter|year|hour)s?\b",
    ),
    ("everyday", rf"\b(?:every|each) (?P<xo>other |second |2nd |third |3rd )?(?=(?:{_DAY})\b)"),
    ("each", rf"\bevery (?P<en>\d+) ?(?P<eu>{_UNIT}){_UNIT_END}"),
    ("rhythm", r"\b(?P<rw>" + "|".join(RHYTHMS) + r")\b(?! (?:budget|target|goal|limit|cost|rent|fee))"),
    ("priced", rf"(?P<pc>[$€£¥]) ?(?P<pn>{_NUMBER}) ?(?P<pk>k|m)?\b"),
    ("range", rf"\b(?P<ra>{_NUMBER}) ?(?:-|–|to) ?(?P<rb>{_NUMBER}) ?(?P<ru>{_UNIT}){_UNIT_END}"),
    ("amount", rf"(?<![a-z0-9_.])(?P<an>{_NUMBER})(?: ?-? ?)(?P<au>{_UNIT}){_UNIT_END}"),
    (
        "ordinal",
        r"\b(?P<on>\d+)(?:st|nd|rd|th)\b"
        rf"|\b(?P<ow>{'|'.join(ORDINALS)})\b(?= (?!and\b|then\b|or\b|but\b)[a-z]{{3}})",
    ),
    ("dayset", r"\b(?P<ds>weekdays?|workdays?|weekends?|wochenende[ns]?|werktags?)\b"),
    ("weekdays", rf"(?<![a-z])(?P<wa>{_DAY})(?: ?(?:-|–|to|through|bis|a|al|à|au) ?(?P<wb>{_DAY}))?(?![a-z])"),
    ("tagged", r"\b(?=\w*\d)(?=\w*[a-z])[a-z0-9_]+\b"),
    (
        "year",
        r"\b(?:in|since|from|until|till|by|of|for|en|desde|seit|im|ab|bis|depuis) "
        r"(?P<yn>(?:19|20)\d\d)\b(?! [a-z]{4})",
    ),
    ("number", rf"(?<![a-z0-9_.])(?P<nn>{_NUMBER})(?![a-z0-9_])"),
)
_ALL = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _PATTERNS))
# The long pattern is slow and most clauses hold no value at all.
_MAYBE = re.compile(
    r"[\d$€£¥@_/]|\w[.:]\w|\bevery\b|week|"
    r"\b(?:in|of|until|by|since|till|im|bis|en|de|em|nel) (?:"
    + _MONTH
    + r")\b|\b(?:once|twice|thrice)\b|"
    + "|".join((_DAY, *RHYTHMS, *ORDINALS))
)


@dataclass(frozen=True, slots=True)
class Value:
    dimension: str
    amount: float | str | frozenset[int]
    shown: str
    start: int
    end: int
    unit: float = 1.0

    @property
    def sure_half(self) -> bool:
        """Whether a time of day says which half of the day it is in."""
        if self.shown.endswith("ish"):
            return False
        return bool(re.search(r"[ap]\.?m|:|uhr|evening|night|morning", self.shown)) or float(str(self.amount)) >= 780

    def differs(self, other: Value) -> bool:
        if isinstance(self.amount, float) and isinstance(other.amount, float):
            if self.dimension == "clock" and not (self.sure_half and other.sure_half):
                return self.amount % 720 != other.amount % 720
            slack = 0.03 if self.unit != other.unit else 1e-6  # 5 miles is 8 km, but port 6379 is not 6380
            return abs(self.amount - other.amount) > slack * max(abs(self.amount), abs(other.amount))
        return self.amount != other.amount


def find_values(text: str) -> Iterator[Value]:
    """Every value in a case-folded text, in order. `text` went through `spelled`."""
    if not _MAYBE.search(text):
        return
    for match in _ALL.finditer(text):
        name = str(match.lastgroup)  # of the pattern: it ends behind all groups within it
        dimension, amount = _READERS[name](match)
        factor = UNITS[match["au"]][1] if name == "amount" else 1.0
        yield Value(dimension, amount, match.group().strip(), match.start(), match.end(), factor)


_NUMBERS = frozenset({"count", "version", "ordinal"})


def exchanged(mine: Sequence[Value], theirs: Sequence[Value]) -> bool:
    """Whether one side has a value in the place of another one, of the same dimension. What both have is no change."""
    alike = [
        (one, other)
        for one in mine
        for other in theirs
        if {one.dimension, other.dimension} <= _NUMBERS or one.dimension == other.dimension
    ]
    kept = {id(one) for pair in alike if not pair[0].differs(pair[1]) for one in pair}
    return any(id(one) not in kept and id(other) not in kept for one, other in alike)


_Read = tuple[str, float | str | frozenset[int]]


def _float(number: str) -> float:
    """Commas and dots before exactly three digits group thousands; otherwise they begin the decimals."""
    grouped = re.sub(r"[,\u202f](?=\d{3}(?!\d))", "", number)
    grouped = re.sub(r"^(\d{1,3})\.(?=\d{3}$)", r"\1", grouped)
    whole, _, decimals = grouped.replace(",", ".").partition(".")
    return float(f"{whole}.{decimals.replace('.', '') or 0}")


def _date(month: int, day: str) -> _Read:
    return "date", float(month * 31 + int(day))


def _clock(match: re.Match[str]) -> _Read:
    if int(match["ch"]) > 24:
        return "lap", int(match["ch"]) * 60.0 + int(match["cm"])  # minutes and seconds: 27:12
    hour = int(match["ch"]) + (12 if match["cx"] == "p" and int(match["ch"]) < 12 else 0)
    return "clock", hour * 60.0 + int(match["cm"]) + int(match["cs"] or 0) / 60


def _oclock(match: re.Match[str]) -> _Read:
    hour, late = int(match["oh"]), match["ox"] == "p" or (match["op"] or "").endswith(("evening", "afternoon", "night"))
    return "clock", 60.0 * (hour + (12 if late and hour < 12 else 0))


def _often(match: re.Match[str]) -> _Read:
    period, count, other = PERIODS[match["fp"]], match["fn"], match["fo"]
    times = {"once": 1, "twice": 2, "thrice": 3}.get(count or "once") or int(re.sub(r"\D", "", count))
    skipped = 1 if not other else 2 if not other[0].isdigit() else int(re.sub(r"\D", "", other))
    return "rhythm", 86400 * period * skipped / max(times, 1)


def _amount(number: float, unit: str) -> _Read:
    dimension, factor = UNITS[unit]
    return dimension, number * factor


def _weekdays(match: re.Match[str]) -> _Read:
    first = WEEKDAYS[match["wa"]]
    last = WEEKDAYS[match["wb"]] if match["wb"] else first
    return "weekday", frozenset((first + step) % 7 for step in range((last - first) % 7 + 1))


_READERS: dict[str, Callable[[re.Match[str]], _Read]] = {
    "iso": lambda m: _date(int(m["im"]), m["id"]),
    "monthday": lambda m: _date(MONTHS[m["mm"]], m["md"]),
    "daymonth": lambda m: _date(MONTHS[m["dm"]], m["dd"]),
    "month": lambda m: ("month", float(MONTHS[m["om"]])),
    "slashed": lambda m: _date(int(m["sm"]), m["sd"]),
    "address": lambda m: (NAME, m.group()),
    "hoursmin": lambda m: ("duration", int(m["hh"]) * 3600.0 + int(m["hm"]) * 60),
    "dotted": lambda m: ("clock", int(m["th"]) * 60.0 + int(m["tm"])),
    "clock": _clock,
    "oclock": _oclock,
    "hour": lambda m: ("clock", 60.0 * int(m["bh"] or m["bu"])),
    "version": lambda m: ("version", m["vn"] or m["vd"]),
    "often": _often,
    "everyday": lambda m: ("rhythm", 604800.0 * (1 if not m["xo"] else 3 if m["xo"][0] in "t3" else 2)),
    "each": lambda m: ("rhythm", UNITS[m["eu"]][1] * int(m["en"])),
    "rhythm": lambda m: ("rhythm", 86400 * RHYTHMS[m["rw"]]),
    "priced": lambda m: _amount(_float(m["pn"]) * {"k": 1e3, "m": 1e6}.get(m["pk"], 1.0), m["pc"]),
    "range": lambda m: _amount((_float(m["ra"]) + _float(m["rb"])) / 2, m["ru"]),
    "amount": lambda m: _amount(_float(m["an"]), m["au"]),
    "ordinal": lambda m: ("ordinal", float(m["on"] or ORDINALS[m["ow"]])),
    "dayset": lambda m: ("weekday", frozenset({5, 6} if m["ds"].startswith(("weekend", "wochen")) else range(5))),
    "weekdays": _weekdays,
    "tagged": lambda m: (NAME, m.group()),
    "year": lambda m: ("year", float(m["yn"])),
    "number": lambda m: ("count", _float(m["nn"])),
}
