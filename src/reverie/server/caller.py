"""Who calls: the one dependency behind every route. It yields the key's Scope and what may be done in it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import unquote

from fastapi import Header, Request, Security, params
from fastapi.security import APIKeyHeader, HTTPAuthorizationCredentials, HTTPBearer, SecurityScopes

from reverie.app.tenants import Tenants
from reverie.changes.stores import StoreWrites
from reverie.core.keys import ApiKey, Permission
from reverie.core.scope import Scope
from reverie.dreams.stores.dreaming import StoreDreaming
from reverie.erasure.library import Erasing
from reverie.memory.library import Stores
from reverie.memory.store import Author
from reverie.server.call_limits import CallLimits
from reverie.server.errors import Problem
from reverie.server.wiring import House
from reverie.transcripts.add import Importing
from reverie.transcripts.recorded_library import Definitions, Recording

BEARER = HTTPBearer(auto_error=False, scheme_name="bearer", description="A key of `reverie keys create`.")
HEADER = APIKeyHeader(name="x-api-key", auto_error=False, scheme_name="x-api-key", description="The same key.")


@dataclass(frozen=True, slots=True)
class Caller:
    """`scope` ends at the key's workspace, and at the person the key is bound to or the caller asked for."""

    key: ApiKey
    scope: Scope
    house: House
    limits: CallLimits

    @property
    def watching(self) -> AbstractContextManager[None]:
        return self.limits.watching(self.key.id)

    @property
    def _tenants(self) -> Tenants:
        return self.house.home.tenants

    @property
    def stores(self) -> Stores:
        return self._tenants.stores(self.scope)

    @property
    def storing(self) -> StoreWrites:
        return self._tenants.writes(self.scope, Author("api", self.key.id), self.key.user)

    @property
    def agents(self) -> Definitions:
        return self._tenants.definitions(self.scope, "agent")

    @property
    def environments(self) -> Definitions:
        return self._tenants.definitions(self.scope, "environment")

    @property
    def recording(self) -> Recording:
        return self._tenants.recording(self.scope, self.key.user, self.house.wakeups.wake)

    @property
    def dreaming(self) -> StoreDreaming:
        return self._tenants.dreams(self.scope, self.house.wakeups.wake)

    @property
    def erasing(self) -> Erasing:
        return self._tenants.erasing(self.scope)

    @property
    def importing(self) -> Importing:
        return self._tenants.imports(self.scope, self.key.user)


def caller(
    *,
    request: Request,
    needed: SecurityScopes,
    bearer: Annotated[HTTPAuthorizationCredentials | None, Security(BEARER)],
    header: Annotated[str | None, Security(HEADER)],
    reverie_user: Annotated[str | None, Header(description="Narrow a key that is bound to nobody to one user.")] = None,
    anthropic_workspace_id: Annotated[str | None, Header(description="If sent, the key's own workspace.")] = None,
) -> Iterator[Caller]:
    house: House = request.app.state.house
    key = house.keys.admitted(bearer.credentials if bearer else header or "")
    if key is None:
        raise Problem(401, "No valid API key. Send one as `Authorization: Bearer …` or `x-api-key`.")
    request.state.key, request.state.workspace = key.id, key.workspace
    limits: CallLimits = request.app.state.limits
    with limits.admitted(key.id, key.workspace):
        if not all(key.may(Permission(wanted)) for wanted in needed.scopes):
            raise Problem(403, f"The key {key.id} lacks the scope {' and '.join(needed.scopes)}.")
        if anthropic_workspace_id not in (None, key.workspace):
            raise Problem(403, f"The key {key.id} does not belong to that workspace.")
        yield Caller(key, Scope(key.workspace, _user(key, reverie_user), key.id), house, limits)


def _user(key: ApiKey, asked: str | None) -> str | None:
    try:
        name = unquote(asked or "", errors="strict")
    except UnicodeDecodeError as error:
        raise Problem(400, "reverie-user: its bytes are not UTF-8.") from error
    if not name.isprintable() or len(name) > 255 or not (asked or "").isascii():
        raise Problem(400, "reverie-user: not a name. Percent-encode what is not ASCII.")
    if key.user and name not in ("", key.user):
        raise Problem(403, f"The key {key.id} is bound to another user.")
    return key.user or name or None


Reader = Annotated[Caller, Security(caller, scopes=[Permission.READ.value])]
Writer = Annotated[Caller, Security(caller, scopes=[Permission.WRITE.value])]
Dreamer = Annotated[Caller, Security(caller, scopes=[Permission.DREAM.value])]
Reviewer = Annotated[Caller, Security(caller, scopes=[Permission.REVIEW.value])]
Administrator = Annotated[Caller, Security(caller, scopes=[Permission.ADMIN.value])]
# Admitted and then let go: who watches a session for hours does not count as a call that is running.
Watcher = Annotated[Caller, params.Security(caller, scopes=[Permission.READ.value], scope="function")]
