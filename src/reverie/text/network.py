"""The one door to onnxruntime: the networks that ship inside the package, loaded at the first call.

They share one table of words, which turns each piece of a word into a vector.
One text at a time: the 8-bit figures of a text are scaled by its largest, and what stands beside it must not matter.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

MOST_TOKENS = 320
_LOG = logging.getLogger("reverie.text")


@dataclass(frozen=True, slots=True)
class Network:
    session: InferenceSession
    tokens: Tokenizer
    vectors: NDArray[np.int8]
    scales: NDArray[np.float32]

    def ids(self, text: str) -> list[int]:
        """The tokens of a text, without those that begin and end it."""
        return self.tokens.encode(text).ids[1:-1]

    def run(self, ids: Sequence[int], *outputs: str, **inputs: Sequence[int]) -> list[NDArray[np.float32]]:
        """What the network gives for these tokens; `inputs` are what else it reads of each token."""
        import numpy as np

        coded = {name: np.array([row], dtype=np.int64) for name, row in inputs.items()}
        coded["attention_mask"] = np.ones((1, len(ids)), dtype=np.int64)
        words = self.vectors[ids] * self.scales[ids][:, None]
        return [one[0] for one in self.session.run(list(outputs), {"words": words[None], **coded})]


@cache
def network(file: str, most_tokens: int = MOST_TOKENS) -> Network | str:
    """The network of that file; a sentence that says why where it cannot be loaded. Of a text with more tokens than
    these it reads the beginning."""
    folder = resources.files("reverie.text.weights")
    try:
        from onnxruntime import InferenceSession, SessionOptions
        from tokenizers import Tokenizer

        options = SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1  # the same figures on every machine
        options.log_severity_level = 3
        session = InferenceSession(str(folder / file), options, ["CPUExecutionProvider"])
        tokens = Tokenizer.from_file(str(folder / "tokenizer.json"))
        vectors, scales = _words()
    except Exception as error:  # noqa: BLE001 - both libraries raise classes of their own, straight from Exception
        _LOG.warning("%s could not be loaded: %s", file, error)
        return f"{type(error).__name__}: {error}"
    tokens.no_padding()
    tokens.enable_truncation(most_tokens)
    return Network(session, tokens, vectors, scales)


@cache
def _words() -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """The vector of each piece of a word, in eight bits, and what each is multiplied with."""
    import numpy as np

    with np.load(str(resources.files("reverie.text.weights") / "words.npz")) as stored:
        return stored["vectors"], stored["scales"]


def chances(logits: NDArray[np.float32]) -> NDArray[np.float32]:
    """Numbers of any size as shares of one, along the last axis."""
    import numpy as np

    raised = np.exp(logits - logits.max(axis=-1, keepdims=True))
    shares: NDArray[np.float32] = raised / raised.sum(axis=-1, keepdims=True)
    return shares
