"""`reverie audit`, `status` and `explain`: how memory stands, how nights went, and why."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reverie.cli import shell as ui
from reverie.cli.review import show_proposal
from reverie.core.clock import SystemClock
from reverie.core.errors import BadInput, NotFound, ReverieError
from reverie.core.ids import full_id, plural

if TYPE_CHECKING:
    from reverie.app import Home
    from reverie.audit.inventory import Finding
    from reverie.audit.report import AuditReport
    from reverie.dreams.dream import Dream, Judged
    from reverie.dreams.stores.dream import Located


MOST_UNREAD = 10


@click.command(name="status")
@click.argument("dream", required=False, shell_complete=ui.ids("dream"))
@ui.with_pager
def status(*, dream: str | None, shell: ui.Shell) -> None:
    """The last nights with their errors and what models cost, what is staged, what waits, the last changes, and how
    full memory is. On a server also the last dreams over memory stores of others.

    DREAM is the id of one dream, whoever's memory it is about; then only that one is shown.
    """
    with shell.opened() as house:
        if dream:
            found = house.tenants.dream_anywhere(dream)
            ui.print_json(found) if shell.json else _others([found])
            return
        ui.look(house)
        hint = ui.no_sessions_hint(house)
        names = list(dict.fromkeys([*house.memory.present(), *house.dreams.records.targets(house.owned)]))
        changes = house.history.changes(limit=5, ours=True)
        told: dict[str, Any] = {
            "dreams": house.dreams.records.find(house.owned, limit=5),
            "staged": {name: len(house.dreams.records.staged(house.owned, name)) for name in names},
            "usage": {name: house.memory.usage(name) for name in names},
            "waiting": house.review.count(),
            "spending": house.spending(),
            "not_in_review": house.mirror_staged.problems(),
            "last_success": house.dreams.last_success(),
            "others": house.tenants.store_dreams.of_others(house.owned, limit=5),
            "quarantined": house.sessions.quarantined(),
            "queued": len(house.ended.waiting()),
            "enabled": house.config.dreaming.enabled,
            "switched_off": {name: path for name in names if (path := house.switched_off(name))},
            "changes": changes,
            "sentences": house.inbox.sentences(changes, house.history.name_of, whole=not sys.stdout.isatty()),
        }
    if not shell.printed_json(told | {"changes": [change.id for change in told["changes"]]}):
        _show(told)
        ui.print_diary(hint and f"{hint}\n")


def _show(told: Mapping[str, Any]) -> None:
    if not told["enabled"]:
        click.echo("Dreaming is switched off (`enabled = false` under [dreaming]); what is queued waits.")
    _show_nights(told["dreams"], told["last_success"])
    _others(told["others"], "Over memory stores of others (`reverie explain ID` tells more):")
    if told["spending"]["asked"] or told["spending"]["tokens"]:
        spending = told["spending"]
        tokens = f" of {spending['most_tokens']:,}" if spending["most_tokens"] is not None else ""
        dollars = f" of ${spending['most_dollars']:.2f}" if spending["most_dollars"] is not None else ""
        click.echo(f"Models this month: {spending['tokens']:,}{tokens} tokens, ${spending['dollars']:.4f}{dollars}.")
    for name, documents in told["usage"].items():
        for one in documents:
            full = f" ({one.characters * 100 // one.budget} %)" if one.budget else ""
            click.echo(f"{name}/{one.document}  {one.characters:,} characters{full}")
        if name in told["switched_off"]:
            click.echo(f"{name}  dreaming is switched off in {told['switched_off'][name]}")
        if staged := told["staged"][name]:
            click.echo(f"{name}  {plural(staged, 'candidate')} staged for other nights")
    if files := told["quarantined"]:
        click.echo(f"{plural(len(files), 'transcript')} could not be read; each is tried again when it changes:")
        ui.echo_some([ui.terminal_safe(f"  {one.path}: {one.why}") for one in files], MOST_UNREAD)
    for line in map(ui.terminal_safe, told["not_in_review"]):
        click.echo(line)
    out = ui.console()
    for change in told["changes"]:
        out.print(f"{ui.day(change.settled_at)}  {change.id}")
        ui.print_sentence(out, told["sentences"][change.id])
    if told["queued"]:
        click.echo(f"{plural(told['queued'], 'session')} that ended, queued for the next night.")
    waiting = told["waiting"]
    click.echo(f"{plural(waiting, 'proposal')} waiting{': `reverie review`' if waiting else ''}.")


def _show_nights(dreams: Sequence[Dream], success: datetime | None) -> None:
    if not dreams:
        click.echo("No night yet. `reverie dream --propose` tries one and lands nothing.")
    elif dreams[0].status != "completed":
        click.echo(f"The last night that came to its end: {ui.day(success) if success else 'none'}.")
    for one in dreams:
        _dream(one, f"{one.id}  {one.target}")


def _others(found: Sequence[Located], heading: str = "") -> None:
    if found and heading:
        click.echo(heading)
    for one in found:
        _dream(one.dream, f"{one.dream.id}  {ui.dream_owner(one)}")


def _dream(dream: Dream, name: str) -> None:
    counts = ", ".join(f"{count} {fate}" for fate, count in dream.counts.items() if count) or "quiet"
    ui.print_diary(f"{ui.day(dream.ended_at or dream.started_at)}  {name}  {dream.status}: {counts}\n")
    for one in dream.consulted:
        dollars = "price not known" if one.dollars is None else f"${one.dollars:.4f}"
        failed = f", {one.failed:,} failed" if one.failed else ""
        click.echo(
            f"  {one.phase} asked {', '.join(one.models)}: {plural(one.calls, 'call')}{failed}, "
            f"{one.tokens_in + one.tokens_out:,} tokens ({one.cached:,} cached), {dollars}, {one.seconds:.1f} s"
        )
    for why, times in dream.dropped.items():
        click.echo(f"  not taken {times:,}×: {ui.terminal_safe(why)}")
    if dream.enough:
        click.echo(f"  a cap was reached: {ui.terminal_safe(dream.enough)}")
    for flaw in dream.flaws:
        click.echo(f"  error: {ui.terminal_safe(flaw)}")


@click.command(name="explain")
@click.argument("what", default="last", shell_complete=ui.ids("dream"))
@ui.with_pager
def explain(*, what: str, shell: ui.Shell) -> None:
    """Why a candidate, proposal or change is what it is; `last`: the last night that decided something.

    The id of a dream tells all it decided, also one over a memory store of someone else: this is for who runs the
    machine.
    """
    with shell.opened() as house:
        if what.startswith("prop_"):
            show_proposal(house, house.id_of("proposal", what), shell)
            return
        if what.startswith("drm_"):
            located = house.tenants.dream_anywhere(what)
            if shell.printed_json(located):
                return
            click.echo(f"{located.dream.id} of {ui.dream_owner(located)} is {located.dream.status}.\n")
            _night(located.dream, shell)
            for flaw in () if located.dream.diary else located.dream.flaws:
                click.echo(ui.terminal_safe(flaw))
            return
        dreams = house.dreams.records.find(house.owned, limit=50)
    if what == "last":
        if not dreams:
            raise NotFound("There was no night yet.", next_step="`reverie dream --propose` tries one.")
        place = next((at for at, dream in enumerate(dreams) if dream.judged), 0)
        if place and not shell.json:
            since = f"{place:,} nights since" if place > 1 else "night since"
            click.echo(f"The {since} had nothing to decide. The last one that had, {dreams[place].id}:\n")
        _night(dreams[place], shell)
        return
    decided = [one for dream in dreams for one in dream.judged]
    what = full_id("candidate", what, (name for one in decided for name in (*one.candidates, one.ref) if name))
    found = [one for one in decided if what in (*one.candidates, one.ref)]
    if not found:
        raise NotFound(
            f"No night of the last fifty decided about {what!r}.", next_step="`reverie explain last` lists some."
        )
    for one in () if shell.printed_json(found) else found:
        _matter(one)


def _night(dream: Dream, shell: ui.Shell) -> None:
    if shell.printed_json(dream):
        return
    ui.print_diary(ui.terminal_safe(dream.diary))
    for asked in dream.consulted:
        prompts = ", ".join(f"{name} {sha256[:12]}" for name, sha256 in asked.prompts.items())
        click.echo(f"\n{asked.phase}: {asked.seconds:.1f} s of {', '.join(asked.models)}; prompts {prompts}")
    for one in dream.judged:
        _matter(one)


def _matter(one: Judged) -> None:
    lines = [f"{', '.join(one.candidates)}  {one.verb}: {one.fate}"]
    lines += [f"  {one.text or one.old or '(private: the text is not kept)'}", f"  {one.reason}"]
    if one.why and one.why != one.reason:
        lines.append(f"  {one.why}")
    lines += [f"  {name}: {found}" for name, found in one.checks if found != "passed"]
    if passed := [name for name, found in one.checks if found == "passed"]:
        lines.append(f"  passed: {', '.join(passed)}")
    for evidence in one.evidence:
        lines.append(f"  “{evidence.quote}” — {evidence.origin}, {evidence.session_id} turn {evidence.turn}")
    if one.score:
        lines.append(f"  score {one.score.total:.2f}")
        lines += [f"    {line}" for line in ui.score_lines(one.score)]
    ui.print_diary(ui.terminal_safe("\n".join(["", *lines, ""])))


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
@ui.with_pager
def audit(
    *,
    paths: tuple[str, ...],
    only: bool,
    html: Path | None,
    kinds: tuple[str, ...],
    target: str | None,
    fix: bool,
    shell: ui.Shell,
) -> None:
    """Show what agents believe and obey, and how much of it is junk, doubled, contradictory, stale, secret or unsafe.

    Looks at the memory and skills of every tool under your home directory, and at AGENTS.md, CLAUDE.md and skills in
    the paths you name. SOUL.md, .hermes.md and other context files are looked through for what is unsafe or secret.
    It reads, needs no key and no Reverie home, and changes nothing.
    """
    from reverie.app import Home
    from reverie.config import load

    if html is not None and html.suffix not in (".html", ".htm"):
        raise BadInput(f"{html} would be overwritten.", expected="a file whose name ends with .html")
    with Home(load(shell.home, {"database": shell.database}), SystemClock()) as house:  # opening one makes its folder
        report = house.audit(paths, only=only).narrowed(kinds, house.memory.target(target).name if target else None)
    if html is not None:
        from reverie.audit.report import audit_page

        try:
            html.write_text(audit_page(report), "utf-8", "backslashreplace")
        except OSError as error:
            raise BadInput(
                f"{html} cannot be written: {error.strerror}.", expected="a file in a folder of yours"
            ) from error
    proposed = list[str]()
    if fix:
        with shell.opened() as house:
            proposed += propose_all(house, report.findings)
    if shell.json:
        ui.print_json({**audit_as_json(report), **({"proposed": proposed} if fix else {})})
    else:
        columns = max(NARROW, min(WIDEST, shutil.get_terminal_size((80, 24)).columns))
        click.echo("\n".join(audit_lines(report, columns if sys.stdout.isatty() else ui.PIPE_WIDTH)))
        for line in proposed:
            click.echo(line)
        if html is not None:
            click.echo(f"The page is in {html}.")


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


def audit_as_json(report: AuditReport) -> dict[str, Any]:
    """The whole report. A suggestion is told as the operations it would make."""
    findings = [
        {"kind": one.kind, "severity": one.severity}
        | {name: getattr(one.spot, name) for name in ("home", "target", "document", "number")}
        | {"words": one.words, "why": one.why, "advice": one.advice}
        | {"operations": list(one.suggestion.actions) if one.suggestion else []}
        | {"other": one.other, "other_words": one.other_words}
        for one in report.findings
    ]
    return {"at": report.at, "homes": report.homes, "counts": report.counts, "findings": findings}


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
    most = MOST_SHOWN if width < ui.PIPE_WIDTH else len(report.findings)
    for finding in worst[:most]:
        yield ""
        yield from _wrapped(f"{finding.kind.upper()}  {finding.why}", width)
        for words in filter(None, (finding.words, finding.other_words)):
            yield f"  “{ui.cut_line(words, width - 6)}”"
        places = f"{finding.spot}" + (f" and {finding.other}" if finding.other else "")
        yield f"  {ui.cut_line(places, width - 2)}"
    if len(worst) > most:
        yield f"\n… and {len(worst) - most:,} more."
    yield ""
    notes = [one for one in report.findings if one.severity == "note"]
    for finding in notes[:most]:
        yield from _wrapped(f"Note, {finding.spot}: {finding.why}", width)
    if notes:
        yield f"… and {plural(len(notes) - most, 'more note')}.\n" if len(notes) > most else ""
    for home in report.homes:
        name = ui.cut_line(home.name, width - 14)
        yield f"{home.grade.letter}  {name}  {home.grade.points}/100"
        yield from _wrapped("; ".join(home.grade.because), width, "   ")
        for filling in home.fillings:
            if filling.budget:
                full = f"{filling.characters:,} of {filling.budget:,} characters"
                yield f"   {ui.cut_line(f'{filling.spot.target}/{filling.spot.document}: {full}', width - 3)}"
    yield ""
    if can := sum(one.suggestion is not None for one in worst):
        text = f"Next: `reverie audit --fix` proposes {plural(can, 'change')}; `--html audit.html` shows everything."
    elif worst:
        text = "Next: `reverie audit --html audit.html` shows everything; a person has to decide these."
    else:
        text = "Next: look again after some weeks of work, or let `reverie dream` keep it so."
    yield from _wrapped(f"{text} Nothing was changed.", width)


def _wrapped(text: str, width: int, lead: str = "") -> Iterator[str]:
    yield from textwrap.wrap(text, width, initial_indent=lead, subsequent_indent=lead, break_on_hyphens=False)
