"""What a dream says in its own session while it works. Nobody's work depends on it: a session that is gone is not
missed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from reverie.core.errors import NotFound
from reverie.dreams.stores.dream import MODEL_UNAVAILABLE, StoreDream
from reverie.transcripts.recorded import DREAMING
from reverie.transcripts.recorded_library import Recording

SAID = "agent.message"


def dreaming_agent(model: str) -> Mapping[str, Any]:
    return {
        "id": DREAMING,
        "version": 1,
        "name": "Dreaming",
        "model": {"id": model, "speed": "standard"},
        "system": None,
        "description": "Reads sessions and puts a memory store in order.",
        "tools": [],
        "mcp_servers": [],
        "skills": [],
        "multiagent": None,
        "execution_identity": {"type": "service_account"},
    }


@dataclass(frozen=True, slots=True)
class StoreDreamProgress:
    recording: Recording
    session: str

    def begin(self) -> None:
        self._quietly(lambda: self.recording.become(self.session, "running"))
        self._emit({"type": "session.status_running"})

    def say(self, text: str) -> None:
        self._emit({"type": SAID, "content": [{"type": "text", "text": text}]})

    def end(self, made: StoreDream, text: str) -> None:
        """Idle, and archived: nothing more happens in it."""
        failure = made.error
        if failure is not None:
            kind = "model_request_failed_error" if failure.type == MODEL_UNAVAILABLE else "unknown_error"
            why = {"type": kind, "message": failure.message, "retry_status": {"type": "terminal"}}
            self._emit({"type": "session.error", "error": why})
        self.say(text)
        self._quietly(lambda: self.recording.become(self.session, "idle"))
        self._emit({"type": "session.status_idle", "stop_reason": {"type": "end_turn"}, "stop_details": None})
        self._quietly(lambda: self.recording.archive(self.session))

    def _emit(self, event: Mapping[str, Any]) -> None:
        self._quietly(lambda: self.recording.emit(self.session, [event]))

    @staticmethod
    def _quietly(do: Callable[[], object]) -> None:
        with suppress(NotFound):
            do()
