"""What hermes-dreaming 0.3.x left in a Hermes home, and what it did to a memory, which it takes for a list of bullets.

It glues a new line onto the last entry, mostly with `- ` before it, leaves `§` at the head of an entry whose neighbour
it removed, and cuts an entry of two lines to its second. Its own files say what it wrote and how it was before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from reverie.audit.hazards import shown_words
from reverie.audit.inventory import AuditedDocument, AuditedStatement, Finding, FindingKind, Machine, Spot, Traces
from reverie.audit.statements import operated, replaced
from reverie.memory.formats import FORMATS
from reverie.memory.operation import Add, Replace

_LINE = re.compile(r"^(?:- )?(?:<!--drm:[^>]*-->\s*)?(?P<said>\S.*)$")
_HINT = re.compile(r"<!--drm:id=[^>]*-->\s*")
LOCK = "memory_mutations.lock"
ASIDE = "before-reverie"  # where Reverie keeps another tool's files when it moves in
_DOCUMENTS = ("MEMORY.md", "USER.md")
_MOST_COPIES = 50


def read_traces(folder: Path, home: str, target: str, machine: Machine) -> Traces | None:
    """None where it never was. Its lock, or the way it writes down what it promoted, tells it from others."""
    for place in (folder, folder / ASIDE):
        if not machine.exists(place):
            continue
        # The lines it says it wrote, or None where the file is not one of its.
        wrote: set[str] | None = None
        for line in (machine.read(place / "promotions.jsonl") or "").splitlines():
            try:
                row = json.loads(line)
            except ValueError:
                continue  # cut by a crash
            if isinstance(row, dict) and "promoted_at" in row and "hash" in row:
                lines = {str(row["new_text"]).strip().removeprefix("- ")} if row.get("new_text") else set[str]()
                wrote = (wrote or set()) | lines
        files = sorted(name for name in machine.below(place) if "/" not in name and name != ASIDE)
        if LOCK in files or wrote is not None:
            copies = dict[str, tuple[str, ...]]()
            for one in _DOCUMENTS:
                names = sorted(name for name in machine.below(place / "backups") if name.endswith(f"/{one}"))
                texts = (machine.read(place / "backups" / name) or "" for name in names[-_MOST_COPIES:])
                read = (FORMATS["hermes"].read(text.encode("utf-8", "surrogateescape")) for text in texts)
                copies[one] = tuple(entry for each in read for entry in each.entries)
            return Traces(home, target, tuple(files), frozenset(wrote or ()), copies)
    return None


def damage(
    documents: tuple[AuditedDocument, ...], traces: tuple[Traces, ...], shown: Mapping[str, str]
) -> Iterator[Finding]:
    for trace in traces:
        locked = " Its lock is not the one Hermes takes, so writes of both can be lost." if LOCK in trace.files else ""
        why = f"hermes-dreaming ran here and left its files behind.{locked}"
        advice = (
            "Disable it (`hermes plugins disable hermes-dreaming`) before it writes again; "
            "Reverie keeps its files aside."
        )
        spot, words = Spot(trace.home, trace.target, "dreaming/"), shown_words(", ".join(trace.files[:6]))
        yield Finding(FindingKind.DAMAGED, "note", spot, words, why, advice)
    by_target = {trace.target: trace for trace in traces}
    for document in documents:
        if document.form == "hermes":
            yield from _in_document(document, by_target.get(document.spot.target), shown)


def _in_document(document: AuditedDocument, trace: Traces | None, shown: Mapping[str, str]) -> Iterator[Finding]:
    statements = document.statements
    for statement in statements:
        words = shown.get(statement.text) or shown_words(statement.text)
        signed = re.match(r"§\s*\n", statement.text) or statement.text.endswith("\n§")
        bare = re.sub(r"\A(?:§\s*\n)+|(?:\n\s*§)+\Z", "", statement.text).strip()
        if signed and bare:
            why = "A lone § was left at its edge when the entry beside it was removed as if it were a line."
            mended = replaced(statement, bare, why)
            yield Finding(FindingKind.DAMAGED, "medium", statement.spot, words, why, "Take the § out.", mended)
            continue
        copies = trace.copies.get(statement.spot.document, ()) if trace else ()
        cut = [whole for whole in copies if whole.endswith(f"\n{statement.text}")]
        if len(set(cut)) == 1:
            why = "Its first line was cut off; a copy made before still has it."
            mended, advice = replaced(statement, cut[-1], why), "Bring the first line back."
            yield Finding(FindingKind.DAMAGED, "medium", statement.spot, words, why, advice, mended)
    if statements:
        yield from _glued(statements[-1], trace, shown)


def _glued(last: AuditedStatement, trace: Traces | None, shown: Mapping[str, str]) -> Iterator[Finding]:
    """Lines at the end of the last entry that it is known to have written, or that carry its mark."""
    lines = last.text.splitlines()
    keep = len(lines)
    while (
        keep > 1
        and (found := _LINE.match(lines[keep - 1]))
        and (bool(_HINT.search(lines[keep - 1])) or (trace is not None and found["said"].strip() in trace.wrote))
    ):
        keep -= 1
    if keep == len(lines):
        return
    said = [_HINT.sub("", line).removeprefix("- ").strip() for line in lines[keep:]]
    why = "hermes-dreaming glued a line of its own onto the last entry, so that Hermes reads both as one."
    document = last.spot.document
    kept = Replace(document, last.sha256, "\n".join(lines[:keep]).rstrip())
    wanted = operated(last, why, kept, *(Add(document, one) for one in said))
    words = shown.get(last.text) or shown_words(last.text)
    yield Finding(FindingKind.DAMAGED, "medium", last.spot, words, why, "Make it an entry of its own.", wanted)
