"""How much of what stands would change because of words about something else?

    python -m benchmarks.unrelated [--show] [--every N] [--from N]

For every entry that is to stay as it is, in the short cases and the nights of tests/golden, and every sentence a person
said there: a curator is sure that the sentence takes the entry's place, that the entry is over, and that the entry
reads on with the sentence's last words in the place of its own. `landed` counts what would land by itself. The cases
were looked at while the checks were written; these changes of theirs are made by this program.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from reverie.core.scope import Origin
from reverie.dreams.brief.brief import BriefDocument, BriefEntry
from reverie.dreams.brief.gather import BriefMaterial, Material, gather
from reverie.dreams.decide import Rules, decide
from reverie.dreams.items import Citation, Item, Op
from reverie.dreams.light.spans import Spans
from reverie.memory.operation import entry_hash
from reverie.transcripts.session import Head, Said, Session, Turn
from tests.golden.playing import NIGHTS, PLAYED, as_night, cases, owner_of, read

MOST = 400  # characters of a sentence
_PART = ((0, "--from"), (1, "--every"))
_ORIGINS = {"user": Origin.OWNER, "assistant": Origin.AGENT, "tool": Origin.TOOL}


def nights() -> Iterator[tuple[str, dict[str, Any], set[str]]]:
    """Each with the entries that are to stay."""
    for case in cases():
        yield case["id"], as_night(case), {*case["memory"], *case["user"]} - set(case["may_go"])
    for path in (*NIGHTS, *PLAYED):
        night = read(path)
        yield path.stem, night, set(night["expect"]["unchanged"])


def material_of(night: Mapping[str, Any]) -> Material:
    now, owner = datetime.fromisoformat(night["now"]), owner_of(night)
    sessions = tuple(_session(one, owner) for one in night["sessions"])
    since = min((one.head.started_at or now for one in sessions), default=now) - timedelta(days=30)
    entries = list[BriefEntry]()
    for document, name in (("MEMORY.md", "memory"), ("USER.md", "user")):
        for text in night[name]:
            entries.append(BriefEntry(f"e{len(entries) + 1}", document, text, since, True, sha256=entry_hash(text)))
    documents = (BriefDocument("MEMORY.md"), BriefDocument("USER.md"))
    return gather(BriefMaterial(now, owner, documents, tuple(entries), sessions), None)


def _session(told: Mapping[str, Any], owner: str) -> Session:
    began = datetime.fromisoformat(told["started_at"]) if told.get("started_at") else None
    turns = list[Turn]()
    for number, one in enumerate(told["messages"], 1):
        text = one["content"] if isinstance(one.get("content"), str) else ""
        origin = _ORIGINS.get(one["role"], Origin.TOOL)
        own = told["user"] == owner and one.get("name", owner) == owner
        origin = Origin.MEMBER if origin is Origin.OWNER and not own else origin
        turns.append(Turn(number, Said(one["role"] if one["role"] in _ORIGINS else "tool", text), origin))
    return Session(Head(told["id"], told["user"], started_at=began), tuple(turns))


def changes(material: Material, stays: set[str]) -> Iterator[Item]:
    spans = Spans()
    for short, session in material.sessions.items():
        for turn in session.turns if material.brief.session[short].turns else ():
            if turn.origin is not Origin.OWNER:
                continue
            for said in (one.text for one in spans.of(session, turn.number) if len(one.text) <= MOST):
                cited = (Citation(short, turn.number, said),)
                for entry in (one for one in material.brief.entries if one.text in stays):
                    of = (entry.id,)
                    yield Item(Op.REPLACE, said, cited, entry.document, replaces=of, sure=True)
                    yield Item(Op.REMOVE, "", cited, entry.document, replaces=of, sure=True)
                    mixed = " ".join([*entry.text.split()[:-2], *said.split()[-2:]])
                    yield Item(Op.REPLACE, mixed, cited, entry.document, replaces=of, sure=True)


def main() -> None:
    first, every = (int(sys.argv[sys.argv.index(one) + 1]) if one in sys.argv else place for place, one in _PART)
    tried, landed, reasons = Counter[str](), Counter[str](), Counter[str]()
    for name, night, stays in list(nights())[first::every]:
        material = material_of(night)
        rules = Rules(material.brief.now)
        for place, item in enumerate(changes(material, stays)):
            kind = ("replaced", "removed", "mixed")[place % 3]
            tried[kind] += 1
            (one,) = decide([item], (), material, rules)
            if one.severity is None:
                landed[kind] += 1
                if "--show" in sys.argv:
                    was = material.brief.entry[item.replaces[0]].text
                    print(f"{name}: {kind} {was!r} by {item.text!r} because of {item.evidence[0].words!r}", flush=True)
            elif len(found := {str(each.reason) for each in one.findings}) == 1:
                reasons[f"{kind} {found.pop()}"] += 1
    print(", ".join(f"{landed[kind]} of {number:,} {kind}" for kind, number in tried.items()))
    if "--show" in sys.argv:
        print("stopped by one reason alone:", dict(reasons.most_common(20)))


if __name__ == "__main__":
    main()
