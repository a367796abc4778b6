"""`reverie dream` and `compact`, and how far a night has come, on a terminal, while it runs. `reverie cron` and
`worker`: nights by the system's own means, and nights that are queued.
"""

from __future__ import annotations

import shutil
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, TypeVar

import click

from reverie.cli import shell as ui
from reverie.cli.status import propose_all
from reverie.core.errors import BadInput, ReverieError
from reverie.core.ids import plural

if TYPE_CHECKING:
    from reverie.app import Home
    from reverie.dreams.dream import Dream, Mode, Night
    from reverie.dreams.records import SessionFilter
    from reverie.dreams.run.runner import Estimate


EVERY_SECONDS = 0.3
Found = TypeVar("Found")
_CLEAR = "\r\x1b[2K"
SYSTEMD = click.option("--systemd", is_flag=True, help="A systemd timer instead of a line in your crontab.")


@contextmanager
def shown_progress(house: Home, *, quiet: bool) -> Iterator[None]:
    """One line that is written over and gone at the end. Nothing where nobody looks."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    house.dreams, house.dream_records  # noqa: B018 - made here: two threads would each make their own
    over, since = Event(), house.clock.now()

    def follow() -> None:
        begun = False
        while not over.wait(EVERY_SECONDS):
            with suppress(ReverieError):  # it is only told; what is wrong is told by the night itself
                line = progress_line(house, since)
                begun = begun or bool(line)
                if line := line or ("" if begun else "gather, looking for new sessions"):
                    width = max(20, shutil.get_terminal_size((80, 24)).columns - 1)
                    click.echo(f"{_CLEAR}{line[:width]}", nl=False, err=True)

    thread = Thread(target=follow, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
        click.echo(_CLEAR, nl=False, err=True)


def progress_line(house: Home, since: datetime) -> str:
    """“hermes: light, 12 of 29 sessions read · 3 requests, $0.0123”; nothing where no night runs. What is under way is
    counted at its worst."""
    running = house.dreams.progress()
    if not running:
        return ""
    one = running[-1]
    line = one.sentence
    spent = house.dream_records.spent(house.owned, since)
    if spent.requests:
        info = house.askers.info()
        money = f"${spent.money:.4f}" if info and info.price is not None else "price not known"
        line += f" · {plural(spent.requests, 'request')}, {money}"
    return line


@click.command(name="dream")
@click.argument("target", required=False)
@click.option("--target", "named", metavar="NAME", help="The same as TARGET.")
@click.option("--propose", is_flag=True, help="Land nothing: only proposals and the report. Uses no session up.")
@click.option("--session", "sessions", multiple=True, metavar="ID", help="Only this session; up to 100 of them.")
@click.option("--since", type=ui.DateOrAge(), help="Only sessions since: a date, or an age such as 7d.")
@click.option("--all", "everything", is_flag=True, help="Older sessions, too, which the first night leaves out.")
@click.option("--user", metavar="NAME", help="Only sessions of this user; of all users if not said.")
@click.option("--limit", type=click.IntRange(1), help="At most so many sessions, in one dream.")
@click.option("--queue", is_flag=True, help="Leave it to a worker (`reverie worker`), and come back at once.")
@click.option("--cancel", metavar="DREAM", help="End a night that has not begun to land, and nothing else.")
@click.option("--if-missed", is_flag=True, help="Only if there was no night since the last time of `schedule`.")
@click.option("--estimate", is_flag=True, help="Only say what a night would read and cost. Writes nothing.")
@click.option("--show-brief", is_flag=True, help="Only show what a curator would be shown. Nobody is asked.")
@click.option(
    "--after",
    type=click.IntRange(1),
    metavar="N",
    help="Only when there are so many new sessions. With --if-missed: either is enough.",
)
@ui.with_pager
def dream(
    *,
    target: str | None,
    named: str | None,
    propose: bool,
    sessions: tuple[str, ...],
    since: datetime | None,
    everything: bool,
    user: str | None,
    limit: int | None,
    queue: bool,
    cancel: str | None,
    if_missed: bool,
    estimate: bool,
    show_brief: bool,
    after: int | None,
    shell: ui.Shell,
) -> None:
    """One night: read what is new, notice what is worth keeping, land very little, propose the rest.

    TARGET is where memory lives: hermes, claude, a project of Claude Code, openclaw, or a path. Without one, every
    target on this machine that has new sessions is covered.

    No model and no key are needed; one that is set is asked within its caps. Zero changes is a good night.
    `reverie review` shows what waits, `reverie undo` takes back what landed.
    """
    if target and named:
        raise BadInput(f"Two targets are named: {target} and {named}.", expected="one, or none for all of them")
    target = target or named
    if (if_missed or after) and (sessions or since or everything or user or limit or queue or estimate or show_brief):
        raise BadInput(
            "--if-missed and --after are for a night over all that is new.",
            expected="no --session, --since, --all, --user, --limit, --queue, --estimate or --show-brief beside them",
        )
    mode: Mode = "propose" if propose else "land"
    how: SessionFilter = {"since": since, "limit": limit, "user": user, "everything": everything}
    with shell.opened() as house:
        names = [house.id_of("session", one) for one in sessions] or None
        dreams = house.dream
        if cancel:
            _queued([dreams.cancel(house.id_of("dream", cancel))], shell)
        elif estimate:
            _each_or_nothing(house, shell, dreams.estimate(target, names, **how), _foretold)
        elif show_brief:
            briefs = dreams.briefs(target, names, **how)
            _each_or_nothing(house, shell, briefs, lambda brief: click.echo(ui.terminal_safe(brief.render()), nl=False))
        elif queue and target:
            _queued([dreams.later(target, mode, names, **how)], shell)
        elif queue:
            _queued(dreams.later_everywhere(mode, names, **how), shell)
        elif if_missed or after:
            from reverie.dreams.dreaming import Due

            when = house.dreaming_on(target).schedule
            missed = when.last(house.clock.now(), house.config.timezone) if if_missed else None
            due = Due(missed, after or 0)
            _dreamt(house, lambda: dreams.if_due(due, target, mode), shell, covered=target is None)
        else:
            _dreamt(house, lambda: dreams(target, mode, names, **how), shell, covered=target is None)


def _dreamt(house: Home, dream: Callable[[], Night | None], shell: ui.Shell, *, covered: bool) -> None:
    """One night and its diary; where none was due, nothing: a scheduler looks every hour, and every word is mailed.
    Where no session was ever brought in, and no target was left out, only that, and what to do next."""
    house.erase.resume()  # what is half erased is not dreamt about
    with shown_progress(house, quiet=shell.json):
        night = dream()
    for one in house.erase.expire() if house.config.values["retention"].text else ():  # at night what is too old goes
        if not shell.json:
            gone = plural(one.counts.get("sessions", 0), "session")
            click.echo(f"Erased {gone} older than `retention` keeps them ({one.id}).", err=True)
    if night is None:
        return
    hint = next_step = ""
    if not any(one.sessions for one in night.dreams):
        hint = ui.no_sessions_hint(house)
        next_step = hint or _next_step(house)
    if shell.json:
        names = ("status", "left", "left_out", "dreams", "skipped", "unchanged", "notes")
        ui.print_json({name: getattr(night, name) for name in names} | {"next_step": next_step})
    elif hint and not night.skipped:
        ui.print_diary(f"There is nothing to read. {hint}\n")
    else:
        ui.print_diary(ui.terminal_safe(night.diary))
        if covered and (len(night.targets) > 1 or night.unchanged or night.skipped):
            _show_covered(night)
        if night.left:
            why = f": {ui.terminal_safe(night.enough)}" if night.enough else ""
            click.echo(f"{plural(night.left, 'more session')} for another night{why}.")
        if night.proposals:
            click.echo("`reverie review` shows what waits for you.")
        if next_step:
            ui.print_diary(f"{next_step}\n")
    if any(one.failed for one in night.skipped):
        raise SystemExit(1)


def _show_covered(night: Night) -> None:
    read = {target: sum(len(one.sessions) for one in night.dreams if one.target == target) for target in night.targets}
    parts = [f"{target} ({plural(number, 'session')})" for target, number in read.items() if number]
    words = f"Covered: {', '.join(parts)}." if parts else ""
    quiet = [*(target for target, number in read.items() if not number), *night.unchanged]
    click.echo(" ".join(filter(None, (words, f"Nothing new for {', '.join(quiet)}." if quiet else ""))))


def _next_step(house: Home) -> str:
    if waiting := house.review.count():
        return f"{plural(waiting, 'proposal')} of earlier nights wait{'s' if waiting == 1 else ''}: `reverie review`."
    return "Every session has been read. `reverie explain` tells what the last night made of them."


def _each_or_nothing(house: Home, shell: ui.Shell, found: Sequence[Found], show: Callable[[Found], None]) -> None:
    if shell.printed_json(found):
        return
    if not found:
        click.echo(f"A night would find nothing new to read. {ui.no_sessions_hint(house) or _next_step(house)}")
    for one in found:
        show(one)


def _foretold(estimate: Estimate) -> None:
    left = f" ({estimate.left:,} more would wait)" if estimate.left else ""
    click.echo(
        f"A night over {estimate.target} would read {plural(estimate.sessions, 'session')}{left}, "
        f"{plural(estimate.characters, 'character')}; "
        f"the built-in reader notices {plural(estimate.noticed, 'thing')}."
    )
    if estimate.fresh:
        new = "are new or have grown" if estimate.fresh > 1 else "is new or has grown"
        click.echo(f"{estimate.fresh:,} of them {new} in the sources: a night brings that in. Nothing was stored now.")
    model = estimate.foreseen
    if model is None:
        click.echo("No model is set, so it costs nothing; `model` in reverie.toml sets one.")
        return
    cost = "at a price that is not known"
    if model.dollars_in is not None and model.most_dollars is not None:
        cost = f"${model.dollars_in:.4f} for what it reads, at most ${model.most_dollars:.4f} in all"
    click.echo(
        f"{model.model} would get {plural(model.requests, 'request')} of about {model.tokens_in:,} tokens together, "
        f"and write at most {model.most_tokens_out:,}; {cost}."
    )


def _queued(dreams: Sequence[Dream], shell: ui.Shell) -> None:
    if shell.printed_json(dreams):
        return
    if not dreams:
        click.echo("There is nothing new to read, so nothing was queued.")
    for dream in dreams:
        click.echo(f"{dream.id} over {dream.target} is {dream.status}.")


@click.command(name="compact")
@click.option("--target", metavar="NAME", help="Which target, or a path; Hermes' or the home's own if not said.")
@ui.common
def compact(*, target: str | None, shell: ui.Shell) -> None:
    """Look for duplicates, contradictions and superseded entries, and propose to take them out. Adds nothing."""
    with shell.opened() as house:
        chosen = target or house.memory.default()
        found = house.audit.compact(chosen)
        proposed = list(propose_all(house, found))
    if shell.printed_json({"findings": found, "said": proposed}):
        return
    for one in found:
        click.echo(f"{one.kind}  {one.spot}: {ui.one_line(one.words, 80)}\n  {one.why}")
        if one.suggestion is None:
            click.echo(f"  {one.advice}")
    click.echo(f"{plural(len(found), 'finding')} on {chosen}.")
    for line in proposed:
        click.echo(line)


@click.group(name="cron")
def cron() -> None:
    """Dream every night by the system's own means: your crontab, or a systemd timer."""


@cron.command()
@click.option("--at", "when", metavar="TIME", help="When, as cron writes it [the setting `schedule`].")
@click.option("--target", metavar="NAME", help="Which target, or a path; all there are if not said.")
@click.option("--propose", is_flag=True, help="Land nothing at night: only proposals.")
@click.option(
    "--after", type=click.IntRange(1), metavar="N", help="Also once so many sessions are new; looked at hourly."
)
@SYSTEMD
@ui.common
def install(
    *, when: str | None, target: str | None, propose: bool, after: int | None, systemd: bool, shell: ui.Shell
) -> None:
    """Dream every night, in the setting `timezone`. A night that was missed is made up for once."""
    with shell.opened() as house:
        nightly = house.nightly(target, when, propose=propose, after=after)
        done = house.schedule(systemd=systemd).install(nightly)
    if shell.printed_json(done):
        return
    click.echo(f"Nights over {nightly.target or 'every target'} by {done.by}, at {done.when} ({done.zone}):")
    for line in done.lines:
        click.echo(f"  {line}")
    if done.by == "cron":
        click.echo(
            "It looks every hour whether a night is due: the first comes within the hour, a missed one after waking."
        )


@cron.command()
@click.option("--target", metavar="NAME", help="Only the nights over this target; all nights of the home if not said.")
@SYSTEMD
@ui.common
def remove(*, target: str | None, systemd: bool, shell: ui.Shell) -> None:
    """No more nights by themselves. What was learnt stays."""
    with shell.opened() as house:
        schedule = house.schedule(systemd=systemd)
        try:
            there = schedule.remove(house.memory.target(target).name if target else None)
        except BadInput:  # its nights can go, though it is gone itself
            there = schedule.remove(target) or schedule.remove(str(Path(target or "").expanduser().absolute()))
            if not there:
                raise
    shell.tell({"removed": there}, "Removed." if there else "There was nothing to remove.")


@click.group(name="worker", invoke_without_command=True)
@click.option("--executor", metavar="NAME", help="Its name: the same after a restart. One is chosen if not said.")
@click.option("--until-idle", is_flag=True, help="End when nothing is queued any more.")
@ui.common
def worker(*, executor: str | None, until_idle: bool, shell: ui.Shell) -> None:
    """Do the nights that are queued (`reverie dream --queue`), until told to stop.

    On Postgres several may run, on one machine or on many. One that was killed goes on where it was when it is back
    under the same name.
    """
    if click.get_current_context().invoked_subcommand:
        return
    with shell.opened() as home:
        home.check_enabled()
        engine = home.queue.worker(executor)
        for sign in (signal.SIGTERM, signal.SIGINT):
            signal.signal(sign, lambda *_: engine.stop())
        done = engine.work(until_idle=until_idle)
    shell.tell({"nights": done}, f"{plural(done, 'night')} done.")


@worker.command()
@click.option("--executor", required=True, metavar="NAME", help="The worker that is dead.")
@ui.common
def reap(*, executor: str, shell: ui.Shell) -> None:
    """Have the other workers go on with what a dead one left. Be sure that it is dead."""
    with shell.opened() as home:
        left = home.queue.worker().reap(executor)
    shell.tell({"nights": left}, f"{plural(left, 'night')} handed to the others.")
