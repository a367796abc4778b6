from __future__ import annotations

from tests.faults.fixtures import house, tallied

__all__ = ["house", "tallied"]
