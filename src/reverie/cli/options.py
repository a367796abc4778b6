"""What every command shares: `--home`, `--json`, how a Home is opened for it, and whose commands its hints name."""

from __future__ import annotations

import io
import re
import shutil
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import TYPE_CHECKING, Any, TextIO, cast

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from reverie.app import Home
    from reverie.core.ids import IdKind


@dataclass(frozen=True, slots=True)
class Shell:
    """The values of `--home`, `--database` and `--json`."""

    home: str | None
    database: str | None
    json: bool

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
    """Show what is longer than the screen in a pager, on a terminal where people can answer one."""

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
            text = renamed(text)
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

        from reverie.core.errors import ReverieError

        shell = Shell(context.params.get("home"), context.params.get("database"), True)
        try:
            with shell.opened() as house:
                return [CompletionItem(name, help=said) for name, said in house.ids_like(kind, typed)]
        except (ReverieError, KeyboardInterrupt):  # a shell that completes has nowhere to say what is wrong
            return []

    return offered


def look(house: Home) -> None:
    """Record what stands in every target, and say which could not be read."""
    for error in house.memory.touch_all():
        click.echo(f"Not looked at: {error}", err=True)


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
    """A date, a time, or an age such as `7d` or `36h`."""

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
            self.fail(
                f"{value!r} is not a date. Write 2026-05-12, 2026-05-12T14:37 or an age such as 7d.",
                param,
                ctx,
            )
        return read.replace(tzinfo=UTC) if read.tzinfo is None else read


# As Hermes has them: what it does not take, such as `reverie dream PATH`, stays as it is.
_HINT = re.compile(r"`reverie (?:(dream(?: --propose)?)|(?:review|status|compact|explain|undo)(?: [^`\s-][^`\s]*)*)`")


def hints_name(program: str) -> None:
    """From now on, in all that is printed."""
    sys.stdout = cast(TextIO, _Renaming(sys.stdout, program))
    sys.stderr = cast(TextIO, _Renaming(sys.stderr, program))


def renamed(text: str) -> str:
    """For what is not printed by itself, but goes through a pager."""
    return sys.stdout.renamed(text) if isinstance(sys.stdout, _Renaming) else text


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
