"""`reverie explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reverie.cli.changes.review import show_proposal
from reverie.cli.options import Shell, common, ids, with_pager
from reverie.cli.render import dream_owner, print_diary, print_json, score_lines, terminal_safe
from reverie.core.errors import NotFound
from reverie.core.ids import full_id

if TYPE_CHECKING:
    from reverie.dreams.dream import Dream, Judged
    from reverie.dreams.stores.records import Located


@click.command(name="explain")
@click.argument("what", default="last", shell_complete=ids("dream"))
@common
@with_pager
def command(*, what: str, shell: Shell) -> None:
    """Why a candidate, proposal or change is what it is; `last`: the last night that decided something.

    The id of a dream tells all it decided, also one over a memory store of someone else: this is for who runs the
    machine.
    """
    with shell.opened() as house:
        if what.startswith("prop_"):
            show_proposal(house, house.id_of("proposal", what), shell)
            return
        if what.startswith("drm_"):
            _located(house.tenants.dream_anywhere(what), shell)
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
    if shell.json:
        print_json(found)
    for one in found if not shell.json else ():
        _matter(one)


def _located(found: Located, shell: Shell) -> None:
    if shell.json:
        print_json(found)
        return
    click.echo(f"{found.dream.id} of {dream_owner(found)} is {found.dream.status}.\n")
    _night(found.dream, shell)
    if not found.dream.diary:
        for flaw in found.dream.flaws:
            click.echo(terminal_safe(flaw))


def _night(dream: Dream, shell: Shell) -> None:
    if shell.json:
        print_json(dream)
        return
    print_diary(terminal_safe(dream.diary))
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
        lines += [f"    {line}" for line in score_lines(one.score)]
    print_diary(terminal_safe("\n".join(["", *lines, ""])))
