"""What a target's nights look like as files: DREAMS.md to read, JSON and JSON Lines for tools. All derived.

The database is true; these can be deleted and are written again after the next night. They tell of the last sixty
nights, so that a night costs the same after years; `runs/` and `backups/` of earlier ones stay where they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from datetime import datetime
from typing import Any

from reverie.changes.ledger import Change, evidence_as_json
from reverie.changes.proposal import score_as_json
from reverie.core.clock import rfc3339
from reverie.dreams.dream import Dream, Fate, Judged, Status
from reverie.dreams.light.candidate import Noted
from reverie.transcripts.session import OURS

MARK = f"{OURS}dreams -->"
NIGHTS_SHOWN = 60


def exported_files(dreams: Sequence[Dream], staged: Iterable[Noted], changes: Mapping[str, Change]) -> dict[str, bytes]:
    """Every file of the state folder by its path. `dreams` are newest first; `changes` are what they landed."""
    nights = list(reversed(dreams))
    told = "\n".join(dream.diary for dream in dreams)
    return {
        "DREAMS.md": f"{MARK}\n\n{told}".encode("utf-8", "backslashreplace"),
        "state.json": _json(_state(dreams)),
        "candidates.jsonl": _lines(_candidate(one) for one in staged),
        "decisions.jsonl": _lines(_decision(dream, one) for dream in nights for one in dream.judged),
        "promotions.jsonl": _lines(_decision(dream, one) for dream in nights for one in dream.of(Fate.LANDED)),
        **{f"runs/{_stamp(dream)}.json": _json(_run(dream)) for dream in dreams},
        **{name: content for dream in dreams for name, content in _backups(dream, changes)},
    }


def _state(dreams: Sequence[Dream]) -> dict[str, Any]:
    done = [dream for dream in dreams if dream.status is Status.COMPLETED]
    last = dreams[0] if dreams else None
    return {
        "made_by": "reverie",
        "last_run": last and rfc3339(last.started_at),
        "last_success": rfc3339(done[0].ended_at or done[0].started_at) if done else None,
        "last_status": last and str(last.status),
        "nights": len(dreams),
        "counts": last.counts if last else {},
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
