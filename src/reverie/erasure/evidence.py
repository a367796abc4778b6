"""What rests on sessions that are to go, in the JSON of candidates, proposals, Changes and dreams.

A matter whose every supporting quotation is from those sessions rests on nothing any more: its words go. One that other
sessions support as well keeps its words and loses the quotations.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from reverie.erasure.words import phrase

Told = dict[str, Any]
GONE = "erased"


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
        yield from _texts(amendment)


def _texts(value: Any) -> Iterator[str]:
    """Every statement inside an amendment: its lines, without the marks of a list."""
    if isinstance(value, str):
        yield from (line.strip().lstrip("-*+0123456789.) ") for line in value.splitlines() if " " in line.strip())
    elif isinstance(value, dict):
        for one in value.values():
            yield from _texts(one)
    elif isinstance(value, list):
        for one in value:
            yield from _texts(one)


def change_without(told: Told, sessions: Collection[str]) -> Told:
    if orphaned(told, sessions):
        return told | {"operations": [], "evidence": [], "reason": GONE, "because": None, "note": ""}
    return told | {"evidence": evidence_left(told, sessions)}


def judged_without(told: Told, sessions: Collection[str]) -> Told:
    """Its verb, its fate, its Change and how much it was worth stay."""
    if not rests_on(told, sessions):
        return told
    if not orphaned(told, sessions):
        return told | {"evidence": evidence_left(told, sessions), "checks": []}
    parts = [part | {"why": GONE} for part in told["score"]["parts"]] if told["score"] else []
    words = {"text": "", "old": "", "document": "", "reason": GONE, "why": GONE, "evidence": [], "checks": []}
    return told | words | {"score": told["score"] and told["score"] | {"parts": parts}}


def unsaid_elsewhere(texts: Iterable[str], elsewhere: Iterable[str]) -> list[str]:
    """Of the texts, those that nothing that stays says too; and none so short that it stands anywhere by chance."""
    others = [" ".join(phrase(text)) for text in elsewhere]
    found = {text: " ".join(phrase(text)) for text in dict.fromkeys(texts)}
    return [text for text, flat in found.items() if len(flat) >= 12 and not any(flat in other for other in others)]
