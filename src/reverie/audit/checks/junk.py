"""Junk: entries that say nothing, or nothing that holds after the session they came from.

Precision first: an entry that begins like chatter but states a rule is left alone.
"""

from __future__ import annotations

import json
import re

from reverie.audit.checks.junk_phrases import LASTING, OPENINGS, WHOLE

_LONGEST_TOLD = 300  # what is longer than this says more than its opening
_SPEAKER = re.compile(r"^\s*\**(?:user|human|assistant|ai|claude|system|bot)\**\s*:", re.IGNORECASE | re.MULTILINE)
_DUMPS = (
    (re.compile(r"^Traceback \(most recent call last\):", re.MULTILINE), 1, "It is a stack trace."),
    (re.compile(r"^\s+at [^\n]{2,200}:\d+(?::\d+)?\)?$", re.MULTILINE), 2, "It is a stack trace."),
    (
        re.compile(
            r"^\[?\d{4}-\d\d-\d\d[ T]\d\d:\d\d[^\n]{0,40}\b(?:INFO|ERROR|WARN(?:ING)?|DEBUG|FATAL)\b", re.MULTILINE
        ),
        2,
        "It is a piece of a log.",
    ),
    (re.compile(r"^npm (?:ERR!|error)", re.MULTILINE), 2, "It is the output of a failed command."),
    (
        re.compile(r"^[d-][r-][w-][xst-](?:[r-][w-][xst-]){2}[.+@]? +\d", re.MULTILINE),
        2,
        "It is the listing of a folder.",
    ),
    (re.compile(r"\Adiff --git |\A--- \S+\n\+\+\+ \S+\n@@ ", re.MULTILINE), 1, "It is a diff."),
)
_CODE_LINE = re.compile(
    r"\s*(?:(?:async )?def |class \w+|import \w|from \w[\w.]* import|return\b|if .*:$|for .* in .*:$|else:|elif "
    r"|while .*:$|try:|except"
    r"|(?:const|let|var|function|export|public|private|static) |[}\])]+[;,]?$|#include|package \w+;?$|fn \w+|@\w+"
    r"|\w[\w.\[\]\"']* ?(?:[-+*/]?=|:=) ?\S|[\w.]+\(.*\)[;:]?$|.*[{;]$|//|/\*|#!|<\/?\w+[^>]*>$)"
)
_FENCE = re.compile(r"\s*(?:```|~~~)")
_FEWEST_LINES, _MOSTLY = 6, 0.85


def junk(text: str) -> str:
    """Why an entry is junk, or nothing."""
    bare = text.strip().strip("*_ ")
    for pattern, why in WHOLE:
        if pattern.fullmatch(bare):
            return why
    if why := _dump(text):
        return why
    if len(_SPEAKER.findall(text)) >= 2:
        return "It is a piece of a transcript."
    if len(bare) > _LONGEST_TOLD or LASTING.search(bare):
        return ""
    return next((why for pattern, why in OPENINGS if pattern.match(bare)), "")


def _dump(text: str) -> str:
    for pattern, least, why in _DUMPS:
        if len(pattern.findall(text)) >= least:
            return why
    if _is_code(text):
        return "It is code, not a statement."
    return "It is data as a program printed it." if _is_data(text) else ""


def _is_code(text: str) -> bool:
    """Code from end to end. A snippet with a sentence beside it explains something."""
    lines = [line for line in text.splitlines() if line.strip() and not _FENCE.match(line)]
    if len(lines) < _FEWEST_LINES:
        return False
    return sum(bool(_CODE_LINE.match(line)) for line in lines) >= _MOSTLY * len(lines)


def _is_data(text: str) -> bool:
    stripped = text.strip()
    if len(stripped) < 60 or stripped[0] not in "{[":
        return False
    try:
        return isinstance(json.loads(stripped), dict | list)
    except ValueError:
        return False
