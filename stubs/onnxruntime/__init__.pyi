from collections.abc import Sequence
from typing import Any

class SessionOptions:
    intra_op_num_threads: int
    inter_op_num_threads: int
    log_severity_level: int

class InferenceSession:
    def __init__(self, path: str, options: SessionOptions, providers: Sequence[str]) -> None: ...
    def run(self, outputs: Sequence[str] | None, inputs: dict[str, Any]) -> list[Any]: ...
