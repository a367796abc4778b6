import numpy as np
from numpy.typing import NDArray

class Encoding:
    ids: list[int]
    attention_mask: list[int]

class Tokenizer:
    def encode_batch(self, texts: list[str], *, add_special_tokens: bool = True) -> list[Encoding]: ...

class WordLlamaInference:
    embedding: NDArray[np.float32]
    tokenizer: Tokenizer
