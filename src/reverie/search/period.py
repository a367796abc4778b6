"""The time a question asks about: "what did we decide last week?" looks at last week and nothing else."""

from __future__ import annotations

import re
from calendar import month_name
from dataclasses import dataclass
from datetime import date, timedelta

_MONTHS = {name.lower(): number for number, name in enumerate(month_name) if name}
_ASKED = re.compile(
    r"\b(?:(?P<near>today|yesterday)"
    r"|(?P<which>last|this) (?P<unit>week|month|year)"
    r"|(?P<number>\d{1,3}|a|one|two|three) (?P<units>day|week|month|year)s? ago"
    rf"|in (?P<month>{'|'.join(_MONTHS)})(?: (?P<year>20\d\d))?"
    r"|on (?P<day>20\d\d-\d\d-\d\d))\b",
    re.IGNORECASE,
)
_NUMBERS = {"a": 1, "one": 1, "two": 2, "three": 3}


@dataclass(frozen=True, slots=True)
class Period:
    """From the beginning of `first` to the end of `last`; `words` are those of the question."""

    words: str
    first: date
    last: date


def period(question: str, today: date) -> Period | None:
    """Of several times that are named the first counts. None: any time."""
    found = _ASKED.search(question)
    days = _days({name: text.lower() for name, text in found.groupdict().items() if text}, today) if found else None
    return Period(found[0], *days) if found and days else None


def _days(said: dict[str, str], today: date) -> tuple[date, date] | None:
    if near := said.get("near"):
        day = today - timedelta(near == "yesterday")
        return day, day
    if unit := said.get("unit"):
        return _unit(unit, today, 1 if said["which"] == "last" else 0)
    if units := said.get("units"):
        number = _NUMBERS.get(said["number"]) or int(said["number"])
        if units != "day":
            return _unit(units, today, number)
        return today - timedelta(number), today - timedelta(number)
    if iso := said.get("day"):
        try:
            return date.fromisoformat(iso), date.fromisoformat(iso)
        except ValueError:
            return None
    month = _MONTHS[said["month"]]
    year = int(said.get("year") or (today.year if month <= today.month else today.year - 1))
    return date(year, month, 1), _end(year, month)


def _unit(unit: str, today: date, back: int) -> tuple[date, date] | None:
    """A week begins on Monday."""
    if unit == "week":
        monday = today - timedelta(today.weekday() + 7 * back)
        return monday, monday + timedelta(6)
    if unit == "year":
        return date(today.year - back, 1, 1), date(today.year - back, 12, 31)
    months = today.year * 12 + today.month - 1 - back
    return date(months // 12, months % 12 + 1, 1), _end(months // 12, months % 12 + 1)


def _end(year: int, month: int) -> date:
    return date(year + month // 12, month % 12 + 1, 1) - timedelta(1)
