"""The one door to the embedder: texts in, unit vectors out.

Loaded at the first call and kept; its weights come inside the wheel, so nothing is ever downloaded. A text without
a single known piece has the zero vector, which is like nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
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
_words: dict[str, NDArray[np.float32]] = {}


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """One row per text, each of length one (or zero)."""
    import numpy as np

    if not texts:
        return np.zeros((0, 0), dtype=np.float32)
    written = [text if text.strip() else " " for text in texts]
    rows = np.asarray(_embedder().embed(written, norm=False), dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: NDArray[np.float32] = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return unit


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
                _loaded.append(_load())
    return _loaded[0]


def _load() -> WordLlamaInference:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    import wordllama

    # Importing it configures the root logger of the whole process; that is the application's to decide.
    root.handlers[:] = handlers
    root.setLevel(level)
    here = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(cache_dir=here, disable_download=True)
