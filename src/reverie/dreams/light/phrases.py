"""Turns of phrase read in every language at once, compiled when first needed (`phrases.toml`)."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources


@cache
def words(name: str) -> str:
    """All alternatives of one list, as part of an expression."""
    table = tomllib.loads(resources.files("reverie.dreams.light").joinpath("phrases.toml").read_text("utf-8"))
    return "|".join(line.strip() for line in str(table[name]).strip().splitlines())


@cache
def phrase(name: str) -> re.Pattern[str]:
    return re.compile(words(name))
