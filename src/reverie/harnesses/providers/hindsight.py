"""Hindsight, by its own client and a server that runs already: `hindsight=/path/to/hindsight.json`, which says

    {"python": "/path/to/venv/bin/python", "base_url": "http://127.0.0.1:8888", "bank_id": "ann", "api_key": "…"}

Its server rewrites what it is given into facts. `bank_id` is the owner's name if not said. (Seen in hindsight-client
1.1.0.)
"""

from __future__ import annotations

from reverie.harnesses.providers.process import ProcessProvider, started_as
from reverie.memory.targets import HomePlaces


def hindsight_provider(address: str, where: HomePlaces, owner: str) -> ProcessProvider:
    return started_as("Hindsight", "hindsight_process.py", address, where, owner)
