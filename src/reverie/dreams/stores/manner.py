"""A new wording in the manner of the line it takes the place of: its label, its line breaks, its full stop or none."""

from __future__ import annotations

import re
from itertools import takewhile

from reverie.deep.composing import by_shape
from reverie.deep.shapes import ZONE
from reverie.dreams.stores.pages import LABELLED, Stated

_SIDE_BY_SIDE = re.compile(r"\b\d[\d.]*\s+\d+\b")
_STOPS = (".", "!", "?", "。", "！", "？")


def hangs(text: str, said: str) -> bool:
    """Of a value of two words one was replaced: "MySQL 5" became "Postgres 16 5", which nobody said."""
    return any(figures not in said for figures in _SIDE_BY_SIDE.findall(text))


def in_its_manner(old: Stated, new: str) -> str | None:
    """How the entry should read; None where that cannot be told, because it hangs below something else."""
    labelled, above = LABELLED.fullmatch(old.text), f"{old.under}: " if old.under else ""
    told = new.casefold().startswith(above.casefold())
    new = new[len(above) :] if told else new
    if labelled:
        new = _under_its_label(labelled, new)
        told = told or new.startswith(labelled["label"])
    if not told:
        return None
    if not old.text.rstrip("*_` ").endswith(_STOPS):
        new = new.removesuffix(".").removesuffix("。")
    return _wrapped(old, new)


def _under_its_label(old: re.Match[str], text: str) -> str:
    """ "Port: 5432" stays a port with a number."""
    label, bare = old["label"], re.escape(old["label"].strip("*_` "))
    if text.casefold().startswith(label.casefold()):
        rest = re.sub(rf" for (?:the )?{bare}(?=\.?$)", "", text[len(label) :], flags=re.IGNORECASE)
        return label + rest
    if shaped := by_shape(old[0], text):
        return shaped
    zones = ZONE.findall(old["value"]), ZONE.findall(text)
    if len(zones[0]) == len(zones[1]) == 1:
        return old[0].replace(zones[0][0], zones[1][0])
    said = re.search(rf"\b{bare}(?: is| are|:)(?: now)? (?P<value>[^,.;]+)", text, re.IGNORECASE)
    return f"{label}: {said['value']}" if said else text


def _wrapped(old: Stated, new: str) -> str:
    """The lines break where they broke, but for what is exchanged."""
    if old.raw == old.text:
        return new
    places = _places(old.raw)
    front = _shared(old.text, new)
    back = _shared(old.text[front:][::-1], new[front:][::-1])
    places.append(len(old.raw))
    return old.raw[: places[front]] + new[front : len(new) - back] + old.raw[places[len(old.text) - back] :]


def _shared(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    return sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(one, other, strict=False)))


def _places(raw: str) -> list[int]:
    """For each character of the text on one line, where it stands in the entry."""
    places: list[int] = []
    for place, char in enumerate(raw):
        if not char.isspace() or (places and not raw[place - 1].isspace()):
            places.append(place)
    return places
