"""Stretches a renderer does not show but an agent reads: comments, reference definitions, CSS, terminal concealment."""

import re
from collections.abc import Iterator

from reverie.core.strings import lazy_pattern

_LONGEST = 4_000


# One pattern for all openers; where each hidden stretch ends is looked up with str.find.
_openers = lazy_pattern(
    r"(?P<html><!--)"
    r"|(?P<reference>^[ \t]{0,3}\[(?://|comment|_|#|hidden)[^\]\n]{0,20}\]:[ \t]{0,3}(?:#|<>|\S{1,20})"
    r"[ \t]{1,3}[\"'(])"
    r"|(?P<css><[a-z]{1,12}\b[^<>]{0,200}?(?:display\s?:\s?none|visibility\s?:\s?hidden|font-size\s?:\s?0|opacity\s?:\s?0(?![.\d])"
    r"|color\s?:\s?(?:white|#fff(?:fff)?|transparent)|\shidden(?=[\s>=])|left\s?:\s?-\d{3,})[^<>]{0,200}>)"
    r"|(?P<template>\{#|\{/\*|%%\s)"
    r"|(?P<terminal>\x1b\[8m)",
    re.MULTILINE,
)


_CLOSERS = {"html": "-->", "reference": "\n", "css": "</", "template": "}", "terminal": "\x1b["}


def hidden_stretches(folded: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and kind of each stretch, in a folded text. An opener never closed hides all that follows."""
    found = _openers().search(folded)
    while found:
        kind = found.lastgroup or "html"
        end = folded.find(_CLOSERS[kind], found.end(), found.end() + _LONGEST)
        end = end if end >= 0 else min(len(folded), found.end() + _LONGEST)
        yield found.start(), end, kind
        # Openers inside a stretch open nothing new; going on after it keeps the work linear.
        found = _openers().search(folded, end)
