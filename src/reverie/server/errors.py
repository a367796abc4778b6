"""The one error envelope, and how what went wrong becomes a status. Validation is 400, never 422."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from reverie.core.errors import ReverieError
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
        self.status = status
        self.kind = kind or TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")
        self.message = message
        self.more = dict(more or {})
        self.headers = dict(headers or {})


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
    """Every error leaves in the envelope."""

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
