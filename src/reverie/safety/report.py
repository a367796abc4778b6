"""What a scan says: findings, each with the exact characters it is about, and what follows from them."""

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Severity = Literal["low", "medium", "high"]

# What a person reading a finding can do next, per category.
ADVICE = {
    "override": "Drop the sentence: it tells the agent to set aside what it was told before.",
    "impersonation": "Drop the markup or the claim: only the code that reads a transcript says who is speaking.",
    "jailbreak": "Drop the passage: it gives the agent a role without its rules.",
    "persistence": "Reject it unless the owner asked for this standing rule, and check what it makes the agent do.",
    "trigger": "Reject it unless the owner asked for it: it waits for a later moment to act.",
    "concealment": "Reject it: it asks for something to be kept from the person the agent works for.",
    "exfiltration": "Check where the data would go; remove the step unless that place is yours.",
    "credentials": "Check why a secret is read here; name the secret's purpose, never its place, in memory.",
    "authority": "A person has to decide: it changes what the agent may do, whom it obeys or where it sends things.",
    "hidden": "Make the hidden text visible or delete it; a reader and the agent must see the same words.",
    "invisible": "Delete the invisible characters shown as \\u{…}.",
    "obfuscation": "Write it in plain text, or delete it; the agent would read what a reviewer cannot.",
    "script": "Do not run it; remove the command or replace it by a reviewed, pinned one.",
    "suspicious": "A person has to decide: no rule names it, but it reads like orders that were planted.",
    "quarantine": "Keep it out until a person has looked: it could not be read in full as text.",
}


@dataclass(frozen=True, slots=True)
class SafetyFinding:
    """One reason to look: `shown` is text[start:end] with everything invisible written as \\u{…}."""

    category: str
    severity: Severity
    start: int
    end: int
    shown: str
    advice: str
    decoded_from: str | None = None
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """`blocked`: keep it out. `needs_person`: it bears authority or was blocked, so no policy may let it pass alone."""

    blocked: bool
    needs_person: bool
    findings: tuple[SafetyFinding, ...]


_LONGEST_SHOWN = 2_000
_INVISIBLE_CATEGORIES = frozenset({"Cf", "Cc", "Cs", "Co", "Cn", "Zl", "Zp"})
_INVISIBLE_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")


def _is_invisible(char: str) -> bool:
    if char in "\n\t":
        return False
    if unicodedata.category(char) in _INVISIBLE_CATEGORIES or char in _INVISIBLE_LETTERS:
        return True
    return 0xFE00 <= ord(char) <= 0xFE0F or 0xE0100 <= ord(char) <= 0xE01EF


def visible(text: str) -> str:
    """The text as a reviewer must see it: nothing in it is invisible, and nothing rearranges it."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(f"\\u{{{ord(char):x}}}" if _is_invisible(char) else char for char in text)


def visible_span(text: str, start: int, end: int) -> str:
    """The span made visible; the middle of a very long one is counted instead of copied."""
    if end - start <= _LONGEST_SHOWN:
        return visible(text[start:end])
    half = _LONGEST_SHOWN // 2
    left_out = end - start - 2 * half
    return f"{visible(text[start : start + half])}…({left_out} characters)…{visible(text[end - half : end])}"


def join_reports(reports: Iterable[Report]) -> Report:
    """One report over several texts: as strict as the strictest of them."""
    every = tuple(reports)
    return Report(
        any(report.blocked for report in every),
        any(report.needs_person for report in every),
        tuple(finding for report in every for finding in report.findings),
    )
