"""How queued nights are wired to the engine that does them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from reverie.app.nights import switched_off
from reverie.core.errors import BadSetting
from reverie.core.scope import Scope

if TYPE_CHECKING:
    from reverie.app.home import Home
    from reverie.dreams.records import Queued
    from reverie.dreams.run.job_queue import Engine as NightEngine
    from reverie.dreams.run.job_queue import Nights, ServerWorker


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
                from reverie.storage.durable.engine import DbosEngine
            except ModuleNotFoundError as error:
                raise BadSetting(
                    "Queued nights need the engine, which is not installed.",
                    expected="dbos",
                    next_step="Install Reverie anew: pip install --force-reinstall reverie.",
                ) from error

            self._worker = DbosEngine(
                self._home.config.home,
                self._home.config.database,
                self,
                nights=self._nights,
                executor=executor,
                at_once=at_once,
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
        """Whether there is anything for a worker to do, or to go on with."""
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
        """There is something to do, for the worker of a server."""
        if self._server_worker:
            self._server_worker.wake()

    def close(self) -> None:
        if self._worker is not None:
            self._worker.close()
