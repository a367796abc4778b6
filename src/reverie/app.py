"""The composition root: a directory plus all that is wired to it. It has no behaviour of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from reverie.config import Config, DreamingLimits, load
from reverie.core.clock import Clock, FixedClock, SystemClock, rfc3339
from reverie.core.errors import BadInput, BadSetting, HalfRestored, NotFound, NotPermitted, ReverieError, SwitchedOff
from reverie.core.ids import Ids
from reverie.core.schedule import schedule
from reverie.core.scope import LOCAL, Scope
from reverie.core.slugs import slug

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from reverie.audit.library import Audit
    from reverie.bridge.library import Bridge
    from reverie.bridge.route import Places
    from reverie.bridge.snapshot import Snapshot
    from reverie.bridge.source import StoreSource
    from reverie.changes.artifact import Artifact, Holder
    from reverie.changes.history.library import History, Instruction
    from reverie.changes.history.throttle import Seldom
    from reverie.changes.history.verify import Checked
    from reverie.changes.inbox import Inbox
    from reverie.changes.outside_edits import Noticing
    from reverie.changes.proposal import Proposal, Suggestion
    from reverie.changes.queue import Review
    from reverie.changes.record_before_read import Touching
    from reverie.changes.relations import Statement
    from reverie.changes.session_context import Briefing
    from reverie.changes.skill_changes import Refining
    from reverie.changes.store_writes import Storing
    from reverie.core.keys import Keyring
    from reverie.core.origin import Origin
    from reverie.core.short_ids import IdKind
    from reverie.dreams.curators import Curator
    from reverie.dreams.dreaming import Dreaming
    from reverie.dreams.home_port import Tuning
    from reverie.dreams.job_queue import Engine as NightEngine
    from reverie.dreams.job_queue import Nights, ServerWorker
    from reverie.dreams.records import Lease, Queued
    from reverie.dreams.runner import DreamRunner
    from reverie.dreams.stores.dreaming import StoreDreaming
    from reverie.dreams.stores.records import Located
    from reverie.dreams.stores.target import StoreNights
    from reverie.erasure.library import Erasing
    from reverie.erasure.wanted import Erasure
    from reverie.harnesses.installers import Installing
    from reverie.harnesses.memory_stores.anthropic import AnthropicServer
    from reverie.llm.clients.trial import Tried
    from reverie.memory.library import Entry, Memory
    from reverie.memory.store import Author
    from reverie.memory.store_library import Stores
    from reverie.memory.target import Target
    from reverie.memory.targets import Targets
    from reverie.search.finding import Finder
    from reverie.search.following import Follower
    from reverie.skills.library import Skills
    from reverie.storage.backup.backup import BackedUp
    from reverie.storage.backup.manifest import Manifest, Watch
    from reverie.storage.backup.restore import Restored
    from reverie.storage.changes.history import SqlHistory
    from reverie.storage.dreams.dreams import SqlDreams
    from reverie.storage.dreams.store_dreams import SqlStoreDreams
    from reverie.storage.erasure.erasures import SqlErasures
    from reverie.storage.erasure.files import HomeFiles
    from reverie.storage.index.vectors import WordllamaVectors
    from reverie.storage.index.words import TantivyIndex
    from reverie.storage.machine_checks import Check
    from reverie.storage.night_asker import AskerFactory
    from reverie.storage.stores.target import Desks, StoreTarget
    from reverie.storage.transcripts.sessions import SqlRecords
    from reverie.system.dream_files import DreamFiles
    from reverie.system.export import Exported
    from reverie.system.git.projection import GitProjection
    from reverie.system.schedules import Crontab, Nightly, Timer
    from reverie.system.session_queue import SessionQueue
    from reverie.system.skill_folders import SkillFolder
    from reverie.transcripts.library import Library
    from reverie.transcripts.recorded import Kind
    from reverie.transcripts.recorded_definitions import Definitions
    from reverie.transcripts.recorded_imports import Importing
    from reverie.transcripts.recorded_library import Recording
    from reverie.transcripts.records import Ended, Source
    from reverie.transcripts.session import Head

OWN = "home"  # the home's own memory, as a target
MOST_MEMORIES_RELATED = 2_000  # of memory stores, which a proposal is held against


def open_home(
    path: str | os.PathLike[str] | None = None,
    *,
    now: datetime | None = None,
    settings: Mapping[str, str | None] | None = None,
) -> Home:
    """Open a Home, making its folder if it is new. `now` fixes its clock; `settings` win over the environment."""
    config = load(path, settings)
    try:
        config.home.mkdir(mode=0o700, parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise BadSetting(f"{config.home} is not a folder.", expected="a folder for the home") from error
    except OSError as error:
        raise NotPermitted(f"{config.home} cannot be made: {error.strerror}.") from error
    _refuse_half_restored(config.home)
    return Home(config, FixedClock(now) if now else SystemClock())


def _refuse_half_restored(home: Path) -> None:
    from reverie.storage.backup.files import is_half_restored

    if is_half_restored(home):
        raise HalfRestored(
            f"A restore into {home} was interrupted: what it brought is only partly in its place.",
            next_step="Run the same `reverie restore` again, with the same backup: it finishes.",
        )


def checkup(config: Config) -> list[Check]:
    """What Reverie needs, looked at without changing anything."""
    from reverie.storage.machine_checks import checks

    return checks(config.home, config.database)


def try_models(config: Config) -> list[Tried]:
    """Ask the model of the settings, if there is one, for a word and a number; nothing of the user's is sent."""
    from reverie.llm.clients.trial import try_out

    said = config.models
    return [try_out(said.choice, config.environment, said.answer_tokens, said.timeout)] if said.choice else []


def restore_home(
    config: Config, file: Path, *, erased: Path | None = None, watch: Watch | None = None
) -> tuple[Restored, list[Erasure]]:
    """Make this home from a backup, or leave everything as it is. What was erased since it was made is erased again:
    what the files beside the backup and in the home say, and the file `erased`."""
    from reverie.storage.backup.restore import restore
    from reverie.storage.erasure.files import hand_over

    asked = config.values["database"].came_from == "--database"
    with hand_over(config.home, file, erased):
        made = restore(file, config.home, config.database, named=config.database if asked else None, watch=watch)
    flags = {"database": config.database} if asked else {}
    with open_home(config.home, settings=flags) as home:
        home.note_restore(made)
        return made, home.erase.again()


def check_backup(file: Path, *, watch: Watch | None = None) -> Manifest:
    """Read all of a backup; what it holds if it is whole."""
    from reverie.storage.backup.restore import check_backup

    return check_backup(file, watch=watch)


def _entries_of(target: Target) -> Iterator[tuple[str, str]]:
    """Each entry with the document it stands in, as people name it."""
    from reverie.memory.formats import FORMATS

    for place in target.places():
        for text in FORMATS[place.form].read(target.read(place.document) or b"").entries:
            yield f"{target.name}/{place.document}", text


def _tuning(said: DreamingLimits) -> Tuning:
    from reverie.dreams.decide import Gates, Limits
    from reverie.dreams.home_port import Tuning

    gates = Gates(said.add, said.replace, said.remove, said.merge, said.supersession)
    limits = Limits(said.max_changes_per_run, said.max_adds_per_run, said.max_new_chars_per_run)
    return Tuning(gates, limits, said.recent_sessions_limit)


class Home:
    """Heavy parts are imported and opened at first use, so that opening a Home costs nothing."""

    def __init__(self, config: Config, clock: Clock) -> None:
        self.config = config
        self.clock = clock
        self.scope = Scope(LOCAL, None, config.owner)
        self.ids = Ids(clock)
        self._worker: NightEngine | None = None
        self._server_worker: ServerWorker | None = None
        self._told: Callable[[str], None] = lambda session: None

    @property
    def owned(self) -> Scope:
        """Targets of files belong to the owner."""
        return self.scope.of(self.config.owner)

    _own = owned

    @cached_property
    def sessions(self) -> Library:
        from reverie.system.repositories import repository_root

        library = self._library(self.scope, self.config.owner)
        return replace(library, root_of=repository_root, standard=self._standard_places, ended=self.ended)

    @cached_property
    def ended(self) -> SessionQueue:
        """The sessions that agents' hooks queued for the next night."""
        from reverie.system.session_queue import SessionQueue

        return SessionQueue(self.config.home / "queue")

    def installer(self, agent: str) -> Installing:
        """Puts this home into an agent, and takes it out again."""
        from reverie.harnesses.installers import Installing, Launch, installers
        from reverie.system.installation import Installation

        known = installers()
        if agent not in known:
            raise BadInput(f"There is no installer for {agent!r}.", expected=f"one of {', '.join(known)}")
        launch = Launch(self.config.home, self.config.handed_to_agents())
        kept = Installation(self.config.home / "installed" / agent)
        return Installing(known[agent], self.config, launch, kept)

    def queue_session(self, agent: str, event: Mapping[str, object]) -> Ended:
        """A session ended, as the agent told its hook: its transcript waits for the next night."""
        installing = self.installer(agent)
        path = installing.installer.transcript(self.config, event)
        if path is None:
            told = ", ".join(sorted(event)) or "nothing"
            raise BadInput(f"No transcript can be told from {told}.", expected="the end of a session")
        return self.ended.put(installing.installer.reader, path.expanduser().absolute())

    def _standard_places(self) -> Iterator[Source]:
        """Where the harnesses of this machine leave their transcripts, if those are to be read without being added."""
        from reverie.transcripts.readers import readers
        from reverie.transcripts.records import Source

        for reader in readers() if self.config.reads_standard_places else ():
            for path in map(self.config.place, reader.places):
                if path.exists():
                    yield Source(str(path), reader.name, self.config.owner, standard=True)

    def _library(self, scope: Scope, owner: str) -> Library:
        from reverie.storage.transcripts.quarantine import SqlQuarantine
        from reverie.storage.transcripts.sources import SqlSources
        from reverie.transcripts.library import Library
        from reverie.transcripts.readers import readers

        sources, quarantine = SqlSources(self.engine, self.clock), SqlQuarantine(self.engine, self.clock)
        limits = self.config.file_limits
        return Library(scope, owner, self._records, sources, readers(), self._without_secrets, quarantine, limits)

    @staticmethod
    def _without_secrets(text: str) -> tuple[str, Mapping[str, int]]:
        from reverie.safety.redact import redact

        redacted = redact(text)
        return redacted.text, redacted.found

    @cached_property
    def search(self) -> Finder:
        from reverie.search.finding import Finder
        from reverie.search.search import Search

        def now() -> datetime:
            return self.clock.now().astimezone(self.config.timezone)

        return Finder(self.scope, Search(*self._derived), self._records, self.index.before_a_search, now)

    @cached_property
    def memory(self) -> Memory:
        from reverie.memory.library import Memory

        def touch(target: Target) -> list[Entry]:
            return self._touching.touch(target)  # only this needs the database

        return Memory(self._targets, touch)

    @cached_property
    def review(self) -> Review:
        from reverie.changes.land import Landing
        from reverie.changes.policy import read_policy
        from reverie.changes.propose import Proposing
        from reverie.changes.queue import Review
        from reverie.changes.relations import Relations
        from reverie.storage.changes.proposals import SqlProposals

        scope, history, ids, clock = self._own, self._history, self.ids, self.clock
        gated = {one.name: why for one in self._targets.offered() if (why := getattr(one, "approval", ""))}
        policy = replace(read_policy(self.config.home / "policy.toml"), gated=gated)
        proposals = SqlProposals(self.engine, clock)
        related = Relations(self._statements).to
        proposing = Proposing(scope, history, proposals, policy, related, ids, clock)
        landing = Landing(scope, history, self._noticing, ids, clock, self._projecting)
        return Review(
            scope,
            self.config.owner,
            history,
            proposals,
            policy,
            self._artifact,
            self._noticing,
            proposing,
            landing,
            clock,
        )

    @cached_property
    def inbox(self) -> Inbox:
        from reverie.changes.inbox import Inbox

        return Inbox(self.review, self.memory, self.sessions, self._checks)

    def _checks(self, proposal: Proposal) -> tuple[tuple[str, str], ...]:
        """What verification found about what became this proposal."""
        name = proposal.suggestion.dream
        dream = self._dreams_kept.get(self._own, name) if name else None
        return next((one.checks for one in dream.judged if one.ref == proposal.id), ()) if dream else ()

    def _statements(self) -> Iterator[Statement]:
        """Every rule on every surface an agent reads."""
        from reverie.changes.history.library import rules_in
        from reverie.changes.relations import Statement

        for target in self._targets.available():
            entries = list[tuple[str, str]]()
            with suppress(NotPermitted):  # a night over that target says so; others do not wait for it
                entries += _entries_of(target)
            yield from (Statement(where, text) for where, text in entries)
        for folder in self._skill_folders.values():
            for subject in folder.subjects():
                for document, content in folder.files(subject).items():
                    yield from (
                        Statement(f"{folder.name}/{subject}", text) for text in rules_in(subject, document, content)
                    )
        yield from (Statement(one.file, one.text) for one in self.instructions())
        yield from (Statement(where, text) for where, text in self._stated_in_stores())

    def _stated_in_stores(self) -> Iterator[tuple[str, str]]:
        """What the memory stores of this home's owner say, and those that are nobody's."""
        from reverie.memory.formats import FORMATS

        for scope in (self._own, self._own.of("")):
            for store, memory in self.stores_for(scope).every_memory(MOST_MEMORIES_RELATED):
                texts = FORMATS["page"].read(memory.content or b"").entries
                yield from ((f"{store.id}{memory.path}", text) for text in texts)

    def instructions(self) -> list[Instruction]:
        """What agents are told by files that Reverie never changes: AGENTS.md, CLAUDE.md, SOUL.md and their like."""
        from reverie.changes.history.library import Instruction
        from reverie.harnesses.markdown.instructions import beside, statements_in

        own = (path for target in self._targets.available() for path in beside(target))
        paths = dict.fromkeys((*own, *self.config.instructions))
        return [Instruction(text, where) for where, text in statements_in(paths) if not text.startswith("#")]

    @cached_property
    def history(self) -> History:
        return self.history_of(self._own)

    def history_of(self, scope: Scope) -> History:
        """What happened to the memory of one person, or to what is nobody's (`user` is '')."""
        from reverie.changes.history.library import History

        names = {target.key: target.name for target in self._targets.offered()}
        names |= {folder.key: name for name, folder in self._skill_folders.items()}
        return History(
            scope, self._history, lambda key: names.get(key) or key.removeprefix(f"store:{scope.workspace}/")
        )

    def histories(self, workspace: str | None = None, user: str | None = None) -> list[History]:
        """Of the owner and of what is shared here; or of one person, or of everybody, in a workspace."""
        from reverie.core.keys import checked_workspace

        within = replace(self._own, workspace=checked_workspace(workspace or LOCAL))
        if user is not None:
            people = [user]
        else:
            people = [self.config.owner, ""] if workspace is None else self._history.people(within)
        return [self.history_of(within.of(one)) for one in people]

    @cached_property
    def projection(self) -> GitProjection:
        from reverie.system.git.projection import GitProjection

        return GitProjection(self.config.home, self._history, self._own, self._holders, self.config.commit_in)

    @cached_property
    def _projecting(self) -> Seldom:
        from reverie.changes.history.throttle import Seldom

        return Seldom(self.projection.catch_up)

    def _holders(self) -> list[Holder]:
        """Everything Changes were ever made to that is still there."""
        keys = {key: None for key, _ in self._history.documents(self._own)}
        folders: dict[str, Holder] = {folder.key: folder for folder in self._skill_folders.values()}
        found = [folders.get(key) or self._targets.get(key) for key in keys]
        return [holder for holder in found if holder is not None]

    def verify(self) -> list[Checked]:
        from reverie.changes.history.verify import Checked, Verifying
        from reverie.memory.store import Author

        self._projecting.finish()
        holders = {one.key: one for one in self._skill_folders.values()}

        def read(target: str, document: str) -> bytes | None:
            if target.startswith("store:"):
                return self.store_target(self._own, target.rpartition("/")[2], Author("user", "verify")).read(document)
            holder = holders.get(target) or self._targets.get(target)
            return holder.read(document) if holder else None

        checks = Verifying(self._own, self._history, read, self.projection).verify()
        return [*checks, *(Checked("git history", True, said) for said in self.projection.elsewhere())]

    def _artifact(self, target: str, subject: str, also: str | None = None) -> Artifact:
        from reverie.changes.artifact import artifact, skill_artifact

        folders = self._skill_folders
        folder = folders.get(target) or next((one for one in folders.values() if one.key == target), None)
        if folder is None:
            return artifact(self._targets, target, subject, lambda key, document: document in self._seen(key, document))
        return skill_artifact(folder, subject, lambda under: self._seen(folder.key, under), also)

    def _seen(self, key: str, under: str) -> list[str]:
        return [document for _, document in self._history.documents(self._own, key, under)]

    @cached_property
    def skills(self) -> Skills:
        from reverie.skills.library import Skills

        return Skills(self._skill_folders, self._touching.touch_skill)

    @cached_property
    def bridge(self) -> Bridge:
        from reverie.bridge.amendments import Amending
        from reverie.bridge.library import Bridge
        from reverie.harnesses.memory_stores.folder import read_folder
        from reverie.system.store_copies import StoreCopies, every_copy

        home = self.config.home
        return Bridge(
            lambda: [*every_copy(home)],
            lambda address: StoreCopies.of(home, address),
            lambda name: read_folder(Path(name).expanduser()),
            self._own_store,
            lambda text: self._without_secrets(text)[0],
            self.clock,
            Amending(self.review, self._bridge_places),
            self._pushed_documents,
        )

    def _pushed_documents(self, target: str | None) -> dict[str, str]:
        """The documents of every skill in use, and those of one target."""
        found = {f"skills/{one.path}": one.skill for one in self.skills.every()}
        skills = {path: one.content for path, one in found.items() if one.enabled and not one.archived}
        memory = self._targets.named(target) if target else None
        places = memory.places() if memory else []
        entries = {f"memory/{one.document}": memory.read(one.document) for one in places if memory}
        documents = {path if path.endswith(".md") else f"{path}.md": content for path, content in skills.items()}
        documents |= {path: content for path, content in entries.items() if content}
        return {path: content.decode("utf-8", "surrogateescape") for path, content in sorted(documents.items())}

    def _bridge_places(self, target: str) -> Places:
        """Every skill with its rules, and every entry of one target, each with what history knows of it."""
        from reverie.bridge.route import LocalRule, Places
        from reverie.skills.edits import rules_of
        from reverie.skills.page import lines_of

        skills = [one for one in self.skills.every() if one.skill.enabled and not one.skill.archived]
        entries = list(self.memory.entries(target))
        known = {rule.text: rule for rule in self.history.rules()}
        standing = [LocalRule(one.text, f"{one.target}/{one.document}", one.target, one.document) for one in entries]
        for found in skills:
            for section in found.skill.sections:
                for rule in rules_of(lines_of(found.skill.body[section.inside : section.own_end])):
                    place = (found.folder.key, found.skill.subject, section.heading, found)
                    standing.append(LocalRule(rule.text, found.path, *place))
        return Places([one.known_as(known.get(one.text)) for one in standing], skills, self.clock.now().date())

    def export(self, folder: Path) -> Exported:
        """Everything as plain files, git history and JSON Lines, in a new folder that needs no Reverie to be read."""
        from reverie.system import export

        self.memory.touch_all()
        list(self.skills.every())
        made = export.new_folder(folder)
        anchored = [(one, list(self._history.anchored(self._own, one.key))) for one in self._holders()]
        repositories = [export.export_history(made, one, changes) for one, changes in anchored if changes]
        ids = [store.id for scope in (self._own, self._own.of("")) for store in self.stores_for(scope).every()]
        pulled = [store.id for copies in self.bridge.copies() for store in copies.stores()]
        snapshots = {name: self.bridge.snapshot(name) for name in dict.fromkeys([*ids, *pulled])}
        memories = sum(export.export_store(made, name, one.texts) for name, one in snapshots.items())
        rows = {
            "rules": export.export_rows(made, "rules", self.history.rules()),
            "changes": export.export_rows(made, "changes", self.history.changes(limit=None)),
            "proposals": export.export_rows(made, "proposals", self.review.past()),
        }
        return export.Exported(made, tuple(repositories), memories, rows)

    def managed(self, where: str, key_name: str = "ANTHROPIC_API_KEY") -> StoreSource:
        """A managed memory to pull from: an address, with the key in that variable, or an exported folder."""
        from reverie.harnesses.memory_stores.folder import FolderSource

        if "://" not in where:
            return FolderSource(Path(where).expanduser(), self.clock)
        return self.managed_server(where, key_name)

    def managed_server(self, where: str, key_name: str = "ANTHROPIC_API_KEY") -> AnthropicServer:
        from reverie.harnesses.memory_stores.anthropic import AnthropicServer

        key = self.config.environment.get(key_name)
        if not key:
            raise BadSetting(f"The variable {key_name} is not set.", expected=f"the key for {where} in it")
        return AnthropicServer(where.rstrip("/"), key)

    def _own_store(self, store: str) -> Snapshot | None:
        """A memory store of this home's own database, the owner's or nobody's."""
        from reverie.bridge.snapshot import Snapshot

        for scope in (self._own, self._own.of("")):
            stores = self.stores_for(scope)
            with suppress(NotFound):
                found = stores.get(store)
                memories = ((one.path, one.content or b"") for one in stores.all_of(found.id))
                return Snapshot(store, {path: content.decode("utf-8", "replace") for path, content in memories})
        return None

    @cached_property
    def dreams(self) -> DreamRunner:
        from reverie.dreams.runner import DreamRunner
        from reverie.storage.dreams.fenced import fenced_review

        usual = _tuning(self.config.dreaming)
        return DreamRunner(
            self._own,
            self.config.owner,
            self.sessions,
            self.memory,
            self.review,
            self._dreams_kept,
            self.clock,
            self.ids,
            replace(self.search, now=None),  # a night asks what was said of a matter at any time
            self.skills,
            self._surfaces,
            gates=usual.gates,
            limits=usual.limits,
            recent_sessions=usual.recent_sessions,
            fenced=lambda lease: fenced_review(self.review, self.engine, self._dreams_kept, lease),
            curator=self._curator,
            ready=self._ready,
            sees=self._sees,
            harness=lambda target: getattr(self._targets.named(target), "harness", ""),
            tuned=lambda target: _tuning(self.dreaming_on(target)),
        )

    def dreaming_on(self, target: str | None = None) -> DreamingLimits:
        """The settings of `[dreaming]`; over a Hermes home, with what the block `dreaming:` of its config.yaml says."""
        block = getattr(self._targets.named(target), "settings", None) if target else None
        return self.config.dreaming_with(block.values, str(block.path)) if block else self.config.dreaming

    def _ready(self, target: str) -> None:
        """Raises where there is to be no night, or a model is to be asked that cannot be."""
        self.check_enabled()
        if target and (where := self.switched_off(target)):
            raise SwitchedOff(f"dreaming is switched off in {where}.", next_step="`enabled: true` switches it on.")
        self.askers.check()

    def check_enabled(self) -> None:
        """Raises where the settings say that there is to be no dreaming at all, over files or over stores."""
        if not self.config.dreaming.enabled:
            raise SwitchedOff("Dreaming is switched off.", next_step="Set `enabled = true` under [dreaming].")

    def switched_off(self, target: str) -> str:
        """The file that says there is to be no dreaming over a target; empty where none does."""
        block = getattr(self._targets.named(target), "settings", None)
        return str(block.path) if block and not self.config.dreaming_with(block.values, str(block.path)).enabled else ""

    def _sees(self, target: str) -> Callable[[Head], bool]:
        """Which sessions are for a target: by what its documents are for. A Hermes profile has its own only."""
        from reverie.memory.audience import sees

        places = self._targets.named(target).places()
        kind, _, profile = target.partition("/")
        if kind == "hermes" and profile:
            return lambda head: head.harness == "hermes" and head.agent == profile
        return lambda head: sees(places, head)

    def _curator(self, lease: Lease) -> Curator:
        """Who decides tonight: the model of the settings, or the built-in curator."""
        from reverie.dreams.curators.built_in import BuiltInCurator
        from reverie.dreams.curators.model import ModelCurator

        asker, info = self.askers.of_night(lease), self.askers.info()
        return ModelCurator(asker, info) if asker and info else BuiltInCurator()

    def _surfaces(self, name: str) -> Iterator[tuple[str, str]]:
        """What an agent reads beside this target: what stands above it, and the instructions it is given."""
        from reverie.harnesses.markdown.instructions import beside, statements_in

        for target in self._targets.available():
            if name.startswith(f"{target.name}/"):
                yield from _entries_of(target)
        yield from statements_in((*beside(self._targets.named(name)), *self.config.instructions))

    @cached_property
    def askers(self) -> AskerFactory:
        """Makes who asks the model of the settings, one for each night."""
        from reverie.storage.night_asker import AskerFactory

        config = self.config
        return AskerFactory(config.models, config.environment, lambda: self._dreams_kept, self.clock, config.timezone)

    def spending(self) -> dict[str, object]:
        """What models took this month, beside what they may take; `asked` is the model of the settings."""
        from reverie.core.clock import month_before

        said = self.config.models
        spent = self._dreams_kept.spent(self._own, month_before(self.clock.now(), self.config.timezone))
        return {
            "asked": [said.choice.text] if said.choice else [],
            "tokens": spent.tokens,
            "dollars": float(spent.money),
            "most_tokens": said.month.tokens,
            "most_dollars": None if said.month.money is None else float(said.month.money),
        }

    @cached_property
    def _dreams_kept(self) -> SqlDreams:
        import socket

        from reverie.storage.dreams.dreams import SqlDreams

        holder = f"{socket.gethostname()}:{self.config.home}"
        return SqlDreams(self.engine, self.clock, holder, lambda name: self._targets.named(name).key)

    def worker(self, executor: str | None = None, at_once: int = 2) -> NightEngine:
        """What does queued nights, over files and over stores. It starts threads at its first `work` or `follow`;
        `close` ends them."""
        if self._worker is None:
            try:
                from reverie.storage.durable.engine import DbosEngine
            except ModuleNotFoundError as error:
                raise BadSetting(
                    "Queued nights need the engine, which is not installed.",
                    expected="dbos",
                    next_step="Install Reverie anew: pip install --force-reinstall reverie.",
                ) from error

            self._worker = DbosEngine(
                self.config.home, self.config.database, self, nights=self._nights, executor=executor, at_once=at_once
            )
        return self._worker

    def waiting(self) -> list[Queued]:
        """The queue: nights over files and dreams over stores that wait for a worker. Where dreaming is switched off,
        they wait until it is switched on."""
        if not self.config.dreaming.enabled:
            return []
        files = self._dreams_kept.queued(self._own)
        return [
            *(one for one in files if not self.switched_off(self.dreams.get(one.dream).target)),
            *self._store_dreams.waiting(),
        ]

    def unfinished(self) -> bool:
        """Whether there is anything for a worker to do, or to go on with."""
        return self.config.dreaming.enabled and self._store_dreams.unfinished_anywhere()

    def _nights(self, workspace: str, user: str, dream: str) -> Nights:
        scope = Scope(workspace, user, "dream")
        if self._store_dreams.one(scope, dream) is None:
            return self.dream
        return self._store_nights(scope, self._told)

    def server_worker(self, told: Callable[[str], None] = lambda session: None, at_once: int = 2) -> ServerWorker:
        """The worker of a server, once it is started. `told` is called with a session of a dream that has news."""
        from reverie.dreams.job_queue import ServerWorker

        self._told = told
        self._server_worker = ServerWorker(lambda: self.worker(at_once=at_once), self)
        return self._server_worker

    @cached_property
    def dream(self) -> Dreaming:
        """One night: `home.dream(mode="propose")`, or over one target, `home.dream("hermes")`."""
        from reverie.dreams.dreaming import Dreaming

        return Dreaming(self.dreams, self._history, self._dream_files, self._present, self._unread, self.askers.info)

    def _present(self) -> list[str]:
        """Those that agents on this machine read; the home's own memory only where there is none."""
        return [target.name for target in self._targets.in_use() if target.name != OWN] or [OWN]

    def _unread(self, target: str) -> str:
        if target != OWN:
            return ""
        return (
            f"No agent reads {self.config.home / 'memory'} by itself. `reverie context` prints it for one; "
            "`reverie dream --target PATH` writes into a file that one reads. Where Hermes, Claude Code or OpenClaw is "
            "installed, `reverie dream` writes into its memory."
        )

    def _dream_files(self, target: str) -> DreamFiles:
        """One for each place, however it is spelt: beside it where its tool has a place for that, else in the home."""
        from reverie.system.dream_files import DreamFiles

        found = self._targets.named(target)
        known = next((one for one in self._targets.offered() if one.key == found.key), None)
        beside = getattr(known or found, "dreaming", None)
        return DreamFiles(beside or self.config.home / "dreaming" / slug(known.name if known else found.key))

    def schedule(self, *, systemd: bool = False) -> Crontab | Timer:
        """The system's own means to dream every night."""
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
        from reverie.audit.collect import Looking
        from reverie.audit.filesystem import ThisMachine
        from reverie.audit.library import Audit
        from reverie.system.skill_folders import SkillFolder

        machine = ThisMachine(self.config.place("~/"))
        return Audit(Looking(self._targets, self._skill_folders, SkillFolder, machine), self.clock)

    @cached_property
    def context(self) -> Briefing:
        from reverie.changes.session_context import Briefing
        from reverie.storage.changes.contexts import SqlContexts

        contexts = SqlContexts(self.engine, self.clock)
        return Briefing(self._own, self.memory, self.skills, contexts, self.ids, self.clock)

    @cached_property
    def refining(self) -> Refining:
        from reverie.changes.skill_changes import Refining
        from reverie.system.skill_folders import SkillFolder

        return Refining(self.skills, self.review, self.history, lambda root: SkillFolder(root, "elsewhere"))

    @cached_property
    def _skill_folders(self) -> Mapping[str, SkillFolder]:
        from reverie.system.skill_folders import SkillFolder

        return {name: SkillFolder(path, name) for name, path in self.config.skill_folders().items()}

    @cached_property
    def _touching(self) -> Touching:
        from reverie.changes.record_before_read import Touching

        return Touching(self._own, self._history, self._noticing, self._artifact)

    @cached_property
    def _noticing(self) -> Noticing:
        from reverie.changes.outside_edits import Noticing

        def suggest(wanted: Suggestion) -> object:
            return self.review.propose(wanted)  # the queue itself looks through what is made here

        return Noticing(self._own, self._history, self.ids, self.clock, suggest)

    @cached_property
    def _targets(self) -> Targets:
        from reverie.harnesses.markdown.any_path import by_path
        from reverie.memory.targets import targets

        return targets(self.config, by_path)

    # ---- what a server serves: keys, memory stores, recorded sessions -----------------------------------------------

    @cached_property
    def keys(self) -> Keyring:
        return self.keys_of(LOCAL)

    def keys_of(self, workspace: str) -> Keyring:
        from reverie.core.keys import Keyring
        from reverie.storage.database.keys import SqlKeys

        scope = Scope(workspace, None, self.config.owner)
        return Keyring(scope, SqlKeys(self.engine, self.clock), self.ids, self.clock)

    def stores_for(self, scope: Scope) -> Stores:
        from reverie.memory.store_library import Stores
        from reverie.storage.stores.stores import SqlStores

        return Stores(scope, SqlStores(self.engine, self.clock), self.ids, self.clock)

    def storing_for(self, scope: Scope, author: Author, speaks_for: str = "") -> Storing:
        from reverie.changes.store_writes import Storing

        return Storing(self.stores_for(scope), self._desks, self.ids, self.clock, author, speaks_for)

    def sessions_in(self, workspace: str) -> Library:
        """The transcripts of a workspace, for whoever runs the server."""
        from reverie.core.keys import checked_workspace

        return self._library(Scope(checked_workspace(workspace), None, self.config.owner), self.config.owner)

    def sessions_for(self, scope: Scope) -> Library:
        """The transcripts of a tenant, whoever brought them."""
        return self._library(scope, scope.user or "")

    def definitions_for(self, scope: Scope, kind: Kind) -> Definitions:
        from reverie.storage.transcripts.recorded_definitions import SqlDefinitions
        from reverie.transcripts.recorded_definitions import Definitions

        return Definitions(scope, kind, SqlDefinitions(self.engine, self.clock), self.ids, self.clock)

    def recording_for(
        self, scope: Scope, speaks_for: str = "", told: Callable[[str], None] = lambda name: None
    ) -> Recording:
        from reverie.storage.transcripts.recorded import SqlRecorded
        from reverie.transcripts.recorded_library import Recording

        return Recording(
            scope,
            SqlRecorded(self.engine, self.clock),
            self.definitions_for(scope, "agent"),
            self.definitions_for(scope, "environment"),
            self._without_secrets,
            self.ids,
            self.clock,
            lambda user: self._speaker(speaks_for, user),
            told,
        )

    def importing_for(self, scope: Scope, speaks_for: str = "") -> Importing:
        from reverie.transcripts.recorded_imports import Importing

        library = self.sessions_for(scope)
        return Importing(
            scope,
            library.records,
            library.kept_sources,
            library.readers,
            library.redact,
            lambda user: self._speaker(speaks_for, user),
            library.quarantine,
            replace(library.limits, databases=False),
        )

    def dreaming_for(self, scope: Scope, told: Callable[[str], None] = lambda name: None) -> StoreDreaming:
        """Dreams over the memory stores of a tenant."""
        from reverie.dreams.stores.dreaming import StoreDreaming
        from reverie.storage.stores.stores import key_of

        return StoreDreaming(
            scope,
            self.stores_for(scope),
            self._store_dreams,
            self.sessions_for,
            lambda narrowed: self.recording_for(narrowed, told=told),
            key_of,
            self.ids,
            self.clock,
            lambda: self._server_worker.wake() if self._server_worker else None,
            self._history,
            self.check_enabled,
        )

    def _store_nights(self, scope: Scope, told: Callable[[str], None]) -> StoreNights:
        from reverie.changes.land_store_dream import Dreamt
        from reverie.dreams.stores.progress import Progress
        from reverie.dreams.stores.target import StoreNights, StoreRooms
        from reverie.memory.store import Author

        recording = self.recording_for(scope, told=told)
        heard = scope if scope.user else replace(scope, user=None)  # a store that is nobody's may learn from everyone
        return StoreNights(
            StoreRooms(
                scope,
                self.stores_for(scope),
                self._library(heard, scope.user or ""),
                lambda name: recording.records.one(heard, name) is not None,
                self._store_dreams,
                lambda session: Dreamt(scope, self._desks, self.ids, self.clock, Author("session", session)),
                lambda session: Progress(recording, session),
                self.clock,
                self.ids,
                self._curator,
                lambda: self._history.critical(scope),
            )
        )

    @cached_property
    def _store_dreams(self) -> SqlStoreDreams:
        import socket

        from reverie.storage.dreams.store_dreams import SqlStoreDreams

        return SqlStoreDreams(self.engine, self.clock, self.ids, f"{socket.gethostname()}:{self.config.home}")

    def file_of(self, target: str, document: str) -> Path | None:
        """Where a document lies, for people; None where it is no file, or its target is gone."""
        folders: dict[str, Holder] = {folder.key: folder for folder in self._skill_folders.values()}
        folder: Path | None = getattr(folders.get(target) or self._targets.get(target), "folder", None)
        return folder / document if folder else None

    def document_of(self, path: str) -> str:
        """How history names the file, or the folder of a skill, at a real path; any other words as they are."""
        real = Path(path).expanduser()
        if not (path.startswith(("/", "~", "./", "../")) or ("/" in path and real.exists())):
            return path
        real = real.resolve()
        for target, document in self._history.documents(self._own):
            file = self.file_of(target, document)
            if file is not None and (file == real or real in file.parents):
                under = file.relative_to(real).parts  # of a skill's folder: what lies below it
                named = Path(document).parts[: len(Path(document).parts) - len(under)]
                if named:
                    return "/".join((target, *named))
        return path

    def id_of(self, kind: IdKind, typed: str, *, workspace: str | None = None, user: str | None = None) -> str:
        """The id that a person means by its beginning. A session may be anybody's, the rest is the owner's."""
        from reverie.core.short_ids import beginnings, full_id
        from reverie.storage.database.known_ids import known_ids

        whose = self._own if kind != "session" else self.scope if user is None else self.scope.of(user)
        scope = replace(whose, workspace=workspace or whose.workspace)
        wanted = beginnings(kind, typed)
        return full_id(kind, typed, known_ids(self.engine, scope, kind, wanted)) if wanted else typed

    def dream_anywhere(self, dream: str) -> Located:
        """A dream by its id, whoever's memory it is about: for who runs the machine."""
        if found := self._store_dreams.anywhere(self.id_of("dream", dream)):
            return found
        raise NotFound(f"There is no dream {dream}.", next_step="`reverie status` shows the last ones.")

    def dreams_of_others(self, limit: int = 5) -> list[Located]:
        """The last dreams over memory stores that are not the owner's, in whatever workspace."""
        return self._store_dreams.of_others(self._own, limit)

    @staticmethod
    def _speaker(speaks_for: str, user: str) -> Origin:
        """Who is known to be that person speaks as the owner of their session. In a dream over the memory of someone
        else they are a member."""
        from reverie.core.origin import Origin

        return Origin.OWNER if user and speaks_for == user else Origin.MEMBER

    def store_target(self, scope: Scope, store: str, author: Author) -> StoreTarget:
        """A memory store as a Target, for dreams. Not among the named ones: it has no git, and an undo of its own."""
        from reverie.memory.store_records import Pen
        from reverie.storage.stores.target import StoreTarget

        locks = self._desks.locks
        return StoreTarget(self.engine, scope, store, Pen(author), clock=self.clock, ids=self.ids, locks=locks)

    @cached_property
    def _desks(self) -> Desks:
        from reverie.storage.stores.target import Desks, StoreLocks

        return Desks(StoreLocks(self.engine, self.config.home), self.clock, self.ids)

    @cached_property
    def _history(self) -> SqlHistory:
        from reverie.storage.changes.history import SqlHistory

        return SqlHistory(self.engine, self.clock, self.ids)

    @cached_property
    def engine(self) -> Engine:
        from reverie.storage.database.engine import engine
        from reverie.storage.database.migrations import migrate

        made = engine(self.config.database)
        migrate(made)
        return made

    def warnings(self) -> list[str]:
        """What whoever runs a server should know about its settings and its database."""
        from reverie.storage.database.walls import bypassed, unbound

        with self.engine.connect() as connection:
            role = bypassed(connection)
        off = [] if self.config.dreaming.enabled else ["dreaming is switched off ([dreaming] enabled): dreams wait"]
        return [*off, *([unbound(role)] if role else [])]

    @cached_property
    def erase(self) -> Erasing:
        """`home.erase(home.erase.plan("session", "claude-code:…"))`, or at once: `home.erase.text("…")`."""
        from reverie.erasure.documents import LiveDocuments
        from reverie.erasure.library import Erasing
        from reverie.system.files import remove_file

        documents = LiveDocuments(self._live_targets, self._skill_folders.values, self.review)
        return Erasing(
            self.scope,
            self._erasures,
            documents,
            self._erased_files,
            lambda path: remove_file(Path(path)),
            self.config.retention,
            self.ids,
            self.clock,
        )

    def _live_targets(self) -> list[Target]:
        """Those that stand on this machine, and every other that was ever changed and is still there."""
        known = [self._targets.get(key) for key in dict.fromkeys(key for key, _ in self._history.documents(self._own))]
        return list({one.key: one for one in (*known, *self._targets.available()) if one is not None}.values())

    def erasing_for(self, scope: Scope) -> Erasing:
        """Erasure in a tenant, by whoever calls."""
        return replace(self.erase, scope=scope)

    @cached_property
    def _erasures(self) -> SqlErasures:
        from reverie.storage.erasure.erasures import SqlErasures

        return SqlErasures(self.engine, self.clock)

    @cached_property
    def _erased_files(self) -> HomeFiles:
        from reverie.storage.durable.purge import forget_nights
        from reverie.storage.erasure.files import HomeFiles

        home = self.config.home
        return HomeFiles(
            home,
            lambda: self.projection,
            self._dream_folders,
            self._show_dreams,
            self._renew_index,
            lambda: forget_nights(home, self.config.database),
        )

    def _renew_index(self) -> None:
        self.index.renew()  # it is opened only where something is erased

    def _dream_folders(self) -> list[Path]:
        """Every folder nights may have left their views in."""
        beside = [getattr(target, "dreaming", None) for target in self._targets.offered()]
        own = self.config.home / "dreaming"
        return [*filter(None, beside), *(sorted(own.iterdir()) if own.is_dir() else ())]

    def _show_dreams(self) -> None:
        for target in self._dreams_kept.targets(self._own):
            with suppress(ReverieError):  # one whose target cannot be written now is shown after its next night
                self.dream.show(target)

    @cached_property
    def _records(self) -> SqlRecords:
        from reverie.storage.transcripts.sessions import SqlRecords

        return SqlRecords(self.engine, self.clock)

    @cached_property
    def index(self) -> Follower:
        from reverie.search.following import Follower

        return Follower(self.scope, self._records, *self._derived)

    @cached_property
    def _derived(self) -> tuple[TantivyIndex, WordllamaVectors]:
        from reverie.storage.index.vectors import WordllamaVectors
        from reverie.storage.index.words import TantivyIndex, refuse_unusable

        folder = self.config.home / "index" / self.scope.workspace
        refuse_unusable(self.config.home / "index", folder)
        return TantivyIndex(folder), WordllamaVectors(folder)

    def backup(self, file: Path, *, force: bool = False, watch: Watch | None = None) -> BackedUp:
        """The whole home in one file."""
        from reverie.storage.backup.backup import back_up

        self._erasures.keep_backup(self.scope, file.absolute(), self.clock.now())  # before it is there: none is missed
        return back_up(self.engine, self.config.home, file, at=self.clock.now(), force=force, watch=watch)

    def note_restore(self, restored: Restored) -> None:
        """Git may have gone on past the backup, in folders of skills: the ledger says why. Twice is once."""
        from reverie.changes.history.ledger import RESTORE

        told = {"backup_made_at": rfc3339(restored.manifest.created_at), "actor": self.scope.actor}
        *_, last = (None, *self._history.rows(self._own))
        if last is None or last.kind != RESTORE or last.body != told:
            self._history.append(self._own, RESTORE, told)

    def close(self) -> None:
        if self._worker is not None:
            self._worker.close()
        if "_projecting" in self.__dict__:
            self._projecting.finish()
        if "_derived" in self.__dict__:
            for derived in self._derived:
                derived.close()
        if "engine" in self.__dict__:
            self.engine.dispose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
