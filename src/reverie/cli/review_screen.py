"""`reverie review` in a terminal: one proposal a screen, and one key for what is to become of it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

import click

from reverie.cli import shell as ui
from reverie.core.ids import plural

if TYPE_CHECKING:
    from rich.console import Console

    from reverie.app import Home
    from reverie.changes.headline import Detail, InboxItem, VerdictResult, WordSpan


MOST_PASSAGES = 3
LEAST_LINES = 6  # of the change, and of where it was said, on however small a screen
LINES_AROUND = 2  # of the turn that is quoted, above and below the quotation
LONGEST_LINE = 300
KEYS = "[a]pprove [r]efuse [e]dit [s]kip [w]hy [t]heme [u]ndo [q]uit (A, R: with a reason)"


def review_in_terminal(house: Home) -> None:
    screens = _Screens(house, ui.console(), [one.id for one in house.review.waiting()])
    if not screens.waiting:
        ui.print_diary(f"{nothing_waits(house)}\n")
        return
    try:
        while screens.place < len(screens.waiting) and screens.answered():
            pass
    except (KeyboardInterrupt, EOFError, click.Abort):
        click.echo()
    screens.closing()


def nothing_waits(house: Home) -> str:
    return f"Nothing waits for you. {ui.no_sessions_hint(house) or '`reverie dream` reads what is new.'}"


@dataclass(slots=True)
class _Screens:
    """`place` is the proposal that is shown; `said` is what came of the last key; `decided` are the verdicts since
    it began that stand, the last one last, each with the words that tell of it. Those of a theme are one."""

    house: Home
    out: Console
    waiting: list[str]
    place: int = 0
    said: str = ""
    why: bool = False
    decided: list[tuple[list[str], str]] = field(default_factory=list)

    def answered(self) -> bool:
        """Show one and do what its key says. False: quit."""
        detail = self.house.inbox.detail(self.waiting[self.place])
        if detail.item.proposal.status != "waiting":
            self._next(f"Decided elsewhere meanwhile. {detail.item.standing}")
            return True
        left = len(self.waiting) - self.place
        heading = f"{self.place + 1} of {len(self.waiting)}, {left:,} left"
        bold = partial(ui.print_sentence, indent=0, style="bold")
        said = _lines(self.out, bold, self.said) if self.said else []
        keys = _lines(self.out, bold, KEYS)
        click.clear()
        click.echo("".join(f"{line}\n" for line in said), nl=False)
        if self.why:
            show_whole(self.out, detail, heading)
            self.out.print()
        else:
            _show_fitted(self.out, detail, heading, rows=self.out.height - len(said) - len(keys) - 1)
        click.echo("\n".join(keys))
        key = _key()
        click.echo(key if key.isprintable() else "")
        if key in ("q", "", "\x04"):
            return False
        self._do(key, detail)
        return True

    def _do(self, key: str, detail: Detail) -> None:
        match key:
            case "a" | "A":
                self._approve(detail, _reason(key))
            case "r" | "R":
                self._verdict(self.house.inbox.refuse(detail.item.proposal.id, _reason(key)), detail)
            case "e":
                self.said = self._edited(detail)
            case "s":
                self._next("Skipped: it still waits.")
            case "w":
                self.why, self.said = not self.why, ""
            case "t":
                self._approve_theme(detail.item)
            case "u":
                self._undo()
            case _:
                self.said = f"{key!r} is none of the keys." if key.isprintable() else "That is none of the keys."

    def _next(self, said: str) -> None:
        self.place, self.said, self.why = self.place + 1, said, False

    def _approve(self, detail: Detail, because: str) -> None:
        proposal = detail.item.proposal
        result = self.house.inbox.approve(proposal.id, proposal.hash, because)
        if result.unsafe:
            self.out.print(ui.terminal_safe(result.said))
            if click.confirm("You have read the findings, and it shall land all the same?"):
                result = self.house.inbox.approve(proposal.id, proposal.hash, because, despite_findings=True)
        self._verdict(result, detail)

    def _verdict(self, result: VerdictResult, detail: Detail) -> None:
        if not result.done:
            self.said = result.said
            return
        told = f"{result.said} ({detail.item.sentence})"
        if result.proposal.change:
            _, *files = ui.landed_lines(self.house, self.house.history.get(result.proposal.change))
            told = " ".join([told, *(f"In {file}." for file in files)])
        self.decided.append(([result.proposal.id], told))
        self._next(told)

    def _approve_theme(self, shown: InboxItem) -> None:
        """All that waits of the theme of the one that is shown: first read in full, then approved as one."""
        items = [one for one in self.house.inbox.of_theme(shown.theme) if one.proposal.id in self.waiting]
        show_theme(self.out, shown.theme, items)
        if not click.confirm(f"Approve {'all of these' if len(items) > 1 else 'it'}?"):
            self.said = "Nothing of the theme is approved."
            return
        results = [self.house.inbox.approve(one.proposal.id, one.proposal.hash, "") for one in items]
        done = [one.proposal.id for one in results if one.done]
        failed = [one.said for one in results if not one.done]
        self.place -= len(set(self.waiting[: self.place]).intersection(done))
        self.waiting = [name for name in self.waiting if name not in done]
        self.said = " ".join([f"{plural(len(done), 'proposal')} of {shown.theme} approved.", *failed])
        if done:
            self.decided.append((done, self.said))

    def _edited(self, detail: Detail) -> str:
        if not detail.text:
            return "There is no one text to edit: it takes something away, or changes several statements at once."
        try:
            text = click.edit(detail.text, extension=".md")
        except click.ClickException as error:
            return f"Not edited: {error.message}"
        if text is None or text.strip() == detail.text.strip():
            return "The text is as it was."
        proposal = detail.item.proposal
        result = self.house.inbox.edit(proposal.id, proposal.hash, text)
        return " ".join([result.said, *([f"{_passed(result.checks)}."] if result.checks else [])])

    def _undo(self) -> None:
        if not self.decided:
            self.said = "There is nothing to undo: you have decided nothing here yet."
            return
        names, _ = self.decided.pop()
        results = [self.house.inbox.undo(name) for name in reversed(names)]
        self.said = " ".join(one.said for one in results)
        if stands := [one.proposal.id for one in results if not one.done]:
            self.decided.append((stands, self.said))
        for one in results:
            name = one.proposal.id
            if one.done and (one.proposal.status == "waiting" or one.again):
                if name in self.waiting:
                    self.place = self.waiting.index(name)
                    self.waiting.pop(self.place)
                self.waiting.insert(self.place, one.again or name)

    def closing(self) -> None:
        for _, told in self.decided:
            ui.print_sentence(self.out, told, indent=0)
        if not self.decided and self.said:
            click.echo(ui.terminal_safe(self.said))
        left = self.house.review.count()
        waits = f"{plural(left, 'proposal')} still {'waits' if left == 1 else 'wait'}" if left else "Nothing waits"
        ui.print_sentence(
            self.out, f"{plural(sum(len(names) for names, _ in self.decided), 'verdict')} given. {waits}.", indent=0
        )


def _key() -> str:
    """One key, pressed after this was shown: what was typed ahead decides nothing that nobody has read."""
    import termios
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal, termios.TCSAFLUSH)
        click.echo("> ", nl=False)
        return os.read(terminal, 32).decode("utf-8", "replace")  # an arrow, or what is pasted, is several
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _reason(key: str) -> str:
    because: str = click.prompt("Because", default="", show_default=False) if key.isupper() else ""
    return because


def show_theme(out: Console, name: str, items: Sequence[InboxItem]) -> None:
    """Every line that would come or go: what is approved together is read together."""
    out.print(f"{ui.terminal_safe(name)}  {plural(len(items), 'proposal')}", style="bold")
    for one in items:
        ui.print_sentence(out, one.sentence)
        for line in ui.terminal_safe(one.proposal.diff).splitlines():
            if line.startswith(("+", "-")) and not line.startswith(("+++", "---")) and line[1:].strip():
                out.print(f"    {line}", style="green" if line[0] == "+" else "red")


def show_whole(out: Console, detail: Detail, heading: str) -> None:
    """The sentence, what changes word by word, where it was said, what made it ask, every check with what it found,
    and each dimension of the score."""
    for show in (partial(_show_heading, heading=heading), _show_change, _show_passages, _show_facts):
        show(out, detail)
    suggestion = detail.item.proposal.suggestion
    ui.print_sentence(out, f"Proposed by {suggestion.proposer}. {suggestion.reason} {detail.item.standing}", indent=0)
    for question, found in detail.checks:
        ui.print_sentence(out, f"{question} {found}", indent=2)
    score = suggestion.score
    for line in ui.score_lines(score) if score else ():
        ui.print_sentence(out, line, indent=2)


def _show_fitted(out: Console, detail: Detail, heading: str, rows: int) -> None:
    """The same without the checks that passed and the dimensions, in no more lines than these: what is known besides
    is left out, then the lines of a skill that stay as they are, then the end of where it was said, and of a long
    change."""
    shown = _show_change, partial(_show_passages, most=MOST_PASSAGES), _show_facts
    change, passages, facts = (_lines(out, show, detail) for show in shown)
    head = _lines(out, _show_heading, detail, heading)
    if len(head) + len(change) + min(LEAST_LINES, len(passages)) + len(facts) > rows:
        facts = _lines(out, partial(_show_facts, brief=True), detail)
    room = max(LEAST_LINES, rows - len(head) - len(facts))
    if len(change) + min(LEAST_LINES, len(passages)) > room:
        change = _lines(out, partial(_show_change, brief=True), detail)
    passages = _cut(passages, max(room // 2, room - len(change)))
    change = _cut(change, room - len(passages))
    click.echo("\n".join([*head, *change, *passages, *facts]))


def _lines(out: Console, show: Callable[..., None], *given: object) -> list[str]:
    with out.capture() as taken:
        show(out, *given)
    return taken.get().split("\n")[:-1]


def _cut(lines: list[str], most: int) -> list[str]:
    if len(lines) <= most:
        return lines
    return [*lines[: most - 2], f"… {len(lines) - most + 2:,} more lines: w shows all", ""]


def _show_heading(out: Console, detail: Detail, heading: str) -> None:
    out.print(f"{heading}  {detail.item.proposal.id}", style="dim")
    ui.print_sentence(out, detail.item.sentence, indent=0, style="bold")
    out.print()


def _show_change(out: Console, detail: Detail, *, brief: bool = False) -> None:
    from rich.text import Text

    marks = {"gone": ("[-", "-]", "red"), "new": ("{+", "+}", "green"), "same": ("", "", "")}
    for hunk in sorted(detail.hunks, key=lambda one: one.at == 1) if brief else detail.hunks:  # its frontmatter last
        if not detail.item.proposal.suggestion.operations:
            out.print(f"{hunk.document}, line {hunk.at}" if hunk.at else hunk.document, style="dim")
        shown = Text()
        for span in _without_lines_that_stay(hunk.spans) if brief else hunk.spans:
            start, end, style = marks[span.kind]
            body = span.text.rstrip("\n")
            shown.append(f"{start}{ui.terminal_safe(body)}{end}{span.text[len(body) :]}", style)
        out.print(shown)
        out.print()


def _without_lines_that_stay(spans: Sequence[WordSpan]) -> Iterator[WordSpan]:
    """Of what stays as it is only the words that stand in one line with what changes."""
    for place, span in enumerate(spans):
        first, *between = span.text.split("\n") if span.kind == "same" else [""]
        if not between:
            yield span
            continue
        after = between[-1] if place < len(spans) - 1 else ""
        yield replace(span, text=f"{first}\n{after}" if place else after)


def _show_passages(out: Console, detail: Detail, *, most: int | None = None) -> None:
    from rich.text import Text

    for passage in detail.passages[:most]:
        evidence = passage.first
        at = next((turn.at for turn in passage.turns if turn.number == evidence.turn), None)
        said = f"{evidence.origin}, {ui.day(at)}" if at else str(evidence.origin)
        out.print(f"{said}, {ui.terminal_safe(evidence.session_id)} turn {evidence.turn}", style="dim")
        for turn in passage.turns:
            quotes = passage.quoted(turn.number)
            for quote in quotes:
                out.print(_quoted(turn.said.whole, quote, LONGEST_LINE if out.is_terminal else ui.PIPE_WIDTH))
            if not quotes and not turn.noise:
                beside = f"{turn.said.name or turn.role}: {turn.said.whole}"
                out.print(f"  {ui.one_line(beside, max(20, out.width - 4))}", style="dim")
        there = {turn.number for turn in passage.turns}
        for one in passage.quotes:
            if one.turn not in there:  # the session is gone, and the quotation is what is left of it
                out.print(Text(f"▸ “{ui.terminal_safe(one.quote)}”"))
        out.print()
    if left := len(detail.passages[most:]) if most else 0:
        out.print(f"… and {plural(left, 'more passage')}: w shows all", style="dim")


def _show_facts(out: Console, detail: Detail, *, brief: bool = False) -> None:
    proposal = detail.item.proposal
    asks = proposal.asks_because.casefold()
    open_checks = [(question, found) for question, found in detail.checks if found != "passed"]
    facts = [f"Asks because: {proposal.asks_because}"]
    if not brief or proposal.suggestion.checks:  # what is found in a person's own words has to be seen at once
        facts += [f"{question} {found}" for question, found in open_checks if found.rstrip(".").casefold() not in asks]
    if not brief:
        facts += [f"Stands already ({one.relation}): {one.surface}: {one.text}" for one in proposal.related]
    facts += [f"Finding ({one.severity} {one.category}): {one.shown} {one.advice}" for one in proposal.findings]
    if detail.problem:
        facts.append(f"As things are: {detail.problem}")
    for fact in facts if brief else [*facts, f"Reaches: {proposal.reach}"]:
        ui.print_sentence(out, fact, indent=0)
    score = proposal.suggestion.score
    then = " of the night's text" if proposal.suggestion.checks else ""
    short = [f"Score {score.total:.2f}{then}"] if score else []
    if brief:
        ui.print_sentence(out, " · ".join([*short, "w shows all"]), indent=0)
        out.print()
        return
    if detail.checks:
        short.append(_passed(detail.checks))
    if detail.preview and detail.preview.budget:
        short.append(f"{detail.preview.characters:,} of {detail.preview.budget:,} characters then")
    ui.print_sentence(out, " · ".join([*short, f"expires {proposal.expires_at:%Y-%m-%d}"]), indent=0)
    out.print()


def _passed(checks: Sequence[tuple[str, str]]) -> str:
    return f"{sum(found == 'passed' for _, found in checks)} of {plural(len(checks), 'check')} passed"


def _quoted(whole: str, quote: str, longest: int) -> object:
    from rich.text import Text

    before, found, after = whole.partition(quote)
    if not found:  # what is shown of the turn has been cleaned since
        before, found, after = "", quote, ""
    above = "\n".join(
        f"…{line[-longest:]}" if len(line) > longest else line for line in before.split("\n")[-LINES_AROUND - 1 :]
    )
    below = "\n".join(
        f"{line[:longest]}…" if len(line) > longest else line for line in after.split("\n")[: LINES_AROUND + 1]
    )
    return Text.assemble(
        "▸ ",
        ui.terminal_safe(above),
        ("“" + ui.terminal_safe(found) + "”", "bold yellow"),
        ui.terminal_safe(below.rstrip()),
    )
