"""A proposal, and a change, as one sentence that can be read without opening it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from reverie.changes.history.change import Change, Via
from reverie.changes.history.library import rules_in
from reverie.changes.inbox.word_diff import WordSpan, removed_and_added, word_diff
from reverie.changes.proposal import Proposal
from reverie.memory.formats import FORMATS
from reverie.skills.amendments.amendment import Amendment, Merge, Patch
from reverie.skills.amendments.edits import AddRule, RemoveRule, ReplaceRule, ReplaceSection

LONGEST = 110  # characters of a statement in a sentence that is to be short
WHOLE = 10**9
_WORDS_BEFORE, _MOST_PLACES = 4, 2
_VERBS = {
    "create": "Make the skill",
    "patch": "Amend the skill",
    "merge": "Merge into the skill",
    "retire": "Retire the skill",
    "revert": "Take back an amendment of the skill",
}


def headline(proposal: Proposal, where: str, longest: int = LONGEST) -> str:
    """“Replace in ledgerly's memory: staging port 5433 → 6432”. `where` is how people call the document."""
    suggestion = proposal.suggestion
    if not suggestion.operations:
        amendment = suggestion.amendment
        absorbed = f" what {amendment.absorbed} says" if isinstance(amendment, Merge) else ""
        verb = _VERBS.get(suggestion.actions[0], "Change the skill")
        said = _amends(amendment, longest) or suggestion.reason
        return shortened(f"{verb}{absorbed} {where}" + (f": {said}" if said else ""), 2 * longest)
    old, new = removed_and_added(proposal)
    if old and new:
        return f"Replace in {where}: {_moved(old, new, longest)}"
    return f"{'Add to' if new else 'Remove from'} {where}: {shortened(new or old, longest)}"


def _amends(amendment: Amendment | None, longest: int) -> str:
    """The rules of a skill that an amendment changes, where it says so rule by rule."""
    edits = amendment.change if isinstance(amendment, Patch) and isinstance(amendment.change, tuple) else ()
    told = []
    for edit in edits:
        match edit:
            case AddRule(_, text):
                told.append(f"add “{shortened(text, longest)}”")
            case ReplaceRule(_, old, text):
                told.append(_moved(old, text, longest))
            case RemoveRule(_, old):
                told.append(f"remove “{shortened(old, longest)}”")
            case ReplaceSection(section):
                told.append(f"rewrite “{section}”")
    return "; ".join(told)


def change_headline(change: Change, where: str, longest: int = LONGEST) -> str:
    """“Replaced in ledgerly's memory: staging port 5433 → 6432”: what a Change did, however it came about."""
    grounds = change.grounds
    match grounds.via:
        case Via.FOUND:
            number = len(change_statements(change)[1])
            return f"First seen: {where}, {number:,} {'entry' if number == 1 else 'entries'}"
        case Via.OUTSIDE:
            return f"From outside: {_did(change, where, longest)}"
        case Via.UNDO:
            return f"Took back {grounds.undoes}: {_did(change, where, longest)}"
        case Via.DIRECT | Via.PROPOSAL:
            return _did(change, where, longest)


def _did(change: Change, where: str, longest: int) -> str:
    made = all(edit.before is None for edit in change.edits)
    removed = all(edit.after is None for edit in change.edits)
    if change.form is None and (made or removed):
        return f"{'Made' if made else 'Removed'} the skill {where}"
    gone, new = change_statements(change)
    if len(gone) == len(new) == 1:
        return f"Replaced in {where}: {_moved(gone[0], new[0], longest)}"
    if gone and new:
        went, came = (shortened("; ".join(texts), longest // 2) for texts in (gone, new))
        return f"Replaced in {where}: {went} → {came}"
    if gone or new:
        texts = new or gone
        many = f"{len(texts):,} entries " if len(texts) > 1 else ""
        verb = f"Added {many}to" if new else f"Removed {many}from"
        return f"{verb} {where}: {shortened('; '.join(texts), longest)}"
    files = ", ".join(edit.document.removeprefix(f"{change.subject}/") for edit in change.edits)
    return shortened(f"Changed {where}" + (f" ({files})" if files not in ("", change.subject) else ""), longest)


def change_statements(change: Change) -> tuple[list[str], list[str]]:
    """The statements a Change took away and brought, one by one."""
    gone, new = list[str](), list[str]()
    for edit in change.edits:
        old, now = (Counter(_stated(change, edit.document, side)) for side in (edit.before, edit.after))
        gone += (old - now).elements()
        new += (now - old).elements()
    return gone, new


def _stated(change: Change, document: str, content: bytes | None) -> Sequence[str]:
    text = (content or b"").decode("utf-8", "backslashreplace").encode()
    if change.form is None:
        return rules_in(change.subject, document, text) if content is not None else ()
    return FORMATS[change.form].read(text).entries


def _moved(old: str, new: str, longest: int) -> str:
    """One statement before and after: the words that differ with a few before them, or both of them whole."""
    spans = word_diff(old, new)
    places = [at for at, span in enumerate(spans) if span.kind != "same" and (at == 0 or spans[at - 1].kind == "same")]
    kept = sum(len(span.text) for span in spans if span.kind == "same")
    if len(places) > _MOST_PLACES or kept * 2 < min(len(old), len(new)):
        return f"{shortened(old, longest // 2)} → {shortened(new, longest // 2)}"
    return "; ".join(_place(spans, at, longest // 2) for at in places)


def _place(spans: tuple[WordSpan, ...], at: int, longest: int) -> str:
    before = spans[at - 1].text.split()[-_WORDS_BEFORE:] if at else []
    here = [span for span in spans[at : at + 2] if span.kind != "same"]
    gone = "".join(span.text for span in here if span.kind == "gone")
    new = "".join(span.text for span in here if span.kind == "new")
    moved = f"{shortened(gone, longest) or 'nothing'} → {shortened(new, longest) or 'nothing'}"
    return " ".join([*before, moved])


def shortened(text: str, most: int = LONGEST) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[: most - 1].rstrip()}…"
