"""A purse in memory, for tests of those who ask: the caps and the list of calls without a database."""

from __future__ import annotations

import threading

from reverie.models.budget import Budget, Cap, CapExceeded, CapReached, Reservation, Spent, exceeded
from reverie.models.ledger import Call, Prices, Recorded, call_of
from reverie.models.question import Question, Reply


class Purse:
    """Implements `reverie.models.ledger.Paying`, for many threads. It remembers no answer."""

    def __init__(self, dream: Cap = Cap(), price_of: Prices = lambda _: None) -> None:
        self.dream, self.price_of = dream, price_of
        self.spent = self.held = Spent()
        self.calls: list[Call] = []
        self._stopped: CapExceeded | None = None
        self._lock = threading.Lock()

    def recorded(self, question: Question) -> Recorded | None:
        return None

    def reserve(self, question: Question, model: str, most_tokens: int) -> Reservation | CapReached | CapExceeded:
        wanted = Reservation(question.worst_tokens, most_tokens, self.price_of(question.role))
        with self._lock:
            full = self._stopped or Budget(self.dream, spent=self.spent + self.held).why_not(wanted)
            self.held = self.held if full else self.held + wanted.worst
        return full or wanted

    def settle(
        self, question: Question, model: str, reserved: Reservation, reply: Reply, outcome: str,
        *, answer: Recorded | None = None,
    ) -> CapExceeded | None:  # fmt: skip
        call = call_of(question, model, reserved, reply, outcome)
        with self._lock:
            self.held -= reserved.worst
            self.spent += reserved.cost_of(call.usage)
            self.calls.append(call)
            self._stopped = self._stopped or exceeded(reserved, reply.usage)
            return self._stopped
