"""How `reverie bridge` shows what it found: for people, and as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from reverie.cli.render import console, terminal_safe
from reverie.core.strings import plural

if TYPE_CHECKING:
    from reverie.bridge.compare.diff import Difference, DiffKind, StoreDiff
    from reverie.bridge.compare.statements import StoreStatement
    from reverie.bridge.night import BridgeNight
    from reverie.bridge.propose.amendments import Batch
    from reverie.bridge.propose.draft import Result
    from reverie.bridge.pull import Pulled
    from reverie.bridge.push import Pushed
    from reverie.bridge.source import RemoteDream

NEWEST = 3  # dreams that are named after a pull
TITLES = {
    "added": "Added",
    "changed": "Changed",
    "removed": "Removed",
    "perhaps_only_reworded": "Perhaps only reworded",
    "reworded": "Only reworded",
    "moved": "Moved",
    "repeated": "Said twice",
}
RESULT = ("text", "became", "proposal", "kept_out")
FOLDED = ("reworded", "moved", "repeated")


def show_pulled(pulled: Sequence[Pulled], dreams: Sequence[RemoteDream]) -> None:
    for one in pulled:
        click.echo(terminal_safe(f"{one.store.id}  {plural(one.versions, 'new version')}  {one.store.name}"))
    show_pulled_dreams([one for one in dreams if one.status == "completed" and one.output][-NEWEST:])
    if not pulled:
        click.echo("There is no memory store.")


def show_pulled_dreams(dreams: Sequence[RemoteDream]) -> None:
    for dream in dreams:
        told = f"{dream.id} read {dream.store} and wrote {dream.output}: `reverie bridge diff {dream.id}`"
        click.echo(terminal_safe(told))


def show_night(night: BridgeNight) -> None:
    click.echo(f"{night.store}: {night.dreamt:,} of {plural(night.sessions, 'session')} dreamt.")
    for number, one in enumerate(night.links, 1):
        wrote = f" and wrote {one.output}" if one.output else ""
        click.echo(
            f"  {number}. {plural(len(one.sessions), 'session')}: {one.dream or 'not begun'} {one.status}{wrote}"
        )
    if night.done:
        click.echo(
            f"To see what changed: `reverie bridge pull`, then `reverie bridge diff {night.store} {night.output}`."
        )
    else:
        click.echo("Run it again to go on with the batch that is not done.")


def batch_as_json(batch: Batch) -> dict[str, Any]:
    return {"batch": batch.id, "note": batch.note, "results": [_told(one) for one in batch.results]}


def show_batch(batch: Batch) -> None:
    from reverie.bridge.propose.draft import DoubtedDraft

    told = [_told(one) for one in batch.results]
    for one in told:
        click.echo(f"{terminal_safe(one['text'])}\n  {terminal_safe(one['became'])}")
    if batch.note:
        click.echo(terminal_safe(batch.note))
    waiting = sum(one["proposal"] is not None for one in told)
    click.echo(f"{plural(waiting, 'proposal')} wait{'s' if waiting == 1 else ''}: `reverie review`.")
    if kept_back := [one for one in batch.results if isinstance(one, DoubtedDraft)]:
        number = plural(len(kept_back), "change")
        again = f"reverie bridge propose {terminal_safe(batch.compared)} --quarantined"
        click.echo(f"{number} quarantined. To have that in the queue, marked: `{again}`.")
    for name in batch.undone_by:
        click.echo(f"To take back all that you approve of it: `reverie bridge undo {name}`.")


def show_pushed(pushed: Pushed) -> None:
    for title, paths in (("Written", pushed.written), ("Removed", pushed.removed)):
        for path in paths:
            click.echo(f"{title}: {terminal_safe(path)}")
    for path, why in pushed.kept_back:
        click.echo(f"Kept back: {terminal_safe(path)}: {why}.")
    click.echo(f"{plural(pushed.unchanged, 'document')} unchanged.")


def _told(one: Result) -> dict[str, Any]:
    """The outcome of a difference, and the proposal if there is one."""
    from reverie.bridge.propose.amendments import waits
    from reverie.bridge.propose.backing import SENTENCES as SENTENCES_OF_DOUBT
    from reverie.bridge.propose.draft import DoubtedDraft, Drafted, NoPlace, Postponed
    from reverie.bridge.propose.route import SENTENCES
    from reverie.changes.queue import Waiting, proposal_outcome

    proposal: str | None = None
    reason: str | None
    match one:
        case Drafted(route, Waiting(new), together):
            text = " ".join(each.text for each in together) or route.text or route.difference.before
            became = f"{new.id} for {new.target_name}/{new.suggestion.subject}. {new.suggestion.reason}"
            proposal, reason = new.id, None
        case Drafted(route, proposed):
            text, became = route.text or route.difference.before, proposal_outcome(proposed)
            found = waits(proposed)
            proposal, reason = (found.id, None) if found else (None, "not_proposed")
        case Postponed(route):
            became = "Later: as many proposals of this batch wait already as a person is shown in a day."
            text, reason = route.text or route.difference.before, "postponed"
        case DoubtedDraft(route, doubt, backing):
            text, reason = route.text, str(doubt)
            look = f" Look at {', '.join(backing.sessions())}." if backing.sessions() else ""
            became = f"Quarantined: {SENTENCES_OF_DOUBT[doubt]}. {backing}{look}"
        case NoPlace(difference, why):
            text, became, reason = difference.after or difference.before, f"Not proposed: {why}", "no_place"
        case _:
            here = f": {one.rule or one.why}" if one.rule or one.why else ""
            text, became = one.difference.after or one.difference.before, f"Kept out: {SENTENCES[one.reason]}{here}."
            reason = str(one.reason)
    return dict(zip(RESULT, (text, became, proposal, reason), strict=True))


def diff_as_json(found: StoreDiff) -> dict[str, Any]:
    return {
        "old": found.old.name,
        "new": found.new.name,
        "unchanged": found.unchanged,
        "note": found.note,
        "differences": [
            {
                "kind": one.kind,
                "old": [_placed(part) for part in one.old],
                "new": [_placed(part) for part in one.new],
                "chance_only_reworded": one.reworded,
                "why": one.why,
            }
            for one in found.differences
        ],
    }


def _placed(one: StoreStatement) -> dict[str, str]:
    return {"text": one.text, "path": one.path, "heading": one.heading}


def show_diff(found: StoreDiff, every: bool) -> None:
    out = console()
    numbers = {kind: len(found.of(kind)) for kind in _kinds()}
    told = ", ".join(f"{number:,} {TITLES[kind].lower()}" for kind, number in numbers.items() if number)
    click.echo(f"{told or 'No difference'}; {plural(found.unchanged, 'statement')} unchanged.")
    shown = [one for one in found.differences if every or one.kind not in FOLDED]
    for kind, group in groupby(shown, key=lambda one: one.kind):
        click.echo("")
        out.print(TITLES[kind], style="bold")
        for where, some in groupby(group, key=_where):
            out.print(f"  {terminal_safe(where)}", style="dim", markup=False)
            for one in some:
                _show_one(one)
    if found.note:
        click.echo(f"\n{terminal_safe(found.note)}")
    if any(numbers[kind] for kind in _kinds() if kind in FOLDED) and not every:
        click.echo("\nWhat was only reworded, moved or said twice is left out: --all shows it.")


def _kinds() -> Iterable[DiffKind]:
    from reverie.bridge.compare.diff import DiffKind

    return DiffKind


def _where(one: Difference) -> str:
    here = f"{one.place.path} · {one.place.heading}" if one.place.heading else one.place.path
    came = {part.path for part in one.old} - {part.path for part in one.new}
    return f"{here}, from {', '.join(sorted(came))}" if one.new and came else here


def _show_one(one: Difference) -> None:
    out = console()
    if one.kind == "moved":
        out.print(f"      {terminal_safe(one.after)}", markup=False)
        return
    for part in one.old:
        out.print(f"    - {terminal_safe(part.text)}", style="red", markup=False)
    for part in one.new:
        out.print(f"    + {terminal_safe(part.text)}", style="green", markup=False)
    if one.why:
        out.print(f"      {terminal_safe(one.why)}", style="dim", markup=False)
