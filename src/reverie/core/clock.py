"""Time: aware UTC inside, RFC 3339 with `Z` outside, unknown is None and never "now".

A Schedule says when something is due, as cron writes it: five fields of numbers, `*`, lists, ranges and steps.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Protocol

from reverie.core.errors import BadInput

# Before this, a number is seconds; after, milliseconds; then micro- and nanoseconds. 1e11 s is the year 5138.
_SECONDS_END = 1e11
_NANOSECONDS_END = 1e20


class Clock(Protocol):
    def now(self) -> datetime: ...


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class FixedClock:
    at: datetime

    def now(self) -> datetime:
        return self.at


@dataclass(frozen=True, slots=True)
class TimeSpan:
    """A side that is None is open. `after` and `before` exclude their moment, the others include it."""

    since: datetime | None = None
    until: datetime | None = None
    after: datetime | None = None
    before: datetime | None = None


def rfc3339(at: datetime) -> str:
    text = at.astimezone(UTC).isoformat(timespec="microseconds" if at.microsecond else "seconds")
    return text.replace("+00:00", "Z")


def moment(value: object) -> datetime | None:
    """Read a time as transcripts write it: RFC 3339, a naive ISO time (taken as UTC), or an epoch number.

    What cannot be read is unknown, not an error: a transcript with an odd date is still a transcript.
    """
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        if not 0 < value < _NANOSECONDS_END:  # so that NaN and the infinite are unknown, too
            return None
        while value >= _SECONDS_END:
            value /= 1000
        try:
            return datetime.fromtimestamp(value, UTC)
        except (OverflowError, OSError, ValueError):
            return None
    if isinstance(value, str):
        try:
            return moment(datetime.fromisoformat(value.strip()))
        except (ValueError, OverflowError):
            return None
    return None


def month_before(now: datetime, zone: tzinfo) -> datetime:
    """When the calendar month began in which it is now."""
    return now.astimezone(zone).replace(day=1, hour=0, minute=0, second=0, microsecond=0)


_FIELDS = (("minute", 0, 59), ("hour", 0, 23), ("day of the month", 1, 31), ("month", 1, 12), ("day of the week", 0, 7))
_PART = re.compile(r"(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:/(\d{1,2}))?", re.ASCII)
_FURTHEST = 366 * 8 + 3  # days: a 29th of February may be eight years ago
EVERY_MINUTE = frozenset(range(60))


@dataclass(frozen=True, slots=True)
class Schedule:
    """Days of the month and of the week are as cron has them: where both are restricted, either will do."""

    text: str
    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]

    @property
    def daily(self) -> bool:
        return self.text.split()[2:] == ["*"] * 3

    def last(self, now: datetime, zone: tzinfo) -> datetime | None:
        """When it was last due; None where it never is, as on a 30th of February."""
        today = now.astimezone(zone).date()
        times = [time(hour, minute, tzinfo=zone) for hour in self.hours for minute in self.minutes]
        for back in range(_FURTHEST):
            day = today - timedelta(days=back)
            due = [datetime.combine(day, at).astimezone(UTC) for at in times] if self._on(day) else []
            if before := [at for at in due if at <= now]:
                return max(before)
        return None

    def _on(self, day: date) -> bool:
        of_month, of_week = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        both = any(field.startswith("*") for field in (self.text.split()[2], self.text.split()[4]))
        return day.month in self.months and (of_month and of_week if both else of_month or of_week)


def schedule(text: str) -> Schedule:
    """Read what stands in a crontab before the command."""
    fields = text.split()
    if len(fields) != len(_FIELDS):
        raise _no_time(text)
    minutes, hours, days, months, weekdays = (
        _numbers(text, field, *span) for field, span in zip(fields, _FIELDS, strict=True)
    )
    return Schedule(" ".join(fields), minutes, hours, days, months, frozenset(day % 7 for day in weekdays))


def _numbers(text: str, field: str, what: str, least: int, most: int) -> frozenset[int]:
    found: set[int] = set()
    for part in field.split(","):
        match = _PART.fullmatch(part)
        if match is None or (match[3] and match[1] and not match[2]):
            raise _no_time(text)
        first, last = int(match[1] or least), int(match[2] or match[1] or most)
        if not least <= first <= last <= most or match[3] in ("0", "00"):
            raise _no_time(text, f"{part} is no {what}")
        found |= set(range(first, last + 1, int(match[3] or 1)))
    return frozenset(found)


def _no_time(text: str, why: str = "") -> BadInput:
    because = f": {why}" if why else ""
    return BadInput(
        f"{text!r} is not a time for cron{because}.", expected='five fields such as "0 3 * * *", which is 03:00'
    )
