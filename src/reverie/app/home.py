"""A directory plus all that is wired to it: it offers its parts, and has no behaviour of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from reverie.app import changes, nights
from reverie.config import Config
from reverie.core.clock import Clock, schedule
from reverie.core.errors import BadInput, SwitchedOff
from reverie.core.ids import HEADS, IdKind, Ids, beginnings, full_id
from reverie.core.scope import LOCAL, Scope

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from reverie.app.tenants import TeamViews, Tenants
    from reverie.audit.library import Audit
    from reverie.changes.history import History
    from reverie.changes.inbox import Inbox
    from reverie.changes.outside_edits import OutsideEdits, RecordBeforeRead
    from reverie.changes.projection import Throttle
    from reverie.changes.proposal import Suggestion
    from reverie.changes.skill_changes import SkillChanges
    from reverie.changes.surfaces import ContextBuilder, Mirror, Sync
    from reverie.core.scope import Keyring
    from reverie.experiments import Experiments
    from reverie.harnesses.installers import Installing
    from reverie.memory.library import Entry, Memory
    from reverie.memory.providers import Providers
    from reverie.memory.target import Target
    from reverie.memory.targets import Targets
    from reverie.search.finder import Finder, IndexSync
    from reverie.search.search import StatementSearch
    from reverie.skills.library import Skills
    from reverie.storage.backup import BackedUp
    from reverie.storage.backup_archive import Watch
    from reverie.storage.dreams.asker import AskerFactory
    from reverie.storage.dreams.dreams import SqlDreams
    from reverie.storage.erasure.erasures import SqlErasures
    from reverie.storage.history import SqlHistory
    from reverie.storage.search_index import TantivyIndex, WordllamaVectors
    from reverie.storage.sessions import SqlRecords
    from reverie.system.file_records import SessionQueue
    from reverie.system.git_projection import GitProjection
    from reverie.system.schedules import Crontab, Nightly, Timer
    from reverie.system.skill_folders import SkillFolder
    from reverie.transcripts.library import Library
    from reverie.transcripts.records import Ended, Source


MOST_OFFERED = 30  # ids, to a shell that completes one


class Home:
    """Heavy parts are imported and opened at first use, so that opening a Home costs nothing."""

    def __init__(self, config: Config, clock: Clock) -> None:
        self.config = config
        self.clock = clock
        self.scope = Scope(LOCAL, None, config.owner)
        self.ids = Ids(clock)
        self.closed_with_it = ExitStack()

    # ---- parts that other modules wire

    review = cached_property(changes.review)
    bridge = cached_property(changes.bridge)
    erase = cached_property(changes.erasing)
    dreams = cached_property(nights.runner)
    dream = cached_property(nights.dreaming)
    queue = cached_property(nights.NightQueue)
    instructions = changes.instructions
    stores = changes.stores
    history_of = changes.history_of
    histories = changes.histories
    holders = changes.holders
    verify = changes.verify
    file_of = changes.file_of
    document_of = changes.document_at
    managed = changes.managed
    managed_server = changes.managed_server
    export = changes.export
    dreaming_on = nights.limits_on
    switched_off = nights.switched_off
    spending = nights.spending

    @property
    def owned(self) -> Scope:
        """Targets of files belong to the owner."""
        return self.scope.of(self.config.owner)

    @property
    def is_whole(self) -> bool:
        return True

    @cached_property
    def team(self) -> TeamViews:
        """This home as people of a team see it, whose names are on what they decide."""
        from reverie.app.tenants import TeamViews

        return TeamViews(self)

    @cached_property
    def tenants(self) -> Tenants:
        from reverie.app.tenants import Tenants

        return Tenants(self)

    @cached_property
    def sessions(self) -> Library:
        from reverie.system.files import repository_root

        library = self.library(self.scope, self.config.owner)
        return replace(library, root_of=repository_root, standard=self._standard_places, ended=self.ended)

    @cached_property
    def ended(self) -> SessionQueue:
        from reverie.system.file_records import SessionQueue

        return SessionQueue(self.config.home / "queue")

    def installer(self, agent: str, *, nights: bool = True) -> Installing:
        """Puts this home into an agent, and takes it out. `nights`: a session that ends begins one that is due."""
        from reverie.harnesses.installers import Installing, Launch, installers
        from reverie.system.installation import Installation

        known = installers()
        if agent not in known:
            raise BadInput(f"There is no installer for {agent!r}.", expected=f"one of {', '.join(known)}")
        launch = Launch(self.config.home, self.config.handed_to_agents(), nights)
        kept = Installation(self.config.home / "installed" / agent)
        return Installing(known[agent], self.config, launch, kept)

    def queue_session(self, agent: str, event: Mapping[str, object]) -> Ended:
        """A session ended, as the agent told its hook: its transcript waits for the next night."""
        installing = self.installer(agent)
        path = installing.installer.transcript(self.config, event)
        if path is None:
            told = ", ".join(sorted(event)) or "nothing"
            raise BadInput(f"The event names no transcript; it has {told}.", expected="the end of a session")
        return self.ended.put(installing.installer.reader, path.expanduser().absolute())

    def begin_night_if_due(self) -> bool:
        """Have a process of its own look whether a night is due, and do it; nobody waits for it."""
        from reverie.harnesses.installers import Launch
        from reverie.system.schedules import begin_in_background

        if not self.config.dreaming.enabled:
            return False
        command = Launch(self.config.home).words("dream", "--if-missed")
        return begin_in_background(self.config.home / "queue", command, self.clock.now())

    def _standard_places(self) -> Iterator[Source]:
        """Where the harnesses of this machine leave their transcripts, if those are to be read without being added."""
        from reverie.transcripts.readers import readers
        from reverie.transcripts.records import Source

        for reader in readers() if self.config.reads_standard_places else ():
            for path in map(self.config.place, reader.places):
                if path.exists():
                    yield Source(str(path), reader.name, self.config.owner, standard=True)

    def library(self, scope: Scope, owner: str) -> Library:
        from reverie.storage.sessions import SqlQuarantine, SqlSources
        from reverie.transcripts.library import Library
        from reverie.transcripts.readers import readers

        sources, quarantine = SqlSources(self.engine, self.clock), SqlQuarantine(self.engine, self.clock)
        limits = self.config.file_limits
        return Library(scope, owner, self._records, sources, readers(), changes.without_secrets, quarantine, limits)

    @cached_property
    def search(self) -> Finder:
        from reverie.search.finder import Finder
        from reverie.search.search import Search

        def now() -> datetime:
            return self.clock.now().astimezone(self.config.timezone)

        return Finder(self.scope, Search(*self._derived), self._records, self.index.before_a_search, now)

    @cached_property
    def search_statements(self) -> StatementSearch:
        """Statements of memory, skills and instructions about a question."""
        from reverie.search.search import StatementSearch

        return StatementSearch(lambda: ((one.kind, one.surface, one.text) for one in changes.surface_statements(self)))

    @cached_property
    def memory(self) -> Memory:
        from reverie.memory.library import Memory

        def touch(target: Target) -> list[Entry]:
            return self._touching.touch(target)  # only this needs the database

        return Memory(self.targets, touch)

    @cached_property
    def inbox(self) -> Inbox:
        from reverie.changes.inbox import Inbox

        wired = partial(changes.checks_of, self), partial(changes.learn_move, self)
        return Inbox(self.review, self.memory, self.skills, self.sessions, *wired)

    @cached_property
    def providers(self) -> Providers:
        from reverie.memory.providers import Providers

        return Providers(self.config.providers, self.config, self.config.owner)

    @cached_property
    def mirror_staged(self) -> Mirror:
        """Takes up what harnesses hold back until a person approves it, and says there what was decided here."""
        from reverie.changes.surfaces import Mirror

        return Mirror(self.memory, self.review)

    @cached_property
    def sync(self) -> Sync:
        """Renders one memory to the surfaces of several agents: `home.sync("hermes")`."""
        from reverie.changes.surfaces import Sync

        return Sync(self.memory, self.review)

    @cached_property
    def history(self) -> History:
        return self.history_of(self.owned)

    @cached_property
    def projection(self) -> GitProjection:
        from reverie.system.git_projection import GitProjection

        return GitProjection(self.config.home, self.history_records, self.owned, self.holders, self.config.commit_in)

    @cached_property
    def projecting(self) -> Throttle:
        from reverie.changes.projection import Throttle

        return Throttle(self.projection.catch_up)

    @cached_property
    def skills(self) -> Skills:
        from reverie.harnesses.hermes.folder import skill_outcomes
        from reverie.skills.library import Skills

        touch, seen = self._touching.touch_skill, self._touching.skills_seen
        return Skills(self.skill_folders, touch, seen, lambda: skill_outcomes(self.targets.offered()))

    @cached_property
    def experiments(self) -> Experiments:
        from reverie.experiments import Experiments
        from reverie.system.file_records import ExperimentFiles

        return Experiments(ExperimentFiles(self.config.home / "ab"), self.clock)

    def session_outcome(self, session: str) -> dict[str, float]:
        """The outcome a transcript shows by itself: how many turns people took, and how often they corrected the
        agent."""
        from reverie.dreams.light.candidate import Kind
        from reverie.dreams.light.notice import notice_candidates

        read = self.sessions.get(session)
        turns = sum(turn.role == "user" and turn.noise is None for turn in read.turns)
        corrections = sum(one.kind is Kind.CORRECTION for one in notice_candidates(read))
        return {"turns": float(turns), "corrections": float(corrections)}

    def check_enabled(self) -> None:
        """Raises where the settings say that there is to be no dreaming at all, over files or over stores."""
        if not self.config.dreaming.enabled:
            raise SwitchedOff("Dreaming is switched off.", next_step="Set `enabled = true` under [dreaming].")

    @cached_property
    def askers(self) -> AskerFactory:
        """Makes who asks the model of the settings, one for each night."""
        from reverie.storage.dreams.asker import AskerFactory

        models, zone = self.config.models, self.config.timezone
        return AskerFactory(
            models, self.config.environment, lambda: self.dream_records, self.clock, zone, lambda: self.engine
        )

    @cached_property
    def dream_records(self) -> SqlDreams:
        import socket

        from reverie.storage.dreams.dreams import SqlDreams

        holder = f"{socket.gethostname()}:{self.config.home}"
        return SqlDreams(self.engine, self.clock, holder, lambda name: self.targets.named(name).key)

    def schedule(self, *, systemd: bool = False) -> Crontab | Timer:
        from reverie.system.schedules import Crontab, Timer

        if systemd:
            return Timer(self.config.home, self.config.place("${XDG_CONFIG_HOME:-~/.config}"))
        return Crontab(self.config.home)

    def nightly(
        self, target: str | None = None, when: str | None = None, *, propose: bool = False, after: int | None = None
    ) -> Nightly:
        """The nights over one target, or over all of them, as a scheduler is told of them."""
        from reverie.system.schedules import Nightly

        chosen = self.memory.target(target).name if target else None
        meant = schedule(when) if when else self.dreaming_on(chosen).schedule
        environment = self.config.handed_on() | ({"REVERIE_DREAMING_SCHEDULE": meant.text} if when else {})
        zone, now = self.config.timezone, self.clock.now()
        return Nightly(self.config.home, chosen, meant, zone, now, environment, propose, after)

    @cached_property
    def audit(self) -> Audit:
        from reverie.audit.inventory import ThisMachine
        from reverie.audit.library import Audit, AuditSources
        from reverie.system.skill_folders import SkillFolder

        machine = ThisMachine(self.config.place("~/"), self.config.environment.get("PATH", ""))
        return Audit(AuditSources(self.targets, self.skill_folders, SkillFolder, machine), self.clock)

    @cached_property
    def context(self) -> ContextBuilder:
        from reverie.changes.surfaces import ContextBuilder
        from reverie.storage.ledger import SqlContexts

        contexts = SqlContexts(self.engine, self.clock)
        return ContextBuilder(self.owned, self.memory, self.skills, contexts, self.ids, self.clock)

    @cached_property
    def refining(self) -> SkillChanges:
        from reverie.changes.skill_changes import SkillChanges
        from reverie.system.skill_folders import SkillFolder

        return SkillChanges(self.skills, self.review, self.history, lambda root: SkillFolder(root, "elsewhere"))

    @cached_property
    def skill_folders(self) -> Mapping[str, SkillFolder]:
        from reverie.skills.library import folder_name
        from reverie.system.skill_folders import SkillFolder

        own, *more = self.config.skill_folders().items()
        read = ((folder_name(target.name), getattr(target, "skills", None)) for target in self.targets.offered())
        agents = [(name, path) for name, path in read if path and path.parent.is_dir()]
        found = dict[str, SkillFolder]()
        for name, path in (own, *agents, *more):
            folder = SkillFolder(path, name)
            found.setdefault(folder.key, folder)
        return {folder.name: folder for folder in found.values()}

    @cached_property
    def _touching(self) -> RecordBeforeRead:
        from reverie.changes.outside_edits import RecordBeforeRead

        artifact = partial(changes.artifact_of, self)
        return RecordBeforeRead(self.owned, self.history_records, self.outside_edits, artifact)

    @cached_property
    def outside_edits(self) -> OutsideEdits:
        from reverie.changes.outside_edits import OutsideEdits

        def suggest(wanted: Suggestion) -> object:
            return self.review.propose(wanted)  # the queue itself looks through what is made here

        return OutsideEdits(self.owned, self.history_records, self.ids, self.clock, suggest)

    @cached_property
    def targets(self) -> Targets:
        from reverie.harnesses.any_path import by_path
        from reverie.memory.targets import targets

        return targets(self.config, by_path)

    @cached_property
    def keys(self) -> Keyring:
        return self.tenants.keys(LOCAL)

    def id_of(self, kind: IdKind, typed: str, *, workspace: str | None = None, user: str | None = None) -> str:
        """The id that a person means by its beginning. A session may be anybody's, the rest is the owner's."""
        from reverie.storage.database import known_ids

        whose = self.owned if kind != "session" else self.scope if user is None else self.scope.of(user)
        scope = replace(whose, workspace=workspace or whose.workspace)
        wanted = beginnings(kind, typed)
        return full_id(kind, typed, known_ids(self.engine, scope, kind, wanted)) if wanted else typed

    def ids_like(self, kind: IdKind, typed: str) -> list[tuple[str, str]]:
        """Some ids that begin with what was typed, the newest first, for a shell to offer; of proposals what waits,
        with its sentence."""
        from reverie.storage.database import known_ids

        wanted = beginnings(kind, typed or HEADS.get(kind, ""))
        if kind == "proposal":
            items = self.inbox.items(self.review.waiting(every=True)[:MOST_OFFERED])
            return [(one.proposal.id, one.sentence) for one in items if one.proposal.id.startswith(tuple(wanted))]
        scope = self.owned if kind != "session" else self.scope
        found = known_ids(self.engine, scope, kind, wanted or [""])
        return [(name, "") for name in sorted(found, reverse=True)[:MOST_OFFERED]]

    @cached_property
    def history_records(self) -> SqlHistory:
        from reverie.storage.history import SqlHistory

        return SqlHistory(self.engine, self.clock, self.ids)

    @cached_property
    def engine(self) -> Engine:
        from reverie.storage.database import engine
        from reverie.storage.migrations import migrate

        made = engine(self.config.database)
        migrate(made)
        return made

    def warnings(self) -> list[str]:
        from reverie.storage.database import bypassed, unbound

        with self.engine.connect() as connection:
            role = bypassed(connection)
        off = [] if self.config.dreaming.enabled else ["dreaming is switched off ([dreaming] enabled): dreams wait"]
        return [*off, *([unbound(role)] if role else [])]

    @cached_property
    def erasures(self) -> SqlErasures:
        from reverie.storage.erasure.erasures import SqlErasures

        return SqlErasures(self.engine, self.clock)

    @cached_property
    def _records(self) -> SqlRecords:
        from reverie.storage.sessions import SqlRecords

        return SqlRecords(self.engine, self.clock)

    @cached_property
    def index(self) -> IndexSync:
        from reverie.search.finder import IndexSync

        return IndexSync(self.scope, self._records, *self._derived)

    @cached_property
    def _derived(self) -> tuple[TantivyIndex, WordllamaVectors]:
        from reverie.storage.search_index import TantivyIndex, WordllamaVectors
        from reverie.storage.upkeep import refuse_unusable

        folder = self.config.home / "index" / self.scope.workspace
        refuse_unusable(self.config.home / "index", folder)
        return TantivyIndex(folder), WordllamaVectors(folder)

    def backup(self, file: Path, *, force: bool = False, watch: Watch | None = None) -> BackedUp:
        from reverie.storage.backup import back_up

        self.erasures.keep_backup(self.scope, file.absolute(), self.clock.now())  # before it is there: none is missed
        return back_up(self.engine, self.config.home, file, at=self.clock.now(), force=force, watch=watch)

    def close(self) -> None:
        self.closed_with_it.close()
        if "team" in self.__dict__:
            self.team.close()
        if "queue" in self.__dict__:
            self.queue.close()
        if "projecting" in self.__dict__:
            self.projecting.finish()
        if "_derived" in self.__dict__:
            for derived in self._derived:
                derived.close()
        if "engine" in self.__dict__:
            self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
