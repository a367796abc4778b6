"""A home as someone of a team sees it, on a server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from reverie.app.home import Home
from reverie.core.scope import LOCAL, Scope

if TYPE_CHECKING:
    from reverie.changes.history.library import History, Instruction
    from reverie.memory.targets import Targets
    from reverie.search.finder import Finder
    from reverie.search.search import StatementSearch
    from reverie.system.skill_folders import SkillFolder
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
