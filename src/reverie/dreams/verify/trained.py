"""What two checks learned from examples, of any language: whether an entry decides where things go or what may be done
unasked, and whether words are somebody else's. `training/checks.py` holds how, its README the data and the figures.

Where the network cannot be loaded, nobody can tell, and everything is asked about.
"""

from __future__ import annotations

from functools import lru_cache
from math import exp

from reverie.text.network import chances, network

POLICIES = ("none", "recipient", "payment", "source", "permission")


def policy(text: str) -> tuple[str, float]:
    """The likeliest thing that an entry with this text would decide, and how likely it decides anything."""
    none, *decides = read(text)[0]
    return POLICIES[1 + decides.index(max(decides))], 1 - none


def foreign(text: str) -> float:
    """How likely a person who sends this only brings along what somebody else wrote or said."""
    return read(text)[1]


@lru_cache(maxsize=4_096)
def read(text: str) -> tuple[list[float], float]:
    """The chance of each policy, and that the words are somebody else's."""
    loaded = network("checks.onnx")
    if isinstance(loaded, str):
        return [0.0, 0.0, 0.0, 0.0, 1.0], 1.0
    decided, others = loaded.run(loaded.tokens.encode(text).ids, "policy", "foreign")
    return chances(decided).tolist(), 1 / (1 + exp(-max(-30.0, min(30.0, float(others)))))
