"""To begin: `reverie init`, `install`, `uninstall` and `doctor` make a home, put Reverie into an agent, and check both.

`reverie demo`: a month of a small shop, from the audit to the undo, by the commands a person would type. They run as
they are, on a sample that is copied to a folder of its own. Only how a home is opened differs: its files, owner, clock
and ids are the sample's, and nothing of this person's environment is looked at.
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from importlib.resources import as_file, files
from inspect import unwrap
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

import click

from reverie.cli import shell as ui
from reverie.core.ids import Ids

if TYPE_CHECKING:
    from reverie.app import Home
    from reverie.config import Config
    from reverie.harnesses.installers import Installing
    from reverie.system.installation import FileChange


@click.command(name="init")
@ui.common
def init(*, shell: ui.Shell) -> None:
    """Make a home, or check the one there is. Nothing that exists is changed."""
    from reverie.config import write_template

    with shell.opened() as house:
        made = write_template(house.config)
        house.engine.connect().close()
        where = house.config.home
    said = f'Made a home in {where}.\nNext: `reverie sessions add --all`, then `reverie search "…"`.'
    already = f"{where} is a home already; nothing was changed. `reverie doctor` checks it."
    shell.tell({"home": str(where), "new": made}, said if made else already)


@click.command(name="install")
@click.argument("agent")
@click.option("--dry-run", is_flag=True, help="Show what would be changed, and change nothing.")
@click.option(
    "--nights/--no-nights",
    default=True,
    help="Whether a session that ends begins a night that is due, in the background.",
)
@click.option("--check/--no-check", default=True, help="Whether to prove the loop on a made-up session afterwards.")
@ui.common
def install(*, agent: str, dry_run: bool, nights: bool, check: bool, shell: ui.Shell) -> None:
    """Put Reverie into AGENT (claude, codex, gemini, hermes, openclaw, opencode): the MCP server, a short skill, and
    a hook that queues each session for the next night and begins it, in the background, once it is due by `schedule`.
    Twice is once. `reverie uninstall AGENT` takes it out again, to the last byte.

    At the end a check proves the loop on a made-up session in a folder that is thrown away: the session ends, a night
    learns from it, and what the next session is given is shown.
    """
    from reverie.integrations.loop_check import Step, check_loop

    with shell.opened() as house:
        installing = house.installer(agent, nights=nights)
        title, notes = installing.installer.title, installing.plan.notes
        when = _nights(house, installing)
        changes = installing.to_install() if dry_run else installing.install()
    if not shell.json:
        show_changes(changes, dry_run, f"Reverie is in {title} already.")
        for note in notes:
            click.echo(f"Note: {note}")
        click.echo(when)
    steps = list[Step]()
    for step in check_loop(installing.installer, installing.launch, installing.where) if check and not dry_run else ():
        steps.append(step)
        if not shell.json:
            click.echo(f"  {'ok  ' if step.ok else 'BAD '} {step.said}")
    if shell.json:
        told = {"agent": agent, "dry_run": dry_run, "files": [str(one.path) for one in changes], "notes": list(notes)}
        ui.print_json(told | {"nights": when, "check": steps})
    elif not dry_run:
        click.echo(
            "Next: use it as ever; `reverie review` shows what waits, `reverie dream --propose` tries a night now."
        )
    if not all(step.ok for step in steps):
        sys.exit(1)


def _nights(house: Home, installing: Installing) -> str:
    if not installing.launch.nights:
        return "Nights: none by themselves. `reverie cron install` dreams every night, `reverie dream` now."
    limits = house.dreaming_on(installing.installer.target)
    if not limits.enabled:
        return "Nights: none, dreaming is switched off (`enabled`). Once it is on, the end of a session begins them."
    return (
        "Nights: the first begins in the background when the next session ends, then one after each time of `schedule` "
        f"({limits.schedule.text}, {house.config.timezone.key}). `reverie cron install` dreams at that time itself."
    )


def show_changes(changes: list[FileChange], dry_run: bool, nothing: str) -> None:
    if not changes:
        click.echo(nothing)
    for one in changes:
        if dry_run:
            click.echo(one.diff)
        else:
            click.echo(f"{'Removed' if one.then is None else 'Wrote'} {one.path}: {', '.join(one.about)}.")
    if dry_run:
        click.echo("Nothing was changed.")


@click.command(name="uninstall")
@click.argument("agent")
@click.option("--dry-run", is_flag=True, help="Show what would be changed, and change nothing.")
@ui.common
def uninstall(*, agent: str, dry_run: bool, shell: ui.Shell) -> None:
    """Take Reverie out of AGENT. A file nobody else wrote to since is byte for byte as before; from any other, only
    what `reverie install` put there is taken. What was learnt stays."""
    with shell.opened() as house:
        installing = house.installer(agent)
        changes = installing.to_uninstall() if dry_run else installing.uninstall()
        left = installing.left
    files = [str(one.path) for one in changes]
    if shell.printed_json({"agent": agent, "dry_run": dry_run, "files": files, "notes": list(left)}):
        return
    show_changes(changes, dry_run, f"Reverie is not in {installing.installer.title}.")
    for note in left:
        click.echo(f"Note: {note}")


ALWAYS = ("home", "owner", "database", "timezone")  # what people ask about, set or not


@click.command(name="doctor")
@click.option("--all", "every", is_flag=True, help="Every setting, also those that nobody has set.")
@click.option("--model", is_flag=True, help="Also try the model of the settings, and say what it can do.")
@ui.common
def doctor(*, every: bool, model: bool, shell: ui.Shell) -> None:
    """Print what is set and where it came from, and check what Reverie needs. Changes nothing.

    `--model` asks the model for a word and a number, and sends nothing of yours.
    """
    from reverie.app import checkup, try_models
    from reverie.config import load

    config = load(shell.home, {"database": shell.database})
    found = checkup(config)
    tried = try_models(config) if model else []
    known = config.shown()
    told = {"settings": known, "notices": config.notices, "checks": found} | ({"models": tried} if model else {})
    if not shell.printed_json(told):
        click.echo("Settings")
        shown = {name: one for name, one in known.items() if every or name in ALWAYS or one.came_from != "default"}
        width = max(map(len, shown))
        for name, value in shown.items():
            click.echo(f"  {name:<{width}} {value.text}  ({value.came_from})")
        if len(shown) < len(known):
            click.echo(f"  {len(known) - len(shown)} more have their defaults (--all shows them)")
        for notice in config.notices:
            click.echo(f"Note: {notice}")
        click.echo("Checks")
        for check in found:
            click.echo(f"  {'ok  ' if check.ok else 'BAD '} {check.name}: {check.said}")
        if model:
            click.echo("Models")
            if not tried:
                click.echo("  none is set: the built-in reader does everything; `model` in reverie.toml sets one")
            for one in tried:
                reads = f" It reads {one.context:,} tokens at once." if one.context else ""
                click.echo(f"  {'ok  ' if one.ok else 'BAD '} {one.said}{reads}")
    if not (all(check.ok for check in found) and all(one.ok for one in tried)):
        sys.exit(1)


OWNER = "sam"
BEGUN = datetime(2026, 2, 25, 9, 0, tzinfo=UTC)  # when Reverie first looked: what is said in March is newer
NIGHT = datetime(2026, 4, 1, 3, 0, tzinfo=UTC)
BREAKFAST = datetime(2026, 4, 1, 7, 30, tzinfo=UTC)
MEMORY = Path(".hermes/memories/MEMORY.md")
PLANTED = "pakko-sync"  # where a page of the sample wants customers' data sent
ASKED = "Tea sets sold to Germany should get 19 % VAT."
WIDEST = 88
NEXT = """\
That was a sample, and it is gone; your own files were not touched. On yours:
  reverie audit               what do my agents believe? It changes nothing.
  reverie sessions add --all  bring in every transcript on this machine.
  reverie dream --propose     a night that lands nothing and proposes the rest.
  reverie review              decide about it; `reverie web` does so in the browser."""


@click.command(name="demo")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for scripts.")
def demo(as_json: bool) -> None:
    """A month of a small shop, on a sample that is thrown away: audit, dream, review, history, undo. No key."""
    with _sample(as_json) as sample:
        steps = _steps(sample)
        if as_json:
            values = {step.name: json.loads(step.run()) for step in steps}
            values["added"] = next(iter(values["added"].values()))  # told by path, and there is one
            ui.print_json(values)
            return
        for step in steps:
            if step.typed:
                click.secho(f"$ {step.typed}{step.about and '  # '}{step.about}", bold=True)
            click.echo("\n".join([*filter(None, ui.fitted(step.run(), _width())), ""]))
    click.echo(NEXT)


@dataclass(frozen=True, slots=True)
class _Step:
    """A command that is typed, and its purpose. `run` does it and says what came of it; only then is the next step
    known."""

    name: str
    typed: str
    about: str
    run: Callable[[], str]


def _steps(sample: _Sample) -> Iterator[_Step]:
    yield _typed(sample, "audit", "audit | head -n 10", "what does Sam's agent believe?")
    yield _typed(sample, "added", "sessions add ~/shop.jsonl", "March, as the agent left it behind")
    yield _typed(sample, "dream", "dream --limit 40 | head -n 29", "one night, no model; the diary's first lines")
    sample.clock.at = BREAKFAST
    yield _typed(sample, "waiting", "review list | head -n 8", "at breakfast: what asks for a person?")
    home = sample.folder / ".hermes"
    yield _Step(
        "planted",
        f"grep -rho {PLANTED} ~/.hermes | wc -l",
        "what a web page wanted saved as a rule",
        lambda: str(sum(one.read_bytes().count(PLANTED.encode()) for one in home.rglob("*") if one.is_file())),
    )
    with sample.opened() as house:
        wanted = next((one.id for one in house.review.waiting() if ASKED in one.diff), "")
    if not wanted:
        return
    file = sample.folder / MEMORY
    before = file.read_bytes()
    yield _typed(sample, "approved", f'review approve {wanted} --because "That is the law."')
    with sample.opened() as house:
        landed = house.history.changes(limit=1)[0].id
    yield _typed(sample, "history", f"history hermes/{MEMORY.name} --limit 2", "newest first")
    yield _typed(sample, "rules", "rules | grep -A 3 ^Tea", "why does the agent believe this?")
    yield _typed(sample, "undone", f"undo {landed}")
    same = file.read_bytes() == before
    told = f"{MEMORY.name} is {'byte for byte' if same else 'NOT'} what it was before."
    yield _Step("same_bytes", "", "", lambda: json.dumps(same) if sample.json else told)


@dataclass(slots=True)
class _Hands:
    at: datetime  # set by hand

    def now(self) -> datetime:
        return self.at


@dataclass(frozen=True, slots=True)
class _Sample(ui.Shell):
    """Opens the sample wherever a command would open this person's home."""

    folder: Path
    config: Config
    clock: _Hands
    ids: Ids

    def opened(self) -> Home:
        from reverie.app import Home

        house = Home(self.config, self.clock)
        house.ids = self.ids
        return house


@contextmanager
def _sample(as_json: bool) -> Iterator[_Sample]:
    """The shipped files in a folder of their own, with ids that are the same every time."""
    from reverie.config import load

    with tempfile.TemporaryDirectory(prefix="reverie-demo-") as name, as_file(files("reverie") / "samples") as shipped:
        folder = Path(name)
        shutil.copytree(shipped / "hermes", folder / ".hermes")
        shutil.copy(shipped / "shop.jsonl", folder)
        home = folder / ".reverie"
        home.mkdir()
        settings = {"owner": OWNER, "timezone": "UTC", "database": f"sqlite:///{home / 'reverie.db'}"}
        config = replace(load(home, settings), environment={"HOME": name})
        clock = _Hands(BEGUN)
        sample = _Sample(None, None, as_json, folder, config, clock, Ids(clock, bits=lambda _: 0))
        with sample.opened() as house:
            house.memory.touch_all()
        clock.at = NIGHT
        yield sample


def _typed(sample: _Sample, name: str, line: str, about: str = "") -> _Step:
    return _Step(name, f"reverie {line}", about, partial(_said, sample, line))


def _said(sample: _Sample, line: str) -> str:
    """The output of a command, and what `head -n LINES`, `grep -v WORD` or `grep -A LINES ^START` leaves of it."""
    typed, _, pipe = line.partition(" | ")
    said = StringIO()
    try:
        with redirect_stdout(said):
            _run(sample, [word.replace("~", str(sample.folder)) for word in shlex.split(typed)])
    except SystemExit:  # it could not be done: what it said is worth more than what would follow
        click.echo(said.getvalue(), err=True)
        raise
    lines = said.getvalue().splitlines()
    match shlex.split(pipe):
        case _ if sample.json:
            return said.getvalue()
        case ["head", "-n", most]:
            lines = lines[: int(most)]
        case ["grep", "-v", word]:
            lines = [line for line in lines if word not in line]
        case ["grep", "-A", after, start]:
            found = [place for place, line in enumerate(lines) if line.startswith(start.removeprefix("^"))]
            lines = [line for place in found for line in lines[place : place + 1 + int(after)]]
    return "\n".join(lines)


def _run(sample: _Sample, words: list[str]) -> None:
    """The command behind these words, handed the sample as its shell."""
    if words == ["audit"]:  # it opens no home, so none can be handed to it
        from reverie.cli.status import audit_as_json, audit_lines

        with sample.opened() as house:
            report = house.audit()
        if sample.json:
            ui.print_json(audit_as_json(report))
        else:
            click.echo("\n".join(audit_lines(report, _width())))
        return
    context = click.get_current_context().find_root()
    command = context.command
    while isinstance(command, click.Group):
        _, found, words = command.resolve_command(context, words)
        assert found is not None
        command = found
    given = command.make_context(None, words, parent=context).params
    own = {name: value for name, value in given.items() if name not in ("home", "database", "as_json")}
    assert command.callback is not None
    unwrap(command.callback)(shell=sample, **own)


def _width() -> int:
    return min(WIDEST, shutil.get_terminal_size((WIDEST, 24)).columns)
