"""`home.audit`: look at everything, say what is wrong with it, and turn that into suggestions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from reverie.audit.collect import AuditSources
from reverie.audit.examine import examined
from reverie.audit.finding import Finding, FindingKind
from reverie.audit.report import AuditReport, reported
from reverie.changes.proposal import Suggestion
from reverie.core.clock import Clock
from reverie.memory.operation import Add
from reverie.memory.target import Target

_DOUBLED = (FindingKind.CONTRADICTORY, FindingKind.SUPERSEDED, FindingKind.DUPLICATED)


@dataclass(frozen=True, slots=True)
class Audit:
    looking: AuditSources
    clock: Clock

    def __call__(self, paths: Iterable[str] = (), *, only: bool = False, also: Target | None = None) -> AuditReport:
        """Everything found on this machine and under the paths; with `only`, nothing but the paths; `also` a target."""
        now = self.clock.now()
        standing = self.looking.look(paths, now, only=only, also=also)
        return reported(standing, examined(standing, self.looking.machine, now), now)

    def compact(self, target: str) -> list[Finding]:
        """Statements of one target that repeat, contradict or were superseded, beside all that is read with it."""
        chosen = self.looking.targets.named(target)
        return [
            one
            for one in self(also=chosen).findings
            if one.kind in _DOUBLED and chosen.name in (one.spot.target, one.spot.home)
        ]


def suggestions(findings: Iterable[Finding]) -> Iterator[Suggestion]:
    """Possible proposals, the worst first: one change for an entry or a skill, whatever else is wrong with it."""
    touched: set[tuple[str, str, str]] = set()
    for finding in findings:
        wanted = finding.suggestion
        if wanted is None:
            continue
        named = [one.old_sha256 for one in wanted.operations if not isinstance(one, Add)] or [wanted.subject]
        keys = {(wanted.target, wanted.subject, name) for name in named}
        if touched.isdisjoint(keys):
            touched |= keys
            yield wanted
