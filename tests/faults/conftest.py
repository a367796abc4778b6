from __future__ import annotations

from tests.faults.fixtures import hermes, house, tallied

__all__ = ["hermes", "house", "tallied"]
