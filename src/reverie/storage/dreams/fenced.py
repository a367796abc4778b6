"""Review as a night uses it: whatever it commits, it commits only while the night holds its lease.

Who was stopped in the middle of a landing and wakes after another has taken over cannot intend a change any more, nor
settle one; what it left half done is finished by the other, as after a crash.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

from sqlalchemy import Connection, Engine

from reverie.changes.queue import Review
from reverie.dreams.records import Lease
from reverie.storage.changes.history import SqlHistory
from reverie.storage.changes.proposals import SqlProposals
from reverie.storage.dreams.leases import SqlLeases


class _Fenced:
    """An Engine, as far as our records use one, whose every writing transaction is one of the night's."""

    def __init__(self, engine: Engine, leases: SqlLeases, lease: Lease) -> None:
        self._engine, self._leases, self._lease = engine, leases, lease
        self.dialect = engine.dialect

    @contextmanager
    def begin(self) -> Iterator[Connection]:
        with self._leases.fenced(self._lease) as connection:
            yield connection

    def execution_options(self, **options: Any) -> Engine:
        return self._engine.execution_options(**options) if options.get("reads") else cast(Engine, self)


def fenced_review(review: Review, engine: Engine, leases: SqlLeases, lease: Lease) -> Review:
    fenced = cast(Engine, _Fenced(engine, leases, lease))
    history = SqlHistory(fenced, review.clock, review.landing.ids)
    proposals = SqlProposals(fenced, review.clock)
    outside = replace(review.outside, records=history)
    return replace(
        review,
        records=history,
        proposals=proposals,
        outside=outside,
        proposing=replace(review.proposing, records=history, proposals=proposals),
        landing=replace(review.landing, records=history, outside=outside),
    )
