"""What nights look like to their readers: the Diary, told so that it can be read over breakfast, and a target's files.

The files are DREAMS.md to read, JSON and JSON Lines for tools. All derived: the database is true; these can be deleted
and are written again after the next night. They tell of the last sixty nights, so that a night costs the same after
years; `runs/` and `backups/` of earlier ones stay where they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from datetime import datetime
from typing import Any

from reverie.changes.ledger import Change, evidence_as_json
from reverie.changes.proposal import score_as_json
from reverie.core.clock import rfc3339
from reverie.core.ids import plural
from reverie.dreams.dream import Dream, Fate, Judged, Status
from reverie.dreams.light.candidate import Noted
from reverie.safety.scan import visible
from reverie.transcripts.session import OURS

_TITLES = {
    Fate.LANDED: "Changed",
    Fate.WAITING: "Waiting for you",
    Fate.STILL_WAITING: "Still waiting for your decision: {}",
    Fate.WITHHELD: "Withheld: nobody was asked",
    Fate.NOT_DONE: "Not done",
    Fate.HELD_BACK: "Held for another night",
    Fate.NOT_KEPT: "Not kept",
}
_VERBS = {
    "add": ("Added to", "Add to"),
    "replace": ("Replaced in", "Replace in"),
    "merge": ("Merged in", "Merge in"),
    "remove": ("Removed from", "Remove from"),
    "skill_new": ("New skill", "New skill"),
    "skill_amend": ("Skill", "Skill"),
}
_SHORT = (Fate.STILL_WAITING, Fate.HELD_BACK, Fate.NOT_KEPT, Fate.WITHHELD)
_MOST_SHOWN, _MOST_QUOTES, _LONGEST_QUOTE = 12, 3, 200


def diary(dream: Dream) -> str:
    """Markdown. A quiet night is one line with its reason; what was held or refused follows."""
    lines = [f"# {dream.started_at:%d %B %Y, %H:%M} UTC · {dream.target}", "", night_summary(dream), ""]
    lines += [f"{line}\n" for line in dream.reduced]
    for fate, title in _TITLES.items():
        lines += _section(title, dream.of(fate), short=fate in _SHORT)
    lines += _consulted(dream)
    if dream.flaws:
        lines += ["## Could not be read", "", *_shortened([f"- {visible(flaw)}" for flaw in dream.flaws]), ""]
    return "\n".join(lines).rstrip() + "\n"


def night_summary(dream: Dream) -> str:
    """The night in one line."""
    if not dream.sessions:
        return "A quiet night: there was nothing new to read."
    left = f" ({dream.left:,} more wait for another night)" if dream.left else ""
    read = f"read {plural(len(dream.sessions), 'session')}{left}, noticed {plural(dream.noticed, 'thing')}"
    held, refused = len(dream.of(Fate.HELD_BACK)), len(dream.of(Fate.NOT_KEPT))
    rest = f"{held:,} held, {refused:,} not kept"
    if dream.quiet:
        return f"A quiet night: {read}, and changed nothing ({rest})."
    done = f"{plural(len(dream.changes), 'change')} landed, {plural(len(dream.proposals), 'proposal')} waiting"
    return f"{read[:1].upper()}{read[1:]}: {done}, {rest}."


def _section(title: str, judged: Sequence[Judged], short: bool) -> Iterator[str]:
    if not judged:
        return
    yield from (f"## {title.format(len(judged))}", "")
    for one in judged[:_MOST_SHOWN]:
        yield from _in_short(one) if short else _in_full(one)
    if len(judged) > _MOST_SHOWN:
        yield f"- and {len(judged) - _MOST_SHOWN} more; `reverie explain last` tells of all"
    yield ""


def _in_short(one: Judged) -> Iterator[str]:
    words = f"“{_shown(one.text)}”" if one.text else f"Remove “{_shown(one.old)}”" if one.old else "Something private"
    old = f", in the place of “{_shown(one.old)}”" if one.old and one.text else ""
    yield f"- {words}{old}: {one.why or one.reason}"


def _in_full(one: Judged) -> Iterator[str]:
    score = f" · score {one.score.total:.2f}" if one.score else ""
    done, wanted = _VERBS.get(one.verb, ("Changed", "Change"))
    yield f"- **{done if one.fate is Fate.LANDED else wanted}** {one.document}{score}"
    if one.old:
        yield f"  - was: {_shown(one.old)}"
    if one.verb != "remove" and one.text:
        yield f"  - {'now' if one.old else 'new'}: {_shown(one.text)}"
    yield f"  - {' '.join(part for part in (one.reason, one.why) if part)}"
    for evidence in [each for each in one.evidence if each.weight == "support"][:_MOST_QUOTES]:
        yield f"  - {evidence.session_id}, turn {evidence.turn} ({evidence.origin}): “{_shown(evidence.quote)}”"


def _consulted(dream: Dream) -> Iterator[str]:
    """Say what models were asked, what it took, and what of their answers was not read."""
    if not (dream.consulted or dream.enough or dream.dropped):
        return
    yield from ("## The model", "")
    for one in dream.consulted:
        unanswered = f", {one.failed:,} without a usable answer" if one.failed else ""
        times = "once" if one.calls == 1 else f"{one.calls:,} times"
        cached = f" ({one.cached:,} cached)" if one.cached else ""
        cost = "at a price that is not known" if one.dollars is None else f"for ${one.dollars:.4f}"
        took = f"{one.tokens_in:,} tokens read{cached} and {one.tokens_out:,} written, {cost}"
        yield f"- {one.phase}: {', '.join(one.models)} was asked {times}{unanswered}; {took}"
    yield from _shortened([f"- {visible(why)}" for why in dream.dropped])
    if dream.enough:
        yield f"- The model was not asked any more: {visible(dream.enough)}"
    yield ""


def _shortened(lines: Sequence[str]) -> Iterator[str]:
    yield from lines[:_MOST_SHOWN]
    if len(lines) > _MOST_SHOWN:
        yield f"- and {len(lines) - _MOST_SHOWN} more"


def _shown(text: str) -> str:
    flat = visible(" ".join(text.split()))
    return flat if len(flat) <= _LONGEST_QUOTE else flat[: _LONGEST_QUOTE - 1] + "…"


MARK = f"{OURS}dreams -->"
NIGHTS_SHOWN = 60


def exported_files(dreams: Sequence[Dream], staged: Iterable[Noted], changes: Mapping[str, Change]) -> dict[str, bytes]:
    """Every file of the state folder by its path. `dreams` are newest first; `changes` are what they landed."""
    nights = list(reversed(dreams))
    told = "\n".join(dream.diary for dream in dreams)
    done = [dream for dream in dreams if dream.status is Status.COMPLETED]
    last = dreams[0] if dreams else None
    return {
        "DREAMS.md": f"{MARK}\n\n{told}".encode("utf-8", "backslashreplace"),
        "state.json": _json(
            {
                "made_by": "reverie",
                "last_run": last and rfc3339(last.started_at),
                "last_success": rfc3339(done[0].ended_at or done[0].started_at) if done else None,
                "last_status": last and str(last.status),
                "nights": len(dreams),
                "counts": last.counts if last else {},
            }
        ),
        "candidates.jsonl": _lines(_candidate(one) for one in staged),
        "decisions.jsonl": _lines(_decision(dream, one) for dream in nights for one in dream.judged),
        "promotions.jsonl": _lines(_decision(dream, one) for dream in nights for one in dream.of(Fate.LANDED)),
        **{f"runs/{_stamp(dream)}.json": _json(_run(dream)) for dream in dreams},
        **{name: content for dream in dreams for name, content in _backups(dream, changes)},
    }


def _candidate(one: Noted) -> dict[str, Any]:
    candidate = one.candidate
    return {
        "id": one.id,
        "kind": str(candidate.kind),
        "text": candidate.text,
        "confidence": candidate.confidence,
        "session": one.session_id,
        "said_at": _time(one.said_at),
        "origin": str(one.origin),
        "evidence": evidence_as_json(candidate.evidence),
    }


def _decision(dream: Dream, one: Judged) -> dict[str, Any]:
    told = {field.name: getattr(one, field.name) for field in fields(one)}
    told |= {"evidence": evidence_as_json(one.evidence), "score": one.score and score_as_json(one.score)}
    return {"dream": dream.id, "at": rfc3339(dream.started_at)} | told


def _run(dream: Dream) -> dict[str, Any]:
    told = asdict(replace(dream, judged=(), diary=""))
    del told["judged"], told["diary"]
    times = {"started_at": rfc3339(dream.started_at), "ended_at": _time(dream.ended_at)}
    return told | times | {"counts": dream.counts, "changes": dream.changes, "proposals": dream.proposals}


def _backups(dream: Dream, changes: Mapping[str, Change]) -> Iterable[tuple[str, bytes]]:
    """The documents as they were before the night, from the first of its changes to each."""
    seen = set()
    for ref in dream.changes:
        for edit in changes[ref].edits if ref in changes else ():
            if edit.document not in seen and edit.before is not None:
                seen.add(edit.document)
                yield f"backups/{_stamp(dream)}/{edit.document}", edit.before


def _stamp(dream: Dream) -> str:
    return f"{dream.started_at:%Y%m%dT%H%M%SZ}-{dream.id[-6:]}"


def _time(at: datetime | None) -> str | None:
    return rfc3339(at) if at else None


def _json(value: object) -> bytes:
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "backslashreplace")


def _lines(values: Iterable[object]) -> bytes:
    text = "".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values)
    return text.encode("utf-8", "backslashreplace")
