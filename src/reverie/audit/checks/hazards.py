"""Secrets, private matters and text that would harm its reader, in one statement."""

from __future__ import annotations

import re
from dataclasses import dataclass

from reverie.audit.checks.plain_secrets import without_plain_secrets
from reverie.safety.personal.sensitive import sensitive
from reverie.safety.redact import Redacted, redact
from reverie.safety.report import Report, visible
from reverie.safety.scan import scan

# A rule against a thing names the thing. Only plain prohibitions count, so that "never forget to run" does not.
_FORBIDS = re.compile(
    r"\b(?:never|do not|don't|must not|avoid|no|nie|niemals|nicht|nunca|no|jamais|ne pas)\s+(?:ever\s+)?"
    r"(?:run|running|execute|executing|pipe|piping|use|using|install|installing|paste|pasting|trust|follow|following|obey|commit|store"
    r"|print|log|share|send|upload|curl|eval|ausführen|ejecutar|exécuter|a script)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?;。])\s+|\n+")
_SCRIPTS = frozenset({"script", "override", "exfiltration", "credentials"})


# What a gate rightly stops for a look stands in many an honest rule: who may approve, what to do whenever.
_SOFT = frozenset({"authority", "persistence", "trigger", "impersonation", "suspicious"})


@dataclass(frozen=True, slots=True)
class Hazards:
    """`unsafe` and `bears` name the category of what was found: harm, or an order a person should have given."""

    redacted: Redacted
    unsafe: str
    bears: str
    private: tuple[str, ...]

    @property
    def shown(self) -> str:
        """The words as anyone may see them: without secrets, with everything invisible spelt out."""
        return visible(self.redacted.text)


def hazards(text: str, surface: str = "memory") -> Hazards:
    private = dict.fromkeys(one.kind for one in sensitive(text) if one.kind != "credentials")
    return Hazards(_redacted(text), *harm(scan(text, surface), text), tuple(private))


def _redacted(text: str) -> Redacted:
    sure = redact(text)
    hidden = without_plain_secrets(sure.text)
    return sure if hidden == sure.text else Redacted(hidden, {**sure.found, "password": sure.found.get("password", 1)})


def words_of(text: str) -> str:
    """A text as anyone may see it: without secrets, with everything invisible spelt out."""
    return visible(_redacted(text).text)


def harm(report: Report, text: str) -> tuple[str, str]:
    """The category of the harm in a text, and of the order in it; each empty where there is none."""
    if not report.blocked:
        return "", ""
    worst = [one for one in report.findings if one.severity == "high"] or list(report.findings)
    left = [one for one in worst if one.category not in _SCRIPTS or not _is_forbidden(text, one.start)]
    hard = [one for one in left if one.category not in _SOFT]
    if hard or not worst:
        return hard[0].category if hard else "quarantine", ""
    return "", left[0].category if left else ""


def _is_forbidden(text: str, place: int) -> bool:
    start = 0
    for gap in _SENTENCE.finditer(text):
        if gap.start() > place:
            break
        start = gap.end()
    return bool(_FORBIDS.search(text[start : place + 40]))
