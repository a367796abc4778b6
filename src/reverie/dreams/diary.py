"""The Diary: a night told so that it can be read over breakfast."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reverie.core.ids import plural
from reverie.dreams.dream import Consulted, Dream, Fate, Judged
from reverie.safety.report import visible

_TITLES = {
    Fate.LANDED: "Changed",
    Fate.WAITING: "Waiting for you",
    Fate.STILL_WAITING: "Still waiting for your decision: {}",
    Fate.WITHHELD: "Withheld: nobody was asked",
    Fate.NOT_DONE: "Not done",
    Fate.HELD_BACK: "Held for another night",
    Fate.NOT_KEPT: "Not kept",
}
_VERBS = {
    "add": ("Added to", "Add to"),
    "replace": ("Replaced in", "Replace in"),
    "merge": ("Merged in", "Merge in"),
    "remove": ("Removed from", "Remove from"),
    "skill_new": ("New skill", "New skill"),
    "skill_amend": ("Skill", "Skill"),
}
_SHORT = (Fate.STILL_WAITING, Fate.HELD_BACK, Fate.NOT_KEPT, Fate.WITHHELD)
_MOST_SHOWN, _MOST_QUOTES, _LONGEST_QUOTE = 12, 3, 200


def diary(dream: Dream) -> str:
    """Markdown. A quiet night is one line with its reason; what was held or refused follows."""
    lines = [f"# {dream.started_at:%d %B %Y, %H:%M} UTC · {dream.target}", "", night_summary(dream), ""]
    lines += [f"{line}\n" for line in dream.reduced]
    for fate, title in _TITLES.items():
        lines += _section(title, dream.of(fate), short=fate in _SHORT)
    lines += _consulted(dream)
    if dream.flaws:
        lines += ["## Could not be read", "", *_shortened([f"- {visible(flaw)}" for flaw in dream.flaws]), ""]
    return "\n".join(lines).rstrip() + "\n"


def night_summary(dream: Dream) -> str:
    """The night in one line."""
    if not dream.sessions:
        return "A quiet night: there was nothing new to read."
    left = f" ({dream.left:,} more wait for another night)" if dream.left else ""
    read = f"read {plural(len(dream.sessions), 'session')}{left}, noticed {plural(dream.noticed, 'thing')}"
    held, refused = len(dream.of(Fate.HELD_BACK)), len(dream.of(Fate.NOT_KEPT))
    rest = f"{held:,} held, {refused:,} not kept"
    if dream.quiet:
        return f"A quiet night: {read}, and changed nothing ({rest})."
    done = f"{plural(len(dream.changes), 'change')} landed, {plural(len(dream.proposals), 'proposal')} waiting"
    return f"{read[:1].upper()}{read[1:]}: {done}, {rest}."


def _section(title: str, judged: Sequence[Judged], short: bool) -> Iterator[str]:
    if not judged:
        return
    yield from (f"## {title.format(len(judged))}", "")
    for one in judged[:_MOST_SHOWN]:
        yield from _in_short(one) if short else _in_full(one)
    if len(judged) > _MOST_SHOWN:
        yield f"- and {len(judged) - _MOST_SHOWN} more; `reverie explain last` tells of all"
    yield ""


def _in_short(one: Judged) -> Iterator[str]:
    words = f"“{_shown(one.text)}”" if one.text else f"Remove “{_shown(one.old)}”" if one.old else "Something private"
    old = f", in the place of “{_shown(one.old)}”" if one.old and one.text else ""
    yield f"- {words}{old}: {one.why or one.reason}"


def _in_full(one: Judged) -> Iterator[str]:
    score = f" · score {one.score.total:.2f}" if one.score else ""
    done, wanted = _VERBS.get(one.verb, ("Changed", "Change"))
    yield f"- **{done if one.fate is Fate.LANDED else wanted}** {one.document}{score}"
    if one.old:
        yield f"  - was: {_shown(one.old)}"
    if one.verb != "remove" and one.text:
        yield f"  - {'now' if one.old else 'new'}: {_shown(one.text)}"
    yield f"  - {' '.join(part for part in (one.reason, one.why) if part)}"
    for evidence in [each for each in one.evidence if each.weight == "support"][:_MOST_QUOTES]:
        yield f"  - {evidence.session_id}, turn {evidence.turn} ({evidence.origin}): “{_shown(evidence.quote)}”"


def _consulted(dream: Dream) -> Iterator[str]:
    """Say what models were asked, what it took, and what of their answers was not read."""
    if not (dream.consulted or dream.enough or dream.dropped):
        return
    yield from ("## The model", "")
    for one in dream.consulted:
        unanswered = f", {one.failed:,} without a usable answer" if one.failed else ""
        times = "once" if one.calls == 1 else f"{one.calls:,} times"
        yield f"- {one.phase}: {', '.join(one.models)} was asked {times}{unanswered}; {_took(one)}"
    yield from _shortened([f"- {visible(why)}" for why in dream.dropped])
    if dream.enough:
        yield f"- The model was not asked any more: {visible(dream.enough)}"
    yield ""


def _took(one: Consulted) -> str:
    cached = f" ({one.cached:,} cached)" if one.cached else ""
    cost = "at a price that is not known" if one.dollars is None else f"for ${one.dollars:.4f}"
    return f"{one.tokens_in:,} tokens read{cached} and {one.tokens_out:,} written, {cost}"


def _shortened(lines: Sequence[str]) -> Iterator[str]:
    yield from lines[:_MOST_SHOWN]
    if len(lines) > _MOST_SHOWN:
        yield f"- and {len(lines) - _MOST_SHOWN} more"


def _shown(text: str, longest: int = _LONGEST_QUOTE) -> str:
    flat = visible(" ".join(text.split()))
    return flat if len(flat) <= longest else flat[: longest - 1] + "…"
