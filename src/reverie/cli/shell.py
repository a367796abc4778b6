"""What every command shares: `--home`, `--json`, how a Home is opened for it, and whose commands its hints name; how
values look, as JSON for scripts and as rich text for people; and how a command that changes something asks first and
says what came of it.
"""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

import click

from reverie.core.errors import ReverieError
from reverie.core.ids import json_ready

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem
    from rich.console import Console

    from reverie.app import Home
    from reverie.changes.land import Outcome
    from reverie.changes.ledger import Change
    from reverie.changes.proposal import Score
    from reverie.core.ids import IdKind
    from reverie.dreams.stores.dream import Located

# As Hermes has them: what it does not take, such as `reverie dream PATH`, stays as it is.
_HINT = re.compile(r"`reverie (?:(dream(?: --propose)?)|(?:review|status|compact|explain|undo)(?: [^`\s-][^`\s]*)*)`")
PIPE_WIDTH = 1_000_000  # columns: more than any line has
BECAUSE = click.option("--because", default="", metavar="WHY", help="Why, for whoever asks later.")
DESPITE = click.option("--despite-findings", is_flag=True, help="You have read the safety findings and decided.")
YES = click.option("--yes", is_flag=True, help="Do not ask before touching a critical rule.")


@dataclass(frozen=True, slots=True)
class Shell:
    home: str | None
    database: str | None
    json: bool

    def printed_json(self, value: object) -> bool:
        """Whether it was printed, for a script; a person is told in words."""
        if self.json:
            print_json(value)
        return self.json

    def tell(self, value: object, *lines: str) -> None:
        """JSON for a script, lines for a person."""
        for line in () if self.printed_json(value) else lines:
            click.echo(line)

    def opened(self) -> Home:
        import reverie

        home = reverie.open(self.home, settings={"database": self.database})
        for notice in home.config.notices:
            click.echo(f"Note: {notice}", err=True)
        return home


def common(function: Callable[..., None]) -> Callable[..., None]:
    """`--home`, `--database` and `--json`, the same everywhere, handed in as `shell`."""

    @wraps(function)
    def run(*, home: str | None, database: str | None, as_json: bool, **given: Any) -> None:
        function(shell=Shell(home, database, as_json), **given)

    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print JSON for scripts."),
        click.option("--database", metavar="URL", help="Where transcripts are kept, instead of the configured place."),
        click.option("--home", metavar="DIR", help="The home [REVERIE_HOME, default ~/.reverie]."),
    ):
        run = option(run)
    return run


def with_pager(function: Callable[..., None]) -> Callable[..., None]:
    """`common`, and what is longer than the screen is shown in a pager, on a terminal where people can answer one."""

    @common
    @wraps(function)
    def run(*, shell: Shell, **given: Any) -> None:
        if shell.json or not sys.stdout.isatty() or not sys.stdin.isatty():
            function(shell=shell, **given)
            return
        screen = _Screen()
        try:
            with redirect_stdout(screen):
                function(shell=shell, **given)
        finally:
            text = screen.getvalue()
            text = sys.stdout.renamed(text) if isinstance(sys.stdout, _Renaming) else text
            if text.count("\n") >= shutil.get_terminal_size((80, 24)).lines:
                click.echo_via_pager(text)
            else:
                click.echo(text, nl=False)

    return run


class _Screen(io.StringIO):
    """Takes what is meant for the terminal, colours and all."""

    def isatty(self) -> bool:
        return True


def ids(kind: IdKind) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """The ids that completion offers: those that begin so, the newest first; of proposals what waits, in words."""

    def offered(context: click.Context, parameter: click.Parameter, typed: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        shell = Shell(context.params.get("home"), context.params.get("database"), True)
        try:
            with shell.opened() as house:
                return [CompletionItem(name, help=said) for name, said in house.ids_like(kind, typed)]
        except (ReverieError, KeyboardInterrupt):  # a shell that completes has nowhere to say what is wrong
            return []

    return offered


def look(house: Home, *, skills: bool = False) -> None:
    """Record what stands in every target, and say which could not be read."""
    for error in house.memory.touch_all():
        click.echo(f"Not looked at: {error}", err=True)
    if skills:
        list(house.skills.every())  # reading a skill records how it stands


def no_sessions_hint(house: Home) -> str:
    """Advice for whoever has brought no session in yet; "" for everyone else."""
    from reverie.transcripts.records import SessionQuery

    if any(house.sessions.find(wanted=SessionQuery(limit=1))):
        return ""
    return (
        "No session has been brought in yet. `reverie sessions add --all` finds the transcripts of the agents on this "
        "machine, `reverie sessions add PATH` reads a file or a folder."
    )


class DateOrAge(click.ParamType[datetime]):
    name = "when"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        if isinstance(value, datetime):
            return value
        if value[:-1].isdigit() and value[-1:] in ("h", "d", "w"):
            unit = {"h": "hours", "d": "days", "w": "weeks"}[value[-1]]
            return datetime.now(UTC) - timedelta(**{unit: int(value[:-1])})
        try:
            read = datetime.fromisoformat(value)
        except ValueError:
            self.fail(f"{value!r} is not a date. Write 2026-05-12, 2026-05-12T14:37 or an age such as 7d.", param, ctx)
        return read.replace(tzinfo=UTC) if read.tzinfo is None else read


def hints_name(program: str) -> None:
    sys.stdout = cast(TextIO, _Renaming(sys.stdout, program))
    sys.stderr = cast(TextIO, _Renaming(sys.stderr, program))


class _Renaming:
    def __init__(self, stream: TextIO, program: str) -> None:
        self._stream, self._program = stream, program

    def renamed(self, text: str) -> str:
        def hint(found: re.Match[str]) -> str:
            words = found[0].removeprefix("`reverie ")
            return f"`{self._program} {words.replace('dream', 'run', 1) if found[1] else words}"

        return _HINT.sub(hint, text)

    def write(self, text: str) -> int:
        return self._stream.write(self.renamed(text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


# ---- how values look -------------------------------------------------------------------------------------------------


def console() -> Console:
    """Lines are fitted to a terminal. Into a pipe they go whole, however narrow the screen behind it is."""
    from rich.console import Console

    out = Console(highlight=False, soft_wrap=False, emoji=False, markup=False)
    if not out.is_terminal:
        out.width, out.soft_wrap = PIPE_WIDTH, True
    return out


def print_sentence(out: Console, text: str, *, indent: int = 2, style: str | None = None) -> None:
    """One sentence below a line, whole: a terminal gets it in as many lines as it takes, a pipe in one."""
    from rich.text import Text

    flat = Text(" ".join(terminal_safe(text).split()))
    for line in flat.wrap(out, max(20, out.width - indent)):
        out.print(f"{' ' * indent}{line.plain.rstrip()}", style=style)


def print_diary(text: str) -> None:
    """Lines of Markdown: fitted to a terminal, each below its own beginning; into a pipe they go as they are."""
    if sys.stdout.isatty():
        text = "".join(f"{line}\n" for line in fitted(text, shutil.get_terminal_size((80, 24)).columns))
    click.echo(text, nl=False)


def fitted(text: str, width: int) -> Iterator[str]:
    """No line longer than this, unless a single word is."""
    for line in text.splitlines():
        lead = " " * (len(line) - len(line.lstrip("- ")))
        yield from textwrap.wrap(
            line, width, subsequent_indent=lead, break_long_words=False, break_on_hyphens=False
        ) or [""]


def dream_owner(found: Located) -> str:
    return terminal_safe(f"{found.workspace}/{found.user or '(nobody)'}, {found.dream.target}")


def print_json(value: object) -> None:
    click.echo(json.dumps(json_ready(value), ensure_ascii=False, indent=2))


def day(at: datetime | None) -> str:
    return f"{at:%Y-%m-%d %H:%M}" if at else "no date"


def one_line(text: str, width: int) -> str:
    """A text as one line: in a terminal no wider than this, in a pipe whole."""
    return cut_line(text, width) if sys.stdout.isatty() else " ".join(terminal_safe(text).split())


def cut_line(text: str, width: int) -> str:
    flat = " ".join(terminal_safe(text).split())
    return flat if len(flat) <= width else flat[: max(1, width - 1)] + "…"


def echo_some(lines: Sequence[str], most: int) -> None:
    for line in lines[:most]:
        click.echo(line)
    if len(lines) > most:
        click.echo(f"  … and {len(lines) - most:,} more (--json lists all)")


def terminal_safe(text: str) -> str:
    """Text that cannot drive the terminal it is shown in: control and invisible characters are spelt out."""
    return "".join(c if c in "\n\t" or c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def why_absent(name: str, first_seen: datetime | None, then: datetime | None) -> str:
    if first_seen is not None and then is not None and then < first_seen:
        return f"{name} was not seen yet: Reverie first looked at it on {day(first_seen)} UTC."
    when = "did not exist then" if then else "does not exist"
    return f"{name} {when}. `reverie history {name}` shows what happened to it."


def score_lines(score: Score) -> Iterable[str]:
    """Each dimension: its value in 0..1, the sentence that explains it, and what that adds to the odds."""
    for part in score.parts:
        yield f"{part.value:.2f}  {part.name}: {terminal_safe(part.why)} ({part.adds:+.2f})"
    if score.parts:
        yield "In brackets: what each adds to the log-odds of the score."


# ---- asking first, and saying what came of it ------------------------------------------------------------------------


def land_confirmed(
    house: Home, land: Callable[..., Outcome], shell: Shell, *, yes: bool, landed: str = "Landed as"
) -> None:
    """Do it; where that would touch a critical rule, ask first. A script has to say `--yes`."""
    from reverie.changes.policy import CONFIRM
    from reverie.memory.operation import Conflicted

    outcome = land(even_critical=yes)
    asks = isinstance(outcome, Conflicted) and outcome.why == CONFIRM and not shell.json
    if asks and click.confirm("That is a critical rule. Change it all the same?"):
        outcome = land(even_critical=True)
    tell_outcomes(house, [outcome], shell, landed)


def tell_outcomes(house: Home, outcomes: Sequence[Outcome], shell: Shell, landed: str = "Landed as") -> None:
    """One after another; as JSON one object, or a list where several were asked for."""
    from reverie.changes.land import Landed, Unchanged, Unsafe, in_words

    values = list[dict[str, object]]()
    for outcome in outcomes:
        change = outcome.change if isinstance(outcome, Landed) else None
        if shell.json:
            value: dict[str, object] = {
                "outcome": type(outcome).__name__.lower(),
                "said": in_words(outcome),
                "change": change and change.id,
                "findings": outcome.report.findings if isinstance(outcome, Unsafe) else [],
                "sentence": _sentence(house, change) if change else "",
                "files": [str(file) for file in _files(house, change)] if change else [],
            }
            values.append(value)
            continue
        click.echo(f"{landed} {change.id}." if change else in_words(outcome))
        for line in landed_lines(house, change) if change else ():
            print_sentence(console(), line)
        if isinstance(outcome, Unsafe):
            click.echo("If you have read this and decided: say it again with --despite-findings.", err=True)
    if shell.json:
        print_json(values[0] if len(values) == 1 else values)
    if not all(isinstance(outcome, Landed | Unchanged) for outcome in outcomes):
        sys.exit(1)


def landed_lines(house: Home, change: Change) -> list[str]:
    """Lines that say what was done to which entry, and in which files."""
    own = Path(house.config.environment.get("HOME") or "/nobody").resolve()
    shown = (f"~/{file.relative_to(own)}" if file.is_relative_to(own) else str(file) for file in _files(house, change))
    return [_sentence(house, change), *shown]


def _sentence(house: Home, change: Change) -> str:
    return house.inbox.sentences([change], house.history.name_of, whole=not sys.stdout.isatty())[change.id]


def _files(house: Home, change: Change) -> list[Path]:
    return [file for edit in change.edits if (file := house.file_of(change.target, edit.document))]
