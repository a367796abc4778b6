"""What the server needs of a Home."""

from __future__ import annotations

from dataclasses import dataclass

from reverie.home import Home
from reverie.kernel.keys import ApiKey, Keyring
from reverie.kernel.scope import LOCAL, Scope
from reverie.memory.store import Author
from reverie.memory.store_library import Stores
from reverie.review.storing import Storing


@dataclass(frozen=True, slots=True)
class House:
    home: Home

    @property
    def keys(self) -> Keyring:
        return self.home.keys

    def stores_for(self, scope: Scope) -> Stores:
        return self.home.stores_for(scope)

    def storing_for(self, scope: Scope, key: ApiKey) -> Storing:
        return self.home.storing_for(scope, Author("api", key.id), key.user)

    def look(self) -> None:
        """Raises if the database does not answer."""
        self.keys.any()


def keys_of(home: Home, workspace: str = LOCAL) -> Keyring:
    return home.keys_of(workspace)


def house_of(home: Home) -> House:
    return House(home)
