"""What a turn means, as one bit per dimension, and how near a question is to it. Pure, but for the embedder.

A turn's vector leans a little towards the turns beside it, because a short answer means little alone. The question
keeps its full precision: against vectors of bits that loses next to nothing compared with vectors of numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from reverie.text.embedding import embed, word_vector

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BYTES = 32
OPENING = 2000  # characters of a turn that are read: what follows turns the vector of a long text very little
LEAN = 0.25
LEAN_TO_BEST = 0.5  # from 0.8 on, and with more than one turn to lean to, what was asked gets lost


def turn_bits(said: Sequence[str]) -> list[bytes]:
    """One vector for each turn of a session, in order."""
    import numpy as np

    if not said:
        return []
    turns = _embedded([text[:OPENING] for text in said])
    beside = np.pad(turns, ((1, 1), (0, 0)))
    leaning = turns + LEAN * (beside[:-2] + beside[2:])
    return [row.tobytes() for row in np.packbits(leaning > 0, axis=1)]


def question_vector(words: Mapping[str, float]) -> NDArray[np.float32]:
    """Words by weight: the rare ones are what the question is about."""
    import numpy as np

    weighed = np.zeros(8 * BYTES, dtype=np.float32)
    for word, weight in words.items():
        weighed += weight * word_vector(word)
    length = float(np.linalg.norm(weighed))
    return weighed / np.float32(length) if length else weighed


def leaning(question: NDArray[np.float32], best: bytes) -> NDArray[np.float32]:
    """The question, moved towards the turn that matches it best so far."""
    import numpy as np

    moved: NDArray[np.float32] = question + LEAN_TO_BEST * _signs([best])[0]
    moved /= np.linalg.norm(moved)
    return moved


def cosines(question: NDArray[np.float32], turns: Sequence[bytes]) -> list[float]:
    near: list[float] = (_signs(turns) @ question).tolist()
    return near


def _signs(turns: Sequence[bytes]) -> NDArray[np.float32]:
    """Unit vectors that point where the bits say."""
    import numpy as np

    rows = np.frombuffer(b"".join(turns), dtype=np.uint8).reshape(-1, BYTES)
    return (np.unpackbits(rows, axis=1).astype(np.float32) * 2 - 1) / np.float32((8 * BYTES) ** 0.5)


def _embedded(texts: Sequence[str]) -> NDArray[np.float32]:
    """In order of length, because the embedder pads a batch to its longest text."""
    import numpy as np

    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    return embed([texts[place] for place in order])[np.argsort(order)]
