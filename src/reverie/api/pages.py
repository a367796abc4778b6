"""Pages with opaque cursors: a cursor holds where the last page ended, and for which listing it is good."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Literal, TypeVar

from fastapi import Query

from reverie.kernel.errors import BadInput
from reverie.memory.store import Between

Limit = Annotated[int, Query(ge=1, le=100, description="The most objects on a page.")]
Page = Annotated[str | None, Query(description="`next_page` of the page before.")]
View = Literal["basic", "full"]
Since = Annotated[datetime | None, Query(alias="created_at[gte]")]
Until = Annotated[datetime | None, Query(alias="created_at[lte]")]
After = Annotated[datetime | None, Query(alias="created_at[gt]")]
Before = Annotated[datetime | None, Query(alias="created_at[lt]")]
MOST_WITH_CONTENT = 20
Place = TypeVar("Place", str, int)
Found = TypeVar("Found")


def position(page: str | None, listing: str, kind: type[Place]) -> Place | None:
    """Where a page begins: behind this."""
    if not page:
        return None
    try:
        name, place = json.loads(base64.b64decode(page + "=" * (-len(page) % 4), "-_", validate=True))
    except (ValueError, TypeError, binascii.Error):
        name, place = "", None
    if name != listing or type(place) is not kind or not _storable(place):
        raise BadInput("page: not a cursor of this listing.", expected="next_page of the page before")
    return place


def _storable(place: str | int) -> bool:
    """What no database takes was not given out by us."""
    if isinstance(place, int):
        return 0 <= place < 2**63
    return not any(char == "\0" or "\ud800" <= char <= "\udfff" for char in place)


def paged(found: Sequence[Found], limit: int, listing: str, place: Callable[[Found], str | int]) -> str | None:
    """The cursor behind the last one shown, when one more was found than is shown."""
    if len(found) <= limit:
        return None
    told = json.dumps([listing, place(found[limit - 1])]).encode()
    return base64.urlsafe_b64encode(told).decode().rstrip("=")


def most(limit: int, view: View) -> int:
    return min(limit, MOST_WITH_CONTENT) if view == "full" else limit


def between(
    since: datetime | None, until: datetime | None, after: datetime | None = None, before: datetime | None = None
) -> Between:
    return Between(*(None if at is None else _aware(at) for at in (since, until, after, before)))


def _aware(at: datetime) -> datetime:
    try:
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except OverflowError as error:
        raise BadInput(f"created_at: {at.isoformat()} is no time of this calendar.") from error
