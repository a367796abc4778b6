from pathlib import Path

from wordllama.inference import WordLlamaInference

class WordLlama:
    @classmethod
    def load(cls, *, cache_dir: Path, disable_download: bool) -> WordLlamaInference: ...
