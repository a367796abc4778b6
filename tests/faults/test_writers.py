"""Others write the same files: at the same moment, while someone stands still, or with an editor and no lock."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from reverie.app import Home
from reverie.changes.land import Landed
from reverie.changes.ledger import Via
from reverie.memory.operation import Add, Remove, entry_hash
from tests.faults.fixtures import Tallied
from tests.faults.houses import DOCUMENT, MEMORY, POISON, House, broken, changes, entries, ours, works
from tests.faults.killing import Lines, quiet_fork
from tests.faults.tallying import FULL

LOCK = f"{DOCUMENT}.lock"


def with_room(house: House) -> House:
    (house.hermes / "config.yaml").write_text("memory:\n  memory_char_limit: 1000000\n")
    return house


def like_hermes(memory: Path, edit: Callable[[list[str]], list[str]], pause: Callable[[], None] = lambda: None) -> None:
    """As Hermes' memory tool does it: its lock file, the whole file read and replaced."""
    with (memory.parent / LOCK).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        now = memory.read_text().split("\n§\n")
        pause()
        beside = memory.with_name(f"mem_{os.getpid()}.tmp")
        beside.write_text("\n§\n".join(edit(now)))
        beside.replace(memory)


def child(work: Callable[[], None]) -> int:
    process = quiet_fork()
    if process == 0:
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    return process


def ended(process: int, within: float = 60) -> bool:
    """Whether it came to a good end by then."""
    until = time.monotonic() + within
    while time.monotonic() < until:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return status == 0
        time.sleep(0.01)
    return False


def write(home: Home, text: str, document: str = DOCUMENT) -> None:
    assert isinstance(home.review.write("hermes", document, [Add(document, text)]), Landed)


# ---- F8 --------------------------------------------------------------------------------------------------------------


@pytest.mark.timeout(1800)
def test_nothing_is_lost_when_a_harness_writes_while_changes_land(tallied: Tallied, house: House) -> None:
    """Every process adds entries of its own and removes every third of them again; nobody touches another's."""
    tally = tallied("F8", "processes that write as Hermes does while others land changes, on one file")
    times, theirs, our_own = (250, 4, 2) if FULL else (8, 2, 2)
    with_room(house)

    def hermes(name: str) -> None:
        for number in range(times):
            like_hermes(house.memory, lambda now, number=number: [*now, f"{name} wrote number {number}"])
            if number % 3 == 0:
                gone = f"{name} wrote number {number}"
                like_hermes(house.memory, lambda now, gone=gone: [one for one in now if one != gone])

    def reverie(name: str) -> None:
        with house.opened() as home:
            for number in range(times):
                text = f"{name} landed number {number}"
                write(home, text)
                if number % 3 == 0:
                    outcome = home.review.write("hermes", DOCUMENT, [Remove(DOCUMENT, entry_hash(text))])
                    assert isinstance(outcome, Landed), outcome

    writers = [child(lambda at=at: hermes(f"hermes-{at}")) for at in range(theirs)]
    writers += [child(lambda at=at: reverie(f"reverie-{at}")) for at in range(our_own)]
    assert all(ended(writer, 1500) for writer in writers)
    tally.points = times * (theirs + our_own)
    stay = [number for number in range(times) if number % 3]
    wanted = {f"hermes-{at} wrote number {number}" for at in range(theirs) for number in stay}
    wanted |= {f"reverie-{at} landed number {number}" for at in range(our_own) for number in stay}
    found = entries(house)
    tally.lost += sorted(wanted - set(found))
    tally.torn += sorted(set(found) - wanted - set(MEMORY.split("\n§\n")))
    tally.torn += [one for one in found if found.count(one) > 1]
    with house.opened() as home:
        tally.other += broken(home)
        landed = times * our_own + len([number for number in range(times) if number % 3 == 0]) * our_own
        tally.lost += [] if len(ours(home)) == landed else [f"{len(ours(home))} changes of {landed}"]
        tally.manual += works(house, home)


# ---- F9 --------------------------------------------------------------------------------------------------------------


def stopped(process: int) -> None:
    os.waitpid(process, os.WUNTRACED)


@pytest.mark.parametrize("where", ["intend", "_exchanged", "made", "settle"])
def test_a_harness_waits_for_reverie_only_while_a_file_is_exchanged(tallied: Tallied, house: House, where: str) -> None:
    """Reverie is stopped while it writes its intention down, before the file, at it, behind it; Hermes wants to write.
    Once Hermes did, the change is worked out again on what it wrote."""
    tally = tallied("F9", "SIGSTOP of who holds the lock or the database, SIGCONT, a lock file of the dead")

    def landing() -> None:
        with house.opened() as home:
            home.review.waiting()
            sys.settrace(Lines(die_in=where, by=signal.SIGSTOP))
            write(home, "Money is Decimal")
            sys.settrace(None)

    holder = child(landing)
    stopped(holder)
    other = child(lambda: like_hermes(house.memory, lambda now: [*now, "Hermes wrote"]))
    waited = not ended(other, 0.5 if where == "made" else 20)
    assert waited == (where == "made")
    os.kill(holder, signal.SIGCONT)
    assert ended(holder) and (not waited or ended(other))
    tally.points += 1
    tally.lost += [one for one in ("Money is Decimal", "Hermes wrote") if one not in entries(house)]
    with house.opened() as home:
        tally.other += broken(home)
        tally.manual += works(house, home)


def test_a_harness_that_stands_still_while_holding_the_lock_is_waited_for(tallied: Tallied, house: House) -> None:
    tally = tallied("F9", "SIGSTOP of who holds the lock or the database, SIGCONT, a lock file of the dead")

    def pause() -> None:
        os.kill(os.getpid(), signal.SIGSTOP)

    holder = child(lambda: like_hermes(house.memory, lambda now: [*now, "Hermes was first"], pause))
    stopped(holder)

    def landing() -> None:
        with house.opened() as home:
            write(home, "Money is Decimal")

    other = child(landing)
    assert not ended(other, 0.5)
    os.kill(holder, signal.SIGCONT)
    assert ended(holder) and ended(other)
    tally.points += 1
    tally.lost += [one for one in ("Money is Decimal", "Hermes was first") if one not in entries(house)]
    with house.opened() as home:
        tally.manual += works(house, home)


def test_who_stands_still_in_a_transaction_is_waited_for(tallied: Tallied, house: House) -> None:
    """Two documents have two locks; the database has one."""
    tally = tallied("F9", "SIGSTOP of who holds the lock or the database, SIGCONT, a lock file of the dead")

    def landing(document: str, stop: str = "") -> None:
        with house.opened() as home:
            home.review.waiting()
            if stop:
                sys.settrace(Lines(die_in=stop, by=signal.SIGSTOP))
            write(home, f"for {document}", document)
            sys.settrace(None)

    holder = child(lambda: landing(DOCUMENT, "_stand"))  # inside the transaction that says it landed
    stopped(holder)
    other = child(lambda: landing("USER.md"))
    assert not ended(other, 0.5)
    os.kill(holder, signal.SIGCONT)
    assert ended(holder) and ended(other)
    tally.points += 1
    with house.opened() as home:
        tally.lost += [] if len(ours(home)) == 2 else [f"{len(ours(home))} changes of 2"]
        tally.manual += works(house, home)


def test_a_lock_file_left_by_the_dead_blocks_nobody(tallied: Tallied, house: House) -> None:
    tally = tallied("F9", "SIGSTOP of who holds the lock or the database, SIGCONT, a lock file of the dead")
    lock = house.memory.parent / LOCK
    script = "import fcntl, sys; f = open(sys.argv[1], 'a'); fcntl.flock(f, 2); print(1, flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", script, str(lock)]
    dead = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert dead.stdout is not None and dead.stdout.readline()
    dead.kill()
    dead.wait()
    dead.communicate()
    lock.write_text(str(dead.pid))
    tally.points += 1
    begun = time.monotonic()
    with house.opened() as home:
        tally.manual += works(house, home)
    assert time.monotonic() - begun < 20


# ---- F10 -------------------------------------------------------------------------------------------------------------


def test_an_editor_that_saves_while_a_change_is_being_drawn_is_recorded_like_any_other(
    tallied: Tallied, house: House
) -> None:
    """It has no lock: it saves behind the reconciling and before the draft is worked out."""
    tally = tallied("F10", "an editor without a lock saves while a change is being landed")
    saved: list[str] = []

    def save(frame: FrameType, event: str, argument: object) -> None:
        if not saved and frame.f_code.co_name == "drawn" and frame.f_globals["__name__"] == "reverie.changes.drafts":
            saved.append(f"{MEMORY}\n§\n{POISON}")
            house.memory.write_text(saved[0])

    with house.opened() as home:
        home.review.waiting()
        sys.settrace(save)
        write(home, "Money is Decimal")
        sys.settrace(None)
        tally.points += 1
        assert saved and house.memory.read_text() == f"{saved[0]}\n§\nMoney is Decimal"
        assert [change.grounds.via for change in changes(home)] == [Via.FOUND, Via.OUTSIDE, Via.DIRECT]
        tally.lost += [] if home.review.waiting() else ["something unsafe was not queued"]
        tally.other += broken(home)


def test_an_editor_that_saves_while_a_broken_off_change_is_done_again_loses_nothing(
    tallied: Tallied, house: House
) -> None:
    """The document moved on behind the crash, and once more between the first look and the record of it."""
    tally = tallied("F10", "an editor without a lock saves while a change is being landed")
    saved: list[str] = []

    def broken_off() -> None:
        with house.opened() as home:
            home.review.waiting()
            sys.settrace(Lines(die_in="_fill"))
            write(home, "Money is Decimal")

    def save(frame: FrameType, event: str, argument: object) -> None:
        if not saved and frame.f_code.co_name == "_outside":
            saved.append(house.memory.read_text() + "\n§\nThe second thing an editor wrote")
            house.memory.write_text(saved[0])

    assert not ended(child(broken_off))
    house.memory.write_text(f"{MEMORY}\n§\nThe first thing an editor wrote")
    with house.opened() as home:
        sys.settrace(save)
        home.review.recover()
        sys.settrace(None)
        tally.points += 1
        assert house.memory.read_text() == f"{saved[0]}\n§\nMoney is Decimal"
        assert [change.grounds.via for change in changes(home)] == [Via.FOUND, Via.OUTSIDE, Via.DIRECT]
        tally.other += broken(home)


def test_what_an_editor_or_a_checkout_does_is_recorded_and_what_is_unsafe_is_queued(
    tallied: Tallied, house: House
) -> None:
    tally = tallied("F10", "the file appended to, replaced, put back, emptied or deleted by someone without a lock")
    older = house.memory.read_bytes()

    def git_checkout() -> None:
        house.memory.unlink()
        house.memory.write_bytes(older)

    def append(text: str) -> None:
        with house.memory.open("a") as file:
            file.write(text)

    edits: list[tuple[Callable[[], object], bool]] = [
        (lambda: append("\n§\nappended by a shell"), False),
        (lambda: append(f"\n§\n{POISON}"), True),
        (git_checkout, False),
        (lambda: house.memory.write_bytes(b""), False),
        (lambda: house.memory.write_text(f"Also: {POISON} today\n§\nsomething else"), True),
        (house.memory.unlink, False),
        (lambda: house.memory.write_bytes(b"\xff\xfe not text \x00\n\xc2\xa7\n"), False),
        (git_checkout, False),
    ]
    with house.opened() as home:
        write(home, "Money is Decimal")
        for number, (edit, unsafe) in enumerate(edits, start=1):
            edit()
            now = house.memory.read_bytes() if house.memory.exists() else None
            list(home.memory.entries("hermes"))
            tally.points += 1
            noticed = [change for change in changes(home) if change.grounds.via is Via.OUTSIDE]
            assert len(noticed) == number
            assert noticed[-1].edit(DOCUMENT).after == now  # type: ignore[union-attr]
            assert (house.memory.read_bytes() if house.memory.exists() else None) == now
            queued = [one for one in home.review.waiting(every=True) if one.suggestion.proposer == "reverie"]
            if unsafe and not queued:
                tally.lost.append("something unsafe was not queued")
            for one in queued:
                home.review.reject(one, "seen")
            tally.other += broken(home)
        tally.manual += works(house, home)
