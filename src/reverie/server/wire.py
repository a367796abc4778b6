"""What answers have in common: the one error envelope, and pages with opaque cursors.

Validation is 400, never 422. A cursor holds where the last page ended, and for which listing it is good.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, Literal, TypeVar

from fastapi import Depends, FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from reverie.core.clock import TimeSpan
from reverie.core.errors import BadInput, ReverieError
from reverie.memory.store import Outdated, PathTaken, Refused

TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    409: "conflict_error",
    413: "invalid_request_error",
    429: "rate_limit_error",
    503: "overloaded_error",
}
# The SDK repeats a 409 by itself, which here can only fail again.
FINAL = {"x-should-retry": "false"}


class Problem(Exception):
    """An answer that is an error. `more` goes into `error` beside type and message."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        kind: str = "",
        more: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.message = status, message
        self.kind = kind or TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")
        self.more, self.headers = dict(more or {}), dict(headers or {})


def envelope(problem: Problem, request_id: str) -> JSONResponse:
    error = {"type": problem.kind, "message": problem.message, **problem.more}
    told = {"type": "error", "error": error, "request_id": request_id}
    return JSONResponse(told, problem.status, problem.headers)


def refused(refusal: Refused) -> Problem:
    match refusal:
        case PathTaken(memory, path):
            return Problem(
                409,
                f"Another memory is at {path}.",
                kind="memory_path_conflict_error",
                headers=FINAL,
                more={"conflicting_memory_id": memory, "conflicting_path": path},
            )
        case Outdated(expected, found):
            return Problem(
                409,
                f"The memory's content_sha256 is {found}, not {expected}. Read it again.",
                headers=FINAL,
                kind="memory_precondition_failed_error",
            )


def answer_errors(app: FastAPI) -> None:
    async def on_problem(request: Request, error: Exception) -> JSONResponse:
        return envelope(problem_of(error), request.state.request_id)

    for kind in (Problem, ReverieError, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, on_problem)


def problem_of(error: Exception) -> Problem:
    match error:
        case Problem():
            return error
        case ReverieError() if error.http_status < 500:
            code = getattr(error, "code", None)
            more = {"details": {"error_code": code}} if code else {}
            return Problem(error.http_status, str(error), more=more, headers=FINAL if error.http_status == 409 else {})
        case ReverieError():  # what a disk or database said can hold paths and hosts of ours
            return Problem(error.http_status, f"The server could not do it ({type(error).__name__}).")
        case RequestValidationError():
            return Problem(400, "; ".join(map(_validation_sentence, error.errors())))
        case HTTPException(status_code=404, detail="Not Found"):
            return Problem(404, "There is nothing at this path. /openapi.json lists what there is.")
        case HTTPException(status_code=405):
            said = "This path does not take that method. /openapi.json lists what there is."
            return Problem(405, said, headers=error.headers)
        case HTTPException():
            return Problem(error.status_code, str(error.detail), headers=error.headers)
        case _:
            return Problem(500, "Something went wrong in the server. Its log names it by the request id.")


def _validation_sentence(wrong: Mapping[str, Any]) -> str:
    where = ".".join(str(part) for part in wrong["loc"] if part not in ("body", "query", "path", "header"))
    return f"{where or 'body'}: {wrong['msg']}"


Limit = Annotated[int, Query(ge=1, le=100, description="The most objects on a page.")]
Page = Annotated[str | None, Query(description="`next_page` of the page before.")]
View = Literal["basic", "full"]
MOST_WITH_CONTENT = 20
Place = TypeVar("Place", str, int)
Found = TypeVar("Found")


class WirePage(BaseModel, Generic[Found]):
    data: list[Found]
    next_page: str | None


def position(page: str | None, listing: str, kind: type[Place]) -> Place | None:
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
    return _cursor(listing, place(found[limit - 1])) if len(found) > limit else None


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


def bearing(page: str | None, listing: str) -> tuple[str | None, bool]:
    try:
        return position(page, listing, str), False
    except BadInput:
        return position(page, f"{listing} back", str), True


def both_ways(
    found: Sequence[str], limit: int, listing: str, place: str | None, *, back: bool
) -> tuple[list[str], str | None, str | None]:
    """The rows in the order of the listing, the page behind them and the page before them."""
    shown = list(found[:limit])[:: -1 if back else 1]
    more = len(found) > limit
    last, first = (_cursor(listing, shown[-1]), _cursor(f"{listing} back", shown[0])) if shown else (None, None)
    return shown, last if back or more else None, first if (more if back else place is not None) else None


def _cursor(listing: str, place: str | int) -> str:
    return base64.urlsafe_b64encode(json.dumps([listing, place]).encode()).decode().rstrip("=")
