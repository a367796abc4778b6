"""`reverie bridge` and `ab`."""

from __future__ import annotations

from pathlib import Path

import click

from reverie.cli import bridge_output as output
from reverie.cli import shell as ui
from reverie.core.errors import BadInput, NotFound
from reverie.core.ids import plural

ANTHROPIC = "https://api.anthropic.com"
KEY_NAME = click.option(
    "--key-name", metavar="NAME", default="ANTHROPIC_API_KEY", show_default=True, help="Variable with the key."
)
TARGET = click.option("--target", metavar="NAME", help="The memory that facts go to.  [default: hermes or home]")


@click.group(name="bridge")
def bridge() -> None:
    """Bring in what a managed memory learned, as reviewed changes to skills and memory."""


@bridge.command(name="pull")
@click.argument("where", default=ANTHROPIC)
@KEY_NAME
@click.option(
    "--store", "stores", multiple=True, metavar="ID", help="Only this memory store; several times for several."
)
@click.option("--propose", "and_propose", is_flag=True, help="Put what new dreams changed into the review queue.")
@TARGET
@ui.common
def pull(
    *, where: str, key_name: str, stores: tuple[str, ...], and_propose: bool, target: str | None, shell: ui.Shell
) -> None:
    """Bring in memory stores, their versions and dreams; only what is new. Nothing is changed there.

    WHERE is the address of a server that speaks Anthropic's protocol (default https://api.anthropic.com), or a folder
    of exported Markdown or JSON. What was pulled lies in the home, below bridge/, without secrets.
    """
    with shell.opened() as house:
        pulled = house.bridge.pull(house.managed(where, key_name), stores)
        dreams = house.bridge.dreams()
        batches = house.bridge.propose_new(target=target or house.memory.default()) if and_propose else []
    told = [{"store": one.store.id, "name": one.store.name, "new_versions": one.versions} for one in pulled]
    if shell.printed_json({"pulled": told, "batches": [output.batch_as_json(one) for one in batches]}):
        return
    output.show_pulled(pulled, dreams)
    for batch in batches:
        output.show_batch(batch)


@bridge.command(name="watch")
@click.argument("where", default=ANTHROPIC)
@KEY_NAME
@click.option("--every", metavar="SECONDS", type=click.FloatRange(1.0), default=60.0, show_default=True)
@click.option("--looks", metavar="N", type=click.IntRange(1), help="Stop after so many looks.")
@click.option("--propose", "and_propose", is_flag=True, help="Put what each changed into the review queue.")
@TARGET
@ui.common
def watch(
    *,
    where: str,
    key_name: str,
    every: float,
    looks: int | None,
    and_propose: bool,
    target: str | None,
    shell: ui.Shell,
) -> None:
    """Follow dreams as they complete, until Ctrl-C: pull, and say what each of them wrote."""
    with shell.opened() as house:
        place = (target or house.memory.default()) if and_propose else None
        for found in house.bridge.watch(house.managed(where, key_name), every, looks, place):
            ended = [{"dream": one.id, "store": one.store, "output": one.output} for one in found.ended]
            batches = [output.batch_as_json(one) for one in found.batches]
            if shell.printed_json({"ended": ended, "batches": batches, "missed": found.missed}):
                continue
            if found.missed:
                click.echo(f"Not now: {found.missed}", err=True)
            output.show_pulled_dreams(found.ended)
            for batch in found.batches:
                output.show_batch(batch)


@bridge.command(name="dream")
@click.argument("store")
@click.option("--server", metavar="URL", default=ANTHROPIC, show_default=True, help="The server the store is on.")
@KEY_NAME
@click.option("--model", metavar="ID", default="built-in", show_default=True, help="The model of the dreams.")
@click.option("--instructions", metavar="TEXT", default="", help="What the dreams should look at.")
@click.option("--after", metavar="N", type=click.IntRange(1), default=1, help="Only once so many sessions are new.")
@ui.common
def dream(
    *, store: str, server: str, key_name: str, model: str, instructions: str, after: int, shell: ui.Shell
) -> None:
    """Dream over every session that has STORE mounted and is new, a hundred at a time, each over the last one's output.

    A night that was killed, or in which a dream failed, goes on where it stopped when this is run again. STORE itself
    is not changed. Two lines of a crontab make a clock and a trigger of it: one without --after, one with.
    """
    from reverie.bridge.server import TooFew

    with shell.opened() as house:
        night = house.bridge.dream(
            house.managed_server(server, key_name), store, model=model, instructions=instructions, after=after
        )
    if shell.json:
        done = not isinstance(night, TooFew) and night.done
        ui.print_json({"done": done, "output": night.output if not isinstance(night, TooFew) else "", "night": night})
    elif isinstance(night, TooFew):
        click.echo(f"{plural(night.new, 'session')} of {store} new; a night begins with {night.wanted}.")
    else:
        output.show_night(night)
    if not isinstance(night, TooFew) and not night.done:
        raise click.exceptions.Exit(1)


@bridge.command(name="diff")
@click.argument("old")
@click.argument("new", required=False)
@click.option("--all", "every", is_flag=True, help="Also what was only reworded, moved or said twice.")
@click.option("--ask", is_flag=True, help="Let the model of the settings say what only may be reworded.")
@ui.common
def diff(*, old: str, new: str | None, every: bool, ask: bool, shell: ui.Shell) -> None:
    """Show what an agent would do otherwise, given NEW instead of OLD.

    OLD and NEW are exported folders or JSON files, memory stores that were pulled (memstore_…), or one as it was at a
    time or a version (memstore_…@2026-05-12, memstore_…@memver_…). A dream (drm_…) alone: what it did. Statements are
    compared by what they say, wherever they stand.
    """
    with shell.opened() as house:
        found = house.bridge.diff(old, new, ask=ask)
    if not shell.printed_json(output.diff_as_json(found)):
        output.show_diff(found, every)


@bridge.command(name="propose")
@click.argument("old")
@click.argument("new", required=False)
@click.option("--quarantined", is_flag=True, help="Also what was kept back because of who is behind it.")
@TARGET
@ui.common
def propose(*, old: str, new: str | None, quarantined: bool, target: str | None, shell: ui.Shell) -> None:
    """Put every difference in behaviour into the review queue; nothing lands.

    Each goes to the rule it changes, to the skill it belongs to, or to memory. What is secret, private, unsafe, of one
    day, or said here already is kept out, with the reason. OLD and NEW are named as for `diff`.
    """
    with shell.opened() as house:
        target = target or house.memory.default()
        batch = house.bridge.propose(old, new, target=target, quarantined=quarantined)
    if not shell.printed_json(output.batch_as_json(batch)):
        output.show_batch(batch)


@bridge.command(name="push")
@click.argument("store")
@click.option("--server", metavar="URL", default=ANTHROPIC, show_default=True, help="The server the store is on.")
@KEY_NAME
@click.option("--memory", metavar="TARGET", help="Also the entries of this memory: home, hermes, ….")
@ui.common
def push(*, store: str, server: str, key_name: str, memory: str | None, shell: ui.Shell) -> None:
    """Put every skill into a managed memory store, as documents below /reverie/; nothing else there is touched.

    What stands there already is not written again, and what someone else changed there meanwhile is not written over.
    """
    with shell.opened() as house:
        pushed = house.bridge.push(house.managed_server(server, key_name), store, memory)
    if not shell.printed_json(pushed):
        output.show_pushed(pushed)


@bridge.command(name="reroute")
@click.argument("proposal")
@click.option("--to", metavar="PLACE", required=True, help="memory, user, nothing, or skill:NAME.")
@TARGET
@ui.common
def reroute(*, proposal: str, to: str, target: str | None, shell: ui.Shell) -> None:
    """Put what a waiting PROPOSAL would change to another place; what is like it goes there from now on."""
    from reverie.changes.queue import proposal_outcome

    with shell.opened() as house:
        place = target or house.memory.default()
        learned, made = house.bridge.reroute(proposal, to, by=house.config.owner, target=place)
    shell.tell(
        {"learned": learned, "became": proposal_outcome(made) if made else "Rejected."},
        ui.terminal_safe(proposal_outcome(made) if made else "Rejected: nothing is wanted of it."),
        f"Learned {learned.id}: what is like it goes to {to}. `reverie bridge routes` lists these.",
    )


@bridge.command(name="routes")
@click.option("--remove", metavar="ID", help="Forget this one.")
@ui.common
def routes(*, remove: str | None, shell: ui.Shell) -> None:
    """Where reviewers put things, and what is like them goes."""
    with shell.opened() as house:
        if remove and not house.bridge.routes.remove(remove):
            raise NotFound(f"There is no learned route {remove}.", next_step="`reverie bridge routes` lists them.")
        known = house.bridge.routes.all()
    if shell.printed_json(known):
        return
    for one in known:
        click.echo(ui.terminal_safe(f"{one.id}  to {one.to}: {one.text} ({one.by}, {one.at:%Y-%m-%d})"))
    if not known:
        click.echo("Nothing was re-routed yet.")


@bridge.command(name="undo")
@click.argument("batch")
@ui.BECAUSE
@ui.common
def undo(*, batch: str, because: str, shell: ui.Shell) -> None:
    """Take back everything that was approved of one dream (drm_…) or one batch, newest first."""
    from reverie.changes.land import Landed, in_words

    with shell.opened() as house:
        undone = house.bridge.undo(batch, because)
    told = [
        (change, f"Reverted in {outcome.change.id}." if isinstance(outcome, Landed) else in_words(outcome))
        for change, outcome in undone
    ]
    rows = [{"change": change.id, "outcome": said} for change, said in told]
    shell.tell(rows, *(f"{change.id}: {said}" for change, said in told))
    if not all(isinstance(outcome, Landed) for _, outcome in undone):
        raise click.exceptions.Exit(1)


@bridge.command(name="export")
@click.argument("folder", type=click.Path(path_type=Path))
@ui.common
def export(*, folder: Path, shell: ui.Shell) -> None:
    """Everything as plain Markdown, git history and JSON Lines, in a new FOLDER that needs no Reverie to be read."""
    with shell.opened() as house:
        made = house.export(folder)
    told = {**made.rows, "memories": made.memories, "repositories": made.repositories, "folder": str(folder)}
    if shell.printed_json(told):
        return
    for name in made.repositories:
        click.echo(f"{folder / name}: the files, and their history (`git log -p`)")
    click.echo(f"{folder / 'stores'}: {plural(made.memories, 'memory file')}")
    for name, number in made.rows.items():
        click.echo(f"{folder / name}.jsonl: {plural(number, 'line')}")


@bridge.command(name="demo")
def demo() -> None:
    """The nightly loop from end to end: work, dream, pull, diff, propose, approve, push. On a sample, no key."""
    output.show_demo()


@click.group(name="ab")
def ab() -> None:
    """Which of two memory stores, or skill libraries, works better in use?"""


@ab.command()
@click.argument("name")
@click.argument("a")
@click.argument("b")
@click.option("--metric", default="success", show_default=True, help="Or corrections, turns, cost, NAME:higher:0.1.")
@click.option("--guardrail", "guardrails", multiple=True, metavar="METRIC", help="What may not get worse.")
@click.option("--alpha", default=0.05, show_default=True, help="How often at most an arm is called better that is not.")
@click.option("--share", default=0.5, show_default=True, help="The share of units that get B.")
@ui.common
def start(
    *, name: str, a: str, b: str, metric: str, guardrails: tuple[str, ...], alpha: float, share: float, shell: ui.Shell
) -> None:
    """Compare A, which is in use, with B: ids of memory stores, or versions of a skill library."""
    with shell.opened() as house:
        made = house.experiments.start(name, a, b, metric=metric, guardrails=guardrails, alpha=alpha, share=share)
    shell.tell(made, f"{name} runs. What a session gets: `reverie ab assign {name} UNIT`.")


@ab.command()
@click.argument("name")
@click.argument("unit")
@ui.common
def assign(*, name: str, unit: str, shell: ui.Shell) -> None:
    """Say which arm UNIT, a session or a person, gets: the same every time."""
    with shell.opened() as house:
        found = house.experiments.assign(name, unit)
    shell.tell(found, found.use)


@ab.command()
@click.argument("name")
@click.argument("unit")
@click.option("--session", metavar="ID", help="Take turns and corrections from this session.")
@click.option("--value", "values", multiple=True, metavar="METRIC=NUMBER", help="success=1, cost=0.03, ….")
@ui.common
def record(*, name: str, unit: str, session: str | None, values: tuple[str, ...], shell: ui.Shell) -> None:
    """Record what came of a session of UNIT."""
    with shell.opened() as house:
        told = house.session_outcome(session) if session else {}
        counted = house.experiments.record(name, unit, told | dict(map(_value, values)))
    shell.tell({"counted": counted}, "Counted." if counted else f"Not counted: {name} is decided.")


def _value(said: str) -> tuple[str, float]:
    name, _, number = said.partition("=")
    try:
        return name, float(number)
    except ValueError:
        raise BadInput(f"{said!r} is no outcome.", expected="METRIC=NUMBER, as in success=1") from None


@ab.command()
@click.argument("name")
@ui.common
def report(*, name: str, shell: ui.Shell) -> None:
    """A page about the experiment: verdict, intervals, and a plot. It can be looked at as often as you like."""
    with shell.opened() as house:
        page, standing = house.experiments.report(name), house.experiments.standing(name)
    told = {"verdict": standing.verdict, "metric": standing.metric, "guardrails": standing.guardrails}
    if not shell.printed_json(told):
        click.echo(page, nl=False)


@ab.command(name="list")
@ui.common
def list_experiments(*, shell: ui.Shell) -> None:
    """Every experiment, and what it says so far."""
    with shell.opened() as house:
        told = [(one, house.experiments.standing(one.name).verdict) for one in house.experiments.all()]
    if shell.printed_json([{"experiment": one, "verdict": verdict} for one, verdict in told]):
        return
    for one, verdict in told:
        standing = (one.decided or verdict).replace("_", " ")
        click.echo(ui.terminal_safe(f"{one.name}  {standing}  {one.a} against {one.b}"))
    if not told:
        click.echo("There is none: `reverie ab start NAME A B`.")


@ab.command()
@click.argument("name")
@click.option("--despite", is_flag=True, help="Though it is not shown to be better.")
@ui.common
def promote(*, name: str, despite: bool, shell: ui.Shell) -> None:
    """Give B to everyone."""
    with shell.opened() as house:
        made = house.experiments.promote(name, despite=despite)
    shell.tell(made, f"Everyone gets {made.b}. And back: `reverie ab roll-back {name}`.")


@ab.command(name="roll-back")
@click.argument("name")
@ui.common
def roll_back(*, name: str, shell: ui.Shell) -> None:
    """Give A to everyone."""
    with shell.opened() as house:
        made = house.experiments.roll_back(name)
    shell.tell(made, f"Everyone gets {made.a}.")
