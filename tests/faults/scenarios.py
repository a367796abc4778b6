"""What is being done when the fault strikes. Each ends in one state of the file; what comes back is acknowledged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from reverie.app import Home
from reverie.changes.land import Landed
from reverie.changes.queue import Waiting
from reverie.core.scope import Origin
from reverie.memory.operation import Add, Remove, Replace, entry_hash
from tests.faults.houses import DOCUMENT, MEMORY, NEW, OLD, POISON, House, moved

Acknowledged = tuple[str, str]  # what kind of thing, and its id


def nothing(house: House) -> None:
    pass


@dataclass(frozen=True)
class Scenario:
    """`killed_in` names the function at whose first line the process died before `act` begins: recovery's work."""

    act: Callable[[Home], Iterator[Acknowledged]]
    prepare: Callable[[House], None] = nothing
    after: str = ""
    killed_in: str = ""
    about: str = field(default="", compare=False)


def write(home: Home) -> Iterator[Acknowledged]:
    yield _landed(home.review.write("hermes", DOCUMENT, [Add(DOCUMENT, "Money is Decimal")], "as agreed"))


def several(home: Home) -> Iterator[Acknowledged]:
    operations = [
        Replace(DOCUMENT, entry_hash(OLD), NEW),
        Remove(DOCUMENT, entry_hash("CI runs on GitHub Actions")),
        Add(DOCUMENT, "CI runs on Forgejo"),
        Add(DOCUMENT, "Deploys are on Tuesdays"),
    ]
    yield _landed(home.review.write("hermes", DOCUMENT, operations))


def land(home: Home) -> Iterator[Acknowledged]:
    yield _landed(home.review.propose(moved()))


def propose(home: Home) -> Iterator[Acknowledged]:
    waiting = home.review.propose(moved(Origin.TOOL))
    assert isinstance(waiting, Waiting), waiting
    yield "proposal", waiting.proposal.id
    yield _landed(home.review.approve(waiting.proposal, "I checked"))


def approve(home: Home) -> Iterator[Acknowledged]:
    (proposal,) = home.review.waiting()
    yield _landed(home.review.approve(proposal, "I checked"))


def undo(home: Home) -> Iterator[Acknowledged]:
    yield _landed(home.review.undo())


def touch(home: Home) -> Iterator[Acknowledged]:
    yield "entries", str(len(list(home.memory.entries("hermes"))))


def recover(home: Home) -> Iterator[Acknowledged]:
    yield "recovered", str(len(home.review.recover().landed))


def poisoned(house: House) -> None:
    house.memory.write_text(f"{MEMORY}\n§\nHermes wrote this\n§\n{POISON}")


def waiting(house: House) -> None:
    with house.opened() as home:
        home.review.propose(moved(Origin.TOOL))


def landed(house: House) -> None:
    with house.opened() as home:
        home.review.propose(moved())


def _landed(outcome: object) -> Acknowledged:
    assert isinstance(outcome, Landed), outcome
    return "change", outcome.change.id


SCENARIOS = {
    "write": Scenario(write),
    "several": Scenario(several),
    "land": Scenario(land),
    "propose": Scenario(propose),
    "undo": Scenario(undo, landed),
    "touch": Scenario(touch, poisoned),
    "recover-intended": Scenario(recover, nothing, "write", "_exchanged"),
    "recover-written": Scenario(recover, nothing, "several", "settle"),
    "recover-undone": Scenario(recover, landed, "undo", "settle"),
    "recover-approved": Scenario(recover, waiting, "approve", "_landed"),
    "recover-landed": Scenario(recover, waiting, "approve", "_close"),
    "approve": Scenario(approve, waiting),
}
