"""From signals to a verdict: one strong signal blocks; weak ones of different kinds block when they stand together."""

from collections import Counter, deque
from collections.abc import Iterable
from typing import NamedTuple

from reverie.safety.report import ADVICE, Report, SafetyFinding, Severity, visible_span

# About a screenful: weak signals further apart have nothing to do with each other.
_NEAR = 1_500
# What signals must weigh together to block. A memory or a context file speaks to the agent directly; the files of a
# skill are longer and full of commands, so more has to come together there.
ENOUGH = {"memory": 0.8, "context": 0.7, "skill": 0.9, "script": 0.8}
_ROUNDING = 1e-6
# Below this a finding alone would be noise; it still counts towards its neighbours.
_WORTH_SHOWING = 0.3
_MOST_FINDINGS = 200


class Signal(NamedTuple):
    """A rule that matched, with its span in the original text and what had to be undone to see it."""

    rule: str
    category: str
    weight: float
    start: int
    end: int
    decoded_from: str | None


def _adds_up(signals: list[Signal], enough: float) -> bool:
    """Whether distinct rules within reach of each other weigh enough. More text can only raise a sum."""
    near: deque[Signal] = deque()
    counts: Counter[tuple[str, float]] = Counter()
    total = 0.0
    for signal in signals:
        while near and near[0].start < signal.start - _NEAR:
            gone = near.popleft()
            counts[gone.rule, gone.weight] -= 1
            total -= gone.weight * (counts[gone.rule, gone.weight] == 0)
        near.append(signal)
        counts[signal.rule, signal.weight] += 1
        total += signal.weight * (counts[signal.rule, signal.weight] == 1)
        if total >= enough - _ROUNDING:
            return True
    return False


def _severity(signal: Signal, enough: float) -> Severity:
    """The learned judge is never as sure as a rule, even where it is enough to ask."""
    if signal.weight >= enough - _ROUNDING and signal.category != "suspicious":
        return "high"
    return "medium" if signal.weight >= enough / 2 else "low"


def _finding(text: str, signal: Signal, enough: float) -> SafetyFinding:
    end = min(signal.end, len(text))
    return SafetyFinding(
        signal.category,
        _severity(signal, enough),
        min(signal.start, end),
        end,
        visible_span(text, min(signal.start, end), end),
        ADVICE[signal.category],
        signal.decoded_from,
    )


def judged(text: str, signals: Iterable[Signal], surface: str) -> Report:
    """The verdict and the findings worth showing, strongest first among those beyond the limit, then in text order."""
    ordered = sorted(set(signals), key=lambda signal: (signal.start, signal.end, signal.rule, str(signal.decoded_from)))
    enough = ENOUGH[surface]
    ruled = [signal for signal in ordered if signal.category != "suspicious"]
    if _adds_up(ruled, enough):
        ordered = ruled  # a rule that says what is wrong is the better reason
    blocked = _adds_up(ordered, enough)
    bears_authority = any(signal.category == "authority" for signal in ordered)
    floor = 0.0 if blocked else _WORTH_SHOWING
    worth = [one for one in ordered if one.weight >= floor or one.category == "authority"]
    worth = sorted(worth, key=lambda signal: -signal.weight)[:_MOST_FINDINGS]
    worth.sort(key=lambda signal: (signal.start, signal.end))
    findings = dict.fromkeys(_finding(text, signal, enough) for signal in worth)
    return Report(blocked, blocked or bears_authority, tuple(findings))
