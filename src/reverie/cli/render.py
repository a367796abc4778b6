"""How values look: JSON for scripts, rich text for people."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING

import click

from reverie.core.hashes import json_ready
from reverie.core.strings import plural

if TYPE_CHECKING:
    from rich.console import Console

    from reverie.changes.proposal import Score
    from reverie.dreams.stores.records import Located
    from reverie.transcripts.add import Added

PIPE_WIDTH = 1_000_000  # columns: more than any line has


def console() -> Console:
    """Lines are fitted to a terminal. Into a pipe they go whole, however narrow the screen behind it is."""
    from rich.console import Console

    out = Console(highlight=False, soft_wrap=False, emoji=False)
    if not out.is_terminal:
        out.width, out.soft_wrap = PIPE_WIDTH, True
    return out


def print_sentence(out: Console, text: str, *, indent: int = 2, style: str | None = None) -> None:
    """One sentence below a line, whole: a terminal gets it in as many lines as it takes, a pipe in one."""
    from rich.text import Text

    flat = Text(" ".join(terminal_safe(text).split()))
    for line in flat.wrap(out, max(20, out.width - indent)):
        out.print(f"{' ' * indent}{line.plain.rstrip()}", style=style, markup=False)


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
    """The memory a dream is about: of a person in a workspace, or nobody's."""
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


def terminal_safe(text: str) -> str:
    """Text that cannot drive the terminal it is shown in: control and invisible characters are spelt out."""
    return "".join(c if c in "\n\t" or c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def why_absent(name: str, first_seen: datetime | None, then: datetime | None) -> str:
    """Why there is nothing to show of a document at a time."""
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


def added_lines(added: Added) -> Iterable[str]:
    fates = ", ".join(f"{count:,} {fate}" for fate, count in added.fates.most_common()) or "none"
    yield f"{plural(added.sessions, 'session')} ({fates}), {plural(added.turns, 'turn')} added."
    if added.noise:
        yield f"{plural(added.noise, 'turn')} marked as harness noise."
    if added.redacted:
        kinds = ", ".join(f"{count} {kind}" for kind, count in added.redacted.most_common())
        yield f"{plural(added.redacted.total(), 'secret')} redacted before storing: {kinds}."
    if added.unchanged_files or added.other_files:
        yield (
            f"{plural(added.unchanged_files, 'file')} unchanged, {plural(added.other_files, 'file')} not a transcript."
        )
