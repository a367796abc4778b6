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
from itertools import pairwise
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
_MOST_WORDS = 50_000  # remembered
_ENDS = re.compile(r"(?<=[.!?;。！？])[\"')\]]?\s+|\n+|(?<=[。！？])")
# Words that somebody else's sentence quotes; a value after its name (`"note": "…"`) is no quotation.
_QUOTED = re.compile(r"(?<=\w)[ ,(]{1,2}(?:\"[^\"\n]{12,200}\"|«[^»\n]{12,200}»|「[^」\n]{6,200}」)")
_WORD = re.compile(r"[^\W_]+|[@/|$<>{}=~]")
_pieces: dict[str, tuple[int, ...]] = {}


class Suspicion(NamedTuple):
    """A window of the text and how much it reads like an attack."""

    score: float
    start: int
    end: int


class Model(NamedTuple):
    """One row of weights for words and pairs, one for pieces of words."""

    weights: NDArray[np.float32]
    bias: float


def features(window: str) -> tuple[set[int], set[int]]:
    """The slots of the words and pairs of a folded text, and those of the pieces of its words."""
    words = _WORD.findall(_QUOTED.sub(" ", window))
    near = {crc32(word.encode()) % SLOTS for word in words}
    for place, word in enumerate(words):
        for distance, other in enumerate(words[place + 1 : place + 1 + _REACH]):
            joint = " " if distance == 0 else "_"
            near.add(crc32(f"{word}{joint}{other}".encode()) % SLOTS)
    return near, {slot for word in words for slot in _pieces_of(word)}


def _pieces_of(word: str) -> tuple[int, ...]:
    known = _pieces.get(word)
    if known is None:
        whole = f" {word[:40]} "
        found = {whole[at : at + size] for size in _PIECES for at in range(len(whole) - size + 1)}
        known = tuple(crc32(piece.encode()) % SLOTS for piece in found)
        if len(_pieces) >= _MOST_WORDS:
            _pieces.clear()
        _pieces[word] = known
    return known


def windows(text: str) -> Iterator[tuple[int, int]]:
    """Stretches of whole sentences, each beginning in the middle of the one before it."""
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
        first = max(first + 1, (first + last + 1) // 2)


def suspicions(text: str) -> Iterator[Suspicion]:
    """What the model says of each window of a folded text."""
    if len(text) > LONGEST:
        return
    model = learned()
    for start, end in windows(text):
        yield Suspicion(score(model, text[start:end]), start, end)


def score(model: Model, window: str) -> float:
    total = model.bias
    for row, slots in zip(model.weights, features(window), strict=True):
        if slots:
            total += float(row[list(slots)].sum()) / len(slots) ** 0.5
    return total


@cache
def learned() -> Model:
    """The weights in the package; 8 bits each."""
    import numpy as np

    with resources.files("reverie.safety").joinpath("weights/suspicion.npz").open("rb") as file, np.load(file) as kept:
        weights = kept["weights"].astype(np.float32) * kept["scale"]
        return Model(weights, float(kept["bias"]))
