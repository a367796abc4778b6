"""Traces of what was erased: the keyed hashes that keep it from coming back, and what rested on its sessions.

From a hash nothing can be read. A session is known by its id and by its words, so that a copy under another name is
known too; a text by its words, as many as it has. Whoever has the key can check a guess, and no more; the key stands
beside the hashes, since every node that imports needs it.

Candidates, proposals, Changes and dreams hold quotations in JSON. A matter whose every supporting quotation is from
sessions that go rests on nothing any more: its words go. One that other sessions support as well keeps its words and
loses the quotations.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

from reverie.core.ids import values_of
from reverie.erasure.words import Phrase, Scrubber, phrase, words
from reverie.transcripts.session import Head, Turn

SESSION, CONTENT, TEXT, PERSON, WORKSPACE = "session", "content", "text", "person", "workspace"
SHORTEST_CONTENT = 200  # characters: two people may both have said no more than “hello”
Told = dict[str, Any]
GONE = "erased"


class ErasedBefore(Exception):
    """The import was erased before, and stays out."""


@dataclass(frozen=True, slots=True)
class Tombstone:
    kind: str
    hash: str
    words: int = 0


@dataclass(frozen=True, slots=True)
class Tombstones:
    """`known` has for each kind the hashes, with how many words a text has."""

    key: bytes
    known: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return any(self.known.values())

    def hashed(self, kind: str, text: str) -> str:
        return self._begun(kind, text).hexdigest()

    def _begun(self, kind: str, text: str = "") -> blake2b:
        return blake2b(f"{kind}\0{text}".encode("utf-8", "surrogatepass"), key=self.key, digest_size=32)

    def of_session(self, user: str, session: str) -> Tombstone:
        return Tombstone(SESSION, self.hashed(SESSION, f"{user}\0{session}"))

    def of_content(self, turns: Iterable[Turn]) -> Tombstone | None:
        running, length = self._begun(CONTENT), 0
        for turn in turns:
            running.update(_written(turn))
            length += len(turn.said.whole)
        return Tombstone(CONTENT, running.hexdigest()) if length >= SHORTEST_CONTENT else None

    def of_text(self, wanted: Phrase) -> Tombstone:
        return Tombstone(TEXT, self.hashed(TEXT, " ".join(wanted)), len(wanted))

    def of_person(self, user: str) -> Tombstone:
        return Tombstone(PERSON, self.hashed(PERSON, user))

    def of_workspace(self, workspace: str) -> Tombstone:
        return Tombstone(WORKSPACE, self.hashed(WORKSPACE, workspace))

    def has(self, one: Tombstone | None) -> bool:
        return one is not None and one.hash in self.known.get(one.kind, {})

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where a text stands that was erased."""
        texts = self.known.get(TEXT, {})
        if not texts:
            return []
        standing, found = words(text), []
        for count in sorted(set(texts.values())):
            for at in range(len(standing) - count + 1):
                here = standing[at : at + count]
                if self.hashed(TEXT, " ".join(word.text for word in here)) in texts:
                    found.append((here[0].start, here[-1].end))
        return found

    @property
    def scrubber(self) -> Scrubber:
        return Scrubber(more=self.spans) if self.known.get(TEXT) else Scrubber()

    def refuse(self, user: str, session: str) -> None:
        if self.has(self.of_session(user, session)):
            raise ErasedBefore

    def screened(self, turns: Iterable[Turn]) -> Iterator[Turn]:
        """The turns without texts that were erased. Raises `ErasedBefore` where they are a session that was."""
        contents, running = self.known.get(CONTENT, {}), self._begun(CONTENT)
        scrub = self.scrubber
        for turn in turns:
            if contents:
                running.update(_written(turn))
                if running.hexdigest() in contents:
                    raise ErasedBefore
            if not scrub:
                yield turn
                continue
            said = turn.said
            calls = tuple(replace(call, arguments=scrub.value(call.arguments)) for call in said.calls)
            named = said.name and scrub.clean(said.name)
            yield replace(turn, said=replace(said, text=scrub.value(said.text), name=named, calls=calls))

    def head(self, head: Head) -> Head:
        scrub = self.scrubber
        if not scrub:
            return head
        facts = {name: scrub.value(text) for name, text in head.facts.items()}
        named = values_of(head, ("title", "agent", "project", "project_path"))
        cleaned: dict[str, Any] = {name: text and scrub.clean(text) for name, text in named.items()}
        return replace(head, facts=facts, **cleaned)

    def to_json(self, workspace: str) -> dict[str, Any]:
        return {
            "workspace": workspace,
            "key": self.key.hex(),
            "known": {kind: dict(one) for kind, one in self.known.items()},
        }

    @staticmethod
    def from_json(told: Mapping[str, Any]) -> Tombstones:
        known = {
            str(kind): {str(name): int(count) for name, count in one.items()} for kind, one in told["known"].items()
        }
        return Tombstones(bytes.fromhex(told["key"]), known)


def _written(turn: Turn) -> bytes:
    at = turn.at.isoformat() if turn.at else None
    return json.dumps([turn.role, at, turn.said.whole]).encode()


def rests_on(item: Mapping[str, Any], sessions: Collection[str]) -> bool:
    return any(one["session"] in sessions for one in item.get("evidence", ()))


def orphaned(item: Mapping[str, Any], sessions: Collection[str]) -> bool:
    """Whether nothing supports it any more."""
    evidence = item.get("evidence", ())
    support = [one for one in evidence if one.get("weight") == "support"] or evidence
    return bool(support) and all(one["session"] in sessions for one in support)


def evidence_left(item: Mapping[str, Any], sessions: Collection[str]) -> list[Told]:
    return [one for one in item.get("evidence", ()) if one["session"] not in sessions]


def quotes(item: Mapping[str, Any], sessions: Collection[str]) -> Iterator[str]:
    return (one["quote"] for one in item.get("evidence", ()) if one["session"] in sessions)


def remembered_texts(item: Mapping[str, Any]) -> Iterator[str]:
    """The texts a matter says should be remembered, wherever in it they stand."""
    if isinstance(item.get("text"), str):
        yield item["text"]
    yield from (one["text"] for one in item.get("operations", ()) if one.get("text"))
    amendment = item.get("amendment")
    if isinstance(amendment, dict):
        # Every statement inside: its lines, without the marks of a list.
        every = (line.strip() for text in strings_in(amendment) for line in text.splitlines())
        yield from (line.lstrip("-*+0123456789.) ") for line in every if " " in line)


def strings_in(value: Any, *, keys: bool = False) -> Iterator[str]:
    """All texts of a JSON value, with the names of its members if asked."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value if keys else ()
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings_in(one, keys=keys)


def change_without(told: Told, sessions: Collection[str]) -> Told:
    if orphaned(told, sessions):
        return told | {"operations": [], "evidence": [], "reason": GONE, "because": None, "note": ""}
    return told | {"evidence": evidence_left(told, sessions)}


def judged_without(told: Told, sessions: Collection[str]) -> Told:
    if not rests_on(told, sessions):
        return told
    if not orphaned(told, sessions):
        return told | {"evidence": evidence_left(told, sessions), "checks": []}
    return judged_emptied(told)


def judged_emptied(told: Told) -> Told:
    """Its verb, its fate, its Change and how much it was worth stay."""
    score = told["score"] and told["score"] | {"parts": [part | {"why": GONE} for part in told["score"]["parts"]]}
    words = {"text": "", "old": "", "document": "", "reason": GONE, "why": GONE, "evidence": [], "checks": []}
    return told | words | {"score": score}


def unsaid_elsewhere(texts: Iterable[str], elsewhere: Iterable[str]) -> list[str]:
    """Of the texts, those that nothing that stays says too; and none so short that it stands anywhere by chance."""
    others = [" ".join(phrase(text)) for text in elsewhere]
    found = {text: " ".join(phrase(text)) for text in dict.fromkeys(texts)}
    return [text for text, flat in found.items() if len(flat) >= 12 and not any(flat in other for other in others)]
