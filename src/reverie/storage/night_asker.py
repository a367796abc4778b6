"""The Asker of a night: the model of the settings, with its key, within the caps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from reverie.core.clock import Clock
from reverie.core.scope import Scope
from reverie.dreams.records import Lease
from reverie.llm.asker import Asker, RetryPolicy, Timing
from reverie.llm.budget import Price
from reverie.llm.clients.models import client
from reverie.llm.clients.prices import is_here, price_of
from reverie.llm.settings import AT_ONCE, Choice, ModelInfo, ModelSettings, overrides
from reverie.storage.dreams.leases import SqlLeases
from reverie.storage.dreams.spending import Errands, SqlLedger

if TYPE_CHECKING:
    from sqlalchemy import Engine


@dataclass(frozen=True, slots=True)
class AskerFactory:
    """Makes one Asker for each night. `policy` is for tests: without one it is that of the settings."""

    settings: ModelSettings
    environment: Mapping[str, str]
    records: Callable[[], SqlLeases]
    clock: Clock
    zone: ZoneInfo
    engine: Callable[[], Engine]
    policy: RetryPolicy | None = None
    timing: Timing = field(default_factory=Timing)

    def check(self) -> None:
        """Raise `BadSetting` for what cannot work, before the night begins."""
        if self.settings.choice:
            client(self.settings.choice, self.environment)
        overrides(self.settings.prompts)

    def of_night(self, lease: Lease) -> Asker | None:
        """None where no model is set. All questions of a night go to the same Asker."""
        return self._asker(self.records(), lease)

    def _asker(self, leases: SqlLeases | Errands, lease: Lease) -> Asker | None:
        settings, chosen = self.settings, self.settings.choice
        if chosen is None:
            return None
        ledger = SqlLedger(
            leases,
            lease,
            self.clock,
            self.zone,
            night=settings.night,
            month=settings.month,
            price=_price(chosen),
        )
        policy = self.policy or RetryPolicy(timeout=settings.timeout, answer_tokens=settings.answer_tokens)
        at_once = settings.at_once or (1 if is_here(chosen) else AT_ONCE)
        return Asker(client(chosen, self.environment), ledger, policy, self.timing, at_once)

    def of_errand(self, scope: Scope, name: str) -> Asker | None:
        """For what is no night: the same caps, and every call on the same list, under this name."""
        return self._asker(Errands(self.engine()), Lease(scope, name, name, 0, run=name))

    def info(self) -> ModelInfo | None:
        """For a Brief and for an estimate. No key is needed."""
        chosen = self.settings.choice
        if chosen is None:
            return None
        return ModelInfo(chosen.text, _price(chosen), self.settings, overrides(self.settings.prompts))


def _price(chosen: Choice) -> Price | None:
    """The price: a person's own counts at an address they gave, and where no list knows better."""
    return (chosen.price if chosen.given else None) or price_of(chosen) or chosen.price
