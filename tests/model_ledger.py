"""A ledger in memory, for tests of those who ask: the caps and the list of calls without a database."""

from __future__ import annotations

import threading
from math import ceil
from typing import Any

from reverie.llm.budget import Budget, Call, Cap, CapReached, Price, RecordedAnswer, Reservation, Spent, call_of
from reverie.llm.question import MARGIN, Question, Reply, Role, Wrong


class MemoryLedger:
    """Implements `reverie.llm.budget.Ledger`, for many threads."""

    def __init__(self, night: Cap = Cap(), price: Price | None = None) -> None:
        self.night, self.price = night, price
        self.spent = self.held = Spent()
        self.calls: list[Call] = []
        self.answers: dict[str, RecordedAnswer] = {}
        self._lock = threading.Lock()

    def recorded(self, question: Question[Any]) -> RecordedAnswer | None:
        return self.answers.get(question.sha256)

    def reserve(self, question: Question[Any], model: str, most_tokens: int) -> Reservation | CapReached:
        wanted = Reservation(ceil(question.tokens * MARGIN), most_tokens, self.price)
        with self._lock:
            full = Budget(self.night, spent=self.spent + self.held).why_not(wanted)
            self.held = self.held if full else self.held + wanted.worst
        return full or wanted

    def settle(
        self,
        question: Question[Any],
        model: str,
        reserved: Reservation,
        reply: Reply,
        outcome: str,
        *,
        answer: RecordedAnswer | None = None,
    ) -> None:
        call = call_of(question, model, reserved, reply, outcome)
        with self._lock:
            self.held -= reserved.worst
            self.spent += reserved.cost_of(call.usage)
            self.calls.append(call)
            if answer is not None:
                self.answers[question.sha256] = answer


def read_items(value: object) -> list[object] | Wrong:
    """How a curator's answer is read as a whole."""
    items = value.get("items") if isinstance(value, dict) else None
    return items if isinstance(items, list) else Wrong('there is no list "items" in it')


def question(user: str = "The night.", system: str = "Curate.", role: Role = Role.CURATE) -> Question[list[object]]:
    return Question(
        role, str(role), "hash-of-the-prompt", system, user, read_items, sent_characters=20, of_characters=100
    )
