"""The part of a long text that answers a question: what a person wants to see of it first."""

from __future__ import annotations

import re

from reverie.text.tokens import terms, tokens

_SENTENCE = re.compile(r"[^\n.!?。！？]+[\n.!?。！？]*")
_LONGEST_READ = 50_000


def passage(text: str, question: str, width: int) -> str:
    """At most about `width` characters of `text`, around the sentences that share most with the question."""
    if len(text) <= width:
        return text
    wanted = {form: term.weight for term in terms(question) for form in term.forms}
    best, start = -1.0, 0
    spans = [found.span() for found in _SENTENCE.finditer(text[:_LONGEST_READ])]
    heard = [{token for token in tokens(text[one:end]) if token in wanted} for one, end in spans]
    for place, (one, _) in enumerate(spans):
        # Behind the last sentence that fits into a passage beginning at this one.
        within = place + 1
        while within < len(spans) and spans[within][1] - spans[place][0] <= width:
            within += 1
        shared = sum(wanted[token] for token in set().union(*heard[place:within]))
        if shared > best:
            best, start = shared, one
    end = min(len(text), start + width)
    return f"{'…' if start else ''}{text[start:end].strip()}{'…' if end < len(text) else ''}"
