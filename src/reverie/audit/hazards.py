"""Secrets, private matters and text that would harm its reader, in one statement.

Redaction changes what is stored, so it has to be sure. An audit shows a line to a person, so a sentence that names a
credential and ends in something that is no word is enough: a password in plain words has no sign, or a sentence around
it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from reverie.safety.redact import Redacted, redact
from reverie.safety.report import Report, visible
from reverie.safety.scan import scan
from reverie.safety.secrets.named import PASSWORDS
from reverie.safety.secrets.values import is_code, is_mixed, is_placeholder, said_of_passwords
from reverie.safety.sensitive import sensitive

HIDDEN = "[redacted:password]"
SHORTEST = 5
_NAMED = re.compile(
    rf"(?<![^\W\d_])(?:{PASSWORDS}|log-?in|credentials?|creds|zugangsdaten|identifiants|accesso|token|(?-i:PIN))(?![^\W\d_])",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[^\n.!?;]+(?:[.!?](?=\S)[^\n.!?;]+)*[.!?]?")
_TOKEN = re.compile(r"[^\s,;]+(?<![.!?])")
# "the wifi password: bluemonkey", and nothing behind it.
_SET_TO = re.compile(r"[^.:=\n]{0,40}?\s?[:=]\s+(?P<value>[^\W\d_]{5,40})\s*[.!]?\s*$")
_QUOTED = re.compile(r"[\"“„'`]([^\"”“'`\n]{5,60})[\"”'`]")


def without_plain_secrets(text: str) -> str:
    """The text with what looks like a password hidden; the same text where nothing does."""
    for said in reversed(said_of_passwords(text)):
        if said.is_value:
            text = text[: said.start] + HIDDEN + text[said.end :]
    said_of = [said for said in said_of_passwords(text) if not said.is_value]
    described = [said for said in said_of if not any(map(str.isdigit, text[said.start : said.end]))]
    for one in reversed([one for one in sensitive(text) if one.kind == "credentials"]):
        value = _TOKEN.search(text, max(one.start, one.end - 1))  # its words end within the value
        if value is None or value.group().startswith("[redacted:"):
            continue
        if not any(said.start <= value.start() < said.end for said in described):
            text = text[: value.start()] + HIDDEN + text[value.end() :]
    return _CLAUSE.sub(lambda found: _hide_password(found.group()), text)


def _hide_password(sentence: str) -> str:
    named = _NAMED.search(sentence)
    if named is None or sentence.rstrip().endswith("?"):
        return sentence
    behind = sentence[named.end() :]
    quoted = _QUOTED.search(behind[:80])
    last = "".join(behind.split()[-1:]).strip("\"'`”“*_,;:()").rstrip(".")
    value = quoted[1] if quoted and " " not in quoted[1] else last
    if not quoted and (found := _SET_TO.match(behind)):
        word = found["value"]
        if not is_placeholder(word) and not _NAMED.search(word):
            return sentence[: named.end()] + behind.replace(word, HIDDEN)
    number = named.group() == "PIN" and value.isdigit() and len(value) > 3
    if not number and not _is_value(value, quoted=quoted is not None and value == quoted[1]):
        return sentence
    return sentence[: named.end()] + behind.replace(value, HIDDEN)


def _is_value(value: str, *, quoted: bool) -> bool:
    own_name = _NAMED.search(value) is not None or re.search(r"pass|pwd", value, re.IGNORECASE) is not None
    if len(value) < SHORTEST or is_placeholder(value) or is_code(value) or "/" in value or own_name:
        return False
    return quoted or (
        is_mixed(value) and (sum(map(str.isdigit, value)) > 1 or re.search(r"[!#$%&*]", value) is not None)
    )


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


def shown_words(text: str) -> str:
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
