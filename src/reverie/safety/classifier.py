"""How much a text reads like the attacks in `training/data/scan-*.jsonl`: a learned second opinion beside the rules.

The text is cut into windows of a few sentences. Each is a bag of words, of words near each other and of pieces of
words; one number per bag entry, learned by `training/suspicion.py`, is all there is to the model. One in 500 turns of
people scores above 0. A score is a reason to ask a person, and never more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib import resources
from itertools import chain, pairwise
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SLOTS = 1 << 17  # per kind of feature
LONGEST = 1 << 20  # characters; a text of more is no memory and no page of a skill, and the rules read all of it
_WINDOW = 320  # characters: an order and its occasion stand within a few sentences
_REACH = 4  # words: how far apart two words may stand and still count as a pair
_PIECES = (3, 4, 5)  # letters
_FEWEST = 60  # slots: about ten words
_MOST_WORDS = 50_000  # remembered
_ENDS = re.compile(r"(?<=[.!?;。！？])[\"')\]]?\s+|\n+|(?<=[。！？])")
# Words that somebody else's sentence quotes; a value after its name (`"note": "…"`) is no quotation.
_QUOTED = re.compile(r"(?<=\w)[ ,(]{1,2}(?:\"[^\"\n]{12,200}\"|«[^»\n]{12,200}»|「[^」\n]{6,200}」)")
_WORD = re.compile(r"[^\W_]+|[@/|$<>{}=~]")
_known: dict[str, tuple[int, tuple[int, ...]]] = {}


class Suspicion(NamedTuple):
    """A window of the text and how much it reads like an attack."""

    score: float
    start: int
    end: int


class WordWeights(NamedTuple):
    """One row of weights for words and pairs, one for pieces of words."""

    weights: NDArray[np.float32]
    bias: float


def feature_slots(window: str) -> tuple[set[int], set[int]]:
    """The slots of the words and pairs of a folded text, and those of the pieces of its words."""
    known = [_known.get(word) or _learn(word) for word in _WORD.findall(_QUOTED.sub(" ", window))]
    marks = [mark for mark, _ in known]
    near = {mark % SLOTS for mark in marks}
    near.update((first * 3 + second) % SLOTS for first, second in pairwise(marks))
    for distance in range(2, _REACH + 1):
        near.update((first * 5 + second) % SLOTS for first, second in zip(marks, marks[distance:], strict=False))
    return near, set(chain.from_iterable(pieces for _, pieces in known))


def share(slots: set[int]) -> float:
    """The weight of each slot of a window. In a few words one would count for much, so they count as ten."""
    return float(max(_FEWEST, len(slots)) ** -0.5)


def _learn(word: str) -> tuple[int, tuple[int, ...]]:
    """The mark of a word and the slots of its pieces. Words come back again and again, so they are kept."""
    whole = f" {word[:40]} "
    found = {whole[at : at + size] for size in _PIECES for at in range(len(whole) - size + 1)}
    if len(_known) >= _MOST_WORDS:
        _known.clear()
    _known[word] = one = crc32(word.encode()), tuple(crc32(piece.encode()) % SLOTS for piece in found)
    return one


def windows(text: str) -> Iterator[tuple[int, int]]:
    """Stretches of whole sentences, each beginning in the last third of the one before it."""
    ends = [0, *(found.end() for found in _ENDS.finditer(text)), len(text)]
    pieces = [(at, min(at + _WINDOW, end)) for start, end in pairwise(ends) for at in range(start, end, _WINDOW // 2)]
    first = 0
    while first < len(pieces):
        start, last = pieces[first][0], first
        while last + 1 < len(pieces) and pieces[last + 1][1] - start <= _WINDOW:
            last += 1
        yield start, pieces[last][1]
        if last + 1 == len(pieces):
            return
        first = max(first + 1, (first + 2 * last + 2) // 3)


def suspicions(text: str) -> Iterator[Suspicion]:
    if len(text) > LONGEST:
        return
    model = learned()
    for start, end in windows(text):
        yield Suspicion(window_score(model, text[start:end]), start, end)


def window_score(model: WordWeights, window: str) -> float:
    total = model.bias
    for row, slots in zip(model.weights, feature_slots(window), strict=True):
        total += float(row[list(slots)].sum()) * share(slots)
    return total


@cache
def learned() -> WordWeights:
    import numpy as np

    with resources.files("reverie.safety").joinpath("weights/suspicion.npz").open("rb") as file, np.load(file) as kept:
        weights = kept["weights"].astype(np.float32) * kept["scale"]
        return WordWeights(weights, float(kept["bias"]))
