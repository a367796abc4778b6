"""Which statement of one copy became which of the other: by their words first, then by what they are about.

Paths and headings only lend weight: a consolidation job renames, splits and merges memories as it pleases.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import TYPE_CHECKING

from reverie.bridge.compare.rewording import in_digits
from reverie.bridge.compare.statements import StoreStatement
from reverie.text.embedding import embed
from reverie.text.wording.number_words import spelled
from reverie.text.wording.words import carries_meaning, language_of, normal, raw_words, stem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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
    pages = _pages(exact)
    pairs, old_left, new_left = _near(old_left, new_left, pages)
    pairs, old_left, new_left = _parts(pairs, old_left, new_left)
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


def _pages(exact: Iterable[Aligned]) -> Mapping[str, str]:
    """Where most of what a memory said stands now: it may have been renamed."""
    moves: dict[str, Counter[str]] = defaultdict(Counter)
    for pair in exact:
        if pair.old and pair.new:
            moves[pair.old[0].path][pair.new[0].path] += 1
    return {path: to.most_common(1)[0][0] for path, to in moves.items()}


# ---- by what they are about ------------------------------------------------------------------------------------------


def _near(
    old: list[StoreStatement], new: list[StoreStatement], pages: Mapping[str, str], least: float = NEAR
) -> tuple[list[Aligned], list[StoreStatement], list[StoreStatement]]:
    """One to one, the nearest first."""
    if not old or not new:
        return [], old, new
    ours, theirs = _words(old), _words(new)
    held = Counter(word for words in (*ours, *theirs) for word in words)
    weight = {word: log(1 + (len(ours) + len(theirs)) / count) for word, count in held.items()}  # by rarity
    found = list[tuple[float, int, int]]()
    for row, column, likeness in _neighbours(old, new):
        words = _said_alike(ours[row], theirs[column], weight)
        score = 0.55 * likeness + 0.45 * words + _placed_alike(old[row], new[column], pages)
        if score >= least:
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


def _neighbours(old: Sequence[StoreStatement], new: Sequence[StoreStatement]) -> Iterator[tuple[int, int, float]]:
    """The nearest of each statement of either side, once a pair."""
    ours, theirs = (embed([normal(one.text) for one in side]) for side in (old, new))
    seen = dict[tuple[int, int], float]()
    for start in range(0, len(old), AT_ONCE):
        likeness = ours[start : start + AT_ONCE] @ theirs.T
        for row, column in _best(likeness):
            seen[start + row, column] = float(likeness[row, column])
    for start in range(0, len(new), AT_ONCE):
        likeness = theirs[start : start + AT_ONCE] @ ours.T
        for row, column in _best(likeness):
            seen[column, start + row] = float(likeness[row, column])
    yield from ((row, column, score) for (row, column), score in seen.items())


def _best(likeness: NDArray[np.float32]) -> Iterator[tuple[int, int]]:
    import numpy as np

    some = min(NEIGHBOURS, likeness.shape[1])
    best = np.argpartition(-likeness, some - 1, axis=1)[:, :some]
    yield from ((row, int(column)) for row, columns in enumerate(best) for column in columns)


def _said_alike(ours: frozenset[str], theirs: frozenset[str], weight: Mapping[str, float]) -> float:
    """The share of words in common; rare ones count more."""
    every = sum(weight[word] for word in ours) + sum(weight[word] for word in theirs)
    return 2 * sum(weight[word] for word in ours & theirs) / every if every else 0.0


def _placed_alike(old: StoreStatement, new: StoreStatement, pages: Mapping[str, str]) -> float:
    if old.code != new.code:
        return -1.0
    return SAME_PAGE * (new.path in (old.path, pages.get(old.path))) + SAME_HEADING * (old.heading == new.heading)


def _words(statements: Iterable[StoreStatement]) -> list[frozenset[str]]:
    return [stems(one.text) for one in statements]


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
    went, came = (
        dict[tuple[str, str, bool], list[StoreStatement]](),
        dict[tuple[str, str, bool], list[StoreStatement]](),
    )
    for one in old:
        went.setdefault((pages.get(one.path, one.path), one.heading, one.code), []).append(one)
    for one in new:
        came.setdefault((one.path, one.heading, one.code), []).append(one)
    both = [(gone[0], came[place][0]) for place, gone in went.items() if len(gone) == len(came.get(place, ())) == 1]
    paired = {id(one) for pair in both for one in pair}
    pairs = [Aligned((gone,), (come,), 0.0) for gone, come in both]
    return pairs, [one for one in old if id(one) not in paired], [one for one in new if id(one) not in paired]


# ---- sentences that were split or merged -----------------------------------------------------------------------------


def _parts(
    pairs: list[Aligned], old: list[StoreStatement], new: list[StoreStatement]
) -> tuple[list[Aligned], list[StoreStatement], list[StoreStatement]]:
    """Join what is left to a pair if it says only what one side of the pair says and the other side leaves out."""
    left_old, left_new = list[StoreStatement](), list[StoreStatement]()
    wholes = _said_in(pair.old for pair in pairs)
    for one in new:
        at = _whole(one, wholes, lambda at: pairs[at].new)
        if at is None:
            left_new.append(one)
        else:
            pairs[at] = Aligned(pairs[at].old, (*pairs[at].new, one), pairs[at].likeness)
    wholes = _said_in(pair.new for pair in pairs)
    for one in old:
        at = _whole(one, wholes, lambda at: pairs[at].old)
        if at is None:
            left_old.append(one)
        else:
            pairs[at] = Aligned((*pairs[at].old, one), pairs[at].new, pairs[at].likeness)
    return pairs, left_old, left_new


def _said_in(sides: Iterable[Sequence[StoreStatement]]) -> Mapping[str, set[int]]:
    """Which pairs say a word, on the side given."""
    found: dict[str, set[int]] = defaultdict(set)
    for at, side in enumerate(sides):
        for word in _together(side):
            found[word].add(at)
    return found


def _whole(
    part: StoreStatement, wholes: Mapping[str, set[int]], other: Callable[[int], Sequence[StoreStatement]]
) -> int | None:
    """The pair whose one side says nearly all of this statement, what its other side leaves out in particular."""
    words = stems(part.text)
    if part.code or len(words) < 2:
        return None
    shared = Counter(at for word in words for at in wholes.get(word, ()))
    for at, number in sorted(shared.items(), key=lambda one: (-one[1], one[0]))[:NEIGHBOURS]:
        missing = words - _together(other(at))
        told = sum(at in wholes.get(word, ()) for word in missing)
        if missing and number >= COVERED * len(words) and told >= COVERED * len(missing):
            return at
    return None


def _together(side: Sequence[StoreStatement]) -> frozenset[str]:
    return frozenset[str]().union(*(stems(one.text) for one in side))
