"""The one door to the embedder: texts in, unit vectors out.

Loaded at the first call and kept; its weights come inside the wheel, so nothing is ever downloaded. A text without
a single known piece has the zero vector, which is like nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from wordllama.inference import WordLlamaInference

_LOADING = Lock()
_loaded: list[WordLlamaInference] = []
_MOST_WORDS = 50_000
_MOST_PIECES = 8_000
_word_pieces: dict[str, list[int]] = {}
_words: dict[str, NDArray[np.float32]] = {}


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """One row per text, each of length one (or zero): the mean of its pieces, as the embedder itself pools them."""
    import numpy as np

    if not texts:
        return np.zeros((0, 0), dtype=np.float32)
    rows = np.concatenate([_means(pieces) for pieces in _batches(pieces_of(texts))])
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: NDArray[np.float32] = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return unit


def pieces_of(texts: Sequence[str]) -> list[list[int]]:
    """The pieces of each text, word by word. The vocabulary joins nothing across a space, and words come back again
    and again, so asking for each word once is ten times as fast as asking for whole texts and gives the same."""
    split = [text.split() for text in texts]
    unseen = list({word for words in split for word in words if word not in _word_pieces})
    if len(_word_pieces) + len(unseen) > _MOST_WORDS:
        _word_pieces.clear()
        unseen = list({word for words in split for word in words})
    if unseen:
        encoded = _embedder().tokenizer.encode_batch(unseen, add_special_tokens=False)
        _word_pieces.update(
            (word, one.ids[: sum(one.attention_mask)]) for word, one in zip(unseen, encoded, strict=True)
        )
    return [[piece for word in words for piece in _word_pieces[word]] for words in split]


def _batches(pieces: list[list[int]]) -> Iterator[list[list[int]]]:
    """So many texts at a time that their pieces' vectors stay within some megabytes."""
    batch: list[list[int]] = []
    held = 0
    for one in pieces:
        batch.append(one)
        held += len(one)
        if held >= _MOST_PIECES:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch


def _means(pieces: list[list[int]]) -> NDArray[np.float32]:
    import numpy as np

    weights = _embedder().embedding
    rows = np.zeros((len(pieces), weights.shape[1]), dtype=np.float32)
    filled = [place for place, one in enumerate(pieces) if one]
    if filled:
        lengths = np.array([len(pieces[place]) for place in filled])
        every = np.fromiter((piece for place in filled for piece in pieces[place]), dtype=np.int32)
        sums = np.add.reduceat(weights[every].astype(np.float32), np.concatenate(([0], np.cumsum(lengths)[:-1])))
        rows[filled] = sums / lengths[:, None]
    return rows


def word_vector(word: str) -> NDArray[np.float32]:
    vector: NDArray[np.float32] = word_vectors([word])[0]
    return vector


def word_vectors(words: Sequence[str]) -> NDArray[np.float32]:
    """The vectors of single words. Words come back again and again, so they are kept."""
    import numpy as np

    known = {word: vector for word in words if (vector := _words.get(word)) is not None}
    unseen = [word for word in dict.fromkeys(words) if word not in known]
    known.update(zip(unseen, embed(unseen), strict=True))
    if len(_words) > _MOST_WORDS:
        _words.clear()
    _words.update((word, known[word]) for word in unseen)
    return np.array([known[word] for word in words], dtype=np.float32)


def _embedder() -> WordLlamaInference:
    if not _loaded:
        with _LOADING:
            if not _loaded:
                root = logging.getLogger()
                handlers, level = list(root.handlers), root.level
                import wordllama

                # Importing it configures the root logger of the whole process; that is the application's to decide.
                root.handlers[:] = handlers
                root.setLevel(level)
                here = Path(wordllama.__file__).parent
                _loaded.append(wordllama.WordLlama.load(cache_dir=here, disable_download=True))
    return _loaded[0]
