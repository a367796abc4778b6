"""What an agent would do otherwise, given one copy of a memory store instead of another. Pure; no model is asked.

Which statement of one copy became which of the other is found by their words first, then by what they are about. Paths
and headings only lend weight: a consolidation job renames, splits and merges memories as it pleases.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from math import log
from typing import Literal, Self

from reverie.bridge.source import Snapshot
from reverie.bridge.statements import StoreStatement, in_digits, only_reworded, statements_of
from reverie.text.embedding import embed
from reverie.text.relation import RelationKind, relate
from reverie.text.values import spelled
from reverie.text.words import carries_meaning, language_of, normal, raw_words, stem

# ---- which statement became which ------------------------------------------------------------------------------------

NEIGHBOURS = 8  # of each statement, by its vector, that are looked at closely
NEAR = 0.40  # from here on two statements may be about one matter
FAR = 0.20  # the same for what would else have gone, and come: nearly every word may be another
SAME_PAGE, SAME_HEADING = 0.06, 0.03
COVERED = 0.75  # of a statement's words that stand in another of which it is taken to be a part
AT_ONCE = 512  # rows of the matrix of likeness that are held at a time


@dataclass(frozen=True, slots=True)
class Aligned:
    """Statements that are one matter. Either side may be empty; more than one where a sentence was split or merged."""

    old: tuple[StoreStatement, ...]
    new: tuple[StoreStatement, ...]
    likeness: float

    @property
    def same_words(self) -> bool:
        return len(self.old) == len(self.new) == 1 and self.old[0].key == self.new[0].key


def aligned(old: Sequence[StoreStatement], new: Sequence[StoreStatement]) -> list[Aligned]:
    """Every statement of both sides, once."""
    exact, old_left, new_left = _exact(old, new)
    moves: dict[str, Counter[str]] = defaultdict(Counter)
    for pair in exact:
        if pair.old and pair.new:
            moves[pair.old[0].path][pair.new[0].path] += 1
    pages = {path: to.most_common(1)[0][0] for path, to in moves.items()}  # a memory may have been renamed
    pairs, old_left, new_left = _near(old_left, new_left, pages)
    new_left = _joined(pairs, new_left, "new")
    old_left = _joined(pairs, old_left, "old")
    far, old_left, new_left = _near(old_left, new_left, pages, FAR)
    lone, old_left, new_left = _lone(old_left, new_left, pages)
    gone = [Aligned((one,), (), 0.0) for one in old_left]
    come = [Aligned((), (one,), 0.0) for one in new_left]
    return [*exact, *pairs, *far, *lone, *gone, *come]


def _exact(
    old: Sequence[StoreStatement], new: Sequence[StoreStatement]
) -> tuple[list[Aligned], list[StoreStatement], list[StoreStatement]]:
    """The same words, at the same place if they stand there, too. What is said twice is one statement more."""
    there: dict[str, list[StoreStatement]] = defaultdict(list)
    for one in new:
        there[one.key].append(one)
    found, left = list[Aligned](), list[StoreStatement]()
    for one in sorted(old, key=lambda one: not any(_stays(one, other) for other in there.get(one.key, ()))):
        among = there.get(one.key)
        if not among:
            left.append(one)
            continue
        best = max(among, key=lambda other: _stays(one, other))
        among.remove(best)
        found.append(Aligned((one,), (best,), 1.0))
    said = {one.old[0].key for one in found}
    rest = [one for among in there.values() for one in among]
    come = [one for one in rest if one.key not in said]
    doubled = [Aligned((), (one,), 1.0) for one in rest if one.key in said]
    kept = [one for one in left if one.key not in said]
    dropped = [Aligned((one,), (), 1.0) for one in left if one.key in said]
    return [*found, *doubled, *dropped], kept, come


def _stays(one: StoreStatement, other: StoreStatement) -> int:
    return 2 * (one.path == other.path) + (one.heading == other.heading)


def _near(
    old: list[StoreStatement], new: list[StoreStatement], pages: Mapping[str, str], least: float = NEAR
) -> tuple[list[Aligned], list[StoreStatement], list[StoreStatement]]:
    """One to one, the nearest first. `pages` is where most of what a page said stands now."""
    if not old or not new:
        return [], old, new
    ours, theirs = ([stems(one.text) for one in side] for side in (old, new))
    held = Counter(word for words in (*ours, *theirs) for word in words)
    weight = {word: log(1 + (len(ours) + len(theirs)) / count) for word, count in held.items()}  # by rarity
    found = list[tuple[float, int, int]]()
    for (row, column), likeness in _neighbours(old, new).items():
        one, other = old[row], new[column]
        every = sum(weight[word] for word in (*ours[row], *theirs[column]))
        words = 2 * sum(weight[word] for word in ours[row] & theirs[column]) / every if every else 0.0
        score = 0.55 * likeness + 0.45 * words
        score += SAME_PAGE * (other.path in (one.path, pages.get(one.path)))
        score += SAME_HEADING * (one.heading == other.heading)
        if score >= least and one.code == other.code:
            found.append((-score, row, column))
    pairs: list[Aligned] = []
    rows, columns = set[int](), set[int]()
    for score, row, column in sorted(found):
        if row not in rows and column not in columns:
            rows.add(row)
            columns.add(column)
            pairs.append(Aligned((old[row],), (new[column],), round(-score, 4)))
    left = [one for at, one in enumerate(old) if at not in rows]
    return pairs, left, [one for at, one in enumerate(new) if at not in columns]


def _neighbours(old: Sequence[StoreStatement], new: Sequence[StoreStatement]) -> dict[tuple[int, int], float]:
    """How like they are: each statement of either side and those nearest to it."""
    import numpy as np

    ours, theirs = (embed([normal(one.text) for one in side]) for side in (old, new))
    seen = dict[tuple[int, int], float]()
    for here, there, turned in ((ours, theirs, False), (theirs, ours, True)):
        some = min(NEIGHBOURS, len(there))
        for start in range(0, len(here), AT_ONCE):
            likeness = here[start : start + AT_ONCE] @ there.T
            best = np.argpartition(-likeness, some - 1, axis=1)[:, :some].tolist()
            for row, column in ((row, column) for row, columns in enumerate(best) for column in columns):
                pair = (column, start + row) if turned else (start + row, column)
                seen[pair] = float(likeness[row, column])
    return seen


@lru_cache(maxsize=65_536)
def stems(text: str) -> frozenset[str]:
    plain = spelled(in_digits(text))
    language = language_of(plain)
    numbers = (one.strip(".,;:()[]") for one in plain.split() if any(letter.isdigit() for letter in one))
    return frozenset([*(stem(word, language) for word in raw_words(plain) if carries_meaning(word)), *numbers])


def _lone(
    old: list[StoreStatement], new: list[StoreStatement], pages: Mapping[str, str]
) -> tuple[list[Aligned], list[StoreStatement], list[StoreStatement]]:
    """The one statement that went from a place, and the one that came to it: they may have no word in common."""
    went: dict[tuple[str, str, bool], list[StoreStatement]] = defaultdict(list)
    came: dict[tuple[str, str, bool], list[StoreStatement]] = defaultdict(list)
    for one in old:
        went[pages.get(one.path, one.path), one.heading, one.code].append(one)
    for one in new:
        came[one.path, one.heading, one.code].append(one)
    both = [(gone, came[place]) for place, gone in went.items() if len(gone) == len(came.get(place, ())) == 1]
    paired = {id(one) for gone, come in both for one in (*gone, *come)}
    pairs = [Aligned(tuple(gone), tuple(come), 0.0) for gone, come in both]
    return pairs, [one for one in old if id(one) not in paired], [one for one in new if id(one) not in paired]


def _joined(pairs: list[Aligned], some: list[StoreStatement], side: Literal["old", "new"]) -> list[StoreStatement]:
    """Join what is left of a side to the pair whose other side says nearly all of it, and in particular what this side
    of the pair leaves out. The rest is left."""
    wholes: dict[str, set[int]] = defaultdict(set)  # which pairs say a word, on the other side
    for at, pair in enumerate(pairs):
        for word in _together(pair.old if side == "new" else pair.new):
            wholes[word].add(at)
    left = list[StoreStatement]()
    for one in some:
        words = frozenset[str]() if one.code else stems(one.text)
        shared = Counter(at for word in words for at in wholes.get(word, ()))
        for at, number in sorted(shared.items(), key=lambda each: (-each[1], each[0]))[:NEIGHBOURS]:
            pair = pairs[at]
            missing = words - _together(pair.new if side == "new" else pair.old)
            told = sum(at in wholes.get(word, ()) for word in missing)
            enough = number >= COVERED * len(words) and told >= COVERED * len(missing)
            if len(words) > 1 and missing and enough:
                new = replace(pair, new=(*pair.new, one)) if side == "new" else replace(pair, old=(*pair.old, one))
                pairs[at] = new
                break
        else:
            left.append(one)
    return left


def _together(side: Sequence[StoreStatement]) -> frozenset[str]:
    return frozenset[str]().union(*(stems(one.text) for one in side))


# ---- differences -----------------------------------------------------------------------------------------------------

SURE, DOUBT = 0.78, 0.1  # chance of a mere rewording from which it is taken for one, or left open
FAR_DOUBT = 0.15  # the same as DOUBT, for two statements that have hardly a word in common
ALONE_DOUBT = 0.6  # the same for the one that went from a place and the one that came, which nothing else puts together
OTHER_MATTER = 0.5  # likeness below which two statements may be two matters
SAID_ELSEWHERE = 0.7  # chance of a mere rewording from which a statement that went or came was there already
SURELY_ELSEWHERE = 0.9  # and from which nobody has to look at it
SHARED = 0.5  # of the words of the shorter one that stand in the other, too
ALIKE = 0.5  # likeness below which nothing is taken to be said elsewhere
CLOSEST = 4


class TellingReason(StrEnum):
    """Why something is kept back, with the words for people."""

    sentence: str

    def __new__(cls, value: str, sentence: str) -> Self:
        reason = str.__new__(cls, value)
        reason._value_, reason.sentence = value, sentence
        return reason


class DiffKind(StrEnum):
    ADDED = "added"
    CHANGED = "changed"
    REMOVED = "removed"
    DOUBTFUL = "perhaps_only_reworded"
    REWORDED = "reworded"
    MOVED = "moved"
    REPEATED = "repeated"  # said twice now, or no longer said twice

    @property
    def is_behaviour(self) -> bool:
        return self in (DiffKind.ADDED, DiffKind.CHANGED, DiffKind.REMOVED)


@dataclass(frozen=True, slots=True)
class Difference:
    """`reworded` is the chance, 0..1, that nothing but the words is different."""

    kind: DiffKind
    old: tuple[StoreStatement, ...]
    new: tuple[StoreStatement, ...]
    reworded: float
    why: str = ""

    @property
    def before(self) -> str:
        return " ".join(one.text for one in self.old)

    @property
    def after(self) -> str:
        return " ".join(one.text for one in self.new)

    @property
    def place(self) -> StoreStatement:
        return (self.new or self.old)[0]


@dataclass(frozen=True, slots=True)
class StoreDiff:
    old: Snapshot
    new: Snapshot
    differences: tuple[Difference, ...]
    unchanged: int
    note: str = ""  # why a model that was to be asked gave no answer

    def of(self, *kinds: DiffKind) -> list[Difference]:
        return [one for one in self.differences if one.kind in kinds]

    @property
    def behaviour(self) -> list[Difference]:
        return [one for one in self.differences if one.kind.is_behaviour]

    @property
    def arguable(self) -> list[Difference]:
        """The differences that are or may be rewordings, which a model may see otherwise."""
        return [one for one in self.of(DiffKind.DOUBTFUL, DiffKind.REWORDED) if one.reworded < 1.0]


def store_diff(old: Snapshot, new: Snapshot) -> StoreDiff:
    """Behaviour first; within a kind in the order of the newer store."""
    before, after = statements_of(old), statements_of(new)
    found = [one for pair in aligned(before, after) for one in _judged(pair)]
    told = [one for one in found if one is not None]
    # consolidation drops one of two lines that say the same: nothing is lost by that
    said = _said([one for one in told if one.kind is DiffKind.REMOVED], after)
    said |= _said([one for one in told if one.kind is DiffKind.ADDED], before)
    told = [said.get(id(one), one) for one in told]
    return StoreDiff(old, new, sorted_differences(told), len(found) - len(told))


def sorted_differences(differences: Sequence[Difference]) -> tuple[Difference, ...]:
    kinds = list(DiffKind)
    return tuple(sorted(differences, key=lambda one: (kinds.index(one.kind), one.place.path, one.place.heading)))


def _judged(pair: Aligned) -> list[Difference | None]:
    """None is a statement that stands as it stood."""
    if pair.same_words:
        here = pair.old[0].path == pair.new[0].path
        return [None if here else Difference(DiffKind.MOVED, pair.old, pair.new, 1.0)]
    if not pair.old or not pair.new:
        kind = DiffKind.REPEATED if pair.likeness == 1.0 else DiffKind.ADDED if pair.new else DiffKind.REMOVED
        return [Difference(kind, pair.old, pair.new, 0.0)]
    judged = Difference(DiffKind.CHANGED, pair.old, pair.new, 0.0)
    if pair.old[0].code:
        return [judged]
    chance = round(only_reworded(judged.before, judged.after), 3)
    if chance >= (DOUBT if pair.likeness >= NEAR else FAR_DOUBT if pair.likeness else ALONE_DOUBT):
        sure = chance >= SURE and pair.likeness >= OTHER_MATTER
        return [Difference(DiffKind.REWORDED if sure else DiffKind.DOUBTFUL, pair.old, pair.new, chance)]
    relation = relate(judged.before, judged.after)
    if pair.likeness < NEAR or (relation.kind is RelationKind.UNRELATED and pair.likeness < OTHER_MATTER):
        gone = [Difference(DiffKind.REMOVED, (one,), (), 0.0) for one in pair.old]
        return [*gone, *(Difference(DiffKind.ADDED, (), (one,), 0.0) for one in pair.new)]
    why = relation.why if relation.kind is not RelationKind.SAME else ""
    return [Difference(DiffKind.CHANGED, pair.old, pair.new, chance, why)]


def _said(found: Sequence[Difference], other_side: Sequence[StoreStatement]) -> dict[int, Difference]:
    """Those that a statement of the other side says, too."""
    if not found or not other_side:
        return {}
    import numpy as np

    here = embed([normal(one.before or one.after) for one in found])
    there = embed([normal(one.text) for one in other_side])
    said: dict[int, Difference] = {}
    for one, vector in zip(found, here, strict=True):
        likeness = there @ vector
        for at in np.argsort(-likeness)[:CLOSEST].tolist():
            other, text = other_side[at], one.before or one.after
            if likeness[at] < ALIKE:
                break
            words, others = stems(text), stems(other.text)
            shared = len(words & others) >= SHARED * min(len(words), len(others))
            chance = only_reworded(text, other.text) if shared and one.place.code == other.code else 0.0
            if chance >= SAID_ELSEWHERE:
                old, new = (one.old, (other,)) if one.old else ((other,), one.new)
                kind = DiffKind.REPEATED if chance >= SURELY_ELSEWHERE else DiffKind.DOUBTFUL
                said[id(one)] = Difference(kind, old, new, round(chance, 3))
                break
    return said
