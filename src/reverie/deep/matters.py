"""Matters: what one person said about one thing, once or in many sessions. A Theme is one from several sessions.

Within a matter the last word counts: what was taken back or overtaken by the same person does not speak for it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from reverie.deep.clauses import clauses
from reverie.deep.material import AGAIN, BESIDE, Noted
from reverie.deep.shapes import values
from reverie.deep.subjects import REMEMBERED, about, near_ones, same_matter, shared
from reverie.deep.vocabulary import pattern, plain
from reverie.dreams.curators.lessons import same_lesson
from reverie.language.relation import RelationKind, relate
from reverie.light.candidate import About, Kind
from reverie.light.marks import Mark

_VALUE = re.compile(r"(?=\w*\d)\w+")  # a number, or a name with one in it
ALIKE, MEANT = 0.5, 0.3
_NAMES_IN_COMMON = 2
_AGAINST = 0.5
_OF_A_KIND = 0.1  # both are wishes of one person: people word those in many ways
_SAID_BEFORE = 0.3  # they say themselves that they have said it before
MOST_LIKELY = 30  # groups a statement is compared with
MOST_COMPARED = 6  # of one group, so that what is said all the time costs no more
OVERTAKEN, SURELY_OVERTAKEN, SAME_WORDS = 0.6, 0.85, 0.6
_CHANGES = frozenset({Mark.CHANGED, Mark.ENDED, Mark.CORRECTS, Mark.DENIES})
_WANTED = frozenset({Mark.STANDING, Mark.WISH, Mark.PREFER, Mark.DECIDED})
_LESSONS = frozenset({Kind.SKILL_CANDIDATE})


@dataclass(frozen=True, slots=True)
class Matter:
    """`said` are the statements that stand, oldest first; `overtaken` those their speaker took back or replaced.

    `again` is where the same person spoke of it elsewhere, without stating it.
    """

    said: tuple[Noted, ...]
    overtaken: tuple[Noted, ...] = ()
    taken_back: bool = False
    again: tuple[Noted, ...] = ()

    def and_also(self, other: Matter) -> Matter:
        said = sorted((*self.said, *other.said), key=lambda one: one.order)
        return Matter(tuple(said), (*self.overtaken, *other.overtaken), again=(*self.again, *other.again))

    @property
    def sessions(self) -> frozenset[str]:
        return frozenset(one.session_id for one in self.every)

    @property
    def every(self) -> tuple[Noted, ...]:
        """All that speaks for it."""
        return (*self.said, *self.again)

    @property
    def only_beside(self) -> bool:
        """Nothing in it would have been noticed by itself."""
        return all(BESIDE in note.marks for note in self.said)

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
    ordered = sorted((one for one in noted if AGAIN not in one.marks), key=lambda one: one.order)
    near = near_ones([one.text for one in ordered])
    groups: list[list[Noted]] = []
    homes: list[int] = []  # of each statement, the group it is in
    speaking_of: dict[str, set[int]] = {}  # stem -> groups
    for place, one in enumerate(ordered):
        stems = about(one.text, one.candidate.language)
        likely = {homes[other] for other in near[place]} | _likely(stems, speaking_of)
        home = _home(one, groups, sorted(likely))
        if home == len(groups):
            groups.append([])
        groups[home].append(one)
        homes.append(home)
        for stem in stems:
            speaking_of.setdefault(stem, set()).add(home)
    again = _again([one for one in noted if AGAIN in one.marks], groups, speaking_of)
    return [replace(_settled(group), again=again.get(place, ())) for place, group in enumerate(groups)]


def _again(
    noted: Sequence[Noted], groups: Sequence[Sequence[Noted]], speaking_of: Mapping[str, set[int]]
) -> dict[int, tuple[Noted, ...]]:
    """By group, where else it was spoken of: once for each session that does not state it."""
    found: dict[int, dict[str, Noted]] = {}
    for one in sorted(noted, key=lambda one: one.order):
        stems = about(one.text, one.candidate.language)
        likely = [place for place in sorted(_likely(stems, speaking_of)) if _speaks_of(groups[place], one)]
        fits = _fitting(one, groups, likely)
        place = next((place for place in fits if _is_borne_out(groups[place], one)), None)
        if place is not None and all(other.session_id != one.session_id for other in groups[place]):
            found.setdefault(place, {}).setdefault(one.session_id, one)
    return {place: tuple(by_session.values()) for place, by_session in found.items()}


def _likely(stems: Iterable[str], speaking_of: Mapping[str, set[int]]) -> set[int]:
    """The groups with the most words in common, so that a word everybody uses does not make everything likely."""
    common = Counter(place for stem in stems for place in speaking_of.get(stem, ()))
    return set(sorted(common, key=lambda place: (-common[place], -place))[:MOST_LIKELY])


def _speaks_of(group: Sequence[Noted], one: Noted) -> bool:
    """Whether it names what the group says: the very value, not its subject alone."""
    last, language = group[-1], one.candidate.language
    if last.candidate.kind in _LESSONS:
        return False
    mine, theirs, named = about(one.text, language), about(last.text, language), _named_in(last.text, language)
    return bool(named & mine) if named else shared(mine, theirs) >= SAME_WORDS and len(mine & theirs) > 1


@lru_cache(maxsize=REMEMBERED)
def _named_in(text: str, language: str) -> frozenset[str]:
    return frozenset[str]().union(*(about(value, language) for value in values(text)))


def _is_borne_out(group: Sequence[Noted], one: Noted) -> bool:
    """Whether someone who speaks so takes for granted what the group says. Asked last: it is the dearest question."""
    return relate(group[-1].text, one.text).conflict < _AGAINST


def _home(one: Noted, groups: Sequence[Sequence[Noted]], likely: Sequence[int]) -> int:
    """The group it belongs to; the next one to be made where it belongs to none."""
    return next(iter(_fitting(one, groups, likely)), len(groups))


def _fitting(one: Noted, groups: Sequence[Sequence[Noted]], likely: Iterable[int]) -> list[int]:
    """The groups it may belong to, the one it surely fits first."""
    taking_back = _is_taking_back(one)
    fits = [(_means(groups[place], one) if taking_back else _fits(groups[place], one), place) for place in likely]
    good = [fit for fit in fits if fit[0] >= (MEANT if taking_back else ALIKE)]
    return [place for _, place in sorted(good, key=lambda fit: (-fit[0], fit[1]))]


def _means(group: Sequence[Noted], one: Noted) -> float:
    """How surely what is taken back is what this group says. What was said on another night is not among them."""
    if group[0].speaker != one.speaker or group[0].candidate.kind in _LESSONS or BESIDE in group[0].marks:
        return 0.0
    return max(same_matter(other.text, one.words, one.candidate.language) for other in group)


def _fits(group: Sequence[Noted], one: Noted) -> float:
    first = group[0]
    if BESIDE in first.marks or BESIDE in one.marks or _is_taking_back(first):
        return 0.0
    if first.speaker != one.speaker or first.origin != one.origin:
        return 0.0
    if (first.candidate.kind in _LESSONS) != (one.candidate.kind in _LESSONS):
        return 0.0
    if one.candidate.kind in _LESSONS:
        return 1.0 if any(same_lesson(other, one) for other in group) else 0.0
    return max(_alike(other, one) for other in group[-MOST_COMPARED:])


def _alike(one: Noted, other: Noted) -> float:
    """How surely both are about the same thing. In two languages only names are the same."""
    first, second = one.candidate.language, other.candidate.language
    if first == second:
        wishes = bool(one.marks & _WANTED and other.marks & _WANTED and one.candidate.about == "person")
        again = bool(wishes and Mark.ONCE_MORE in other.marks and about(one.text, first) & about(other.text, second))
        return same_matter(one.text, other.text, second) + _OF_A_KIND * wishes + _SAID_BEFORE * again
    common = about(one.text, first) & about(other.text, second)
    return ALIKE if len(common) >= _NAMES_IN_COMMON else 0.0


def _is_taking_back(one: Noted) -> bool:
    """It takes something back, and asks for nothing else instead."""
    return _retracts(one.words) and not (one.marks & _WANTED and pattern("instead").search(plain(one.words)))


@lru_cache(maxsize=REMEMBERED)
def _retracts(words: str) -> bool:
    return bool(pattern("retracts").search(plain(words)))


def _settled(group: list[Noted]) -> Matter:
    backs = [place for place, one in enumerate(group) if _is_taking_back(one)]
    if backs:
        return Matter(tuple(group[backs[-1] :]), tuple(group[: backs[-1]]), taken_back=True)
    if group[0].candidate.kind in _LESSONS:
        return Matter(tuple(group))
    start = 0
    for place in range(1, len(group)):
        if any(_overtakes(earlier, group[place]) for earlier in group[start:place][-MOST_COMPARED:]):
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
    """Both affirm the same, or both say no to the same thing: the later one says it again."""
    language = later.candidate.language
    parts = [clauses(note.text) for note in (earlier, later)]
    before, after = (part.names_affirmed(language) for part in parts)
    if before & after and parts[0].names_over(language) & parts[1].names_over(language):
        return True  # both put the same in the same one's place
    values = [frozenset(stem for stem in stems if _VALUE.fullmatch(stem)) for stems in (before, after)]
    if any(values):
        return bool(values[1]) and (values[1] <= values[0] or values[0] <= values[1]) and bool(values[0] & values[1])
    if before and after and shared(before, after) >= SAME_WORDS and later.marks & _CHANGES:
        return True
    alike = shared(about(earlier.text, language), about(later.text, language)) >= SAME_WORDS
    return alike and _says_no(earlier) == _says_no(later) and not later.marks & _CHANGES


def _says_no(note: Noted) -> bool:
    return bool(pattern("negations").search(plain(note.words)))
