"""The Diary: a night told so that it can be read over breakfast."""

from __future__ import annotations

from collections.abc import Iterator

from reverie.dreams.dream import Dream, Fate, Judged
from reverie.safety.report import visible

_TITLES = {
    Fate.LANDED: "Changed",
    Fate.WAITING: "Waiting for you",
    Fate.NOT_DONE: "Not done",
    Fate.HELD_BACK: "Staged, not sure enough yet",
    Fate.NOT_KEPT: "Not kept",
}
_MOST_SHOWN = 12
_MOST_QUOTES = 3
_LONGEST_QUOTE = 200


def diary(dream: Dream) -> str:
    """Markdown. A quiet night is one line with its reason; what was staged or turned away follows."""
    lines = [f"# {dream.started_at:%d %B %Y, %H:%M} UTC · {dream.shelf}", "", summary(dream), ""]
    for fate, title in _TITLES.items():
        lines += _section(title, dream.of(fate), brief=fate in (Fate.HELD_BACK, Fate.NOT_KEPT))
    if dream.flaws:
        lines += ["## Could not be read", "", *(f"- {visible(flaw)}" for flaw in dream.flaws[:_MOST_SHOWN]), ""]
    return "\n".join(lines).rstrip() + "\n"


def summary(dream: Dream) -> str:
    """The night in one line."""
    if not dream.sessions:
        return "A quiet night: there was nothing new to read."
    read = f"read {_count(len(dream.sessions), 'session')}"
    left = f" ({dream.left:,} more wait for another night)" if dream.left else ""
    noticed = f"noticed {_count(dream.noticed, 'thing')}"
    themes = f" in {_count(dream.themes, 'theme')} across sessions" if dream.themes else ""
    if dream.quiet:
        return f"A quiet night: {read}{left}, {noticed}, and changed nothing, because {_why_nothing(dream)}."
    done = f"{_count(len(dream.changes), 'change')} landed, {_count(len(dream.proposals), 'proposal')} waiting"
    return f"{read.capitalize()}{left}, {noticed}{themes}: {done}."


def _why_nothing(dream: Dream) -> str:
    if not dream.judged:
        return "nothing that was said should outlive its day"
    held, rejected = len(dream.of(Fate.HELD_BACK)), len(dream.of(Fate.NOT_KEPT))
    parts = [f"{_count(held, 'matter')} not sure enough yet"] * bool(held)
    parts += [f"{_count(rejected, 'matter')} not worth keeping"] * bool(rejected)
    parts += ["what was left could not be done"] * bool(dream.of(Fate.NOT_DONE))
    return f"there {'was' if held + rejected == 1 else 'were'} {' and '.join(parts)}"


def _section(title: str, judged: list[Judged], brief: bool) -> Iterator[str]:
    if not judged:
        return
    yield from (f"## {title}", "")
    for one in judged[:_MOST_SHOWN]:
        yield from _brief(one) if brief else _whole(one)
    if len(judged) > _MOST_SHOWN:
        yield f"- and {len(judged) - _MOST_SHOWN} more"
    yield ""


def _brief(one: Judged) -> Iterator[str]:
    words = f"“{_shown(one.text)}”" if one.text else "Something"
    yield f"- {words}: {one.why}"


def _whole(one: Judged) -> Iterator[str]:
    score = f" · score {one.score.total:.2f}" if one.score else ""
    yield f"- **{one.verb.replace('_', ' ')}** in {one.document}{score}"
    if one.old:
        yield f"  - was: {_shown(one.old)}"
    if one.verb != "remove":
        yield f"  - {'now' if one.old else 'new'}: {_shown(one.text)}"
    yield f"  - {one.reason} {one.why}"
    for evidence in [each for each in one.evidence if each.weight == "support"][:_MOST_QUOTES]:
        yield f"  - {evidence.session_id}, turn {evidence.turn} ({evidence.origin}): “{_shown(evidence.quote)}”"


def _shown(text: str) -> str:
    flat = visible(" ".join(text.split()))
    return flat if len(flat) <= _LONGEST_QUOTE else flat[: _LONGEST_QUOTE - 1] + "…"


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"
