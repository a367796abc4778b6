"""`reverie sessions` and `search`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING

import click

from reverie.cli import shell as ui
from reverie.core.errors import BadInput
from reverie.core.ids import plural
from reverie.transcripts.records import SessionQuery

if TYPE_CHECKING:
    from rich.console import Console

    from reverie.app import Home
    from reverie.search.finder import Exchange
    from reverie.transcripts.add import Added
    from reverie.transcripts.add import Progress as Seen
    from reverie.transcripts.library import Library


SHOWN_FLAWS = 10
_workspace = click.option(
    "--workspace", metavar="NAME", help="Of this workspace of a server, instead of this home's own."
)
SHOWN_CHARS = 600


def _library(house: Home, workspace: str | None) -> Library:
    return house.sessions if workspace is None else house.tenants.sessions_in(workspace)


@click.group(name="sessions")
def sessions() -> None:
    """Bring in the transcripts agents leave behind; list, show, remove them."""


@sessions.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--all", "everything", is_flag=True, help="Every harness found under the home directory.")
@click.option("--refresh", is_flag=True, help="Read every known source again.")
@click.option("--once", is_flag=True, help="Do not remember these paths as sources.")
@click.option("--reader", metavar="NAME", help="Read as this format instead of recognising it.")
@click.option("--user", metavar="NAME", help="Whose transcripts these are, where they do not say.")
@click.option("--again", is_flag=True, help="Read files that look unchanged, too.")
@_workspace
@ui.common
def add(
    *,
    paths: tuple[str, ...],
    everything: bool,
    refresh: bool,
    once: bool,
    reader: str | None,
    user: str | None,
    again: bool,
    workspace: str | None,
    shell: ui.Shell,
) -> None:
    """Bring in transcripts: files, folders, or --all. Adding twice adds once; what grew adds what is new.

    The paths are remembered as sources: --refresh, and every dream, reads what is new in them. So it does in the usual
    folders of the harnesses on this machine, unless the setting `sources` is `added`.
    """
    if not (paths or everything or refresh):
        raise click.UsageError("Name a file or folder, or use --all (every harness found) or --refresh.")
    reports: dict[str, Added] = {}
    with shell.opened() as house:
        chosen, library = [*paths, *(_places(house, shell.json) if everything else [])], _library(house, workspace)
        with _bar(shell.json) as (watch, indexing):
            for path in chosen:
                reports[path] = library.add(path, user=user, reader=reader, remember=not once, again=again, watch=watch)
            if refresh:
                reports["known sources"] = library.refresh(watch=watch)
            if workspace is None:
                house.index.catch_up(indexing)
    if shell.printed_json(reports):
        return
    for path, report in reports.items():
        if len(reports) > 1:
            click.echo(f"{path}:")
        fates = ", ".join(f"{count:,} {fate}" for fate, count in report.fates.most_common()) or "none"
        click.echo(f"{plural(report.sessions, 'session')} ({fates}), {plural(report.turns, 'turn')} added.")
        if report.noise:
            click.echo(f"{plural(report.noise, 'turn')} marked as harness noise.")
        if report.redacted:
            kinds = ", ".join(f"{count} {kind}" for kind, count in report.redacted.most_common())
            click.echo(f"{plural(report.redacted.total(), 'secret')} redacted before storing: {kinds}.")
        if report.unchanged_files or report.other_files:
            same, others = plural(report.unchanged_files, "file"), plural(report.other_files, "file")
            click.echo(f"{same} unchanged, {others} not a transcript.")
        flaws = [ui.terminal_safe(f"  left out: {one.path}, {one.where}: {one.why}") for one in report.flaws]
        ui.echo_some(flaws, SHOWN_FLAWS)


@sessions.command()
@click.argument("event", required=False)
@click.option("--agent", required=True, metavar="NAME", help="Whose hook calls: claude, codex, …")
@click.option("--night", is_flag=True, help="Then begin a night in the background, if one is due.")
@ui.common
def queue(*, event: str | None, agent: str, night: bool, shell: ui.Shell) -> None:
    """Queue a session that ended for the next night. Agents call it, by the hook that `reverie install` sets.

    EVENT is what the agent tells its hook, as JSON; it is read from standard input if not given.
    """
    try:
        said = json.loads(event if event is not None else sys.stdin.read())
    except ValueError as error:
        raise BadInput(f"The event is not JSON: {error}.", expected="what an agent tells its hook") from error
    if not isinstance(said, dict):
        raise BadInput("The event is not a JSON object.", expected="what an agent tells its hook")
    with shell.opened() as house:
        ended = house.queue_session(agent, said)
        if night:
            house.begin_night_if_due()
    shell.printed_json(ended)


def _places(house: Home, quiet: bool) -> list[str]:
    from reverie.transcripts.readers import readers

    found = [house.config.place(place) for reader in readers() for place in reader.places]
    there = [str(path) for path in found if path.exists()]
    if not quiet:
        for path in there:
            click.echo(f"Found {path}")
        if not there:
            click.echo(f"No harness found. Looked in: {', '.join(map(str, found))}")
    return there


@contextmanager
def _bar(quiet: bool) -> Iterator[tuple[Callable[[Seen], None], Callable[[int], None]] | tuple[None, None]]:
    """Progress of reading, and of indexing, shown only where someone can see it."""
    if quiet:
        yield None, None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    counted = TextColumn("{task.fields[sessions]:,} sessions")
    columns = TextColumn("{task.description}"), BarColumn(), counted, TimeElapsedColumn()
    shown = Progress(*columns, transient=True, console=Console(stderr=True))
    task = shown.add_task("Reading", total=None, sessions=0)

    def reading(seen: Seen) -> None:
        shown.update(task, completed=seen.done, total=seen.total or None, sessions=seen.sessions)

    def indexing(done: int) -> None:
        shown.update(task, description="Indexing", completed=0, total=None, sessions=done)

    with shown if shown.console.is_terminal else nullcontext():  # elsewhere it would leave an empty line
        yield reading, indexing


@sessions.command(name="list")
@click.option("--user", metavar="NAME", help="Only this person's.")
@click.option("--harness", metavar="NAME", help="Only this harness's, such as claude-code.")
@click.option("--project", metavar="NAME", help="Only work in this repository or folder.")
@click.option("--since", type=ui.DateOrAge(), help="Started at or after: a date, or an age such as 7d.")
@click.option("--until", type=ui.DateOrAge(), help="Started before.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True)
@_workspace
@ui.with_pager
def list_(
    *,
    user: str | None,
    harness: str | None,
    project: str | None,
    since: datetime | None,
    until: datetime | None,
    limit: int,
    workspace: str | None,
    shell: ui.Shell,
) -> None:
    """The sessions there are, newest first."""
    with shell.opened() as house:
        wanted = SessionQuery(harness, since, until, limit, project)
        found = list(_library(house, workspace).find(user=user, wanted=wanted))
    kept = ("user", "revision", "turns", "source")
    if shell.printed_json([asdict(one.head) | {name: getattr(one, name) for name in kept} for one in found]):
        return
    if not found:
        click.echo("No sessions. Bring some in with `reverie sessions add PATH` or `--all`.")
    for stored in found:
        head = stored.head
        click.echo(
            ui.terminal_safe(f"{ui.day(head.started_at)}  {head.id}  {plural(stored.turns, 'turn')}  {stored.user}")
        )
        about = dict.fromkeys(filter(None, (head.project, head.agent, head.title)))  # the agent may be the project
        if about:
            click.echo(f"    {ui.one_line(' · '.join(about), 100)}")


@sessions.command()
@click.argument("session_id", shell_complete=ui.ids("session"))
@click.option("--user", metavar="NAME", help="Whose, if several people have a session of that id.")
@click.option("--revision", type=click.IntRange(min=1), help="An earlier revision, if the source was rewritten.")
@click.option("--noise", is_flag=True, help="Show harness noise as well.")
@_workspace
@ui.with_pager
def show(
    *, session_id: str, user: str | None, revision: int | None, noise: bool, workspace: str | None, shell: ui.Shell
) -> None:
    """One session, turn by turn."""
    with shell.opened() as house:
        name = house.id_of("session", session_id, workspace=workspace, user=user)
        session = _library(house, workspace).get(name, user=user, revision=revision)
    turns = [asdict(turn.said) | {"turn": turn.number, "origin": turn.origin} for turn in session.turns]
    if shell.printed_json(asdict(session.head) | {"revision": session.revision, "turns": turns}):
        return
    out = ui.console()
    out.print(f"{ui.terminal_safe(session.id)}  {ui.day(session.head.started_at)}  revision {session.revision}")
    if session.head.project:
        out.print(ui.terminal_safe(f"project {session.head.project}"))
    for turn in session.turns:
        if turn.noise and not noise:
            continue
        who = ui.terminal_safe(f"{turn.role} {turn.said.name or ''}").strip()
        mark = f" [noise: {turn.noise}]" if turn.noise else ""
        out.print(f"\n{turn.number}  {who} ({turn.origin}){mark}", style="bold")
        out.print(ui.terminal_safe(turn.said.whole))
    quiet = sum(1 for turn in session.turns if turn.noise)
    if quiet and not noise:
        click.echo(f"\n{plural(quiet, 'turn')} of harness noise not shown (--noise shows them).")


@sessions.command()
@click.argument("session_ids", nargs=-1, required=True, shell_complete=ui.ids("session"))
@click.option("--user", metavar="NAME", help="Whose, if several people have a session of that id.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@_workspace
@ui.common
def remove(
    *, session_ids: tuple[str, ...], user: str | None, yes: bool, workspace: str | None, shell: ui.Shell
) -> None:
    """Take sessions out: their words are deleted here, the source file is left alone.

    A remembered source does not bring them back; `reverie sessions add FILE` does. What was quoted from them and
    learned from them stays: `reverie erase --session ID` takes that out, too, and keeps it out.
    """
    with shell.opened() as house:
        library = _library(house, workspace)
        names = [house.id_of("session", one, workspace=workspace, user=user) for one in session_ids]
        there = [library.get(name, user=user) for name in dict.fromkeys(names)]
        if not yes:
            turns = sum(len(session.turns) for session in there)
            click.confirm(f"Remove {plural(len(there), 'session')} ({plural(turns, 'turn')})?", abort=True)
        for session in there:
            library.remove(session.id, user=user)
        if workspace is None:  # only this home's own transcripts are searched here
            house.index.catch_up()
    shell.tell(
        {"removed": [session.id for session in there]},
        f"Removed {plural(len(there), 'session')}. What was learned from them stays; `reverie erase` erases it.",
    )


@sessions.command()
@_workspace
@ui.common
def sources(*, workspace: str | None, shell: ui.Shell) -> None:
    """The paths that are read again at every refresh."""
    with shell.opened() as house:
        found = _library(house, workspace).sources()
    if shell.printed_json(found):
        return
    if not found:
        click.echo("No sources: no harness was found, and nothing was added. `reverie sessions add PATH` adds one.")
    for source in found:
        how = "found here, not added" if source.standard else source.user
        click.echo(f"{ui.terminal_safe(source.path)}  ({source.reader or 'recognised'}, {how})")


@sessions.command()
@click.argument("path")
@_workspace
@ui.common
def forget(*, path: str, workspace: str | None, shell: ui.Shell) -> None:
    """Stop reading a remembered source. What it brought stays; `reverie erase` erases it."""
    with shell.opened() as house:
        library = _library(house, workspace)
        library.forget(path)
        still = path in {source.path for source in library.sources()}
    lines = [
        f"Forgot {path}. Its sessions stay; `reverie sessions remove` takes them out, `reverie erase` erases them."
    ]
    if still:
        lines.append('It is where a harness keeps its transcripts, and is read until you set `sources = "added"`.')
    shell.tell({"forgotten": path}, *lines)


@click.command(name="search")
@click.argument("question", nargs=-1, required=True)
@click.option("--user", metavar="NAME", help="Only this person's sessions; nothing of anyone else is looked at.")
@click.option("--harness", metavar="NAME", help="Only this harness's, such as claude-code.")
@click.option("--role", type=click.Choice(["user", "assistant", "tool", "system", "developer"]))
@click.option("--since", type=ui.DateOrAge(), help="Said at or after: a date, or an age such as 7d.")
@click.option("--until", type=ui.DateOrAge(), help="Said before.")
@click.option("--limit", type=click.IntRange(1, 1000), default=5, show_default=True)
@click.option("--explain", is_flag=True, help="Say why each turn ranked where it did.")
@ui.with_pager
def search(
    *,
    question: tuple[str, ...],
    user: str | None,
    harness: str | None,
    role: str | None,
    since: datetime | None,
    until: datetime | None,
    limit: int,
    explain: bool,
    shell: ui.Shell,
) -> None:
    """Find the turns that answer a question, each with the exchange around it, and what memory and skills say of it."""
    from reverie.search.finder import MAX_LIMIT, exchanges

    asked = " ".join(question)
    with shell.opened() as house:
        most = limit if shell.json else min(4 * limit, MAX_LIMIT)  # several stand in one exchange
        hits = house.search(asked, user=user, harness=harness, role=role, since=since, until=until, limit=most)
        when = house.search.about_time(asked, hits) if since is until is None else ""
        narrowed = any((user, harness, role, since, until))  # what stands somewhere was said by nobody at no time
        stated = [] if narrowed else house.search_statements(asked)
        missed = not hits and not stated
        hint = missed and ui.no_sessions_hint(house)
    if shell.printed_json([*hits, *stated]):
        return
    if when:
        click.echo(when)
    if missed:
        wider = "Leave out --user, --harness, --role, --since and --until to look at everything."
        other = "Try fewer words, or others that may have been used then: it looks at sessions, memory and skills."
        click.echo(f"Nothing found. {hint or (wider if narrowed else other)}")
    out = ui.console()
    for place, exchange in enumerate(exchanges(hits)[:limit], 1):
        show_exchange(out, place, exchange, asked, explain)
    for one in stated:
        out.print(f"{one.kind}  {ui.terminal_safe(one.where)}", style="bold")
        ui.print_sentence(out, one.text)


def show_exchange(out: Console, place: int, exchange: Exchange, question: str, explain: bool = False) -> None:
    """In a terminal the passage of a long turn that answers; in a pipe all of it."""
    from reverie.search.finder import Hit, passage

    best = exchange.best
    title = f"  {ui.one_line(best.title, 60)}" if best.title else ""
    out.print(f"{place}. {ui.terminal_safe(best.session_id)} turn {best.turn}  {ui.day(best.at)}{title}", style="bold")
    width = max(20, out.width - 4)
    for one in exchange.turns:
        if isinstance(one, Hit):
            text = passage(one.text, question, SHOWN_CHARS) if out.is_terminal else one.text
            out.print(f" ▸ {ui.terminal_safe(one.name or one.role)}: {ui.terminal_safe(text)}")
        else:
            out.print(f"   {ui.one_line(f'{one.said.name or one.role}: {one.said.whole}', width)}", style="dim")
    for hit in exchange.hits if explain else ():
        parts = ", ".join(f"{name} {value:+.2f}" for name, value in hit.why)
        out.print(f"   why turn {hit.turn}: {hit.score:.2f} = {parts}", style="italic")
    out.print()
