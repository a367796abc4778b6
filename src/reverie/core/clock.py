"""Time: aware UTC inside, RFC 3339 with `Z` outside, unknown is None and never "now"."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Protocol

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
        return _from_epoch(value)
    if isinstance(value, str):
        return _from_text(value.strip())
    return None


def _from_epoch(number: float) -> datetime | None:
    if not 0 < number < _NANOSECONDS_END:  # so that NaN and the infinite are unknown, too
        return None
    while number >= _SECONDS_END:
        number /= 1000
    try:
        return datetime.fromtimestamp(number, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def _from_text(text: str) -> datetime | None:
    try:
        return moment(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        return None


def month_before(now: datetime, zone: tzinfo) -> datetime:
    """When the calendar month began in which it is now."""
    return now.astimezone(zone).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
