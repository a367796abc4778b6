"""Who a night asks: the models of the settings, each with its key, within the caps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from zoneinfo import ZoneInfo

from reverie.adapters.database.leases import SqlLeases
from reverie.adapters.database.spending import SqlPurse
from reverie.adapters.model_clients import PydanticAIModel, client
from reverie.adapters.model_prices import is_here, price_of
from reverie.dreams.counsel import NOBODY, Counsel
from reverie.dreams.estimating import Asking
from reverie.dreams.records import Lease
from reverie.kernel.clock import Clock
from reverie.models.asking import Asker, Patience, Timing
from reverie.models.budget import Price
from reverie.models.choice import Choice, Role
from reverie.models.prompting import overrides
from reverie.models.using import AT_ONCE, Using


@dataclass(frozen=True, slots=True)
class Advising:
    """Makes the Counsel of a night. A setting that cannot work is said by `ready`, before the night begins."""

    using: Using
    environment: Mapping[str, str]
    records: Callable[[], SqlLeases]
    clock: Clock
    zone: ZoneInfo
    patience: Patience = field(default_factory=Patience)
    timing: Timing = field(default_factory=Timing)

    def ready(self) -> None:
        self._models()
        overrides(self.using.prompts)

    def __call__(self, lease: Lease) -> Counsel:
        models = self._models()
        if not models:
            return NOBODY
        using = self.using
        purse = SqlPurse(
            self.records(), lease, self.clock, self.zone, dream=using.dream, day=using.day, price_of=self.prices().get
        )
        choices = self._choices()
        one_each = {
            choices[role]: Asker(model, purse, self.patience, self.timing, self._at_once(choices[role]))
            for role, model in models.items()
        }
        askers = {role: one_each[choices[role]] for role in models}
        return Counsel(askers, using.share, overrides(using.prompts))

    def asking(self) -> Asking:
        """For an estimate. No key is needed."""
        models = {role: chosen.text for role, chosen in self._choices().items()}
        return Asking(models, self.prices(), self.using.share, overrides(self.using.prompts))

    def prices(self) -> dict[Role, Price | None]:
        """What a person says counts at an address they gave, and where no list knows better."""
        return {role: _price(chosen) for role, chosen in self._choices().items()}

    def _at_once(self, chosen: Choice) -> int:
        """What runs on this machine gets no faster when it is asked more."""
        return self.using.at_once or (1 if is_here(chosen) else AT_ONCE)

    def _models(self) -> dict[Role, PydanticAIModel]:
        return {role: client(chosen, self.environment) for role, chosen in self._choices().items()}

    def _choices(self) -> dict[Role, Choice]:
        return {role: chosen for role in Role if (chosen := self.using.choices.of(role)) is not None}


def _price(chosen: Choice) -> Price | None:
    return (chosen.price if chosen.given else None) or price_of(chosen) or chosen.price
