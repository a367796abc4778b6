"""A proposal as one sentence that can be read without opening it."""

from __future__ import annotations

from reverie.changes.proposal import Proposal
from reverie.changes.word_diff import WordSpan, statements, word_diff
from reverie.skills.amendment import Merge

_LONGEST = 110
_WORDS_BEFORE, _MOST_PLACES = 4, 2
_VERBS = {
    "create": "Make the skill",
    "patch": "Amend the skill",
    "merge": "Merge into the skill",
    "retire": "Retire the skill",
    "revert": "Take back an amendment of the skill",
}


def headline(proposal: Proposal, where: str) -> str:
    """“Replace in ledgerly's memory: staging port 5433 → 6432”. `where` is how people call the document."""
    suggestion = proposal.suggestion
    if not suggestion.operations:
        amendment = suggestion.amendment
        absorbed = f" what {amendment.absorbed} says" if isinstance(amendment, Merge) else ""
        verb = _VERBS.get(suggestion.actions[0], "Change the skill")
        return shortened(f"{verb}{absorbed} {where}" + (f": {suggestion.reason}" if suggestion.reason else ""))
    old, new = statements(proposal)
    if old and new:
        return f"Replace in {where}: {_moved(old, new)}"
    return f"{'Add to' if new else 'Remove from'} {where}: {shortened(new or old)}"


def _moved(old: str, new: str) -> str:
    """What becomes of a statement: the words that differ with a few before them, or both of them whole."""
    spans = word_diff(old, new)
    places = [at for at, span in enumerate(spans) if span.kind != "same" and (at == 0 or spans[at - 1].kind == "same")]
    kept = sum(len(span.text) for span in spans if span.kind == "same")
    if len(places) > _MOST_PLACES or kept * 2 < min(len(old), len(new)):
        return f"{shortened(old, _LONGEST // 2)} → {shortened(new, _LONGEST // 2)}"
    return "; ".join(_place(spans, at) for at in places)


def _place(spans: tuple[WordSpan, ...], at: int) -> str:
    before = spans[at - 1].text.split()[-_WORDS_BEFORE:] if at else []
    here = [span for span in spans[at : at + 2] if span.kind != "same"]
    gone = "".join(span.text for span in here if span.kind == "gone")
    new = "".join(span.text for span in here if span.kind == "new")
    moved = f"{shortened(gone, 50) or 'nothing'} → {shortened(new, 50) or 'nothing'}"
    return " ".join([*before, moved])


def shortened(text: str, most: int = _LONGEST) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[: most - 1].rstrip()}…"
