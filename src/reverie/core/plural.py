"""A number with its noun, as English writes it."""

from __future__ import annotations


def plural(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
