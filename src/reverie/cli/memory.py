"""`reverie memory`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reverie.cli import shell as ui
from reverie.core.errors import ReverieError
from reverie.core.ids import plural
from reverie.memory.operation import Add, Operation, Remove, Replace

if TYPE_CHECKING:
    from reverie.app import Home
    from reverie.memory.library import Entry

TARGET = click.option(
    "--target", metavar="NAME", help="Which target, or a path; Hermes' or the home's own if not said."
)
DOCUMENT = click.option("--document", metavar="NAME", help="Which document; the target's first if not said.")
_GROUNDS = ("via", "origin", "approved_by", "because", "evidence")  # of an entry, as they are exported


@click.group(name="memory")
def memory() -> None:
    """Memory of agents: list it, change it, take it along. Every change can be undone."""


@memory.command(name="list")
@click.option("--target", metavar="NAME", help="Which target; all that are there if not said.")
@click.option("--ids", is_flag=True, help="Show each entry's id and since when it stands there.")
@ui.with_pager
def list_(*, target: str | None, ids: bool, shell: ui.Shell) -> None:
    """The entries in the targets, document by document, and how full each is."""
    with shell.opened() as house:
        names = [target] if target else house.memory.present()
        targets = {}
        for name in names:
            try:
                targets[name] = list(house.memory.entries(name)), house.memory.usage(name)
            except ReverieError as error:
                if target:
                    raise
                click.echo(f"{name}: {error}", err=True)
    if shell.printed_json({name: {"entries": entries, "usage": usage} for name, (entries, usage) in targets.items()}):
        return
    if not targets:
        click.echo("No memory found here. `--target PATH` looks at any Markdown file; `reverie memory add` begins one.")
    for name, (entries, usage) in targets.items():
        for document in usage:
            limit = f" of {document.budget:,}" if document.budget else ""
            click.echo(f"{name}/{document.document}  {document.characters:,}{limit} characters")
            for entry in entries:
                if entry.document == document.document:
                    if ids:
                        since = f"since {entry.since:%Y-%m-%d}" if entry.since else f"before {entry.seen:%Y-%m-%d}"
                        click.echo(f"  {entry.id}  {since}{'  critical' if entry.critical else ''}")
                    first, *rest = ui.terminal_safe(entry.text).splitlines() or [""]
                    click.echo("\n".join([f"  - {first}", *(f"    {line}" for line in rest)]))


@memory.command()
@click.argument("text")
@TARGET
@DOCUMENT
@ui.BECAUSE
@ui.DESPITE
@ui.common
def add(
    *, text: str, target: str | None, document: str | None, because: str, despite_findings: bool, shell: ui.Shell
) -> None:
    """Add an entry."""
    with shell.opened() as house:
        place = _place(house, target, document)
        _write(house, shell, place, [Add(place[1], text)], because, despite_findings=despite_findings)


@memory.command()
@click.argument("entry", shell_complete=ui.ids("entry"))
@click.argument("text")
@TARGET
@ui.BECAUSE
@ui.DESPITE
@ui.YES
@ui.common
def replace(
    *, entry: str, text: str, target: str | None, because: str, despite_findings: bool, yes: bool, shell: ui.Shell
) -> None:
    """Replace an entry, named by its id or by words that stand in no other."""
    with shell.opened() as house:
        chosen, found = _entry(house, target, entry)
        change = Replace(found.document, found.sha256, text)
        _write(house, shell, (chosen, found.document), [change], because, despite_findings=despite_findings, yes=yes)


@memory.command()
@click.argument("entry", shell_complete=ui.ids("entry"))
@TARGET
@ui.BECAUSE
@ui.YES
@ui.common
def remove(*, entry: str, target: str | None, because: str, yes: bool, shell: ui.Shell) -> None:
    """Remove an entry, named by its id or by words that stand in no other. `reverie undo` brings it back."""
    with shell.opened() as house:
        chosen, found = _entry(house, target, entry)
        _write(house, shell, (chosen, found.document), [Remove(found.document, found.sha256)], because, yes=yes)


@memory.command()
@click.argument("entry", shell_complete=ui.ids("entry"))
@click.option("--to", default="", metavar="PROVIDER", help="Which broader memory; the only one there is if not said.")
@TARGET
@ui.BECAUSE
@ui.YES
@ui.common
def demote(*, entry: str, to: str, target: str | None, because: str, yes: bool, shell: ui.Shell) -> None:
    """Move an entry out of what every session reads into a broader memory (`providers`). It is written there first;
    `reverie undo` brings it back here."""
    with shell.opened() as house:
        chosen, found = _entry(house, target, entry)
        kept = house.providers.add(found.text, to)
        click.echo(f"Written to {kept.provider} as {kept.id}.", err=True)
        why = because or "demoted to a broader memory"
        _write(house, shell, (chosen, found.document), [Remove(found.document, found.sha256)], why, yes=yes)


@memory.command()
@click.argument("question")
@ui.common
def elsewhere(*, question: str, shell: ui.Shell) -> None:
    """Search the broader memories of the settings (`providers`)."""
    with shell.opened() as house:
        found, failed = house.providers.search(question), house.providers.failed
    for name, why in failed.items():
        click.echo(f"{name} was not asked: {why}", err=True)
    if shell.printed_json(found):
        return
    for one in found:
        click.echo(f"{one.provider}  {one.id}  {ui.one_line(ui.terminal_safe(one.text), 100)}")
    if not found:
        click.echo("Nothing found. `providers` in reverie.toml names the broader memories that are asked.")


@memory.command()
@click.argument("entry", shell_complete=ui.ids("entry"))
@click.option("--off", is_flag=True, help="No longer.")
@TARGET
@ui.common
def critical(*, entry: str, off: bool, target: str | None, shell: ui.Shell) -> None:
    """Mark an entry as critical: changing or removing it always asks a person. `--target memstore_…` is a memory store,
    of which an entry is one memory."""
    with shell.opened() as house:
        if target and target.startswith("memstore_"):
            rule = house.history.rule(target, entry)
            house.review.mark(rule, critical=not off)
            name, text = rule.id, rule.text
        else:
            _, found = _entry(house, target, entry)
            house.review.mark(found.id, critical=not off)
            name, text = found.id, found.text
    click.echo(f"{name} is {'no longer ' if off else ''}critical: {ui.one_line(ui.terminal_safe(text), 80)}")


@memory.command()
@click.argument("document", type=click.Path())
@click.option("--as-of", type=ui.DateOrAge(), help="As it was then: a date, a time, or an age such as 7d.")
@ui.with_pager
def show(*, document: str, as_of: datetime | None, shell: ui.Shell) -> None:
    """The exact text of a document, now or at any time since Reverie first saw it.

    Of one that is gone its last known text is shown, said to be that, and the exit code is 1.
    """
    with shell.opened() as house:
        ui.look(house)
        named = house.document_of(document)
        content = house.history.content(named, as_of)
        first_seen = None if content is not None else house.history.first_seen(named)
        last, gone = (None, "") if as_of else _last_known(house, named, content)
    there = None if gone else content
    if shell.json:
        ui.print_json({"document": document, "as_of": as_of, "text": there, "last_known_text": last})
    elif last is not None:
        click.echo(f"{document} {gone}\nIts last known text:", err=not sys.stdout.isatty())
        _show_text(last)
    elif there is None:
        click.echo(ui.why_absent(document, first_seen, as_of), err=True)
    else:
        _show_text(there)
    if there is None:
        sys.exit(1)


def _last_known(house: Home, named: str, content: bytes | None) -> tuple[bytes | None, str]:
    """The last text of a document that is gone, and the words for that; None and "" if it is there."""
    file = house.file_of(*house.history.place(named))
    if content is not None:  # its folder is away, too, and may come back: nothing was recorded
        return (content, f"is not there now: there is no {file}.") if file and not file.exists() else (None, "")
    if last := house.history.last_text(named):
        text, change = last
        return text, f"is gone since {ui.day(change.settled_at)} UTC; `reverie undo {change.id}` brings it back."
    return None, ""


def _show_text(content: bytes) -> None:
    """To the last byte, but in a terminal, which it must not drive."""
    shown = ui.terminal_safe(content.decode("utf-8", "backslashreplace")) if sys.stdout.isatty() else content
    click.echo(shown, nl=sys.stdout.isatty() and not content.endswith(b"\n"))


@memory.command(name="import")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@TARGET
@DOCUMENT
@ui.BECAUSE
@ui.DESPITE
@ui.common
def import_(
    *, file: Path, target: str | None, document: str | None, because: str, despite_findings: bool, shell: ui.Shell
) -> None:
    """Add the entries of a file: an export of ours, a Hermes MEMORY.md, or any Markdown list. One change, one undo."""
    from reverie.memory.formats import entries_in

    with shell.opened() as house:
        place = _place(house, target, document)
        entries = [Add(place[1], text) for text in entries_in(file.read_bytes(), file.name, document)]
        why = because or f"imported from {file.name}"
        _write(house, shell, place, entries, why, despite_findings=despite_findings)


@memory.command()
@TARGET
@ui.common
def export(*, target: str | None, shell: ui.Shell) -> None:
    """Print every entry of a target with its id, since when, who let it in and on what evidence, as JSON."""
    with shell.opened() as house:
        ui.look(house)
        chosen = target or house.memory.default()
        rules = [rule for rule in house.history.rules() if rule.target == chosen]
    entries = [
        {
            **{name: getattr(rule, name) for name in ("text", "document", "id", "since", "seen", "critical")},
            "change": rule.change.id,
            **{name: getattr(rule.change.grounds, name) for name in _GROUNDS},
        }
        for rule in rules
    ]
    ui.print_json({"reverie": "memory", "target": chosen, "entries": entries})
    click.echo(f"{plural(len(rules), 'entry') if len(rules) == 1 else f'{len(rules):,} entries'}.", err=True)


def _place(house: Home, target: str | None, document: str | None) -> tuple[str, str]:
    chosen = target or house.memory.default()
    return chosen, document or house.memory.target(chosen).places()[0].document


def _entry(house: Home, target: str | None, typed: str) -> tuple[str, Entry]:
    chosen = target or house.memory.default()
    return chosen, house.memory.entry(chosen, house.id_of("entry", typed) if typed.startswith("ent_") else typed)


def _write(
    house: Home,
    shell: ui.Shell,
    place: tuple[str, str],
    operations: Sequence[Operation],
    because: str,
    *,
    despite_findings: bool = False,
    yes: bool = False,
) -> None:
    land = partial(house.review.write, *place, operations, because, despite_findings=despite_findings)
    ui.land_confirmed(house, land, shell, yes=yes)
