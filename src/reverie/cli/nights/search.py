"""`reverie search`."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from reverie.cli.options import DateOrAge, Shell, common, no_sessions_hint, with_pager
from reverie.cli.render import console, day, one_line, print_json, print_sentence, terminal_safe

if TYPE_CHECKING:
    from rich.console import Console

    from reverie.search.finding import Hit
    from reverie.transcripts.session import Turn

SHOWN_CHARS = 600


@click.command(name="search")
@click.argument("question", nargs=-1, required=True)
@click.option("--user", metavar="NAME", help="Only this person's sessions; nothing of anyone else is looked at.")
@click.option("--harness", metavar="NAME", help="Only this harness's, such as claude-code.")
@click.option("--role", type=click.Choice(["user", "assistant", "tool", "system", "developer"]))
@click.option("--since", type=DateOrAge(), help="Said at or after: a date, or an age such as 7d.")
@click.option("--until", type=DateOrAge(), help="Said before.")
@click.option("--limit", type=click.IntRange(1, 1000), default=5, show_default=True)
@click.option("--explain", is_flag=True, help="Say why each turn ranked where it did.")
@common
@with_pager
def command(
    *,
    question: tuple[str, ...],
    user: str | None,
    harness: str | None,
    role: str | None,
    since: datetime | None,
    until: datetime | None,
    limit: int,
    explain: bool,
    shell: Shell,
) -> None:
    """Find the turns that answer a question, each with the exchange around it, and what memory and skills say of it."""
    asked = " ".join(question)
    with shell.opened() as house:
        hits = house.search(asked, user=user, harness=harness, role=role, since=since, until=until, limit=limit)
        when = house.search.about_time(asked, hits) if since is until is None else ""
        narrowed = any((user, harness, role, since, until))  # what stands somewhere was said by nobody at no time
        stated = [] if narrowed else house.search_statements(asked)
        missed = not hits and not stated
        hint = missed and (no_sessions_hint(house) or _other_words(narrowed=narrowed))
    if shell.json:
        print_json([*hits, *stated])
        return
    if when:
        click.echo(when)
    if hint:
        click.echo(f"Nothing found. {hint}")
    out = console()
    for place, hit in enumerate(hits, 1):
        show_hit(out, place, hit, asked, explain)
    for one in stated:
        out.print(f"{one.kind}  {terminal_safe(one.where)}", style="bold", markup=False)
        print_sentence(out, one.text)


def _other_words(*, narrowed: bool) -> str:
    if narrowed:
        return "Leave out --user, --harness, --role, --since and --until to look at everything."
    return "Try fewer words, or others that may have been used then: it looks at sessions, memory and skills."


def show_hit(out: Console, place: int, hit: Hit, question: str, explain: bool = False) -> None:
    from reverie.search.passages import passage

    title = f"  {one_line(hit.title, 60)}" if hit.title else ""
    out.print(
        f"{place}. {terminal_safe(hit.session_id)} turn {hit.turn}  {day(hit.at)}{title}", style="bold", markup=False
    )
    width = max(20, out.width - 4)
    for turn in hit.before:
        out.print(_beside(turn, width), style="dim", markup=False)
    text = terminal_safe(passage(hit.text, question, SHOWN_CHARS))
    out.print(f" ▸ {terminal_safe(hit.name or hit.role)}: {text}", markup=False)
    for turn in hit.after:
        out.print(_beside(turn, width), style="dim", markup=False)
    if explain:
        parts = ", ".join(f"{name} {value:+.2f}" for name, value in hit.why)
        out.print(f"   why: {hit.score:.2f} = {parts}", style="italic", markup=False)
    out.print()


def _beside(turn: Turn, width: int) -> str:
    return f"   {one_line(f'{turn.said.name or turn.role}: {turn.said.whole}', width)}"
