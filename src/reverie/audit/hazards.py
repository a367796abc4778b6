"""One statement by itself: secrets, private matters and text that would harm its reader; junk, and dates that are over.

Redaction changes what is stored, so it has to be sure. An audit shows a line to a person, so a sentence that names a
credential and ends in something that is no word is enough: a password in plain words has no sign, or a sentence around
it.

Of junk precision comes first: an entry that begins like chatter but states a rule is left alone (how junk sounds is
data, `junk.toml`). And a date alone is no expiry: "moved on 2026-01-10" stays true. There has to be a word such as
until, due or expires.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from importlib.resources import files
from typing import Any

from reverie.audit.inventory import alternatives
from reverie.dreams.light.language import dates_in
from reverie.safety.redact import Redacted, redact
from reverie.safety.scan import Report, SafetyFinding, scan, visible
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
    if not (named.group() == "PIN" and value.isdigit() and len(value) > 3):
        own_name = _NAMED.search(value) is not None or re.search(r"pass|pwd", value, re.IGNORECASE) is not None
        if len(value) < SHORTEST or is_placeholder(value) or is_code(value) or "/" in value or own_name:
            return sentence
        signs = sum(map(str.isdigit, value)) > 1 or re.search(r"[!#$%&*]", value) is not None
        if not (quoted and value == quoted[1]) and not (is_mixed(value) and signs):
            return sentence
    return sentence[: named.end()] + behind.replace(value, HIDDEN)


# A rule against a thing names the thing. Only plain prohibitions count, so that "never forget to run" does not.
_FORBIDS = re.compile(
    r"\b(?:never|do not|don't|must not|avoid|no|nie|niemals|nicht|nunca|no|jamais|ne pas)\s+(?:ever\s+)?"
    r"(?:run|running|execute|executing|pipe|piping|use|using|install|installing|paste|pasting|trust|follow|following|obey|commit|store"
    r"|print|log|share|send|upload|curl|eval|ausführen|ejecutar|exécuter|a script)\b",
    re.IGNORECASE,
)
_BREAK = re.compile(r"(?<=[.!?;。])\s+|\n+")
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
    left = list[SafetyFinding]()
    for one in worst:
        start = max((gap.end() for gap in _BREAK.finditer(text) if gap.start() <= one.start), default=0)
        if one.category not in _SCRIPTS or not _FORBIDS.search(text[start : one.start + 40]):
            left.append(one)
    hard = [one for one in left if one.category not in _SOFT]
    if hard or not worst:
        return hard[0].category if hard else "quarantine", ""
    return "", left[0].category if left else ""


# ---- entries that say nothing, or nothing that still holds -----------------------------------------------------------


_OPENINGS = {
    "narrated": "It tells of one conversation instead of saying something that holds.",
    "meeting": "It tells of one session instead of saying something that holds.",
    "spoken": "It is the assistant talking, not something to remember.",
    "requested": "It is a request for one occasion, long answered.",
    "logged": "It logs a piece of work that is over.",
}
_WHOLE = {
    "greeting": "It is a greeting or a thank-you.",
    "reply": "It is a greeting or a thank-you.",
    "empty": "It says nothing.",
    "noise": "It is a signal of the harness, not a statement.",
}
_LONGEST_TOLD = 300  # what is longer than this says more than its opening
_SPEAKER = re.compile(r"^\s*\**(?:user|human|assistant|ai|claude|system|bot)\**\s*:", re.IGNORECASE | re.MULTILINE)
_CODE_LINE = re.compile(rf"\s*(?:{alternatives('code_line')})")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_FEWEST_LINES, _MOSTLY = 6, 0.85


def junk(text: str) -> str:
    """Why an entry is junk, or nothing."""
    bare = text.strip().strip("*_ ")
    phrases = _phrases()
    for name, why in _WHOLE.items():
        if phrases[name].fullmatch(bare):
            return why
    for dump in _table()["dumps"]:
        if len(re.findall(dump["pattern"], text, re.MULTILINE)) >= dump["least"]:
            return str(dump["why"])
    # Code from end to end. A snippet with a sentence beside it explains something.
    lines = [line for line in text.splitlines() if line.strip() and not _FENCE.match(line)]
    if len(lines) >= _FEWEST_LINES and sum(bool(_CODE_LINE.match(line)) for line in lines) >= _MOSTLY * len(lines):
        return "It is code, not a statement."
    stripped = text.strip()
    if len(stripped) >= 60 and stripped[0] in "{[":
        with suppress(ValueError):
            if isinstance(json.loads(stripped), dict | list):
                return "It is data as a program printed it."
    if len(_SPEAKER.findall(text)) >= 2:
        return "It is a piece of a transcript."
    if len(bare) > _LONGEST_TOLD or phrases["lasting"].search(bare):
        return ""
    return next((why for name, why in _OPENINGS.items() if phrases[name].match(bare)), "")


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads((files("reverie.audit") / "junk.toml").read_text("utf-8"))


@cache
def _phrases() -> dict[str, re.Pattern[str]]:
    """One expression of alternatives for each group in `junk.toml`."""
    table = _table()
    words = {name: "".join(text.splitlines()) for name, text in table["words"].items()}

    def expression(lines: str) -> re.Pattern[str]:
        lines = re.sub(r"<(\w+)>", lambda found: words[found[1]], lines)
        return re.compile("|".join(f"(?:{line})" for line in lines.splitlines() if line), re.IGNORECASE)

    groups = {"lasting": table["lasting"], **table["openings"], **table["whole"]}
    return {name: expression(lines) for name, lines in groups.items()}


_SENTENCE = re.compile(r"(?<=[.!?;。！？；])(?<!\d\.)\s+|\n+")
_NUMERIC = re.compile(r"\b(\d{1,2})[./](\d{1,2})[./](20\d\d)\b")
_BEFORE = re.compile(
    rf"(?:\b(?:{alternatives('before')})|截止(?:日期|时间)?[:：]?|締め?切り[はが]?[:：]?|期限[はが]?[:：]?)"
    r"\s*(?:the )?\Z"
)
_AFTER = re.compile(r"\s*(?:まで|之前|前截止|截止)")
_RANGE = re.compile(
    r"\b(?:vacation|holiday|leave|trip|out of office|urlaub|vacaciones|congés|férias)\b.*\b(?:from|vom|del|du)\b"
)
_OVER = re.compile(rf"\b(?:{alternatives('over')})\b")
_RELATIVE = re.compile(
    r"\b(?:tomorrow(?!'s)|tonight|this (?:afternoon|evening|morning)|later today|next (?:week|month|(?:mon|tues"
    r"|wednes|thurs|fri|satur|sun)day))\b"
)
_HABIT = re.compile(rf"\b(?:{alternatives('habit')})\b|[\"“`]")
_APPOINTED = re.compile(rf"\b(?:{alternatives('appointed')})\b")
_LONGEST_DATED = 200


def expired(text: str, today: date, *, only_dated: bool = False) -> str:
    """Which words are over and since when, or nothing. `only_dated`: only those that say until which day."""
    for sentence in _SENTENCE.split(text):
        lower = sentence.lower()
        days = list(_days(lower))
        if days and not _OVER.search(lower) and "instead" not in lower[: days[-1][1]]:
            last = max(day for _, _, day in days)
            ends = any(_BEFORE.search(lower[:start]) or _AFTER.match(lower, end) for start, end, _ in days)
            if (ends or (len(days) == 2 and _RANGE.search(lower))) and last < today - timedelta(1):
                return f"It holds until {last:%Y-%m-%d}, which is over."
        word = _RELATIVE.search(lower) if not only_dated and len(text) <= _LONGEST_DATED else None
        if word and _APPOINTED.search(lower) and not _HABIT.search(lower):
            return f"It says “{word.group()}” and not which day: that was right only when it was written."
    return ""


def _days(sentence: str) -> Iterator[tuple[int, int, date]]:
    for spoken in dates_in(sentence, None):
        yield spoken.start, spoken.end, spoken.day
    for found in _NUMERIC.finditer(sentence):
        day, month, year = (int(part) for part in found.groups())
        if day > 12 or "." in found.group():  # 04/05/2026 is a day in April here and in May there
            try:
                yield found.start(), found.end(), date(year, month, day)
            except ValueError:
                continue  # 31.02.2026 is a number, not a date
