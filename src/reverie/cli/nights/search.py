"""`reverie search`."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from reverie.cli.options import DateOrAge, Shell, common, no_sessions_hint, with_pager
from reverie.cli.render import console, day, one_line, print_json, print_sentence, terminal_safe

if TYPE_CHECKING:
    from rich.console import Console

    from reverie.search.finder import Exchange

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
def search(
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
    from reverie.search.finder import MAX_LIMIT, exchanges

    asked = " ".join(question)
    with shell.opened() as house:
        most = limit if shell.json else min(4 * limit, MAX_LIMIT)  # several stand in one exchange
        hits = house.search(asked, user=user, harness=harness, role=role, since=since, until=until, limit=most)
        when = house.search.about_time(asked, hits) if since is until is None else ""
        narrowed = any((user, harness, role, since, until))  # what stands somewhere was said by nobody at no time
        stated = [] if narrowed else house.search_statements(asked)
        missed = not hits and not stated
        hint = missed and no_sessions_hint(house)
    if shell.json:
        print_json([*hits, *stated])
        return
    if when:
        click.echo(when)
    if missed:
        wider = "Leave out --user, --harness, --role, --since and --until to look at everything."
        other = "Try fewer words, or others that may have been used then: it looks at sessions, memory and skills."
        click.echo(f"Nothing found. {hint or (wider if narrowed else other)}")
    out = console()
    for place, exchange in enumerate(exchanges(hits)[:limit], 1):
        show_exchange(out, place, exchange, asked, explain)
    for one in stated:
        out.print(f"{one.kind}  {terminal_safe(one.where)}", style="bold", markup=False)
        print_sentence(out, one.text)


def show_exchange(out: Console, place: int, exchange: Exchange, question: str, explain: bool = False) -> None:
    """In a terminal the passage of a long turn that answers; in a pipe all of it."""
    from reverie.search.finder import Hit, passage

    best = exchange.best
    title = f"  {one_line(best.title, 60)}" if best.title else ""
    out.print(
        f"{place}. {terminal_safe(best.session_id)} turn {best.turn}  {day(best.at)}{title}", style="bold", markup=False
    )
    width = max(20, out.width - 4)
    for one in exchange.turns:
        if isinstance(one, Hit):
            text = passage(one.text, question, SHOWN_CHARS) if out.is_terminal else one.text
            out.print(f" ▸ {terminal_safe(one.name or one.role)}: {terminal_safe(text)}", markup=False)
        else:
            out.print(
                f"   {one_line(f'{one.said.name or one.role}: {one.said.whole}', width)}", style="dim", markup=False
            )
    for hit in exchange.hits if explain else ():
        parts = ", ".join(f"{name} {value:+.2f}" for name, value in hit.why)
        out.print(f"   why turn {hit.turn}: {hit.score:.2f} = {parts}", style="italic", markup=False)
    out.print()
