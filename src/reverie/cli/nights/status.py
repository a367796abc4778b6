"""`reverie status`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from reverie.cli.options import Shell, common, ids, look, no_sessions_hint, with_pager
from reverie.cli.render import console, day, dream_owner, print_diary, print_json, print_sentence, terminal_safe
from reverie.core.strings import plural

if TYPE_CHECKING:
    from reverie.app import Home
    from reverie.dreams.dream import Dream
    from reverie.dreams.stores.records import Located
    from reverie.transcripts.records import Quarantined

_SHOWN = 10


@click.command(name="status")
@click.argument("dream", required=False, shell_complete=ids("dream"))
@common
@with_pager
def command(*, dream: str | None, shell: Shell) -> None:
    """The last nights with their errors and what models cost, what is staged, what waits, the last changes, and how
    full memory is. On a server also the last dreams over memory stores of others.

    DREAM is the id of one dream, whoever's memory it is about; then only that one is shown.
    """
    with shell.opened() as house:
        if dream:
            found = house.tenants.dream_anywhere(dream)
            print_json(found) if shell.json else _others([found])
            return
        look(house)
        hint = no_sessions_hint(house)
        told = _status(house)
    if shell.json:
        print_json(told | {"changes": [change.id for change in told["changes"]]})
    else:
        _show(told)
        print_diary(hint and f"{hint}\n")


def _status(house: Home) -> dict[str, Any]:
    names = list(dict.fromkeys([*house.memory.present(), *house.dreams.records.targets(house.owned)]))
    changes = house.history.changes(limit=5, ours=True)
    return {
        "dreams": house.dreams.records.find(house.owned, limit=5),
        "staged": {name: len(house.dreams.records.staged(house.owned, name)) for name in names},
        "usage": {name: house.memory.usage(name) for name in names},
        "waiting": house.review.count(),
        "spending": house.spending(),
        "not_in_review": house.mirror_staged.problems(),
        "last_success": house.dreams.last_success(),
        "others": house.tenants.dreams_of_others(),
        "quarantined": house.sessions.quarantined(),
        "queued": len(house.ended.waiting()),
        "enabled": house.config.dreaming.enabled,
        "switched_off": {name: path for name in names if (path := house.switched_off(name))},
        "changes": changes,
        "sentences": house.inbox.sentences(changes, house.history.name_of, whole=not sys.stdout.isatty()),
    }


def _show(told: Mapping[str, Any]) -> None:
    if not told["enabled"]:
        click.echo("Dreaming is switched off (`enabled = false` under [dreaming]); what is queued waits.")
    if not told["dreams"]:
        click.echo("No night yet. `reverie dream --propose` tries one and lands nothing.")
    elif told["dreams"][0].status != "completed":
        success = told["last_success"]
        click.echo(f"The last night that came to its end: {day(success) if success else 'none'}.")
    for one in told["dreams"]:
        _dream(one, f"{one.id}  {one.target}")
    _others(told["others"], "Over memory stores of others (`reverie explain ID` tells more):")
    if told["spending"]["asked"] or told["spending"]["tokens"]:
        click.echo(_this_month(told["spending"]))
    for name, documents in told["usage"].items():
        for one in documents:
            full = f" ({one.characters * 100 // one.budget} %)" if one.budget else ""
            click.echo(f"{name}/{one.document}  {one.characters:,} characters{full}")
        if name in told["switched_off"]:
            click.echo(f"{name}  dreaming is switched off in {told['switched_off'][name]}")
        if staged := told["staged"][name]:
            click.echo(f"{name}  {plural(staged, 'candidate')} staged for other nights")
    for line in (*_unread(told["quarantined"]), *map(terminal_safe, told["not_in_review"])):
        click.echo(line)
    out = console()
    for change in told["changes"]:
        out.print(f"{day(change.settled_at)}  {change.id}", markup=False)
        print_sentence(out, told["sentences"][change.id])
    if told["queued"]:
        click.echo(f"{plural(told['queued'], 'session')} that ended, queued for the next night.")
    waiting = told["waiting"]
    click.echo(f"{plural(waiting, 'proposal')} waiting{': `reverie review`' if waiting else ''}.")


def _others(found: Sequence[Located], heading: str = "") -> None:
    if found and heading:
        click.echo(heading)
    for one in found:
        _dream(one.dream, f"{one.dream.id}  {dream_owner(one)}")


def _dream(dream: Dream, name: str) -> None:
    counts = ", ".join(f"{count} {fate}" for fate, count in dream.counts.items() if count) or "quiet"
    print_diary(f"{day(dream.ended_at or dream.started_at)}  {name}  {dream.status}: {counts}\n")
    for line in (*_asked(dream), *(f"  error: {terminal_safe(flaw)}" for flaw in dream.flaws)):
        click.echo(line)


def _unread(files: list[Quarantined]) -> Iterator[str]:
    if files:
        yield f"{plural(len(files), 'transcript')} could not be read; each is tried again when it changes:"
    for one in files[:_SHOWN]:
        yield f"  {terminal_safe(one.path)}: {terminal_safe(one.why)}"
    if len(files) > _SHOWN:
        yield f"  … and {len(files) - _SHOWN:,} more (--json lists all)"


def _asked(dream: Dream) -> Iterator[str]:
    for one in dream.consulted:
        dollars = "price not known" if one.dollars is None else f"${one.dollars:.4f}"
        failed = f", {one.failed:,} failed" if one.failed else ""
        yield (
            f"  {one.phase} asked {', '.join(one.models)}: {plural(one.calls, 'call')}{failed}, "
            f"{one.tokens_in + one.tokens_out:,} tokens ({one.cached:,} cached), {dollars}, {one.seconds:.1f} s"
        )
    for why, times in dream.dropped.items():
        yield f"  not taken {times:,}×: {terminal_safe(why)}"
    if dream.enough:
        yield f"  a cap was reached: {terminal_safe(dream.enough)}"


def _this_month(spending: Mapping[str, Any]) -> str:
    tokens = f" of {spending['most_tokens']:,}" if spending["most_tokens"] is not None else ""
    dollars = f" of ${spending['most_dollars']:.2f}" if spending["most_dollars"] is not None else ""
    return f"Models this month: {spending['tokens']:,}{tokens} tokens, ${spending['dollars']:.4f}{dollars}."
