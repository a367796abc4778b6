"""The small words Deep reads by, compiled when first needed (`words.toml`)."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from reverie.language.function_words import FUNCTION_WORDS
from reverie.light.tongues import small_words_of


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads((files("reverie.deep") / "words.toml").read_text("utf-8"))


@cache
def third_persons(language: str) -> dict[str, str]:
    """A verb in the first person -> in the third, for verbs people say of themselves."""
    pairs = _table()["voice"].get(language, "").split()
    return {pair.partition("=")[0]: pair.partition("=")[2] for pair in pairs}


@cache
def pattern(name: str) -> re.Pattern[str]:
    """All alternatives of one list, over lower-cased words."""
    lines = (line.strip() for line in _table()[name].strip().splitlines())
    return re.compile("|".join(line for line in lines if line))


@cache
def directed(language: str) -> re.Pattern[str] | None:
    """What shows, in a language, that words are addressed to the agent or are a rule of the house."""
    found = _table()["directed"].get(language)
    return re.compile(found) if found else None


@cache
def patterns(name: str) -> tuple[re.Pattern[str], ...]:
    """The lines of one list, each by itself."""
    return tuple(re.compile(line.strip()) for line in _table()[name].strip().splitlines())


def without(name: str, text: str) -> str:
    """The text without every place one of these words stands, whatever their case."""
    for found in reversed(list(pattern(name).finditer(plain(text)))):
        text = text[: found.start()] + text[found.end() :]
    return text


@cache
def lead_in() -> re.Pattern[str]:
    """What may stand before the point of a sentence, as often as it does."""
    paused, bare = (_alternatives(name) for name in ("lead", "lead_bare"))
    return re.compile(
        rf"^(?:\W*(?:(?:{paused})\s*[,:;.!–—、，：]+\s*|(?:{bare})(?:[\s,:]+|(?<=[\u3040-\u9fff])[、，：]?)))+",
        re.IGNORECASE,
    )


def _alternatives(name: str) -> str:
    return "|".join(line.strip() for line in _table()[name].strip().splitlines())


@cache
def order_words() -> frozenset[str]:
    return frozenset(_table()["order"].split())


@cache
def long_forms() -> dict[str, str]:
    """What people say for short -> what it is short for."""
    pairs = (pair.partition("=") for pair in _table()["short"].split())
    return {short: whole for short, _, whole in pairs}


@cache
def small_words(language: str = "en") -> frozenset[str]:
    """Function words of a language, and the words of orders and tastes: none says what a sentence is about."""
    more = frozenset(_table()["small"].get(language, "").split())
    return order_words() | more | (FUNCTION_WORDS.get(language) or small_words_of(language) or FUNCTION_WORDS["en"])


def plain(text: str) -> str:
    return text.replace("İ", "i").lower().replace("’", "'")
