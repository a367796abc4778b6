"""`reverie bridge`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reverie.cli.options import Shell, common
from reverie.cli.render import console, counted, print_json, visible

if TYPE_CHECKING:
    from reverie.bridge.amendments import Batch
    from reverie.bridge.diff import Difference, DiffKind, StoreDiff
    from reverie.bridge.draft import Result
    from reverie.bridge.pull import Pulled
    from reverie.bridge.push import Pushed
    from reverie.bridge.source import RemoteDream
    from reverie.bridge.statements import StoreStatement

ANTHROPIC = "https://api.anthropic.com"
KEY_NAME = click.option(
    "--key-name", metavar="NAME", default="ANTHROPIC_API_KEY", show_default=True, help="Variable with the key."
)
TARGET = click.option("--target", metavar="NAME", help="The memory that facts go to.  [default: hermes or home]")
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


@click.group(name="bridge")
def command() -> None:
    """Bring in what a managed memory learned, as reviewed changes to skills and memory."""


@command.command(name="pull")
@click.argument("where", default=ANTHROPIC)
@KEY_NAME
@click.option(
    "--store", "stores", multiple=True, metavar="ID", help="Only this memory store; several times for several."
)
@click.option("--propose", "and_propose", is_flag=True, help="Put what new dreams changed into the review queue.")
@TARGET
@common
def pull(
    *, where: str, key_name: str, stores: tuple[str, ...], and_propose: bool, target: str | None, shell: Shell
) -> None:
    """Bring in memory stores, their versions and dreams; only what is new. Nothing is changed there.

    WHERE is the address of a server that speaks Anthropic's protocol (default https://api.anthropic.com), or a folder
    of exported Markdown or JSON. What was pulled lies in the home, below bridge/, without secrets.
    """
    with shell.opened() as house:
        pulled = house.bridge.pull(house.managed(where, key_name), stores)
        dreams = house.bridge.dreams()
        batches = house.bridge.propose_new(target=target or house.memory.default()) if and_propose else []
    if shell.json:
        told = [{"store": one.store.id, "name": one.store.name, "new_versions": one.versions} for one in pulled]
        print_json({"pulled": told, "batches": [_batch(one) for one in batches]})
        return
    show_pulled(pulled, dreams)
    for batch in batches:
        show_batch(batch)


def show_pulled(pulled: Sequence[Pulled], dreams: Sequence[RemoteDream]) -> None:
    for one in pulled:
        click.echo(visible(f"{one.store.id}  {counted(one.versions, 'new version')}  {one.store.name}"))
    for dream in [one for one in dreams if one.status == "completed" and one.output][-NEWEST:]:
        told = f"{dream.id} read {dream.store} and wrote {dream.output}: `reverie bridge diff {dream.id}`"
        click.echo(visible(told))
    if not pulled:
        click.echo("There is no memory store.")


@command.command(name="diff")
@click.argument("old")
@click.argument("new", required=False)
@click.option("--all", "every", is_flag=True, help="Also what was only reworded, moved or said twice.")
@common
def diff(*, old: str, new: str | None, every: bool, shell: Shell) -> None:
    """What an agent would do otherwise, given NEW instead of OLD.

    OLD and NEW are exported folders or JSON files, memory stores that were pulled (memstore_…), or one as it was at a
    time or a version (memstore_…@2026-05-12, memstore_…@memver_…). A dream (drm_…) alone: what it did. Statements are
    compared by what they say, wherever they stand.
    """
    with shell.opened() as house:
        found = house.bridge.diff(old, new)
    if shell.json:
        print_json(_as_json(found))
    else:
        show_diff(found, every)


@command.command(name="propose")
@click.argument("old")
@click.argument("new", required=False)
@TARGET
@common
def propose(*, old: str, new: str | None, target: str | None, shell: Shell) -> None:
    """Put every difference in behaviour into the review queue; nothing lands.

    Each goes to the rule it changes, to the skill it belongs to, or to memory. What is secret, private, unsafe, of one
    day, or said here already is kept out, with the reason. OLD and NEW are named as for `diff`.
    """
    with shell.opened() as house:
        batch = house.bridge.propose(old, new, target=target or house.memory.default())
    if shell.json:
        print_json(_batch(batch))
    else:
        show_batch(batch)


def _batch(batch: Batch) -> dict[str, Any]:
    return {"batch": batch.id, "results": [_told(one) for one in batch.results]}


def show_batch(batch: Batch) -> None:
    told = [_told(one) for one in batch.results]
    for one in told:
        click.echo(f"{visible(one['text'])}\n  {visible(one['became'])}")
    waiting = sum(one["proposal"] is not None for one in told)
    click.echo(f"{counted(waiting, 'proposal')} wait{'s' if waiting == 1 else ''}: `reverie review`.")
    if waiting:
        click.echo(f"To take back all that you approve of it: `reverie bridge undo {batch.id}`.")


@command.command(name="push")
@click.argument("store")
@click.option("--server", metavar="URL", default=ANTHROPIC, show_default=True, help="The server the store is on.")
@KEY_NAME
@click.option("--memory", metavar="TARGET", help="Also the entries of this memory: home, hermes, ….")
@common
def push(*, store: str, server: str, key_name: str, memory: str | None, shell: Shell) -> None:
    """Put every skill into a managed memory store, as documents below /reverie/; nothing else there is touched.

    What stands there already is not written again, and what someone else changed there meanwhile is not written over.
    """
    with shell.opened() as house:
        pushed = house.bridge.push(house.managed_server(server, key_name), store, memory)
    if shell.json:
        print_json(pushed)
    else:
        show_pushed(pushed)


def show_pushed(pushed: Pushed) -> None:
    for title, paths in (("Written", pushed.written), ("Removed", pushed.removed)):
        for path in paths:
            click.echo(f"{title}: {visible(path)}")
    for path, why in pushed.kept_back:
        click.echo(f"Kept back: {visible(path)}: {why}.")
    click.echo(f"{counted(pushed.unchanged, 'document')} unchanged.")


@command.command(name="undo")
@click.argument("batch")
@click.option("--because", default="", metavar="WHY", help="Why, for whoever asks later.")
@common
def undo(*, batch: str, because: str, shell: Shell) -> None:
    """Take back everything that was approved of one dream (drm_…) or one batch, newest first."""
    from reverie.bridge.amendments import all_landed
    from reverie.changes.landing_result import in_words

    with shell.opened() as house:
        undone = house.bridge.undo(batch, because)
    if shell.json:
        print_json([{"change": change.id, "outcome": in_words(outcome)} for change, outcome in undone])
    else:
        for change, outcome in undone:
            click.echo(f"{change.id}: {in_words(outcome)}")
    if not all_landed(undone):
        raise click.exceptions.Exit(1)


def _told(one: Result) -> dict[str, Any]:
    """What became of a difference, and the proposal if there is one."""
    from reverie.bridge.draft import Drafted, NoPlace, Postponed
    from reverie.bridge.route import SENTENCES
    from reverie.changes.queue import Waiting, said

    match one:
        case Drafted(route, Waiting(waits)):
            place = f"{waits.target_name}/{waits.suggestion.subject}"
            told = (route.text or route.difference.before, f"{waits.id} for {place}. {waits.suggestion.reason}")
            return dict(zip(RESULT, (*told, waits.id, None), strict=True))
        case Drafted(route, proposed):
            text, became, reason = route.text or route.difference.before, said(proposed), "not_proposed"
        case Postponed(route):
            became = "Later: as many proposals of this batch wait already as a person is shown in a day."
            text, reason = route.text or route.difference.before, "postponed"
        case NoPlace(difference, why):
            text, became, reason = difference.after or difference.before, f"Not proposed: {why}", "no_place"
        case _:
            here = f": {one.rule}" if one.rule else ""
            text, became = one.difference.after or one.difference.before, f"Kept out: {SENTENCES[one.reason]}{here}."
            reason = str(one.reason)
    return dict(zip(RESULT, (text, became, None, reason), strict=True))


def _as_json(found: StoreDiff) -> dict[str, Any]:
    return {
        "old": found.old.name,
        "new": found.new.name,
        "unchanged": found.unchanged,
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
    click.echo(f"{told or 'No difference'}; {counted(found.unchanged, 'statement')} unchanged.")
    shown = [one for one in found.differences if every or one.kind not in FOLDED]
    for kind, group in groupby(shown, key=lambda one: one.kind):
        click.echo("")
        out.print(TITLES[kind], style="bold")
        for where, some in groupby(group, key=_where):
            out.print(f"  {visible(where)}", style="dim", markup=False)
            for one in some:
                _show_one(one)
    if any(numbers[kind] for kind in _kinds() if kind in FOLDED) and not every:
        click.echo("\nWhat was only reworded, moved or said twice is left out: --all shows it.")


def _kinds() -> Iterable[DiffKind]:
    from reverie.bridge.diff import DiffKind

    return DiffKind


def _where(one: Difference) -> str:
    here = f"{one.place.path} · {one.place.heading}" if one.place.heading else one.place.path
    came = {part.path for part in one.old} - {part.path for part in one.new}
    return f"{here}, from {', '.join(sorted(came))}" if one.new and came else here


def _show_one(one: Difference) -> None:
    out = console()
    if one.kind == "moved":
        out.print(f"      {visible(one.after)}", markup=False)
        return
    for part in one.old:
        out.print(f"    - {visible(part.text)}", style="red", markup=False)
    for part in one.new:
        out.print(f"    + {visible(part.text)}", style="green", markup=False)
    if one.why:
        out.print(f"      {visible(one.why)}", style="dim", markup=False)


@command.command(name="export")
@click.argument("folder", type=click.Path(path_type=Path))
@common
def export(*, folder: Path, shell: Shell) -> None:
    """Everything as plain Markdown, git history and JSON Lines, in a new FOLDER that needs no Reverie to be read."""
    with shell.opened() as house:
        made = house.export(folder)
    if shell.json:
        print_json({**made.rows, "memories": made.memories, "repositories": made.repositories, "folder": str(folder)})
        return
    for name in made.repositories:
        click.echo(f"{folder / name}: the files, and their history (`git log -p`)")
    click.echo(f"{folder / 'stores'}: {counted(made.memories, 'memory file')}")
    for name, number in made.rows.items():
        click.echo(f"{folder / name}.jsonl: {counted(number, 'line')}")


@command.command(name="demo")
def demo() -> None:
    """The nightly loop from end to end: work, dream, pull, diff, propose, approve, push. On a sample, no key."""
    from reverie.cli.bridge_demo import show_demo

    show_demo()
