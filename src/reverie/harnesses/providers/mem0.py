"""Mem0, by its open-source library: `mem0=/path/to/mem0.json`, which says

    {"python": "/path/to/venv/bin/python", "config": {…}}

`config` is what `mem0.Memory.from_config` takes: where vectors are kept and who embeds. Its telemetry is switched off.
Texts are kept as they are (`infer=False`): no model rewrites them. (Seen in mem0ai 2.2.1.)
"""

from __future__ import annotations

from reverie.harnesses.providers.process import ProcessProvider, started_as
from reverie.memory.targets import HomePlaces


def mem0_provider(address: str, where: HomePlaces, owner: str) -> ProcessProvider:
    return started_as("Mem0", "mem0_process.py", address, where, owner)
