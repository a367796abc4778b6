"""Word lists are written as plain text, because that is how they are read and extended."""

from __future__ import annotations


def listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


def in_order(text: str) -> list[str]:
    return text.split()
