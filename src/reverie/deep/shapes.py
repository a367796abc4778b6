"""Values that have a shape of their own: addresses, paths, zones, hours, versions. One can stand in another's place."""

from __future__ import annotations

import re

ZONE = re.compile(r"\b(?:Africa|America|Asia|Atlantic|Australia|Europe|Indian|Pacific)/[A-Z][\w/+-]+")
SHAPES = {
    "url": re.compile(r"https?://[^\s,;)]+[\w/]"),
    "zone": ZONE,
    "path": re.compile(r"(?<![\w/:])~?/[\w.~-]+(?:/[\w.~-]+)*"),
    "host": re.compile(
        r"(?<![\w/@.])(?!\d+[.,]\d+\b)[A-Za-z][\w-]*(?:\.[\w-]+)+(?::\d+)?|\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?"
    ),
    "money": re.compile(
        r"[$€£] ?\d(?:[\d.,]*\d)?\b|\b\d[\d.,]*(?: ?[€£$%]"
        r"| (?:EUR|USD|GBP|CHF|SEK|PLN|euros?|dollars?|pounds?|percent|Prozent)\b)"
    ),
    "degrees": re.compile(r"(?<![\w.,])-?\d+(?:[.,]\d+)? ?°(?: ?[CF]\b)?"),
    "clock": re.compile(r"\b\d{1,2}:\d\d\b(?: ?[ap]m\b)?|\b\d{1,2} ?[ap]m\b|\b\d{1,2}(?:[.:]\d\d)? Uhr\b"),
    "ordinal": re.compile(r"\b\d{1,2}(?:st|nd|rd|th)\b"),
    "weekday": re.compile(
        r"\b(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch)"
        r"(?:abend|morgen|mittag|vormittag|nachmittag|nacht)?|lunes"
        r"|martes|miércoles"
        r"|jueves|viernes|sábado|domingo|(?:lun|mar|mercre|jeu|vendre|same)di|dimanche|(?:lune|marte|mercole|giove"
        r"|vener)dì"
        r"|sabato|domenica|(?:segunda|terça|quarta|quinta|sexta)-feira|(?:maan|dins|woens|donder|vrij|zater"
        r"|zon)dag(?:avond|ochtend|morgen|middag|nacht)?)s?\b",
        re.IGNORECASE,
    ),
    "code": re.compile(r"\b[A-Z]{1,4}-?\d{1,3}\b"),  # a class, a room, a bay
    "version": re.compile(r"\bv?\d+\.\d+(?:\.\d+)*\b"),
}  # fmt: skip


_KEYED = re.compile(r"\b(?P<key>[^\W\d_]{3,}) (?:is |= ?|: ?|no\.? |number )?(?P<value>\d[\d.,:]*\d|\d)\b")
_COUNTED = (  # the numbers people write in letters
    r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|ein(?:e[nr]?)?|zwei"
    r"|drei|vier|fünf"
    r"|sechs|sieben|acht|neun|zehn|elf|zwölf|un[eoa]?|deux|trois|quatre|cinq|sept|huit|neuf|dix|douze|quinze"
    r"|dos|tres|cuatro"
    r"|cinco|seis|siete|ocho|nueve|diez|doce|due|tre|quattro|cinque|sei|sette|otto|nove|dieci|dodici|dois|duas"
    r"|três|quatro"
    r"|sete|oito|dez|doze|een|twee|drie|vijf|zes|zeven|negen|tien|twaalf|två|tre|fyra|fem|dwa|trzy|cztery|pięć"
)
_UNIT = re.compile(rf"\b(?P<value>\d[\d.,]*\d|\d|(?:{_COUNTED})(?= )) ?(?P<key>[^\W\d_]{{2,14}})\b", re.IGNORECASE)
_PLURAL = re.compile(r"(?:es|s|en|n|e|i)$")
_NO_UNIT = re.compile(r"a|am|an|and|at|by|for|from|in|is|of|on|or|pm|st|nd|rd|th|the|to|uhr|und|et|y|e|en|de|der|die")
_NAMED = re.compile(r"(?<=[\w,:] )[A-ZÀ-ÞŁŚŻŞİ][\w'’-]+")
_WITH_PORT = re.compile(r":(\d{2,5})$")


def keyed(text: str) -> dict[str, list[tuple[int, int]]]:
    """Numbers by the word right before them ("port 5433") or by their unit ("300 dpi"), with where they stand."""
    found: dict[str, list[tuple[int, int]]] = {}
    for one in _KEYED.finditer(text):
        found.setdefault(one["key"].lower(), []).append(one.span("value"))
    taken = {place for places in found.values() for place in places}
    for one in _UNIT.finditer(text):
        if not _NO_UNIT.fullmatch(one["key"].lower()) and one.span("value") not in taken:
            found.setdefault(f"… {_PLURAL.sub('', one['key'].lower())}", []).append(one.span("value"))
    return found


def with_ports_apart(text: str) -> str:
    """ "db2.internal:6432" as "db2.internal, port 6432", for an entry that has the two apart."""
    return SHAPES["host"].sub(lambda host: _WITH_PORT.sub(r", port \1", host[0]), text)


def values(text: str) -> list[str]:
    """What a text says that could be otherwise: values of a shape, and names but for the first word."""
    return [found[0] for shape in (*SHAPES.values(), _NAMED) for found in shape.finditer(text)]


def other_value(old: str, new: str) -> tuple[str, str] | None:
    """The value of one shape that both texts have just once, and differently."""
    for name, shape in SHAPES.items():
        plural = "s" if name == "weekday" else ""  # "on Saturday" is "on Saturdays"
        before, after = (
            {one[0].casefold().rstrip(plural or " "): one[0] for one in shape.finditer(text)} for text in (old, new)
        )
        if len(before) == len(after) == 1 and before.keys() != after.keys():
            return next(iter(before.values())), next(iter(after.values()))
    return _other_number(old, new)


def _other_number(old: str, new: str) -> tuple[str, str] | None:
    """ "10 lessons" and "twelve lessons"."""
    mine, theirs = keyed(old), keyed(new)
    for key in (key for key in mine if len(mine[key]) == len(theirs.get(key, ())) == 1):
        before, after = old[slice(*mine[key][0])], new[slice(*theirs[key][0])]
        if before.casefold() != after.casefold():
            return before, after
    return None
