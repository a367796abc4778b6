"""How a tenant of the server is wired: a home as one person sees it, keys, memory stores, sessions, dreams."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

from reverie.app.changes import without_secrets
from reverie.app.home import Home
from reverie.app.nights import curator
from reverie.core.errors import NotFound
from reverie.core.scope import LOCAL, Keyring, Origin, Scope, checked_workspace

if TYPE_CHECKING:
    from reverie.changes.history import History, Instruction
    from reverie.changes.stores import StoreWrites
    from reverie.dreams.stores.dream import Located
    from reverie.dreams.stores.dreaming import StoreDreaming
    from reverie.dreams.stores.target import StoreNights
    from reverie.memory.library import Stores
    from reverie.memory.store import Author
    from reverie.memory.targets import Targets
    from reverie.search.finder import Finder
    from reverie.search.search import StatementSearch
    from reverie.storage.dreams.dreams import SqlStoreDreams
    from reverie.storage.store_target import StoreTarget, StoreTransactions
    from reverie.system.skill_folders import SkillFolder
    from reverie.transcripts.add import Importing
    from reverie.transcripts.library import Library
    from reverie.transcripts.recorded import Kind
    from reverie.transcripts.recorded_library import Definitions, Recording
    from reverie.transcripts.records import Source


class TenantHome(Home):
    """The home of one person in one workspace, on a server: no file of this machine is theirs."""

    @property
    def is_whole(self) -> bool:
        return False

    @cached_property
    def targets(self) -> Targets:
        from reverie.memory.targets import Targets

        return Targets(self.config, ())

    @cached_property
    def skill_folders(self) -> Mapping[str, SkillFolder]:
        return {}

    def instructions(self) -> list[Instruction]:
        return []

    def _standard_places(self) -> Iterator[Source]:
        return iter(())

    def histories(self, workspace: str | None = None, user: str | None = None) -> list[History]:
        people = [self.scope.user] if self.scope.user else self.history_records.people(self.scope)
        return [self.history_of(self.scope.of(one)) for one in people]

    @cached_property
    def search(self) -> Finder:
        return replace(super().search, only=self.scope.user)

    @cached_property
    def search_statements(self) -> StatementSearch:
        from reverie.search.search import StatementSearch

        def stated() -> Iterator[tuple[str, str, str]]:
            for history in self.histories():
                yield from (("store", rule.where, rule.text) for rule in history.rules())

        return StatementSearch(stated)


class TeamViews:
    """One view for each person, made once. Who is bound to nobody here, or to the owner, sees the whole home; everyone
    else only what is theirs."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._views: dict[tuple[str, str, str], Home] = {}

    def of(self, workspace: str, user: str, person: str) -> Home:
        found = self._views.get((workspace, user, person))
        if found is None:
            home, whole = self._home, workspace == LOCAL and user in ("", self._home.config.owner)
            found = Home(home.config, home.clock) if whole else TenantHome(home.config.of(user), home.clock)
            found.scope = Scope(workspace, None if whole else user or None, person)
            shared = ("engine", "_derived", "projecting") if whole else ("engine",)
            found.__dict__.update({name: getattr(home, name) for name in shared})
            self._views[workspace, user, person] = found
        return found

    def close(self) -> None:
        for view in self._views.values():
            if not view.is_whole:  # the others have nothing that is theirs alone
                view.close()


def _speaker(speaks_for: str, user: str) -> Origin:
    """A person is the owner of their own session, and in a dream over the memory of someone else a member."""
    return Origin.OWNER if user and speaks_for == user else Origin.MEMBER


class Tenants:
    """The parts a server gives one caller: each part is for the Scope it is asked for, and sees no other."""

    def __init__(self, home: Home) -> None:
        self._home, self._ids, self._clock = home, home.ids, home.clock

    def keys(self, workspace: str) -> Keyring:
        from reverie.storage.server_records import SqlKeys

        scope = Scope(workspace, None, self._home.config.owner)
        return Keyring(scope, SqlKeys(self._home.engine, self._clock), self._ids, self._clock)

    def stores(self, scope: Scope) -> Stores:
        from reverie.memory.library import Stores
        from reverie.storage.stores import SqlStores

        return Stores(scope, SqlStores(self._home.engine, self._clock), self._ids, self._clock)

    def writes(self, scope: Scope, author: Author, speaks_for: str = "") -> StoreWrites:
        from reverie.changes.stores import StoreWrites

        return StoreWrites(self.stores(scope), self._transactions, self._ids, self._clock, author, speaks_for)

    def sessions_in(self, workspace: str) -> Library:
        owner = self._home.config.owner
        return self._home.library(Scope(checked_workspace(workspace), None, owner), owner)

    def sessions(self, scope: Scope) -> Library:
        return self._home.library(scope, scope.user or "")

    def definitions(self, scope: Scope, kind: Kind) -> Definitions:
        from reverie.storage.server_records import SqlDefinitions
        from reverie.transcripts.recorded_library import Definitions

        return Definitions(scope, kind, SqlDefinitions(self._home.engine, self._clock), self._ids, self._clock)

    def recording(
        self, scope: Scope, speaks_for: str = "", told: Callable[[str], None] = lambda name: None
    ) -> Recording:
        from reverie.storage.server_records import SqlRecorded
        from reverie.transcripts.recorded_library import Recording

        records, speaker = SqlRecorded(self._home.engine, self._clock), partial(_speaker, speaks_for)
        agents, environments = self.definitions(scope, "agent"), self.definitions(scope, "environment")
        return Recording(scope, records, agents, environments, without_secrets, self._ids, self._clock, speaker, told)

    def imports(self, scope: Scope, speaks_for: str = "") -> Importing:
        from reverie.transcripts.add import Importing

        library = self.sessions(scope)
        kept = library.records, library.kept_sources, library.readers, library.redact
        limits = replace(library.limits, databases=False)
        return Importing(scope, *kept, partial(_speaker, speaks_for), library.quarantine, limits)

    def dreams(self, scope: Scope, told: Callable[[str], None] = lambda name: None) -> StoreDreaming:
        from reverie.dreams.stores.dreaming import StoreDreaming
        from reverie.storage.stores import store_key

        home, recording = self._home, partial(self.recording, told=told)
        whole = store_key, self._ids, self._clock, home.queue.wake, home.history_records, home.check_enabled
        return StoreDreaming(scope, self.stores(scope), self.store_dreams, self.sessions, recording, *whole)

    def store_nights(self, scope: Scope, told: Callable[[str], None]) -> StoreNights:
        from reverie.changes.stores import DreamLanding
        from reverie.dreams.stores.dream import StoreDreamProgress
        from reverie.dreams.stores.target import StoreNights, StoreRooms
        from reverie.memory.store import Author

        recording = self.recording(scope, told=told)
        heard = scope if scope.user else replace(scope, user=None)  # a store that is nobody's may learn from everyone
        return StoreNights(
            StoreRooms(
                scope,
                self.stores(scope),
                self._home.library(heard, scope.user or ""),
                lambda name: recording.records.one(heard, name) is not None,
                self.store_dreams,
                lambda name: DreamLanding(scope, self._transactions, self._ids, self._clock, Author("session", name)),
                lambda session: StoreDreamProgress(recording, session),
                self._clock,
                self._ids,
                partial(curator, self._home),
                lambda: self._home.history_records.critical(scope),
            )
        )

    @cached_property
    def store_dreams(self) -> SqlStoreDreams:
        import socket

        from reverie.storage.dreams.dreams import SqlStoreDreams

        holder = f"{socket.gethostname()}:{self._home.config.home}"
        return SqlStoreDreams(self._home.engine, self._clock, self._ids, holder)

    def target(self, scope: Scope, store: str, author: Author) -> StoreTarget:
        """A memory store as a Target, for dreams. Not among the named ones: it has no git, and an undo of its own."""
        from reverie.memory.store import WriteContext
        from reverie.storage.store_target import StoreTarget

        engine, context, locks = self._home.engine, WriteContext(author), self._transactions.locks
        return StoreTarget(engine, scope, store, context, clock=self._clock, ids=self._ids, locks=locks)

    @cached_property
    def _transactions(self) -> StoreTransactions:
        from reverie.storage.store_target import StoreLocks, StoreTransactions

        locks = StoreLocks(self._home.engine, self._home.config.home)
        return StoreTransactions(locks, self._clock, self._ids)

    def dream_anywhere(self, dream: str) -> Located:
        """A dream by its id, whoever's memory it is about: for who runs the machine."""
        if found := self.store_dreams.anywhere(self._home.id_of("dream", dream)):
            return found
        raise NotFound(f"There is no dream {dream}.", next_step="`reverie status` shows the last ones.")
