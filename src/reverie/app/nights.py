"""How a night is wired: who reads, who decides, which settings hold for which target; and the queue of nights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from reverie.app.changes import statements_beside
from reverie.config import DreamingLimits
from reverie.core.clock import month_before
from reverie.core.errors import BadSetting, SwitchedOff
from reverie.core.ids import slug
from reverie.core.scope import Scope

if TYPE_CHECKING:
    from pathlib import Path

    from reverie.app.home import Home
    from reverie.dreams.curators import Curator
    from reverie.dreams.dreaming import Dreaming
    from reverie.dreams.ports import Tuning
    from reverie.dreams.records import Lease, Queued
    from reverie.dreams.run.job_queue import Engine as NightEngine
    from reverie.dreams.run.job_queue import Nights, ServerWorker
    from reverie.dreams.run.runner import DreamRunner
    from reverie.system.file_records import DreamFiles
    from reverie.transcripts.session import Head


OWN = "home"  # the home's own memory, as a target


def runner(home: Home) -> DreamRunner:
    from reverie.dreams.run.runner import DreamRunner
    from reverie.storage.dreams.leases import fenced_review

    usual = _tuning(home.config.dreaming)
    return DreamRunner(
        home.owned,
        home.config.owner,
        home.sessions,
        home.memory,
        home.review,
        home.dream_records,
        home.clock,
        home.ids,
        replace(home.search, now=None),  # a night asks what was said of a matter at any time
        home.skills,
        partial(statements_beside, home),
        gates=usual.gates,
        limits=usual.limits,
        recent_sessions=usual.recent_sessions,
        fenced=lambda lease: fenced_review(home.review, home.engine, home.dream_records, lease),
        curator=partial(curator, home),
        ready=partial(_ready, home),
        sees=partial(_sees, home),
        harness=lambda target: getattr(home.targets.named(target), "harness", ""),
        tuned=lambda target: _tuning(limits_on(home, target)),
        recalled=home.providers.beside,
        new_skills=partial(_new_skills, home),
    )


def dreaming(home: Home) -> Dreaming:
    """One night: `home.dream(mode="propose")`, or over one target, `home.dream("hermes")`."""
    from reverie.dreams.dreaming import Dreaming

    return Dreaming(
        home.dreams,
        home.history_records,
        partial(_dream_files, home),
        # what agents on this machine read; the home's own memory only where there is none
        lambda: [one.name for one in home.targets.in_use() if one.name != OWN] or [OWN],
        partial(_unread, home),
        home.askers.info,
    )


def limits_on(home: Home, target: str | None = None) -> DreamingLimits:
    """The settings of `[dreaming]`; over a Hermes home, with what the block `dreaming:` of its config.yaml says."""
    block = getattr(home.targets.named(target), "settings", None) if target else None
    return home.config.dreaming_with(block.values, str(block.path)) if block else home.config.dreaming


def switched_off(home: Home, target: str) -> str:
    """The file that says there is to be no dreaming over a target; empty where none does."""
    block = getattr(home.targets.named(target), "settings", None)
    return str(block.path) if block and not home.config.dreaming_with(block.values, str(block.path)).enabled else ""


def _ready(home: Home, target: str) -> None:
    """Raises where there is to be no night, or a model is to be asked that cannot be."""
    home.check_enabled()
    if target and (where := switched_off(home, target)):
        raise SwitchedOff(f"dreaming is switched off in {where}.", next_step="`enabled: true` switches it on.")
    home.askers.check()


def _sees(home: Home, target: str) -> Callable[[Head], bool]:
    """Which sessions are for a target: by what its documents are for. A Hermes profile has its own only."""
    from reverie.memory.target import sees

    places = home.targets.named(target).places()
    kind, _, profile = target.partition("/")
    if kind == "hermes" and profile:
        return lambda head: head.harness == "hermes" and head.agent == profile
    return lambda head: sees(places, head)


def _new_skills(home: Home, target: str) -> str:
    """The folder that the agent of a target reads skills from; the home's own where it is not known."""
    from reverie.dreams.ports import OWN_SKILLS

    read: Path | None = getattr(home.targets.named(target), "skills", None)
    same = (name for name, folder in home.skill_folders.items() if read and folder.root == read.resolve())
    return next(same, OWN_SKILLS)


def curator(home: Home, lease: Lease) -> Curator:
    """The curator of tonight: the model of the settings, or the built-in curator."""
    from reverie.dreams.curators.built_in import BuiltInCurator
    from reverie.dreams.curators.model import ModelCurator

    asker, info = home.askers.of_night(lease), home.askers.info()
    return ModelCurator(asker, info) if asker and info else BuiltInCurator()


def _unread(home: Home, target: str) -> str:
    if target != OWN:
        return ""
    return (
        f"No agent reads {home.config.home / 'memory'} by itself. `reverie context` prints it for one; "
        "`reverie dream --target PATH` writes into a file that one reads. Where Hermes, Claude Code or OpenClaw is "
        "installed, `reverie dream` writes into its memory."
    )


def _dream_files(home: Home, target: str) -> DreamFiles:
    """One for each place, however it is spelt: beside it where its tool has a place for that, else in the home."""
    from reverie.system.file_records import DreamFiles

    found = home.targets.named(target)
    known = next((one for one in home.targets.offered() if one.key == found.key), None)
    beside = getattr(known or found, "dreaming", None)
    return DreamFiles(beside or home.config.home / "dreaming" / slug(known.name if known else found.key))


def spending(home: Home) -> dict[str, object]:
    """The cost of models this month, beside what they may take; `asked` is the model of the settings."""
    said = home.config.models
    spent = home.dream_records.spent(home.owned, month_before(home.clock.now(), home.config.timezone))
    return {
        "asked": [said.choice.text] if said.choice else [],
        "tokens": spent.tokens,
        "dollars": float(spent.money),
        "most_tokens": said.month.tokens,
        "most_dollars": None if said.month.money is None else float(said.month.money),
    }


def _tuning(said: DreamingLimits) -> Tuning:
    from reverie.dreams.decide import Gates, Limits
    from reverie.dreams.ports import Tuning

    gates = Gates(said.add, said.replace, said.remove, said.merge, said.supersession)
    limits = Limits(said.max_changes_per_run, said.max_adds_per_run, said.max_new_chars_per_run)
    return Tuning(gates, limits, said.recent_sessions_limit)


class NightQueue:
    """The nights that wait, over files and over stores, and the one worker of this Home that does them."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._worker: NightEngine | None = None
        self._server_worker: ServerWorker | None = None
        self._news: Callable[[str], None] = lambda session: None

    def worker(self, executor: str | None = None, at_once: int = 2) -> NightEngine:
        """The worker that does queued nights, over files and over stores. It starts threads at its first `work` or
        `follow`; `close` ends them."""
        if self._worker is None:
            try:
                from reverie.storage.dreams.durable import DbosEngine
            except ModuleNotFoundError as error:
                raise BadSetting(
                    "Queued nights need the engine, which is not installed.",
                    expected="dbos",
                    next_step="Install Reverie anew: pip install --force-reinstall reverie.",
                ) from error

            config = self._home.config
            self._worker = DbosEngine(
                config.home, config.database, self, nights=self._nights, executor=executor, at_once=at_once
            )
        return self._worker

    def waiting(self) -> list[Queued]:
        """The queue: nights over files and dreams over stores that wait for a worker. Where dreaming is switched off,
        they wait until it is switched on."""
        if not self._home.config.dreaming.enabled:
            return []
        files = self._home.dream_records.queued(self._home.owned)
        return [
            *(one for one in files if not switched_off(self._home, self._home.dreams.get(one.dream).target)),
            *self._home.tenants.store_dreams.waiting(),
        ]

    def unfinished(self) -> bool:
        return self._home.config.dreaming.enabled and self._home.tenants.store_dreams.unfinished_anywhere()

    def _nights(self, workspace: str, user: str, dream: str) -> Nights:
        scope = Scope(workspace, user, "dream")
        if self._home.tenants.store_dreams.one(scope, dream) is None:
            return self._home.dream
        return self._home.tenants.store_nights(scope, self._news)

    def server_worker(self, told: Callable[[str], None] = lambda session: None, at_once: int = 2) -> ServerWorker:
        """The worker of a server, once it is started. `told` is called with a session of a dream that has news."""
        from reverie.dreams.run.job_queue import ServerWorker

        self._news = told
        self._server_worker = ServerWorker(lambda: self.worker(at_once=at_once), self)
        return self._server_worker

    def wake(self) -> None:
        if self._server_worker:
            self._server_worker.wake()

    def close(self) -> None:
        if self._worker is not None:
            self._worker.close()
