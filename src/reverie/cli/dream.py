"""`reverie dream`."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from reverie.cli.options import Day, Shell, common
from reverie.cli.render import counted, print_json, visible
from reverie.kernel.errors import BadInput

if TYPE_CHECKING:
    from reverie.dreams.dream import Dream, Mode
    from reverie.dreams.dreaming import Due
    from reverie.dreams.estimating import Estimate
    from reverie.home import Home


@click.command(name="dream")
@click.argument("sessions", nargs=-1, metavar="[SESSION]...")
@click.option("--propose", is_flag=True, help="Land nothing: only proposals and the report.")
@click.option("--shelf", metavar="NAME", help="Which shelf, or a path; Hermes' or the home's own if not said.")
@click.option("--since", type=Day(), help="Only sessions since: a date, or an age such as 7d.")
@click.option("--user", metavar="NAME", help="Only sessions of this user; of all users if not said.")
@click.option("--limit", type=click.IntRange(1), help="At most so many sessions [recent_sessions_limit].")
@click.option("--queue", is_flag=True, help="Leave it to a worker (`reverie worker`), and come back at once.")
@click.option("--cancel", metavar="DREAM", help="End a night that has not begun to land, and nothing else.")
@click.option("--if-missed", is_flag=True, help="Only if there was no night since the last time of `schedule`.")
@click.option("--estimate", is_flag=True, help="Only say what a night would read and cost. Writes nothing.")
@click.option(
    "--after",
    type=click.IntRange(1),
    metavar="N",
    help="Only when there are so many new sessions. With --if-missed: either is enough.",
)
@common
def command(
    *, sessions: tuple[str, ...], propose: bool, shelf: str | None, since: datetime | None, user: str | None,
    limit: int | None, queue: bool, cancel: str | None, if_missed: bool, estimate: bool, after: int | None,
    shell: Shell,
) -> None:  # fmt: skip
    """One night: read what is new, notice what is worth keeping, land very little, propose the rest.

    No model and no key are needed; one that is set is asked within its caps. Zero changes is a good night.
    `reverie review` shows what waits, `reverie undo` takes back what landed.
    """
    if (if_missed or after) and (sessions or since or user or limit or queue or estimate):
        raise BadInput(
            "--if-missed and --after are for a night over all that is new.",
            expected="no sessions, --since, --user, --limit, --queue or --estimate beside them",
        )
    with shell.opened() as house:
        if cancel:
            _told(house.dream.cancel(cancel), shell)
            return
        chosen = shelf or house.memory.default()
        if estimate:
            _foretold(house.dream.estimate(chosen, list(sessions) or None, since, limit, user), shell)
            return
        mode: Mode = "propose" if propose else "land"
        if if_missed or after:
            dream = house.dream.if_due(_due(house, if_missed, after), chosen, mode)
        else:
            dream = (house.dream.later if queue else house.dream)(
                shelf=chosen, mode=mode, sessions=list(sessions) or None, since=since, limit=limit, user=user
            )
    if dream is None:  # a scheduler looks every hour, and every word would be mailed
        return
    if shell.json or queue:
        _told(dream, shell)
        return
    click.echo(visible(dream.diary), nl=False)
    if dream.left:
        click.echo(f"{dream.left:,} more sessions wait for another night.")
    if dream.proposals:
        click.echo("`reverie review` shows what waits for you.")


def _due(house: Home, if_missed: bool, after: int | None) -> Due:
    from reverie.dreams.dreaming import Due

    dreaming = house.config.dreaming
    if not dreaming.enabled:
        return Due()
    return Due(dreaming.schedule.last(house.clock.now(), house.config.timezone) if if_missed else None, after or 0)


def _foretold(estimate: Estimate, shell: Shell) -> None:
    if shell.json:
        print_json(estimate)
        return
    left = f" ({estimate.left:,} more would wait)" if estimate.left else ""
    click.echo(
        f"A night over {estimate.shelf} would read {counted(estimate.sessions, 'session')}{left}, "
        f"{counted(estimate.characters, 'character')}; "
        f"the built-in reader notices {counted(estimate.noticed, 'thing')}."
    )
    if estimate.fresh:
        new = "are new or have grown" if estimate.fresh > 1 else "is new or has grown"
        click.echo(f"{estimate.fresh:,} of them {new} in the sources: a night brings that in. Nothing was stored now.")
    click.echo("Without a model: free.")
    for one in estimate.foreseen:
        share = f" with {one.characters * 100 / max(1, estimate.characters):.0f} % of the text" * (one.phase == "light")
        cost = "at a price that is not known"
        if one.dollars is not None and one.most_dollars is not None:
            cost = f"${one.dollars:.4f}, at most ${one.most_dollars:.4f}"
        click.echo(
            f"{one.phase}: {one.model} would be asked {counted(one.questions, 'question')}{share}: "
            f"about {one.tokens:,} tokens, at most {one.most_tokens:,}; {cost}."
        )
    if not estimate.foreseen:
        click.echo("No model is set; `model` in reverie.toml sets one.")


def _told(dream: Dream, shell: Shell) -> None:
    if shell.json:
        print_json(dream)
    else:
        click.echo(f"{dream.id} is {dream.status}.")
