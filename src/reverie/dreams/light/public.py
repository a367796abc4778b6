"""From a session dict to its Candidates: the way in for people who hold no Home."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reverie.dreams.light.candidate import Candidate
from reverie.dreams.light.notice import notice_candidates
from reverie.transcripts.intake import Intake
from reverie.transcripts.messages import plain_events
from reverie.transcripts.session import Session

NOBODY = "owner"


def notice(session: Mapping[str, Any]) -> list[Candidate]:
    """Candidates of `{"id", "user", "messages": [...]}`. The session's user counts as the owner.

    Nothing is redacted: nothing is stored, and the words come back to the one who handed them in.
    Raises `NotATranscript` when it is not a session.
    """
    owner = str(session.get("user") or session.get("user_id") or NOBODY)
    intake = Intake(owner, lambda text: (text, {}))
    reading = next(intake.sessions(plain_events(session)))
    turns = tuple(reading.turns())
    return notice_candidates(Session(reading.head, turns))
