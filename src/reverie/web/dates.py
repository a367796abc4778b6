"""Days as people here count them."""

from __future__ import annotations

from datetime import UTC, datetime, time

from reverie.app import Home
from reverie.core.errors import BadInput


def end_of(day: str, home: Home) -> datetime | None:
    """The end of a day; None for no day. A time is that time."""
    return _moment(day, home, time.max) if day else None


def beginning_of(day: str, home: Home) -> datetime:
    return _moment(day, home, time.min)


def _moment(day: str, home: Home, at: time) -> datetime:
    try:
        read = datetime.fromisoformat(day)
    except ValueError as error:
        raise BadInput(f"{day!r} is not a date.", expected="a date such as 2026-05-12") from error
    if len(day) == len("2026-05-12"):
        read = datetime.combine(read.date(), at)
    return (read if read.tzinfo else read.replace(tzinfo=home.config.timezone)).astimezone(UTC)
