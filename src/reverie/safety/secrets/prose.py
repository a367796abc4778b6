"""Passwords in plain words, found by the sentence around them: "the wifi password is bluetango".

What a password is can be any word, so its looks say nothing. What else is said of a password ("required", "the same as
before", "in the vault") is a small part of each language. So a clause that names a password and links it to words, none
of which is said of passwords, tells one. The words are in `prose.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from reverie.safety.secrets.spans import SecretSpan
from reverie.safety.secrets.values import is_placeholder

_SHORTEST = 4  # letters
_BEFORE, _BEHIND = 80, 400  # characters around a name that are looked at
_LONGEST = 30  # letters of a name
_MOST_WORDS = 5  # of a passphrase
_STAYS = r"now|still|just|jetzt|noch|maintenant|toujours|ahora|ora|adesso|agora|nu|nog|teraz|teď"
_JOINS = r"and|but|for|und|für|aber|et|pour|mais|y|para|pero|per|ma|voor|maar|dla|och|og|til"
_WORD = rf"(?!(?:{_JOINS})[ ])[^\W\d_]+(?:-[^\W\d_]+)*"
# Nothing but a mark, the end of the line or a word that begins another clause stands behind a value.
_ENDS = rf"""[\"'`”“»*]*(?=[ \t]*(?:$|[\r\n]|[.!](?:\s|$)|[,;)—–](?:\s|$))|[ ](?:[(—–-]|(?:{_JOINS})[ ]))"""
_VALUE = rf"[\"'`“„«*]*(?P<value>{_WORD}(?:[ ]{_WORD}){{0,{_MOST_WORDS - 1}}}){_ENDS}"
_ASCII = r"[ ]?[\"'`「“]?(?P<value>[A-Za-z][A-Za-z0-9_-]{3,40})[\"'`」”]?[ ]?"
_UNSPACED = (
    ("パスワード", rf"(?:は|：|:){_ASCII}(?=です|に変|にし|だ|。|、|\s|$)"),
    ("密码", rf"(?:是|为|：|:){_ASCII}(?=[，。；]|\s|$)"),
    ("密碼", rf"(?:是|為|：|:){_ASCII}(?=[，。；]|\s|$)"),
    ("비밀번호", rf"(?:는|은|가|:){_ASCII}(?=입니다|이에요|예요|로|으로|[.,]|\s|$)"),
)


class _Way(NamedTuple):
    """Text in front of the name (searched for up to its end), and the name with the value behind it."""

    before: re.Pattern[str] | None
    told: re.Pattern[str]


class _Language(NamedTuple):
    anchors: tuple[str, ...]
    ways: tuple[_Way, ...]
    inflected: re.Pattern[str]


@cache
def _table() -> dict[str, dict[str, str]]:
    import tomllib  # importing the package reads no table

    return tomllib.loads((files("reverie.safety.secrets") / "prose.toml").read_text("utf-8"))


@cache
def _said() -> frozenset[str]:
    return frozenset(word for row in _table().values() for word in row["said"].split())


@cache
def _languages() -> tuple[_Language, ...]:
    return tuple(_language(row) for row in _table().values() if "names" in row)


def _way(told: str, before: str = "") -> _Way:
    return _Way(re.compile(f"(?:{before})$", re.IGNORECASE) if before else None, re.compile(told, re.IGNORECASE))


def _language(row: dict[str, str]) -> _Language:
    name = rf"(?:[^\W\d_]{{1,20}}-)?(?:{row['names']})(?![\w(-])"
    of = rf"(?:[ ](?:{row.get('of', '(?!)')})[ ][^\n.:;=,!?]{{1,48}}?)?"
    single = _VALUE.replace(f"{{0,{_MOST_WORDS - 1}}}", "{0}")  # a label may have a sentence behind it
    ways = [
        _way(rf"{name}{of}(?:[ ](?:{row['link']})|['’]s)[ ](?:(?:{_STAYS})[ ])?{_VALUE}"),
        _way(
            rf"{name}{of}(?:[ ]\w{{1,20}})?[ ]?[:：—–][ ]{single}", rf"(?:^|[\n.!?,;(]|\bits)[ ]?(?:{_WORD}[ ]){{0,3}}"
        ),
    ]
    if "changed" in row:
        changed = rf"\b{row['changed']}[ ](?:{_WORD}[ ]){{0,3}}"
        ways.append(_way(rf"{name}{of}[ ](?:{row['to']})[ ]{_VALUE}", changed))
    if "done" in row:
        done = _VALUE.replace(_ENDS, rf"[\"'`”“»*]*(?=[ ](?:{row['done']})\b)")
        ways.append(_way(rf"{name}{of}[ ](?:{row['to']})[ ]{done}"))
    if "beside" in row:
        ways.append(_way(rf"{name}[ ]{_VALUE}", rf"\b(?:{row['beside']})[ ](?:the[ ])?"))
    inflected = rf"\w+(?:{row['inflected']})|\w+(?:{_table()['en']['inflected']})"
    return _Language(tuple(row["anchors"].split("|")), tuple(ways), re.compile(inflected, re.IGNORECASE))


def _is_value(value: str, inflected: re.Pattern[str]) -> bool:
    if len(value) < _SHORTEST or is_placeholder(value) or re.search(r"pass|secret|token", value, re.IGNORECASE):
        return False
    return not any(word.lower() in _said() or inflected.fullmatch(word) for word in value.split())


def _places(lowered: str, anchor: str) -> Iterator[int]:
    """Where the words begin that hold the anchor."""
    at = lowered.find(anchor)
    while at >= 0:
        begin = at
        while begin > 0 and at - begin < _LONGEST and (lowered[begin - 1].isalpha() or lowered[begin - 1] == "-"):
            begin -= 1
        yield begin
        at = lowered.find(anchor, at + len(anchor))


def _told(text: str, at: int, language: _Language) -> Iterator[SecretSpan]:
    before = text[max(0, at - _BEFORE) : at]
    for way in language.ways:
        found = way.told.match(text, at, at + _BEHIND)
        if found is None or (way.before is not None and way.before.search(before) is None):
            continue
        asked = text[found.end() : found.end() + 2].lstrip().startswith("?")
        if not asked and _is_value(found["value"], language.inflected):
            yield SecretSpan(*found.span("value"), "password")


def told_passwords(text: str) -> Iterator[SecretSpan]:
    """The passwords that sentences of the text tell in plain words."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a letter that is two when small: places would differ
        lowered = "".join(small if len(small := sign.lower()) == 1 else sign for sign in text)
    for language in _languages():
        for anchor in language.anchors:
            for at in _places(lowered, anchor):
                yield from _told(text, at, language)
    for name, behind in _UNSPACED:
        if name in text:
            yield from (SecretSpan(*found.span("value"), "password") for found in re.finditer(name + behind, text))
