"""Matters: what one person said about one thing, once or in many sessions. A Theme is one from several sessions.

Within a matter the last word counts: what was taken back or overtaken by the same person does not speak for it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from reverie.deep.clauses import clauses
from reverie.deep.material import Noted
from reverie.deep.subjects import about, same_matter, shared
from reverie.deep.vocabulary import pattern, plain
from reverie.language.relation import RelationKind, relate
from reverie.light.candidate import About, Kind
from reverie.light.marks import Mark

_COMMAND = re.compile(r"`([^`]+)`")
ALIKE = 0.5
OVERTAKEN, SURELY_OVERTAKEN, SAME_WORDS = 0.6, 0.85, 0.6
_CHANGES = frozenset({Mark.CHANGED, Mark.ENDED, Mark.CORRECTS, Mark.DENIES})
_LESSONS = frozenset({Kind.SKILL_CANDIDATE})


@dataclass(frozen=True, slots=True)
class Matter:
    """`said` are the statements that stand, oldest first; `overtaken` those their speaker took back or replaced."""

    said: tuple[Noted, ...]
    overtaken: tuple[Noted, ...] = ()
    taken_back: bool = False

    @property
    def sessions(self) -> frozenset[str]:
        return frozenset(one.session_id for one in self.said)

    @property
    def is_theme(self) -> bool:
        return len(self.sessions) >= 2

    @property
    def speaker(self) -> str | None:
        return self.said[-1].speaker

    @property
    def about(self) -> About:
        """The person, if any statement is about them: wishes are worded in many ways."""
        return "person" if any(note.candidate.about == "person" for note in self.said) else "world"

    @property
    def language(self) -> str:
        return self.said[-1].candidate.language

    @property
    def last(self) -> Noted:
        return self.said[-1]


def matters(noted: Sequence[Noted]) -> list[Matter]:
    """Statements of one speaker that are about the same thing, together; in the order they were first said."""
    groups: list[list[Noted]] = []
    for one in sorted(noted, key=lambda one: one.order):
        if _is_taking_back(one):
            _taken_back(groups, one)
            continue
        home = max((group for group in groups if _fits(group, one) >= ALIKE), key=lambda g: _fits(g, one), default=None)
        if home is None:
            groups.append([one])
        else:
            home.append(one)
    return [_settled(group) for group in groups]


def _fits(group: Sequence[Noted], one: Noted) -> float:
    first = group[0]
    if first.speaker != one.speaker or first.origin != one.origin:
        return 0.0
    if (first.candidate.kind in _LESSONS) != (one.candidate.kind in _LESSONS):
        return 0.0
    if one.candidate.kind in _LESSONS:
        return max(_same_lesson(other, one) for other in group)
    return max(same_matter(other.text, one.text, one.candidate.language) for other in group)


def _same_lesson(one: Noted, other: Noted) -> float:
    """The same program was mended by the same change, whatever it was called on."""
    first, second = (_change_of(note.text) for note in (one, other))
    return 1.0 if first == second else 0.0


def _change_of(text: str) -> tuple[str, frozenset[str]]:
    commands = [command.split() for command in _COMMAND.findall(text)]
    if len(commands) < 2 or not commands[0]:
        return text, frozenset()
    brought = frozenset(commands[-1]) - frozenset(commands[0])
    return commands[0][0], brought or frozenset(commands[-1])


def _is_taking_back(one: Noted) -> bool:
    return bool(pattern("retracts").search(plain(one.words)))


def _taken_back(groups: list[list[Noted]], one: Noted) -> None:
    """The matter the speaker means, and with it what was said about it: it joins them as the last word."""
    near = [group for group in groups if group[0].speaker == one.speaker]
    scored = [
        (max(same_matter(other.text, one.words, one.candidate.language) for other in group), group) for group in near
    ]
    best = max(scored, key=lambda pair: pair[0], default=(0.0, None))
    if best[1] is not None and best[0] >= 0.3:
        best[1].append(one)
    else:
        groups.append([one])  # what it takes back was said on another night


def _settled(group: list[Noted]) -> Matter:
    backs = [place for place, one in enumerate(group) if _is_taking_back(one)]
    if backs:
        return Matter(tuple(group[backs[-1] :]), tuple(group[: backs[-1]]), taken_back=True)
    if group[0].candidate.kind in _LESSONS:
        return Matter(tuple(group))
    start = 0
    for place in range(1, len(group)):
        if any(_overtakes(earlier, group[place]) for earlier in group[start:place]):
            start = place
    return Matter(tuple(group[start:]), tuple(group[:start]))


def _overtakes(earlier: Noted, later: Noted) -> bool:
    if earlier.session_id == later.session_id and earlier.candidate.first_turn == later.candidate.first_turn:
        return False
    if _agree(earlier, later):
        return False
    found = relate(earlier.text, later.text)
    if found.kind not in (RelationKind.SUPERSEDES, RelationKind.CONTRADICTS):
        return False
    return found.conflict >= (OVERTAKEN if later.marks & _CHANGES else SURELY_OVERTAKEN)


def _agree(earlier: Noted, later: Noted) -> bool:
    """Both give the same value, or both say no to the same thing: the later one says it again."""
    language = later.candidate.language
    before, after = (clauses(note.text).names_affirmed(language) for note in (earlier, later))
    if any(any(sign.isdigit() for sign in stem) for stem in before & after):
        return True
    alike = shared(about(earlier.text, language), about(later.text, language)) >= SAME_WORDS
    return alike and _says_no(earlier) == _says_no(later) and not later.marks & _CHANGES


def _says_no(note: Noted) -> bool:
    return bool(pattern("negations").search(plain(note.words)))
