"""A password in plain words that redaction leaves: it has no sign, or a sentence around it.

Redaction changes what is stored, so it has to be sure. An audit shows a line to a person, so a sentence that names a
credential and ends in something that is no word is enough.
"""

from __future__ import annotations

import re

from reverie.safety.personal.sensitive import sensitive
from reverie.safety.secrets.named import PASSWORDS
from reverie.safety.secrets.plain_words import said_of_passwords
from reverie.safety.secrets.values import is_code, is_mixed, is_placeholder

HIDDEN = "[redacted:password]"
SHORTEST = 5
_NAMED = re.compile(
    rf"(?<![^\W\d_])(?:{PASSWORDS}|log-?in|credentials?|creds|zugangsdaten|identifiants|accesso|token|(?-i:PIN))(?![^\W\d_])",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^\n.!?;]+(?:[.!?](?=\S)[^\n.!?;]+)*[.!?]?")
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
    return _SENTENCE.sub(lambda found: _hidden(found.group()), text)


def _hidden(sentence: str) -> str:
    named = _NAMED.search(sentence)
    if named is None or sentence.rstrip().endswith("?"):
        return sentence
    behind = sentence[named.end() :]
    quoted = _QUOTED.search(behind[:80])
    value = quoted[1] if quoted and " " not in quoted[1] else _last_word(behind)
    if not quoted and (word := _set_to(behind)):
        return sentence[: named.end()] + behind.replace(word, HIDDEN)
    number = named.group() == "PIN" and value.isdigit() and len(value) > 3
    if not number and not _is_value(value, quoted=quoted is not None and value == quoted[1]):
        return sentence
    return sentence[: named.end()] + behind.replace(value, HIDDEN)


def _set_to(behind: str) -> str:
    """The one word behind a colon, whatever it is."""
    found = _SET_TO.match(behind)
    return "" if found is None or is_placeholder(found["value"]) or _NAMED.search(found["value"]) else found["value"]


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
