"""Odd bytes, odd names, odd files, and far too much of anything: refused with a reason or kept to the byte."""

from __future__ import annotations

import json
import os
import resource
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reverie.changes.land import Landed, Unsafe
from reverie.changes.policy import read_policy
from reverie.core.errors import BadInput, BadSetting, NotPermitted, ReverieError
from reverie.memory.operation import Add, OverBudget, Unfit
from tests.faults.fixtures import Tallied
from tests.faults.houses import DOCUMENT, MEMORY, House, broken, build, entries, works
from tests.faults.killing import forked
from tests.faults.tallying import FULL

TEXTS = [
    "",
    " ",
    "\n",
    "\0",
    "nul\0nul",
    "\ud800",
    "\udc80",
    "half \ud83d of an emoji",
    "line\r\nline",
    "\u202etfel",
    "\ufeffbom",
    "cafe\u0301",
    "café",
    "STRASSE",
    "straße",
    "a\u2028b",
    "\x1b[31mred",
    "§",
    "a\n§\nb",
    "\n§\n",
    "- item",
    "x" * 5000,
    "\U0010ffff",
    "\u0000\uffff",
    "back\\slash",
    "'; drop table changes; --",
    "{{7*7}}",
    "%s%n",
    "../../etc/passwd",
]
NAMES = [
    "../MEMORY.md",
    "/etc/passwd",
    "..",
    ".",
    "",
    "MEMORY.md\0",
    "MEMORY.md/",
    "./MEMORY.md",
    "memory.md",
    "%2e%2e/x.md",
    "MEMORY.md.lock",
    "CON",
    "NUL.md",
    "a" * 5000,
    "x/y.md",
    "\ud800.md",
    "MEMORY\u200b.md",
    "ＭEMORY.md",
    ".MEMORY.md",
]


# ---- F18: bytes ------------------------------------------------------------------------------------------------------


def test_any_text_is_kept_to_the_byte_or_refused_with_a_reason(tallied: Tallied, house: House) -> None:
    tally = tallied("F18", "NUL, lone surrogates, CRLF, twins in NFC and NFD, separators, any Unicode, through `write`")
    with house.opened() as home:

        def check(text: str) -> None:
            before, tally.points = entries(house), tally.points + 1
            outcome = home.review.write("hermes", DOCUMENT, [Add(DOCUMENT, text)])
            if isinstance(outcome, Landed):
                assert entries(house) == [*before, text]
                assert isinstance(home.review.undo(), Landed)
            assert entries(house) == before

        for text in TEXTS:
            check(text)

        @settings(max_examples=400 if FULL else 15, suppress_health_check=list(HealthCheck), database=None)
        @given(st.text(st.characters(), max_size=60))
        def anything(text: str) -> None:
            check(text)

        anything()
        assert house.memory.read_text() == MEMORY
        tally.other += broken(home)
        tally.manual += works(house, home)


def test_bytes_that_are_no_text_stay_as_they_are_beside_what_is_written(tallied: Tallied, tmp_path: Path) -> None:
    tally = tallied("F18", "a MEMORY.md of any bytes, with an entry added and taken back")
    stored = build(tmp_path / "house").folder.rename(tmp_path / "stored")

    @settings(max_examples=200 if FULL else 8, suppress_health_check=list(HealthCheck), database=None)
    @given(st.binary(max_size=200))
    def check(content: bytes) -> None:
        house = House(stored).copied(tmp_path / "house")
        house.memory.write_bytes(content)
        tally.points += 1
        with house.opened() as home:
            if isinstance(home.review.write("hermes", DOCUMENT, [Add(DOCUMENT, "Money is Decimal")]), Landed):
                assert house.memory.read_bytes().startswith(content.rstrip(b"\r\n\xc2\xa7")[:1])
                home.review.undo()
            assert house.memory.read_bytes() == content
            assert broken(home) == []

    check()


# ---- F19: names ------------------------------------------------------------------------------------------------------


def test_a_name_that_leads_elsewhere_is_refused(tallied: Tallied, house: House) -> None:
    tally = tallied("F19", "`..`, absolute paths, NUL, look-alikes, device names, long names, as document or target")
    before = {path: path.read_bytes() for path in house.folder.rglob("*.md")}
    targets = ["hermes", "home", "hermes:/", "markdown:/", *NAMES]
    with house.opened() as home:
        for name in NAMES:
            for target in targets if FULL else targets[:3]:
                tally.points += 1
                with pytest.raises(ReverieError) as refusal:
                    home.review.write(target, name, [Add(name, "leads elsewhere")])
                assert isinstance(refusal.value, BadInput | NotPermitted), (target, name)
        assert {path: path.read_bytes() for path in house.folder.rglob("*.md")} == before
        tally.manual += works(house, home)


# ---- F20: files that are something else ------------------------------------------------------------------------------


def _linked(path: Path, victim: Path) -> None:
    path.symlink_to(victim)


def _hard_linked(path: Path, victim: Path) -> None:
    os.link(victim, path)


KINDS: dict[str, Callable[[Path, Path], None]] = {
    "a link": _linked,
    "a second name of another file": _hard_linked,
    "a pipe": lambda path, _: os.mkfifo(path),
    "a link to a device": lambda path, _: path.symlink_to("/dev/zero"),
    "a folder": lambda path, _: path.mkdir(),
    "a link to nowhere": lambda path, _: path.symlink_to("nowhere"),
}


@pytest.mark.parametrize("what", [DOCUMENT, f"{DOCUMENT}.lock"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_of_its_own_is_refused_by_name(tallied: Tallied, house: House, kind: str, what: str) -> None:
    tally = tallied("F20", "a link, a hard link, a pipe, a device or a folder in the place of the file or its lock")
    victim = house.folder / "victim"
    victim.write_text("mine")
    path = house.memory.with_name(what)
    path.unlink(missing_ok=True)
    KINDS[kind](path, victim)
    tally.points += 1
    with house.opened() as home:
        if what == DOCUMENT or not kind.startswith("a second name"):
            with pytest.raises(ReverieError, match=str(house.memory)):
                home.review.write("hermes", DOCUMENT, [Add(DOCUMENT, "Money is Decimal")])
        assert victim.read_text() == "mine"
    path.rmdir() if path.is_dir() else path.unlink()
    with house.opened() as home:
        tally.manual += works(house, home)


def test_a_name_swapped_for_a_link_all_the_time_leads_to_the_victim_never(tallied: Tallied, house: House) -> None:
    tally = tallied("F20", "a thread that swaps the file for a link to another while changes land")
    victim = house.folder / "victim"
    victim.write_text("mine")
    (house.hermes / "config.yaml").write_text("memory:\n  memory_char_limit: 1000000\n")
    stop, swapped = threading.Event(), []

    def swap() -> None:
        link, real = house.memory.with_name("link"), house.memory.with_name("real")
        while not stop.is_set():
            with suppress(OSError):  # a landing came in between: then the next time
                link.unlink(missing_ok=True)
                real.unlink(missing_ok=True)
                link.symlink_to(victim)
                house.memory.rename(real)
                link.rename(house.memory)
                time.sleep(0.0005)
                real.rename(house.memory)
                swapped.append(1)
            time.sleep(0.002)

    swapper = threading.Thread(target=swap)
    landed = refused = 0
    with house.opened() as home:
        home.review.waiting()
        swapper.start()
        until = time.monotonic() + (60 if FULL else 2)
        while time.monotonic() < until or not landed + refused:
            tally.points += 1
            try:
                home.review.write("hermes", DOCUMENT, [Add(DOCUMENT, f"Number {tally.points}")])
                landed += 1
            except ReverieError:
                refused += 1
        stop.set()
        swapper.join()
        assert len(swapped) > 10
        tally.torn += [] if victim.read_text() == "mine" else ["the victim was written"]
        assert all(b"mine" not in (edit.after or b"") for one in home.history.changes(limit=None) for edit in one.edits)
        for name in ("link", "real"):
            house.memory.with_name(name).unlink(missing_ok=True)
        if house.memory.is_symlink():
            house.memory.unlink()
        list(home.memory.entries("hermes"))
        tally.manual += works(house, home)


# ---- F22: bombs ------------------------------------------------------------------------------------------------------

POLICIES = {
    "deep arrays": "x = " + "\n[" * 5000 + "\n]" * 5000,
    "deep tables": "\n".join("x = " + "{a=" * 100 + "1" + "}" * 100 for _ in range(1)),
    "a number of 5,000 digits": "[review]\nper_day = " + "9" * 5000,
    "a number of 400 digits": "[review]\nper_day = " + "9" * 400,
    "a million years": "[review]\nexpires_after_days = 365000000",
    "dotted keys without end": "a" + ".a" * 20_000 + " = 1",
    "dotted keys on every line": "\n".join(f"k{line}" + ".a" * 240 + " = 1" for line in range(60)),
    "thirty megabytes": "# " + "x" * 30_000_000,
    "the same table twice": "[memory]\nadd = 'ask'\n[memory]\nadd = 'land'",
    "the same key twice": "[memory]\nadd = 'ask'\nadd = 'land'",
    "not a number": "[review]\nper_day = nan",
    "no text": "\ud800",
    "an unclosed string": '[memory]\nadd = """' + "x\n" * 10_000,
    "an unknown answer": "[memory]\nadd = 'always'",
}


@pytest.mark.parametrize("what", POLICIES)
def test_a_policy_that_is_a_bomb_is_refused_at_once(tallied: Tallied, house: House, what: str) -> None:
    tally = tallied("F22", "policy.toml with depth, size, huge numbers, doubled keys; or no file at all")
    (house.folder / "home" / "policy.toml").write_bytes(POLICIES[what].encode("utf-8", "surrogatepass"))
    tally.points += 1
    begun = time.process_time()
    with house.opened() as home, pytest.raises(BadSetting):
        home.review.write("hermes", DOCUMENT, [Add(DOCUMENT, "Money is Decimal")])
    assert time.process_time() - begun < 2
    assert house.memory.read_text() == MEMORY


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: path.symlink_to("/dev/zero")])
def test_a_policy_that_is_no_file_is_refused(tallied: Tallied, tmp_path: Path, make: Callable[[Path], None]) -> None:
    tally = tallied("F22", "policy.toml with depth, size, huge numbers, doubled keys; or no file at all")
    tally.points += 1
    make(tmp_path / "policy.toml")
    with pytest.raises(BadSetting):
        read_policy(tmp_path / "policy.toml")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, '{"messages": ' + "[" * 100_000])
def test_a_transcript_nested_without_end_is_refused(tallied: Tallied, house: House, text: str) -> None:
    tally = tallied("F22", "JSON nested 100,000 deep as a transcript")
    path = house.folder / "deep.json"
    path.write_text(text)
    tally.points += 1
    begun = time.process_time()
    with house.opened() as home:
        try:
            json.dumps([str(one) for one in home.sessions.add(path).problems])
        except ReverieError as error:
            assert str(error)
    assert time.process_time() - begun < 10


# ---- F23: far too much -----------------------------------------------------------------------------------------------


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("shape", ["one word", "lines", "almost an attack", "open brackets"])
def test_the_time_a_big_text_takes_grows_with_its_size_and_no_faster(
    tallied: Tallied, tmp_path: Path, shape: str
) -> None:
    tally = tallied("F23", "texts of up to 25 MB through `write`: time and memory")
    shapes: dict[str, Callable[[int], str]] = {
        "one word": lambda size: "a" * size,
        "lines": lambda size: "\n".join(f"line {number} of many" for number in range(size // 20)),
        "almost an attack": lambda size: ("ignore all previous " * (size // 20)) + "end",
        "open brackets": lambda size: "<!--" * (size // 4),
    }
    small, large = (2_000_000, 25_000_000) if FULL else (50_000, 200_000)

    def written(size: int) -> tuple[float, float, str]:
        def work(say: Callable[[object], None]) -> None:
            house = build(tmp_path / f"{size}")
            (house.hermes / "config.yaml").write_text("memory:\n  memory_char_limit: 100000000\n")
            with house.opened() as home:
                home.review.write("hermes", DOCUMENT, [Add(DOCUMENT, "everything is loaded")])
                before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # a fork begins with its parent's peak
                begun = time.process_time()
                outcome = home.review.write("hermes", DOCUMENT, [Add(DOCUMENT, shapes[shape](size))])
                took = time.process_time() - begun
                assert isinstance(outcome, Landed | Unsafe | Unfit | OverBudget)
                grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
                say([took, grown / 1024, type(outcome).__name__])

        (said, _), _ = forked(work)
        assert said, f"{shape} of {size:,} bytes did not come back"
        return tuple(said[0])

    (quick, _, _), (slow, megabytes, _) = written(small), written(large)
    tally.points += 2
    factor = large / small
    if slow > max(quick, 0.05) * factor * 3:
        tally.other.append(f"{shape}: {quick:.2f} s, then {slow:.2f} s for {factor:.0f} times as much")
    if megabytes > (3000 if FULL else 200):
        tally.other.append(f"{shape}: {megabytes:.0f} MB more for {large:,} bytes")
