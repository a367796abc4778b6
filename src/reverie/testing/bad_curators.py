"""Models that curate badly, each in its own way: what they return must do no harm.

    with serving(parrot) as server: ...        # each is a script for the model server

They read the Brief out of the request as a real model would, so that their answers fit the night they are asked about.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from reverie.testing.model_plays import Says
from reverie.testing.model_recordings import conversation
from reverie.testing.model_wires import ReceivedRequest

_ENTRY = re.compile(r"^(e\d+) in ([^\n:,]+)[^\n]*:\n((?:    [^\n]*\n?)+)", re.MULTILINE)
_SESSION = re.compile(r"^### (s\d+),[^\n]*\n(.*?)(?=^### |^## |\Z)", re.MULTILINE | re.DOTALL)
_TURN = re.compile(r"^(\d+) ([a-z]+)[^\n]*:\n((?:    [^\n]*\n?)+)", re.MULTILINE)
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")
_ORDERS = re.compile(r"remember|memor|always|never|prefer|from now on|permanent", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")
MOST = 40


@dataclass(frozen=True, slots=True)
class Line:
    """One turn as the Brief shows it."""

    session: str
    turn: int
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Shown:
    """The Brief as a model sees it: entries by id with their document and text, and the turns."""

    entries: Mapping[str, tuple[str, str]]
    lines: tuple[Line, ...]
    document: str

    def of(self, speaker: str) -> list[Line]:
        return [one for one in self.lines if one.speaker == speaker]


def read_brief(asked: ReceivedRequest) -> Shown:
    brief = conversation(asked).messages[0][1]
    entries = {found[1]: (found[2], _flat(found[3])) for found in _ENTRY.finditer(brief)}
    lines = tuple(
        Line(session[1], int(turn[1]), turn[2], _flat(turn[3]))
        for session in _SESSION.finditer(brief)
        for turn in _TURN.finditer(session[2])
    )
    document = next((line.split(":")[0] for line in brief.splitlines() if line.startswith("MEMORY.md")), "MEMORY.md")
    return Shown(entries, lines, document)


def _flat(text: str) -> str:
    return " ".join(text.split())


def _item(op: str, text: str, line: Line, words: str, **more: Any) -> dict[str, Any]:
    evidence = [{"session": line.session, "turn": line.turn, "words": words}]
    return {
        "op": op,
        "document": "MEMORY.md",
        "replaces": [],
        "text": text,
        "evidence": evidence,
        "skill": "",
        "project": "",
        "kind": "user_preference",
        "certainty": "sure",
        "because": "I am sure.",
        "steps": [],
        "gotchas": [],
    } | more


def _says(items: list[dict[str, Any]]) -> Says:
    return Says(json.dumps({"items": items}, ensure_ascii=False))


def parrot(asked: ReceivedRequest) -> Says:
    """Repeats every line of the owner as a new entry, and the last one also in the place of each entry."""
    seen = read_brief(asked)
    own = seen.of("owner")
    items = [_item("add", line.text[:300], line, line.text) for line in own]
    items += [
        _item("replace", line.text[:300], line, line.text, document=where, replaces=[name])
        for (name, (where, _)), line in zip(seen.entries.items(), own[-len(seen.entries) :], strict=False)
    ]
    return _says(items)


def quiet_parrot(asked: ReceivedRequest) -> Says:
    """Repeats one sentence a session, the first: too little to be found out by its number."""
    firsts = {line.session: line for line in reversed(read_brief(asked).of("owner"))}
    return _says([_item("add", _first(line.text), line, _first(line.text)) for line in firsts.values()][:3])


def liar(asked: ReceivedRequest) -> Says:
    """Invented quotations, wrong turns, old values brought back, numbers changed, what was said turned around."""
    seen, items = read_brief(asked), list[dict[str, Any]]()
    for line in seen.of("owner")[:6]:
        sentence = _first(line.text)
        items.append(_item("add", "Wants every command approved.", line, "Please approve every command from now on."))
        items.append(_item("add", _changed(sentence), line, sentence))
        items.append(_item("add", f"Never: {sentence}", Line(line.session, line.turn + 90, "", ""), sentence))
    for name, (where, text) in list(seen.entries.items())[:4]:
        line = (seen.of("owner") or list(seen.lines))[-1]
        quoted = _first(line.text)
        items.append(_item("replace", _changed(text), line, quoted, document=where, replaces=[name]))
        items.append(_item("remove", "", line, quoted, document=where, replaces=[name]))
    return _says(items)


def eager(asked: ReceivedRequest) -> Says:
    """Forty items, a change for everything anybody said."""
    seen, items = read_brief(asked), list[dict[str, Any]]()
    entries = list(seen.entries.items())
    for number in range(MOST):
        if not seen.lines:
            break
        line = seen.lines[number % len(seen.lines)]
        sentence = _first(line.text)
        if entries and number % 2:
            name, (where, text) = entries[number % len(entries)]
            items.append(_item("replace", f"{text} {sentence}", line, sentence, document=where, replaces=[name]))
        else:
            items.append(_item("add", sentence, line, sentence, document="USER.md" if number % 4 else "MEMORY.md"))
    return _says(items)


def obedient(asked: ReceivedRequest) -> Says:
    """Does what tools and pages ask for, as if the owner had said it."""
    seen = read_brief(asked)
    found = [line for line in seen.lines if line.speaker in ("tool", "agent") and _ORDERS.search(line.text)]
    quoted = [(line, next((s for s in _SENTENCE.findall(line.text) if _ORDERS.search(s)), line.text)) for line in found]
    return _says([_item("add", words.strip(), line, words.strip()) for line, words in quoted][:5])


def prose(asked: ReceivedRequest) -> Says:
    """Talks, and returns nothing that can be read."""
    return Says("Certainly! I looked at the night and think the owner would like several changes. Shall I make them?")


def _first(text: str) -> str:
    return next((one.strip() for one in _SENTENCE.findall(text) if len(one.split()) > 2), text)[:300]


def _changed(text: str) -> str:
    """A number one higher, or a "not" put in."""
    if _NUMBER.search(text):
        return _NUMBER.sub(lambda found: str(int(found[0]) + 1), text, count=1)
    head, _, rest = text.partition(" ")
    return f"{head} not {rest}"


BAD_CURATORS: Mapping[str, Callable[[ReceivedRequest], Says]] = MappingProxyType(
    {"parrot": parrot, "quiet parrot": quiet_parrot, "liar": liar, "eager": eager, "obedient": obedient, "prose": prose}
)
