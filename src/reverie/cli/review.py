"""`reverie review`: the queue, one proposal a screen."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from reverie.cli.landing_output import told
from reverie.cli.options import Shell, common
from reverie.cli.render import console, counted, day, plain, print_json, print_sentence, score_lines, visible

if TYPE_CHECKING:
    from rich.console import Console

    from reverie.app import Home
    from reverie.changes.inbox import InboxItem, Voice
    from reverie.changes.proposal import Proposal

BECAUSE = click.option("--because", default="", metavar="WHY", help="Why, for whoever asks later.")
CHOICES = "[a]pprove  [r]eject  [e]dit  [s]kip  [w]hy  [q]uit"


@click.group(name="review", invoke_without_command=True)
@common
def command(*, shell: Shell) -> None:
    """What waits for a person, one proposal a screen: approve, reject, edit, skip, why.

    Nothing is approved by silence: what nobody answers expires.
    """
    if click.get_current_context().invoked_subcommand is not None:
        return
    with shell.opened() as house:
        waiting = house.review.waiting()
        behind = len(house.review.waiting(every=True)) - len(waiting)
        if shell.json or not sys.stdin.isatty():
            _listed(shell, house.inbox.items(waiting), behind)
            return
        for place, proposal in enumerate(waiting, 1):
            if not _screen(house, proposal, f"{place} of {len(waiting)}"):
                break
    click.echo("Nothing more to decide." if waiting else "Nothing waits for you.")


@command.command(name="list")
@click.option("--all", "every", is_flag=True, help="Also what waits behind today's, and what was decided.")
@common
def list_(*, every: bool, shell: Shell) -> None:
    """What waits, the best first."""
    with shell.opened() as house:
        waiting = house.review.past() if every else house.review.waiting()
        behind = 0 if every else len(house.review.waiting(every=True)) - len(waiting)
        items = house.inbox.items(waiting)
    _listed(shell, items, behind)


@command.command()
@click.argument("proposal")
@common
def show(*, proposal: str, shell: Shell) -> None:
    """One proposal: its diff, evidence, score, what it contradicts, findings, whom it reaches."""
    with shell.opened() as house:
        found = house.review.get(proposal)
    if shell.json:
        print_json(found)
    else:
        show_proposal(console(), found, why=True)


@command.command()
@click.argument("proposal")
@click.option("--hash", "seen", metavar="HASH", help="Only if it is still the one with this hash.")
@click.option("--despite-findings", is_flag=True, help="You have read the safety findings and decided.")
@BECAUSE
@common
def approve(*, proposal: str, seen: str | None, despite_findings: bool, because: str, shell: Shell) -> None:
    """Let a proposal land."""
    from reverie.changes.landing_result import Stale

    with shell.opened() as house:
        found = house.review.get(proposal)
        if seen is not None and not found.hash.startswith(seen):
            outcome: object = Stale(found.id, f"its hash is {found.hash[:12]} now")
        else:
            outcome = house.review.approve(found, because, despite_findings=despite_findings)
    told(outcome, shell)  # type: ignore[arg-type]


@command.command()
@click.argument("proposal")
@BECAUSE
@common
def reject(*, proposal: str, because: str, shell: Shell) -> None:
    """Say no. It is not proposed again on the same evidence."""
    with shell.opened() as house:
        rejected = house.review.reject(proposal, because)
    if shell.json:
        print_json(rejected)
    else:
        click.echo(f"{rejected.id} is rejected; it will not be proposed again on the same evidence.")


def _listed(shell: Shell, items: list[InboxItem], behind: int) -> None:
    if shell.json:
        told = [plain(one.proposal) | {"sentence": one.sentence} for one in items]
        print_json({"proposals": told, "behind": behind})
        return
    if not items:
        click.echo("Nothing waits for you.")
    out = console()
    for one in items:
        status = "" if one.proposal.status == "waiting" else f"  {one.proposal.status}"
        said = f"  {visible(voice_words(one.first))}" if one.first else ""
        out.print(f"{one.proposal.id}{said}{status}", markup=False)
        print_sentence(out, one.sentence)
    if behind > 0:
        click.echo(
            f"{counted(behind, 'more')} wait{'s' if behind == 1 else ''} behind today's limit (--all shows them)."
        )


def voice_words(voice: Voice) -> str:
    """Who said it, and on which day."""
    return f"{voice.who}, {voice.at:%Y-%m-%d}" if voice.at else voice.who


def show_proposal(out: Console, proposal: Proposal, *, why: bool = False, heading: str = "") -> None:
    suggestion = proposal.suggestion
    title = f"{heading}  " if heading else ""
    out.print(f"{title}{proposal.id}  {proposal.target_name}/{suggestion.subject}", style="bold", markup=False)
    for line in visible(proposal.diff).splitlines():
        style = {"+": "green", "-": "red"}.get(line[:1], "dim")
        out.print(line, style=style, markup=False)
    for label, text in _facts(proposal):
        out.print(f"{label:<9} {visible(text)}", markup=False)
    if why and suggestion.score:
        for line in score_lines(suggestion.score):
            out.print(f"  {line}", markup=False)


def _facts(proposal: Proposal) -> list[tuple[str, str]]:
    suggestion = proposal.suggestion
    facts = [("Why", suggestion.reason)] if suggestion.reason else []
    facts += [
        ("Said", f"“{one.quote}” — {one.origin}, {one.session_id} turn {one.turn}") for one in suggestion.evidence
    ]
    if suggestion.score:
        facts.append(("Score", f"{suggestion.score.total:.2f}"))
    facts += [
        ("Related", f"{one.relation} ({one.confidence:.2f}) {one.surface}: {one.text}") for one in proposal.related
    ]
    facts += [("Finding", f"{one.severity} {one.category}: {one.shown} — {one.advice}") for one in proposal.findings]
    facts.append(("Asks", f"because {proposal.asks_because}"))
    facts.append(("Reaches", proposal.reach))
    facts.append(("Expires", f"{day(proposal.expires_at)}; proposed by {suggestion.proposer}"))
    if proposal.verdict:
        said = "approved" if proposal.verdict.approved else "rejected"
        facts.append(("Verdict", f"{said} by {proposal.verdict.by} {proposal.verdict.because}".rstrip()))
    return facts


def _screen(house: Home, proposal: Proposal, place: str) -> bool:
    """Show one and do what is answered. False: the person has had enough."""
    out = console()
    why = False
    while True:
        show_proposal(out, proposal, why=why, heading=place)
        answer = click.prompt(CHOICES, default="s", show_default=False).strip().lower()[:1]
        if answer == "w":
            why = True
        elif answer == "e":
            proposal = _edited(house, proposal)
        elif answer in "arsq":
            return _answered(house, proposal, answer)


def _answered(house: Home, proposal: Proposal, answer: str) -> bool:
    from reverie.changes.landing_result import Unsafe, in_words

    if answer == "r":
        house.review.reject(proposal, click.prompt("Because", default="", show_default=False))
    elif answer == "a":
        because = click.prompt("Because", default="", show_default=False)
        outcome = house.review.approve(proposal, because)
        if isinstance(outcome, Unsafe) and click.confirm("The scan would keep it out. Land it all the same?"):
            outcome = house.review.approve(proposal, because, despite_findings=True)
        click.echo(in_words(outcome))
    return answer != "q"


def _edited(house: Home, proposal: Proposal) -> Proposal:
    """The proposal in the person's words; as it was if they left it, or if their words do not fit."""
    from dataclasses import replace

    from reverie.changes.proposal import Proposal as Made
    from reverie.memory.operation import Remove

    operations = [
        one if isinstance(one, Remove) else replace(one, text=(click.edit(one.text) or one.text).strip())
        for one in proposal.suggestion.operations
    ]
    changed = house.review.edited(proposal, operations) if operations else proposal
    if isinstance(changed, Made):
        return changed
    click.echo("That cannot be applied; the proposal stays as it was.")
    return proposal
