"""What is wrong with statements, one alone and several together.

One alone can be unsafe, secret, private, junk, stale or verbose; several can be doubled, contradictory or superseded.

And what hermes-dreaming 0.3.x left in a Hermes home, and did to a memory, which it takes for a list of bullets: it
glues a new line onto the last entry, mostly with `- ` before it, leaves `§` at the head of an entry whose neighbour it
removed, and cuts an entry of two lines to its second. Its own files say what it wrote and how it was before.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from reverie.audit.hazards import Hazards, expired, harm, hazards, junk, shown_words
from reverie.audit.inventory import (
    SKILL,
    AuditedDocument,
    AuditedStatement,
    Finding,
    FindingKind,
    KeptSkill,
    Machine,
    Severity,
    Spot,
    Traces,
    apart,
    meet,
)
from reverie.audit.pairs import Pair, pairs
from reverie.audit.references import Project, dead_path, missing_from_project, missing_program, rival_commands
from reverie.changes.proposal import Suggestion
from reverie.memory.formats import FORMATS
from reverie.memory.operation import Add, Operation, Remove, Replace
from reverie.safety.scan import scan
from reverie.skills.edits import rules_of

WIDE, WIDEST = 0.3, 1_000  # of a budget; characters where there is none
PROPOSER = "audit"
_INSTRUCTIONS = frozenset({"AGENTS.md", "CLAUDE.md", "CLAUDE.local.md"})


def surface(document: AuditedDocument) -> str:
    return "context" if document.spot.document in _INSTRUCTIONS else "memory"


def in_document(
    document: AuditedDocument, machine: Machine, today: date, projects: Mapping[str, Project], shown: dict[str, str]
) -> Iterator[Finding]:
    """Everything wrong with the statements of a document. `shown` is filled: each text as anyone may see it."""
    blocked = False
    for statement in document.statements:
        risks = hazards(statement.text, surface(document))
        shown[statement.text] = risks.shown
        found = list(_dangers(statement, risks))
        blocked = blocked or any(one.kind is FindingKind.UNSAFE for one in found)
        if not found:
            found = list(_wear(statement, risks.shown, machine, today, is_memory=surface(document) == "memory"))
        project = projects.get(document.project or "")
        if not found and (gone := missing_program(statement.text, machine, project)):
            why = f"It says to run “{gone}”, and this machine has no such program."
            sure: Severity = "low" if project else "note"  # an environment of some project may have it
            found = [Finding(FindingKind.STALE, sure, statement.spot, risks.shown, why, "Mend or remove the line.")]
        yield from found
        if document.project and (why := missing_from_project(statement.text, projects[document.project])):
            yield Finding(FindingKind.STALE, "low", statement.spot, risks.shown, why, "Mend or remove the line.")
        # Notes: no fault, and still worth knowing.
        if risks.bears and surface(document) == "memory":
            why = f"It gives a standing order or says whom to obey ({risks.bears}): a person should have decided that."
            yield Finding(FindingKind.AUTHORITY, "note", statement.spot, risks.shown, why, "Check that you wrote it.")
        size, budget = len(statement.text), document.budget
        if statement.is_entry and size >= min(WIDEST, WIDE * (budget or WIDEST / WIDE)):
            share = f", {size / budget:.0%} of what fits" if budget else ""
            why, advice = f"It has {size:,} characters{share}.", "Say it shorter, or make it a skill."
            yield Finding(FindingKind.VERBOSE, "note", statement.spot, risks.shown, why, advice)
    if not blocked:
        yield from _unsafe_as_a_whole(document, surface(document))


def in_context(document: AuditedDocument) -> Iterator[Finding]:
    """Dangers in a file that agents are given and no proposal can change. Its words are nobody's memory."""
    blocked = False
    for statement in document.statements:
        found = list(_dangers(statement, hazards(statement.text, "context")))
        blocked = blocked or any(one.kind is FindingKind.UNSAFE for one in found)
        yield from (replace(one, suggestion=None) for one in found if one.kind is not FindingKind.SENSITIVE)
    if not blocked:
        yield from _unsafe_as_a_whole(document, "context")


def _unsafe_as_a_whole(document: AuditedDocument, surface: str) -> Iterator[Finding]:
    """Dangers no one statement shows: in a heading, in front matter, across entries, or in bytes that are no text."""
    category, _ = harm(scan(document.text, surface), document.text)
    if category:
        why = f"The document as a whole would harm whoever reads it as a prompt ({category})."
        yield Finding(FindingKind.UNSAFE, "high", document.spot, "", why)


def _dangers(statement: AuditedStatement, risks: Hazards) -> Iterator[Finding]:
    if risks.unsafe:
        why = f"It would harm whoever reads it as a prompt ({risks.unsafe})."
        wanted = removed(statement, why)
        yield Finding(FindingKind.UNSAFE, "high", statement.spot, risks.shown, why, "Remove it.", wanted)
    if risks.redacted.found:
        kinds = ", ".join(kind.replace("-", " ") for kind in risks.redacted.found)
        why = f"It holds a secret ({kinds}) that every session is shown."
        advice = "Take the secret out and change it: it has been sent to a model."
        wanted = replaced(statement, risks.redacted.text, why)
        yield Finding(FindingKind.SECRET, "high", statement.spot, risks.shown, why, advice, wanted)
    if risks.private:
        why = f"It says something private about a person ({', '.join(risks.private)})."
        advice = "Keep it only if that person wants it kept."
        yield Finding(FindingKind.SENSITIVE, "low", statement.spot, risks.shown, why, advice)


def _wear(
    statement: AuditedStatement, shown: str, machine: Machine, today: date, *, is_memory: bool
) -> Iterator[Finding]:
    """Instructions hold examples of everything, and words such as "tomorrow" in them: there only an entry is taken for
    junk, and only what names its last day for over."""
    spot = statement.spot
    if statement.is_entry and (why := junk(statement.text)):
        yield Finding(FindingKind.JUNK, "low", spot, shown, why, "Remove it.", removed(statement, why))
    elif why := expired(statement.text, today, only_dated=not (statement.is_entry and is_memory)):
        yield Finding(FindingKind.STALE, "low", spot, shown, why, "Remove it.", removed(statement, why))
    elif path := dead_path(statement.text, machine):
        why = f"It names {path}, which is not on this machine."
        yield Finding(FindingKind.STALE, "low", spot, shown, why, "Write where it is now, or remove it.")


def removed(statement: AuditedStatement, why: str) -> Suggestion | None:
    return operated(statement, why, Remove(statement.spot.document, statement.sha256)) if statement.is_entry else None


def replaced(statement: AuditedStatement, text: str, why: str) -> Suggestion | None:
    wanted = Replace(statement.spot.document, statement.sha256, text)
    return operated(statement, why, wanted) if statement.is_entry else None


def operated(statement: AuditedStatement, why: str, *operations: Operation) -> Suggestion:
    return Suggestion(statement.spot.target, statement.spot.document, operations, reason=why, proposer=PROPOSER)


LONGEST_RULE = 240


def compare_statements(
    statements: Sequence[AuditedStatement], skills: Sequence[KeptSkill], shown: Mapping[str, str]
) -> Iterator[Finding]:
    """Findings between statements that meet in a prompt; what two homes both say is counted in one note."""
    # The rules of a skill are held against memory. They are never accused of repeating one another.
    rules = [
        AuditedStatement(kept.spot, rule.text, False, f"{SKILL}{kept.spot.home}")
        for kept in skills
        for rule in rules_of(kept.skill.body.splitlines(keepends=True))
        if 8 <= len(rule.text) <= LONGEST_RULE and not rule.text.startswith(("#", "`"))
    ]
    shared: Counter[tuple[str, str]] = Counter()
    gone: set[AuditedStatement] = set()
    for pair in pairs([*statements, *rules]):
        one, other = pair.first, pair.second
        if pair.tie == "same" and other.is_entry and not one.is_entry:
            one, other = other, one  # the one that an operation can touch is to go
        if one.is_rule or other.is_rule:
            yield from _against_skill(pair, shown)
        elif pair.tie == "same" and not meet(one.circle, other.circle):
            shared[one.spot.home, other.spot.home] += one.spot.home != other.spot.home
        elif pair.tie == "same":
            if other not in gone and one not in gone:
                gone.add(one)
                words, against = _shown_words(one, shown), (other.spot, _shown_words(other, shown))
                wanted = removed(one, f"{pair.why} ({other.spot})")
                advice = "Remove one of them."
                yield Finding(FindingKind.DUPLICATED, "low", one.spot, words, pair.why, advice, wanted, *against)
        elif not apart(one.circle, other.circle):
            yield _conflict(pair, shown)
    for (first, second), count in shared.items():
        said = "One statement stands" if count == 1 else f"{count} statements stand"
        why = f"{said} in {first} and in {second}, word for word or nearly."
        why += " Each agent needs to be told, but keep them in step."
        spot, advice = Spot(first, first, ""), "Nothing, or keep one memory for both."
        if count:
            yield Finding(FindingKind.DUPLICATED, "note", spot, "", why, advice)
    for one, other, why in rival_commands(statements):
        words, beside = _shown_words(one, shown), _shown_words(other, shown)
        advice = "Decide which one holds and remove the other."
        yield Finding(FindingKind.CONTRADICTORY, "medium", one.spot, words, why, advice, None, other.spot, beside)


def _conflict(pair: Pair, shown: Mapping[str, str]) -> Finding:
    one, other = pair.first, pair.second
    together = meet(one.circle, other.circle)
    severity: Severity = "medium" if together else "note"
    words, against = _shown_words(one, shown), (other.spot, _shown_words(other, shown))
    if pair.tie == "supersedes":
        wanted, advice = removed(one, f"{pair.why} ({other.spot})") if together else None, "Remove the older one."
        return Finding(FindingKind.SUPERSEDED, severity, one.spot, words, pair.why, advice, wanted, *against)
    why = pair.why if together else f"{pair.why} They are in two homes, so two agents believe different things."
    advice = "Decide which one holds and remove the other."
    return Finding(FindingKind.CONTRADICTORY, severity, one.spot, words, why, advice, None, *against)


def _against_skill(pair: Pair, shown: Mapping[str, str]) -> Iterator[Finding]:
    """Memory against a skill of the same home. Two skills, or a skill that repeats memory, are nobody's mistake."""
    one, other = pair.first, pair.second
    if pair.tie == "same" or one.is_rule == other.is_rule or one.spot.home != other.spot.home:
        return
    memory, rule = (other, one) if one.is_rule else (one, other)
    words, against = _shown_words(memory, shown), (rule.spot, _shown_words(rule, shown))
    why = "A skill of the same home says the opposite or gives another value."
    advice = "Decide which one holds and mend the other."
    yield Finding(FindingKind.CONTRADICTORY, "low", memory.spot, words, why, advice, None, *against)


def _shown_words(statement: AuditedStatement, shown: Mapping[str, str]) -> str:
    return shown.get(statement.text) or shown_words(statement.text)


# ---- what hermes-dreaming did ----------------------------------------------------------------------------------------


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
