"""`/v1/reverie`: what Anthropic's API does not have. And, for who runs the server, `/healthz`, `/readyz`, `/metrics`.

Transcripts of any harness are brought in. A person or a whole workspace goes. An experiment says which of two memories
a session gets, and counts what came of it.

Is it alive, does its database answer, how much does it do: no key is needed, but for `/metrics` from elsewhere than
this machine, as how much is done when is nobody else's business.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request, Security
from fastapi.responses import PlainTextResponse
from fastapi.security import HTTPAuthorizationCredentials
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from reverie.core.errors import BadInput, NotFound
from reverie.core.ids import is_loopback
from reverie.core.scope import LOCAL
from reverie.erasure.records import Erasure as Done
from reverie.erasure.records import ErasureKind, Rules
from reverie.experiments import Experiments
from reverie.server.caller import BEARER, HEADER, Administrator, Caller, House, Reader, Writer
from reverie.server.middleware import IMPORTING
from reverie.server.wire import Problem

imports = APIRouter(tags=["import"])
MOST_FLAWS = 100
PREFIX = "reverie-import-"
NEW_SECONDS = 5  # between making a folder and holding its lock
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,199}")
_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {kind: {"schema": {}} for kind in ("application/json", "application/x-ndjson")},
    }
}


class WireFlaw(BaseModel):
    """Something that could not be read, and where. The rest was."""

    where: str
    why: str


class Import(BaseModel):
    """`session_ids` are the first ten thousand, in the order of the file: what a dream can be given."""

    type: Literal["reverie_import"] = "reverie_import"
    reader: str
    sessions: int
    new: int
    grown: int
    rewritten: int
    unchanged: int
    turns_added: int
    noise: int
    redacted: dict[str, int]
    session_ids: list[str]
    flaws: list[WireFlaw]
    flaws_found: int


@imports.post(IMPORTING, openapi_extra=_BODY)
async def import_sessions(
    who: Writer,
    request: Request,
    reader: Annotated[str | None, Query(description="The format, if it is not to be recognised.")] = None,
    filename: Annotated[str | None, Query(description="The file's own name: some formats keep the id there.")] = None,
) -> Import:
    """The body is one transcript file as its harness wrote it, JSON or JSON Lines. Sending it again adds nothing."""
    if filename is not None and not _NAME.fullmatch(filename):
        raise BadInput("filename: not the name of a file.", expected="letters, digits, '.', '-' and '_'")
    with TemporaryDirectory(prefix=PREFIX) as folder, _held(Path(folder)):
        path = await _received(request, Path(folder), filename)
        done = await run_in_threadpool(who.importing.add, path, reader)
    added = done.added
    fates: dict[str, Any] = {name: added.fates[name] for name in ("new", "grown", "rewritten", "unchanged")}
    flaws = [WireFlaw(where=flaw.where, why=flaw.why) for flaw in added.flaws[:MOST_FLAWS]]
    return Import(
        reader=done.reader,
        sessions=added.sessions,
        **fates,
        turns_added=added.turns,
        noise=added.noise,
        redacted=dict(added.redacted),
        session_ids=done.names,
        flaws=flaws,
        flaws_found=len(added.flaws),
    )


def clear_abandoned_imports() -> None:
    """Remove what servers that were killed had received: it still has its secrets, and no erasure looks there."""
    for path in Path(gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError), _held(path) as handle:
            status = os.fstat(handle)
            if status.st_uid == os.getuid() and time.time() - status.st_ctime > NEW_SECONDS:
                shutil.rmtree(path)


@contextmanager
def _held(folder: Path) -> Iterator[int]:
    """The lock of a folder, at once or not at all. It is let go when this process dies, however that happens."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield handle
    finally:
        os.close(handle)


async def _received(request: Request, folder: Path, filename: str | None) -> Path:
    """On disk only while it is read, for nobody else's eyes."""
    arriving, digest = folder / "arriving", hashlib.sha256()
    with arriving.open("wb") as file:
        async for chunk in request.stream():
            digest.update(chunk)
            await run_in_threadpool(file.write, chunk)
    if arriving.stat().st_size == 0:
        raise BadInput("The body is empty.", expected="a transcript")
    named = filename or f"{digest.hexdigest()[:24]}.{'jsonl' if _has_lines(arriving) else 'json'}"
    return arriving.rename(folder / named)


def _has_lines(path: Path) -> bool:
    with path.open("rb") as file:
        first = file.readline(1024 * 1024)
    try:
        return isinstance(json.loads(first), dict)
    except ValueError:
        return False


erasures = APIRouter(prefix="/v1/reverie", tags=["erasure"])


class WireLeft(BaseModel):
    """Something that erasure did not touch, and why."""

    where: str
    why: str


class WireErasure(BaseModel):
    """`counts` is what went, by kind. It cannot be undone."""

    type: Literal["reverie_erasure"] = "reverie_erasure"
    id: str
    kind: ErasureKind
    counts: dict[str, int]
    left: list[WireLeft]


@erasures.delete("/users/{user}")
def erase_user(who: Administrator, user: str, rules: Rules = "remove") -> WireErasure:
    """Everything of this person: sessions, memory stores, keys, and what rests on their words alone elsewhere."""
    if who.key.user and who.key.user != user:
        raise Problem(403, f"The key {who.key.id} is bound to another user.")
    return wire_erasure(who.erasing(who.erasing.plan(ErasureKind.PERSON, user, rules=rules)))


@erasures.delete("/workspaces/{workspace}")
def erase_workspace(who: Administrator, workspace: str) -> WireErasure:
    """Everything in the key's own workspace, its keys as well. The ledger keeps its hashes and no word."""
    if workspace != who.key.workspace or who.key.user:
        raise Problem(403, f"The key {who.key.id} does not belong to all of that workspace.")
    return wire_erasure(who.erasing(who.erasing.plan(ErasureKind.WORKSPACE, workspace)))


def wire_erasure(done: Done) -> WireErasure:
    left = [WireLeft(where=one.where, why=one.why) for one in done.left]
    return WireErasure(id=done.id, kind=done.kind, counts=dict(done.counts), left=left)


experiments = APIRouter(prefix="/v1/reverie/experiments", tags=["experiments"])
Unit = Annotated[str, Field(min_length=1, max_length=256)]


class NewAssignment(BaseModel):
    unit: Unit


class Assignment(BaseModel):
    """`use` is the memory store, or the version, to give the unit; the same at every call."""

    type: Literal["reverie_assignment"] = "reverie_assignment"
    arm: Literal["a", "b"]
    use: str


class NewOutcome(BaseModel):
    unit: Unit
    values: Annotated[dict[str, float], Field(min_length=1, max_length=16)]


class CountedOutcome(BaseModel):
    type: Literal["reverie_outcome"] = "reverie_outcome"
    counted: bool


@experiments.post("/{name}/assignments")
def assign_unit(who: Reader, name: str, body: NewAssignment) -> Assignment:
    """The arm of a session or a person."""
    found = _experiments(who).assign(name, body.unit)
    return Assignment(arm=found.arm, use=found.use)


@experiments.post("/{name}/outcomes")
def record_outcome(who: Writer, name: str, body: NewOutcome) -> CountedOutcome:
    """Record what came of a session of that unit. Not counted once the experiment is decided."""
    return CountedOutcome(counted=_experiments(who).record(name, body.unit, body.values))


def _experiments(who: Caller) -> Experiments:
    """They belong to whoever runs the server: other workspaces have none."""
    if who.scope.workspace != LOCAL:
        raise NotFound("There are no experiments in this workspace.")
    return who.house.home.experiments


operating = APIRouter(tags=["operating"])


class Health(BaseModel):
    status: Literal["ok"] = "ok"


@operating.get("/healthz")
async def healthz() -> Health:
    return Health()


@operating.get("/readyz")
def readyz(request: Request) -> Health:
    house: House = request.app.state.house
    house.keys.any()  # raises if the database does not answer
    return Health()


@operating.get("/metrics", response_class=PlainTextResponse)
def metrics(
    request: Request,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(BEARER)],
    header: Annotated[str | None, Security(HEADER)],
) -> PlainTextResponse:
    """From elsewhere than this machine, or through a proxy, with any key."""
    house: House = request.app.state.house
    if not _is_local(request) and house.keys.admitted(bearer.credentials if bearer else header or "") is None:
        raise Problem(401, "From elsewhere /metrics needs a key. Send one as `Authorization: Bearer …`.")
    return PlainTextResponse(request.app.state.metrics.text(), media_type="text/plain; version=0.0.4")


def _is_local(request: Request) -> bool:
    """Asked by this machine, by a name of this machine, of a server nobody else reaches, and not on behalf of
    someone else: a proxy may say nothing of itself and ask for 127.0.0.1, as nginx does unless it is told otherwise."""
    passed_on = any(name in request.headers for name in ("forwarded", "x-forwarded-for", "x-real-ip", "via"))
    asked = request.url.hostname or ""
    alone = not passed_on and not request.app.state.reached
    return alone and request.client is not None and all(map(is_loopback, (request.client.host, asked)))
