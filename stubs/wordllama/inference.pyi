import numpy as np
from numpy.typing import NDArray

class WordLlamaInference:
    def embed(self, texts: list[str], norm: bool = False) -> NDArray[np.float32]: ...
