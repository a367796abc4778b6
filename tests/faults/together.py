"""Several processes at one house at the same moment.

    python -m tests.faults.together FOLDER WHAT[,WHAT…] ROUNDS

As in `killing`, a driver that has everything loaded forks them. Prints what it found as JSON.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from reverie.app import Home
from reverie.changes.land import Landed
from reverie.changes.proposal import ProposalStatus
from reverie.changes.queue import Waiting
from reverie.core.errors import ReverieError
from tests.faults.houses import NEW, House, broken, build, entries, moved, ours, works
from tests.faults.killing import Problems, each, isolated, quiet_fork
from tests.faults.scenarios import waiting

Act = Callable[[Home], str]


def at_once(house: House, acts: Sequence[Act]) -> list[str]:
    """What each of them says came of it. They all open the house first and then start together."""
    begin_reading, begin = os.pipe()
    children = []
    for act in acts:
        reading, writing = os.pipe()
        ready_reading, ready = os.pipe()
        child = quiet_fork()
        if child == 0:
            os.close(begin)
            try:
                os.write(writing, _acted(house, act, ready, begin_reading).encode())
            finally:
                os._exit(0)
        os.close(writing)
        os.close(ready)
        os.read(ready_reading, 1)
        os.close(ready_reading)
        children.append((child, reading))
    os.close(begin_reading)
    os.close(begin)
    said = []
    for child, reading in children:
        with os.fdopen(reading) as pipe:
            said.append(pipe.read())
        os.waitpid(child, 0)
    return said


def _acted(house: House, act: Act, ready: int, begin: int) -> str:
    with house.opened() as home:
        home.review.waiting()
        os.write(ready, b".")
        os.read(begin, 1)  # until the driver closes it
        try:
            return act(home)
        except ReverieError as error:
            return f"{type(error).__name__}: {error}"


def approve(home: Home) -> str:
    (proposal,) = home.review.past()
    outcome = home.review.approve(proposal, "yes")
    return outcome.change.id if isinstance(outcome, Landed) else type(outcome).__name__


def reject(home: Home) -> str:
    (proposal,) = home.review.past()
    return home.review.reject(proposal, "no").status


def recover(home: Home) -> str:
    home.review.recover()
    return "recovered"


def propose(home: Home) -> str:
    outcome = home.review.propose(moved())
    if isinstance(outcome, Landed):
        return outcome.change.id
    return outcome.proposal.status if isinstance(outcome, Waiting) else type(outcome).__name__


def double_click(house: House) -> Problems:
    """Two processes approve one proposal: one Change, and both are told of it."""
    waiting(house)
    said = at_once(house, [approve, approve])
    return _agreed(house, said, lands=True) | {"other": [] if len(set(said)) == 1 else [f"they were told {said}"]}


def yes_and_no(house: House) -> Problems:
    """One approves and one rejects: whoever is first decides, and what is recorded is what happened."""
    waiting(house)
    said = at_once(house, [approve, reject])
    return _agreed(house, said, lands=any(one.startswith("chg_") for one in said))


def while_recovering(house: House) -> Problems:
    """Another process recovers while a proposal is being landed: it lands once, and it is said to have landed."""
    said = at_once(house, [propose, recover, recover])
    return _agreed(house, said, lands=True) | {"other": [] if said[0].startswith("chg_") else [f"told {said}"]}


def _agreed(house: House, said: list[str], lands: bool) -> Problems:
    with house.opened() as home:
        problems = broken(home)
        landed = ours(home)
        (proposal,) = home.review.past()
        problems += (
            [] if (proposal.status is ProposalStatus.LANDED) == lands else [f"it is {proposal.status}, told {said}"]
        )
        torn = [] if len(landed) == lands == (NEW in entries(house)) else [f"{len(landed)} changes, told {said}"]
        return {"lost": problems, "torn": torn, "manual": works(house, home)}


KINDS = {"double-click": double_click, "yes-and-no": yes_and_no, "while-recovering": while_recovering}


def rounds(folder: Path, kind: str, times: int) -> dict[str, Any]:
    built = build(folder / "house")
    built.folder.rename(folder / "stored")
    base = House(folder / "stored")
    found: Problems = {"lost": [], "torn": [], "manual": [], "other": []}
    for _ in range(times):
        for name, problems in KINDS[kind](base.copied(folder / "house")).items():
            found[name] += problems
    return {"points": times, "problems": found}


def main(folder: str, kinds: str, times: str) -> None:
    isolated(Path(folder))
    told = each(Path(folder), kinds, lambda inside, kind: rounds(inside, kind, int(times)))
    sys.stdout.write(json.dumps(told))


if __name__ == "__main__":
    main(*sys.argv[1:])
