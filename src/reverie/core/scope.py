"""Whose rows a call may touch, where words came from, and the keys by which callers of the server are known.

There is no port method without a Scope. An Origin is set by the code that reads a transcript, never by a model. What is
built on several quotations has the weakest Origin among them; repetition never raises it.

An API key is 256 random bits behind a readable prefix. It is shown once, when it is made; kept are its SHA-256 and the
first characters, by which people tell keys apart. A key belongs to a workspace and may be bound to one person of it.
"""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Protocol

from reverie.core.clock import Clock
from reverie.core.errors import BadInput, NotFound
from reverie.core.ids import Ids, sha256

LOCAL = "local"
_WORKSPACE = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")
MARK = "rvk_"
SHOWN = len(MARK) + 8
LONGEST_NAME = 255


@dataclass(frozen=True, slots=True)
class Scope:
    """`user` None means every user of the workspace; `''` is what they share."""

    workspace: str
    user: str | None
    actor: str

    def of(self, user: str) -> Scope:
        """The same workspace and actor, narrowed to one person."""
        return replace(self, user=user)


class Origin(StrEnum):
    OPERATOR = "operator"
    OWNER = "owner"
    MEMBER = "member"
    AGENT = "agent"
    TOOL = "tool"

    @property
    def strength(self) -> int:
        return _STRENGTH[self]


_STRENGTH = {origin: len(Origin) - place for place, origin in enumerate(Origin)}


def weakest(origins: Iterable[Origin]) -> Origin:
    """The Origin of what rests on all of these. Nothing to rest on is an error: it would be invented."""
    return min(origins, key=lambda origin: origin.strength)


def checked_workspace(name: str) -> str:
    if not _WORKSPACE.fullmatch(name):
        raise BadInput(f"A workspace cannot be named {name!r}.", expected="letters, digits, - and _")
    return name


class Permission(StrEnum):
    """The permission of a key. `admin` may all; who may write may read what they wrote."""

    READ = "read"
    WRITE = "write"
    DREAM = "dream"
    REVIEW = "review"
    ADMIN = "admin"


@dataclass(frozen=True, slots=True)
class ApiKey:
    """`user` is the person the key is bound to; '' is bound to nobody. `prefix` is all that is kept in the open."""

    id: str
    name: str
    workspace: str
    user: str
    permissions: frozenset[Permission]
    prefix: str
    sha256: str
    made_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    def may(self, wanted: Permission) -> bool:
        if wanted in self.permissions or Permission.ADMIN in self.permissions:
            return True
        return wanted is Permission.READ and Permission.WRITE in self.permissions

    def is_open(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


@dataclass(frozen=True, slots=True)
class Issued:
    """A new key. `secret` is the key itself, which nobody can show again."""

    key: ApiKey
    secret: str


class KeyRecords(Protocol):
    def put(self, scope: Scope, key: ApiKey, done: str) -> None:
        """Store it, or what became of it, with the ledger's row at once."""

    def find(self, scope: Scope) -> list[ApiKey]:
        """Oldest first."""

    def beginning(self, prefix: str) -> list[ApiKey]:
        """The keys that begin so. It has no Scope: whose rows a caller may touch is what the key says."""

    def any(self) -> bool: ...

    def called(self, scope: Scope, calls: Mapping[str, int]) -> dict[str, int]:
        """So many calls more of each key; how many that makes, with what other servers on this database counted."""


@dataclass(frozen=True, slots=True)
class Keyring:
    """`scope` is the administrator's: keys of its workspace are made, listed and revoked."""

    scope: Scope
    records: KeyRecords
    ids: Ids
    clock: Clock

    def create(
        self, name: str, permissions: Collection[Permission], user: str = "", lasts: timedelta | None = None
    ) -> Issued:
        if not name or any(len(text) > LONGEST_NAME or not text.isprintable() for text in (name, user)):
            raise BadInput("The name or user is empty, too long or not all visible.", expected="at most 255 characters")
        checked_workspace(self.scope.workspace)
        if not permissions:
            raise BadInput("The key has no scope: it could do nothing.", expected=f"one of {', '.join(Permission)}")
        secret, now = MARK + secrets.token_hex(32), self.clock.now()
        key = ApiKey(
            self.ids.new("apikey"),
            name,
            self.scope.workspace,
            user,
            frozenset(permissions),
            secret[:SHOWN],
            sha256(secret),
            now,
            now + lasts if lasts else None,
        )
        self.records.put(self.scope, key, "created")
        return Issued(key, secret)

    def all(self) -> list[ApiKey]:
        return self.records.find(self.scope)

    def revoke(self, key: str) -> ApiKey:
        """It is refused from now on. Twice is once."""
        found = next((one for one in self.records.find(self.scope) if one.id == key), None)
        if found is None:
            raise NotFound(f"There is no key {key}.", next_step="`reverie keys list` shows them.")
        if found.revoked_at is None:
            found = replace(found, revoked_at=self.clock.now())
            self.records.put(self.scope, found, "revoked")
        return found

    def any(self) -> bool:
        return self.records.any()

    def called(self, calls: Mapping[str, int]) -> dict[str, int]:
        return self.records.called(self.scope, calls)

    def still(self, key: ApiKey) -> bool:
        """Whether a key that was admitted would be now."""
        found = next((one for one in self.records.beginning(key.prefix) if one.id == key.id), None)
        return found is not None and found.is_open(self.clock.now())

    def admitted(self, secret: str) -> ApiKey | None:
        """The key this is, if it is one of ours and still open. Takes as long for a near miss as for a far one."""
        digest = sha256(secret)
        if not secret.startswith(MARK) or not secret.isascii():
            return None
        for key in self.records.beginning(secret[:SHOWN]):
            if hmac.compare_digest(key.sha256, digest) and key.is_open(self.clock.now()):
                return key
        return None
