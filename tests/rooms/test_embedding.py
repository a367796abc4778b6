"""The one door to the embedder."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from reverie.text.embedding import embed, word_vector, word_vectors


def test_every_row_has_length_one() -> None:
    rows = embed(["The barn is red.", "a", "数据库"])
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)


def test_nothing_to_embed_is_no_row() -> None:
    assert len(embed([])) == 0
    assert len(word_vectors([])) == 0


def test_blank_text_has_a_vector_without_nan() -> None:
    assert np.isfinite(embed(["", "  ", "word"])).all()


def test_likeness_is_seen_across_words() -> None:
    dogs, pets, invoice = word_vectors(["dogs", "pets", "invoice"])
    assert dogs @ pets > dogs @ invoice


def test_many_threads_get_the_same_vectors() -> None:
    words = [f"word{number}" for number in range(40)] * 3
    with ThreadPoolExecutor(8) as pool:
        rows = list(pool.map(word_vector, words))
    assert all(np.array_equal(row, rows[place % 40]) for place, row in enumerate(rows))


def test_loading_leaves_the_logging_of_the_process_alone() -> None:
    code = (
        "import logging; from reverie.text.embedding import embed; embed(['x']);"
        "assert not logging.getLogger().handlers; assert logging.getLogger().level == logging.WARNING"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
