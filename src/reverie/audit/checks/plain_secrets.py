"""A password that redaction leaves: its looks give it away, and the sentence around it names a credential.

Redaction changes what is stored, so it has to be sure. An audit shows a line to a person, so a sentence that names a
credential and ends in something that is no word is enough.
"""

from __future__ import annotations

import re

from reverie.safety.secrets.names import PASSWORDS
from reverie.safety.secrets.values import is_code, is_mixed, is_placeholder

HIDDEN = "[redacted:password]"
SHORTEST = 5
_NAMED = re.compile(
    rf"(?<![^\W\d_])(?:{PASSWORDS}|log-?in|credentials?|creds|zugangsdaten|identifiants|accesso|token|(?-i:PIN))(?![^\W\d_])",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^\n.!?;]+(?:[.!?](?=\S)[^\n.!?;]+)*[.!?]?")
_QUOTED = re.compile(r"[\"“„'`]([^\"”“'`\n]{5,60})[\"”'`]")


def without_plain_secrets(text: str) -> str:
    """The text with what looks like a password hidden; the same text where nothing does."""
    return _SENTENCE.sub(lambda found: _hidden(found.group()), text)


def _hidden(sentence: str) -> str:
    named = _NAMED.search(sentence)
    if named is None or sentence.rstrip().endswith("?"):
        return sentence
    behind = sentence[named.end() :]
    quoted = _QUOTED.search(behind[:80])
    value = quoted[1] if quoted and " " not in quoted[1] else _last_word(behind)
    number = named.group() == "PIN" and value.isdigit() and len(value) > 3
    if not number and not _is_value(value, quoted=quoted is not None and value == quoted[1]):
        return sentence
    return sentence[: named.end()] + behind.replace(value, HIDDEN)


def _last_word(text: str) -> str:
    words = text.split()
    return words[-1].strip("\"'`”“*_,;:()").rstrip(".") if words else ""


def _is_value(value: str, *, quoted: bool) -> bool:
    own_name = _NAMED.search(value) is not None or re.search(r"pass|pwd", value, re.IGNORECASE) is not None
    if len(value) < SHORTEST or is_placeholder(value) or is_code(value) or "/" in value or own_name:
        return False
    return quoted or (
        is_mixed(value) and (sum(map(str.isdigit, value)) > 1 or re.search(r"[!#$%&*]", value) is not None)
    )
