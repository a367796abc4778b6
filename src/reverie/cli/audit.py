"""`reverie audit`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reverie.cli.shell import PIPE_WIDTH, Shell, common, cut_line, print_json, with_pager
from reverie.core.errors import BadInput, ReverieError
from reverie.core.ids import plural

if TYPE_CHECKING:
    from reverie.app import Home
    from reverie.audit.inventory import Finding
    from reverie.audit.report import AuditReport


NARROW, WIDEST = 40, 100
MOST_SHOWN = 8


@click.command(name="audit")
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--only", is_flag=True, help="Look at the paths and nothing else.")
@click.option(
    "--html", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False), help="Write one page to look at."
)
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="Only findings of this kind, such as damaged.")
@click.option("--target", metavar="NAME", help="Only findings about this target.")
@click.option("--fix", is_flag=True, help="Propose what can be mended. Nothing lands before you approve it.")
@common
@with_pager
def audit(
    *,
    paths: tuple[str, ...],
    only: bool,
    html: Path | None,
    kinds: tuple[str, ...],
    target: str | None,
    fix: bool,
    shell: Shell,
) -> None:
    """Show what agents believe and obey, and how much of it is junk, doubled, contradictory, stale, secret or unsafe.

    Looks at the memory and skills of every tool under your home directory, and at AGENTS.md, CLAUDE.md and skills in
    the paths you name. SOUL.md, .hermes.md and other context files are looked through for what is unsafe or secret.
    It reads, needs no key and no Reverie home, and changes nothing.
    """
    from reverie.app import Home
    from reverie.config import load
    from reverie.core.clock import SystemClock

    if html is not None and html.suffix not in (".html", ".htm"):
        raise BadInput(f"{html} would be overwritten.", expected="a file whose name ends with .html")
    with Home(load(shell.home, {"database": shell.database}), SystemClock()) as house:  # opening one makes its folder
        report = house.audit(paths, only=only).narrowed(kinds, house.memory.target(target).name if target else None)
    if html is not None:
        _write(html, report)
    proposed = list[str]()
    if fix:
        with shell.opened() as house:
            proposed += propose_all(house, report.findings)
    if shell.json:
        print_json({**audit_as_json(report), **({"proposed": proposed} if fix else {})})
    else:
        columns = max(NARROW, min(WIDEST, shutil.get_terminal_size((80, 24)).columns))
        click.echo("\n".join(audit_lines(report, columns if sys.stdout.isatty() else PIPE_WIDTH)))
        for line in proposed:
            click.echo(line)
        if html is not None:
            click.echo(f"The page is in {html}.")


def _write(path: Path, report: AuditReport) -> None:
    from reverie.audit.report import audit_page

    try:
        path.write_text(audit_page(report), "utf-8", "backslashreplace")
    except OSError as error:
        raise BadInput(
            f"{path} cannot be written: {error.strerror}.", expected="a file in a folder of yours"
        ) from error


def propose_all(house: Home, findings: Sequence[Finding]) -> Iterator[str]:
    """Put every suggestion to the queue. What fails does not keep the others from it."""
    from reverie.audit.library import suggestions
    from reverie.changes.queue import Waiting, proposal_outcome

    waiting, rest = 0, []
    for wanted in suggestions(findings):
        try:
            outcome = house.review.propose(wanted, land=False)
        except ReverieError as error:
            rest.append(f"{wanted.target}/{wanted.subject}: {error}")
            continue
        waiting += isinstance(outcome, Waiting)
        if not isinstance(outcome, Waiting):
            rest.append(f"{wanted.target}/{wanted.subject}: {proposal_outcome(outcome)}")
    yield f"{plural(waiting, 'change')} proposed. `reverie review` shows them; nothing was changed."
    yield from rest


# ---- telling ---------------------------------------------------------------------------------------------------------


def audit_as_json(report: AuditReport) -> dict[str, Any]:
    """The whole report. A suggestion is told as the operations it would make."""
    return {
        "at": report.at,
        "homes": report.homes,
        "counts": report.counts,
        "findings": [
            {
                "kind": one.kind,
                "severity": one.severity,
                "home": one.spot.home,
                "target": one.spot.target,
                "document": one.spot.document,
                "number": one.spot.number,
                "words": one.words,
                "why": one.why,
                "advice": one.advice,
                "operations": list(one.suggestion.actions) if one.suggestion else [],
                "other": one.other,
                "other_words": one.other_words,
            }
            for one in report.findings
        ],
    }


def audit_lines(report: AuditReport, width: int) -> Iterator[str]:
    """For a terminal of any width: the biggest problems, then each home with its grade, then what to do next. Into a
    pipe goes every finding."""
    if not report.homes:
        yield from _wrapped(
            "No agent's memory or skills were found here. Name a project or a file: `reverie audit ./project`.", width
        )
        return
    statements, skills = sum(home.statements for home in report.homes), sum(home.skills for home in report.homes)
    said = f"{plural(statements, 'statement')} and {plural(skills, 'skill')} in {plural(len(report.homes), 'home')}."
    counts = ", ".join(f"{count:,} {kind}" for kind, count in report.counts.items())
    yield from _wrapped(f"{said} {counts}." if counts else f"{said} Nothing is wrong that I can tell.", width)
    worst = [one for one in report.findings if one.severity != "note"]
    most = MOST_SHOWN if width < PIPE_WIDTH else len(report.findings)
    for finding in worst[:most]:
        yield ""
        yield from _wrapped(f"{finding.kind.upper()}  {finding.why}", width)
        if finding.words:
            yield f"  “{cut_line(finding.words, width - 6)}”"
        if finding.other_words:
            yield f"  “{cut_line(finding.other_words, width - 6)}”"
        places = f"{finding.spot}" + (f" and {finding.other}" if finding.other else "")
        yield f"  {cut_line(places, width - 2)}"
    if len(worst) > most:
        yield f"\n… and {len(worst) - most:,} more."
    yield ""
    notes = [one for one in report.findings if one.severity == "note"]
    for finding in notes[:most]:
        yield from _wrapped(f"Note, {finding.spot}: {finding.why}", width)
    if notes:
        yield f"… and {plural(len(notes) - most, 'more note')}.\n" if len(notes) > most else ""
    for home in report.homes:
        name = cut_line(home.name, width - 14)
        yield f"{home.grade.letter}  {name}  {home.grade.points}/100"
        yield from _wrapped("; ".join(home.grade.because), width, "   ")
        for filling in home.fillings:
            if filling.budget:
                full = f"{filling.characters:,} of {filling.budget:,} characters"
                yield f"   {cut_line(f'{filling.spot.target}/{filling.spot.document}: {full}', width - 3)}"
    yield ""
    yield from _next(report, worst, width)


def _next(report: AuditReport, worst: Sequence[Finding], width: int) -> Iterator[str]:
    can = sum(one.suggestion is not None for one in worst)
    if can:
        text = f"Next: `reverie audit --fix` proposes {plural(can, 'change')}; `--html audit.html` shows everything."
    elif worst:
        text = "Next: `reverie audit --html audit.html` shows everything; a person has to decide these."
    else:
        text = "Next: look again after some weeks of work, or let `reverie dream` keep it so."
    yield from _wrapped(f"{text} Nothing was changed.", width)


def _wrapped(text: str, width: int, lead: str = "") -> Iterator[str]:
    import textwrap

    yield from textwrap.wrap(text, width, initial_indent=lead, subsequent_indent=lead, break_on_hyphens=False)
