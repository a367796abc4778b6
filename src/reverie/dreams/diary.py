"""The Diary: a night told so that it can be read over breakfast."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reverie.deep.judging import NOT_OBEYED
from reverie.dreams.dream import Consulted, Dream, Fate, Judged
from reverie.rem.gates import SPENT
from reverie.safety.report import visible

_TITLES = {
    Fate.LANDED: "Changed",
    Fate.WAITING: "Waiting for you",
    Fate.WITHHELD: "Withheld: nobody was asked",
    Fate.NOT_DONE: "Not done",
    Fate.HELD_BACK: "Staged, not sure enough yet",
    Fate.NOT_KEPT: "Not kept",
}
_LATER = "Good, for another night: one does no more than this"
# What was done, and what is to be done: nobody has to know what the phases call it.
_DONE = {
    "promote": "**added** to", "supersede": "**replaced** in", "merge": "**merged** in", "remove": "**removed** from",
}  # fmt: skip
_WANTED = {
    "promote": "**to add** to", "supersede": "**to replace** in", "merge": "**to merge** in",
    "remove": "**to remove** from",
}  # fmt: skip
_SKILL = "**for a skill**,"
_MOST_SHOWN = 12
_MOST_QUOTES = 3
_LONGEST_QUOTE = 200
_MOST_THEMES, _LONGEST_NAME = 4, 40
_KNOWN = "redundant"


def diary(dream: Dream) -> str:
    """Markdown. A quiet night is one line with its reason; what was staged or turned away follows."""
    lines = [f"# {dream.started_at:%d %B %Y, %H:%M} UTC · {dream.shelf}", "", summary(dream), "", *_themes(dream)]
    for fate, title in _TITLES.items():
        judged = [one for one in dream.of(fate) if not (_waits_its_turn(one) or _was_planted(one))]
        lines += _section(title, judged, brief=fate in (Fate.HELD_BACK, Fate.NOT_KEPT, Fate.WITHHELD))
        if fate is Fate.NOT_DONE:
            lines += _section(_LATER, [one for one in dream.judged if _waits_its_turn(one)], brief=True)
    lines += _asked_to_be_remembered(dream)
    lines += _consulted(dream)
    if dream.flaws:
        lines += ["## Could not be read", "", *_shortened([f"- {visible(flaw)}" for flaw in dream.flaws]), ""]
    return "\n".join(lines).rstrip() + "\n"


def summary(dream: Dream) -> str:
    """The night in one line."""
    if not dream.sessions:
        return "A quiet night: there was nothing new to read."
    read = f"read {_count(len(dream.sessions), 'session')}"
    left = f" ({dream.left:,} more wait for another night)" if dream.left else ""
    noticed = f"noticed {_count(dream.noticed - _pages(dream), 'thing')}"
    again = f" ({_count(dream.duplicates, 'duplicate')})" if dream.duplicates else ""
    number = dream.themes - sum(one.sessions > 1 and _was_planted(one) for one in dream.judged)
    themes = f" in {_count(number, 'theme')} across sessions" if number > 0 else ""
    if dream.quiet:
        changed = f"changed nothing, because {_why_nothing(dream)}"
        return f"A quiet night: {read}{left}, {noticed}{again}{themes}, and {changed}."
    done = f"{_count(len(dream.changes), 'change')} landed, {_count(len(dream.proposals), 'proposal')} waiting"
    return f"{read.capitalize()}{left}, {noticed}{again}{themes}: {done}, {len(dream.of(Fate.HELD_BACK)):,} staged."


def _themes(dream: Dream) -> Iterator[str]:
    """What people came back to, in a line."""
    named = [f"“{_shown(one.text, _LONGEST_NAME)}” ({one.sessions:,})" for one in dream.about]
    if named:
        more = f", and {len(named) - _MOST_THEMES} more" if len(named) > _MOST_THEMES else ""
        yield from (f"Themes, in how many sessions: {', '.join(named[:_MOST_THEMES])}{more}.", "")


def _why_nothing(dream: Dream) -> str:
    if all(_was_planted(one) for one in dream.judged):
        return "nothing that was said should outlive its day"
    held = len(dream.of(Fate.HELD_BACK))
    rejected = [one for one in dream.of(Fate.NOT_KEPT) if not _was_planted(one)]
    known = sum(one.verb == _KNOWN for one in rejected)
    counts = {"staged (not sure enough yet)": held, "known already": known, "not worth keeping": len(rejected) - known}
    parts = [f"{_count(number, 'matter')} {how}" for how, number in counts.items() if number]
    parts += ["what was left could not be done"] * bool(dream.of(Fate.NOT_DONE))
    return f"there {'was' if held + len(rejected) == 1 else 'were'} {_listed(parts)}"


def _waits_its_turn(one: Judged) -> bool:
    return one.fate is Fate.HELD_BACK and SPENT in one.why


def _was_planted(one: Judged) -> bool:
    return one.reason == NOT_OBEYED


def _asked_to_be_remembered(dream: Dream) -> list[str]:
    """Text of tools that asked for it: that it was not done is worth knowing."""
    pages = _pages(dream)
    return [
        f"{_count(pages, 'page')} asked to be remembered; {'it was' if pages == 1 else 'they were'} not.",
        "",
    ] * bool(pages)


def _pages(dream: Dream) -> int:
    return sum(len(one.candidates) for one in dream.judged if _was_planted(one))


def _consulted(dream: Dream) -> Iterator[str]:
    """What models were asked, what it took, and what of their words was not taken."""
    if not (dream.consulted or dream.enough):
        return
    yield from ("## Asked of a model", "")
    for one in dream.consulted:
        unanswered = f", {one.failed:,} without a usable answer" if one.failed else ""
        yield f"- {one.phase} asked {', '.join(one.models)} {_times(one.calls)}{unanswered}: {_took(one)}"
    yield from _shortened([f"- not taken, {_times(times)}: {visible(why)}" for why, times in dream.dropped.items()])
    if dream.enough:
        yield f"- not asked any more: {visible(dream.enough)}"
    yield ""


def _took(one: Consulted) -> str:
    cached = f" ({one.cached:,} cached)" if one.cached else ""
    cost = "at a price that is not known" if one.dollars is None else f"for ${one.dollars:.4f}"
    share = f"; it saw {one.share:.0%} of the text" if one.share else ""
    return f"{one.tokens_in:,} tokens read{cached} and {one.tokens_out:,} written, {cost}{share}"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"


def _section(title: str, judged: list[Judged], brief: bool) -> Iterator[str]:
    if not judged:
        return
    yield from (f"## {title}", "")
    for one in judged[:_MOST_SHOWN]:
        yield from _brief(one) if brief else _whole(one)
    if len(judged) > _MOST_SHOWN:
        yield f"- and {len(judged) - _MOST_SHOWN} more; `reverie explain last` tells of all"
    yield ""


def _brief(one: Judged) -> Iterator[str]:
    words = f"“{_shown(one.text)}”" if one.text else "Something"
    doing = "which would remove" if one.verb == "remove" else "in the place of"
    old = f", {doing} “{_shown(one.old)}”" if one.old and one.fate is Fate.HELD_BACK else ""
    why = "" if _waits_its_turn(one) else f": {one.why}"  # its heading says so
    yield f"- {words}{old}{why}"


def _whole(one: Judged) -> Iterator[str]:
    score = f" · score {one.score.total:.2f}" if one.score else ""
    verb = (_DONE if one.fate is Fate.LANDED else _WANTED).get(one.verb, _SKILL)
    yield f"- {verb} {one.document}{score}"
    if one.old:
        yield f"  - was: {_shown(one.old)}"
    if one.verb != "remove":
        yield f"  - {'now' if one.old else 'new'}: {_shown(one.text)}"
    yield f"  - {one.reason} {one.why}"
    for evidence in [each for each in one.evidence if each.weight == "support"][:_MOST_QUOTES]:
        yield f"  - {evidence.session_id}, turn {evidence.turn} ({evidence.origin}): “{_shown(evidence.quote)}”"


def _shortened(lines: Sequence[str]) -> Iterator[str]:
    yield from lines[:_MOST_SHOWN]
    if len(lines) > _MOST_SHOWN:
        yield f"- and {len(lines) - _MOST_SHOWN} more"


def _listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def _shown(text: str, longest: int = _LONGEST_QUOTE) -> str:
    flat = visible(" ".join(text.split()))
    return flat if len(flat) <= longest else flat[: longest - 1] + "…"


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
