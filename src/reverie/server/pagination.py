"""Pages with opaque cursors: a cursor holds where the last page ended, and for which listing it is good."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Literal, TypeVar

from fastapi import Depends, Query

from reverie.core.clock import TimeSpan
from reverie.core.errors import BadInput

Limit = Annotated[int, Query(ge=1, le=100, description="The most objects on a page.")]
Page = Annotated[str | None, Query(description="`next_page` of the page before.")]
View = Literal["basic", "full"]
MOST_WITH_CONTENT = 20
Place = TypeVar("Place", str, int)
Found = TypeVar("Found")


def position(page: str | None, listing: str, kind: type[Place]) -> Place | None:
    """Where a page begins: behind this."""
    if not page:
        return None
    try:
        name, place = json.loads(base64.b64decode(page + "=" * (-len(page) % 4), "-_", validate=True))
    except (ValueError, TypeError, RecursionError, binascii.Error):
        name, place = "", None
    if name != listing or type(place) is not kind or not _storable(place):
        raise BadInput("page: not a cursor of this listing.", expected="next_page of the page before")
    return place


def _storable(place: str | int) -> bool:
    """Whether a database takes it; we gave out nothing else."""
    if isinstance(place, int):
        return 0 <= place < 2**63
    return not any(char == "\0" or "\ud800" <= char <= "\udfff" for char in place)


def paged(found: Sequence[Found], limit: int, listing: str, place: Callable[[Found], str | int]) -> str | None:
    """The cursor behind the last one shown, when one more was found than is shown."""
    if len(found) <= limit:
        return None
    return _cursor(listing, place(found[limit - 1]))


def most(limit: int, view: View) -> int:
    return min(limit, MOST_WITH_CONTENT) if view == "full" else limit


async def created_within(
    since: Annotated[datetime | None, Query(alias="created_at[gte]")] = None,
    until: Annotated[datetime | None, Query(alias="created_at[lte]")] = None,
    after: Annotated[datetime | None, Query(alias="created_at[gt]")] = None,
    before: Annotated[datetime | None, Query(alias="created_at[lt]")] = None,
) -> TimeSpan:
    return TimeSpan(*(None if at is None else _aware(at) for at in (since, until, after, before)))


Created = Annotated[TimeSpan, Depends(created_within)]


def _aware(at: datetime) -> datetime:
    try:
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except OverflowError as error:
        raise BadInput(f"created_at: {at.isoformat()} is not a time Reverie can count with.") from error


# ---- listings that can be walked both ways ---------------------------------------------------------------------------


def bearing(page: str | None, listing: str) -> tuple[str | None, bool]:
    """Where a page begins, and whether it goes back from there."""
    try:
        return position(page, listing, str), False
    except BadInput:
        return position(page, _back(listing), str), True


def both_ways(
    found: Sequence[str], limit: int, listing: str, place: str | None, *, back: bool
) -> tuple[list[str], str | None, str | None]:
    """The rows in the order of the listing, the page behind them and the page before them."""
    shown = list(found[:limit])[:: -1 if back else 1]
    more = len(found) > limit
    last, first = (_cursor(listing, shown[-1]), _cursor(_back(listing), shown[0])) if shown else (None, None)
    return shown, last if back or more else None, first if (more if back else place is not None) else None


def _back(listing: str) -> str:
    return f"{listing} back"


def _cursor(listing: str, place: str | int) -> str:
    return base64.urlsafe_b64encode(json.dumps([listing, place]).encode()).decode().rstrip("=")
