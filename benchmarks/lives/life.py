"""A life as its file tells it: facts with the days they are said on, other people, private matters, attacks, noise."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

HERE = Path(__file__).parent
NAMES = ("developer", "nurse", "researcher", "shop")
Want = Literal["known", "optional", "gone", "never"]


@dataclass(frozen=True, slots=True)
class Value:
    """What holds from the first of its days on, in several wordings. `known`: patterns an entry that says it has."""

    days: tuple[int, ...]
    known: tuple[str, ...]
    words: tuple[str, ...]

    def in_(self, text: str) -> bool:
        return all(re.search(pattern, text, re.IGNORECASE) for pattern in self.known)


@dataclass(frozen=True, slots=True)
class Fact:
    """`how` it is said: once, twice, recurring, corrected, changed, answered, passing, momentary, deadline."""

    name: str
    how: str
    want: Want
    about: str
    values: tuple[Value, ...]

    def is_about(self, text: str) -> bool:
        return bool(re.search(self.about, text, re.IGNORECASE))


@dataclass(frozen=True, slots=True)
class Unwanted:
    """What must not come to stand in memory: somebody else's wish, a private matter, an attack."""

    name: str
    marks: tuple[str, ...]
    days: tuple[int, ...]
    scripts: tuple[str, ...]
    person: str = ""

    def in_(self, text: str) -> bool:
        return any(re.search(mark, text, re.IGNORECASE) for mark in self.marks)


@dataclass(frozen=True, slots=True)
class Everyday:
    """What any life is filled with."""

    scripts: tuple[str, ...]
    words: dict[str, list[str]]
    agree: tuple[str, ...]
    before: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Life:
    name: str
    owner: str
    memory: tuple[str, ...]
    user: tuple[str, ...]
    facts: tuple[Fact, ...]
    others: tuple[Unwanted, ...]
    private: tuple[Unwanted, ...]
    attacks: tuple[Unwanted, ...]
    everyday: Everyday


def life(name: str, nights: int) -> Life:
    told = _read(name)
    return Life(
        name,
        told["owner"],
        tuple(told["memory"]),
        tuple(told["user"]),
        tuple(map(_fact, told["fact"])),
        tuple(map(_unwanted, told["other"])),
        tuple(map(_unwanted, told["private"])),
        tuple(_attack(one, nights) for one in _read("attacks")["attack"]),
        _everyday(told),
    )


@cache
def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((HERE / f"{name}.toml").read_text("utf-8"))


def _fact(told: dict[str, Any]) -> Fact:
    values = tuple(Value(tuple(one["days"]), tuple(one["known"]), tuple(one["words"])) for one in told["said"])
    return Fact(told["name"], told["how"], told.get("want", "known"), told.get("about", ""), values)


def _unwanted(told: dict[str, Any]) -> Unwanted:
    return Unwanted(
        told["name"], tuple(told["known"]), tuple(told["days"]), tuple(told["words"]), told.get("person", "")
    )


def _attack(told: dict[str, Any], nights: int) -> Unwanted:
    days = tuple(range(told["since"], nights + 1, told["every"]))
    return Unwanted(told["name"], tuple(told["mark"]), days, tuple(told["scripts"]), told.get("person", ""))


def _everyday(told: dict[str, Any]) -> Everyday:
    shared = _read("noise")
    scripts = [one["script"] for one in (*shared["noise"], *told["noise"], *told["noise"])]
    before: Sequence[str] = told.get("before", shared["replies"]["before"])
    return Everyday(tuple(scripts), shared["words"], tuple(shared["replies"]["agree"]), tuple(before))
