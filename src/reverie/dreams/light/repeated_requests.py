"""Requests that come back within one session. Across sessions, Deep compares the candidates."""

from __future__ import annotations

from collections.abc import Mapping

from reverie.dreams.light.candidate import MAX_WORDING, Candidate, Kind
from reverie.dreams.light.same_topic import subjects
from reverie.transcripts.session import Session, quote

TIMES = 3
LIKE = 0.6
_LONGEST = 300
_REMEMBERED = 50  # of the kinds of request seen, so that a long session stays linear


def recurring(session: Session, requests: Mapping[int, str], language: str) -> list[Candidate]:
    """One candidate for each request made at least three times. `requests` are sentences by turn, verbatim."""
    groups: list[tuple[frozenset[str], list[tuple[int, str]]]] = []
    for number, text in requests.items():
        about = subjects(text)
        if len(about) < 3 or len(text) > _LONGEST:
            continue
        home = next((group for known, group in reversed(groups[-_REMEMBERED:]) if _alike(known, about)), None)
        if home is None:
            groups.append((about, [(number, text)]))
        else:
            home.append((number, text))
    return [_candidate(session, group, language) for _, group in groups if len(group) >= TIMES]


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) / len(one | other) >= LIKE


def _candidate(session: Session, group: list[tuple[int, str]], language: str) -> Candidate:
    shortest = min((text for _, text in group), key=len)
    return Candidate(
        kind=Kind.RECURRING_WORKFLOW,
        text=shortest.strip()[:MAX_WORDING],
        confidence=min(0.9, 0.5 + 0.1 * len(group)),
        explicitness=0.3,
        evidence=tuple(quote(session, number, text) for number, text in group),
        language=language,
        marks=("is asked again and again",),
    )
