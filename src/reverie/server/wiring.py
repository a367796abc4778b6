"""What the server needs of a Home."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

from reverie.app import Home
from reverie.changes.store_writes import Storing
from reverie.core.keys import ApiKey, Keyring
from reverie.core.scope import LOCAL, Scope
from reverie.dreams.stores.dreaming import StoreDreaming
from reverie.erasure.library import Erasing
from reverie.memory.store import Author
from reverie.memory.store_library import Stores
from reverie.server.limits import Limits
from reverie.server.shared_limits import Sharing
from reverie.server.wakeups import Bells
from reverie.transcripts.recorded import Kind
from reverie.transcripts.recorded_definitions import Definitions
from reverie.transcripts.recorded_imports import Importing
from reverie.transcripts.recorded_library import Recording


@dataclass(frozen=True, slots=True)
class House:
    """`bells` ring in this process when a session has news."""

    home: Home
    bells: Bells = field(default_factory=Bells)

    @property
    def keys(self) -> Keyring:
        return self.home.keys

    def stores_for(self, scope: Scope) -> Stores:
        return self.home.stores_for(scope)

    def storing_for(self, scope: Scope, key: ApiKey) -> Storing:
        return self.home.storing_for(scope, Author("api", key.id), key.user)

    def definitions_for(self, scope: Scope, kind: Kind) -> Definitions:
        return self.home.definitions_for(scope, kind)

    def recording_for(self, scope: Scope, key: ApiKey) -> Recording:
        return self.home.recording_for(scope, key.user, self.bells.ring)

    def importing_for(self, scope: Scope, key: ApiKey) -> Importing:
        return self.home.importing_for(scope, key.user)

    def erasing_for(self, scope: Scope) -> Erasing:
        return self.home.erasing_for(scope)

    def dreaming_for(self, scope: Scope) -> StoreDreaming:
        return self.home.dreaming_for(scope, self.bells.ring)

    @contextmanager
    def working(self, at_once: int = 2) -> Iterator[None]:
        """While this lasts, dreams are done here. What an earlier process left is taken up first."""
        worker = self.home.server_worker(self.bells.ring, at_once)
        worker.start()
        try:
            yield
        finally:
            worker.stop()

    def sharing(self, limits: Limits) -> AbstractContextManager[None]:
        """While this lasts, the limits hold for all servers on this database together."""
        return Sharing(limits, lambda workspace, calls: self.home.keys_of(workspace).called(calls)).going_on()

    def look(self) -> None:
        """Raises if the database does not answer."""
        self.keys.any()


def keys_of(home: Home, workspace: str = LOCAL) -> Keyring:
    return home.keys_of(workspace)


def house_of(home: Home) -> House:
    return House(home)
