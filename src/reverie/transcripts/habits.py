"""How a person types: who never writes a capital or a full stop pastes what has both.

It says nothing of people who write either, nor of scripts that have no capitals.
"""

from __future__ import annotations

from collections.abc import Iterable

ENOUGH = 4  # other lines from which a habit shows


def is_unlike(line: str, others: Iterable[str]) -> bool:
    """Whether a line is written like a page, among the others of somebody who writes like that in none of them."""
    if not (_first_letter(line).isupper() and _is_closed(line)):
        return False
    seen = 0
    for other in others:
        if not _first_letter(other).islower() or _is_closed(other):
            return False
        seen += 1
    return seen >= ENOUGH


def _first_letter(line: str) -> str:
    return next((sign for sign in line if sign.isalpha()), "")


def _is_closed(line: str) -> bool:
    return line.rstrip().endswith((".", "。"))
