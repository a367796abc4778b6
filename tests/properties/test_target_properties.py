"""Every kind of target, whatever its documents hold: what an operation does not name keeps its bytes, in its order."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reverie.harnesses.any_path import by_path
from reverie.harnesses.claude_code.folder import claude_targets
from reverie.harnesses.hermes.folder import hermes_targets
from reverie.harnesses.markdown import home_targets
from reverie.harnesses.openclaw.folder import openclaw_targets
from reverie.memory.formats import FORMATS, FormatName
from reverie.memory.operation import Add, Applied, Operation, Remove, Replace, Unfit, applied, entry_hash
from reverie.memory.target import Target

SHARDS = [
    b"# Heading\n",
    b"## Gotchas\r\n",
    b"Some prose.\n",
    b"@~/imported.md\n",
    b"---\nname: x\n---\n",
    b"\n",
    b"\r\n",
    b"- one\n",
    b"- two\r\n",
    b"* three\n",
    b"1. four\n",
    b"12) five\n",
    b"  under it\n",
    b"\tunder it\n",
    b"- ",
    b" ",
    b"- one",
    b"```sh\n",
    b"```\n",
    b"~~~\n",
    b"<!-- note -->\n",
    b"| a | b |\n",
    b"> quoted\n",
    b"same\n",
    b"\n\xc2\xa7\n",
    b"\r\n\xc2\xa7\r\n",
    b"\xff\xfe",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\x00",
    b"\xef\xbb\xbf",
    b"\x0b",
    b"\xe2\x80\xa8",
    b"\x85",
    "é日本🎉 ".encode(),
]
CONTENT = st.one_of(st.lists(st.sampled_from(SHARDS), max_size=25).map(b"".join), st.binary(max_size=80))
TEXTS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=20),
    st.sampled_from(["two lines\nof one statement", "# not a heading", "§", "- a list\n- of two", "```", " padded "]),
)


@dataclass(frozen=True)
class Machine:
    """The Where of a machine that has nothing but this folder."""

    folder: Path

    @property
    def home(self) -> Path:
        return self.folder / "reverie"

    def place(self, pattern: str) -> Path:
        while "${" in pattern:  # no variable is set, and one may stand in what is meant without another
            pattern = re.sub(r"\$\{\w+:-([^${}]*)\}", r"\1", pattern)
        return Path(pattern.replace("~", str(self.folder), 1))


def first(targets: Iterable[Target]) -> Target:
    return next(iter(targets))


def notes_of_claude(machine: Machine) -> Target:
    (machine.folder / ".claude" / "projects" / "-shop").mkdir(parents=True)
    return list(claude_targets(machine))[1]


def path_of(name: str) -> Callable[[Machine], Target]:
    def made(machine: Machine) -> Target:
        (machine.folder / "notes").mkdir()
        (machine.folder / "notes" / "rules.md").touch()
        target = by_path(name.format(machine.folder / "notes"))
        assert target is not None
        return target

    return made


KINDS: dict[str, Callable[[Machine], Target]] = {
    "hermes": lambda machine: first(hermes_targets(machine)),
    "home": lambda machine: first(home_targets(machine)),
    "claude": lambda machine: first(claude_targets(machine)),
    "claude notes": notes_of_claude,
    "openclaw": lambda machine: first(openclaw_targets(machine)),
    "agents": path_of("agents:{}"),
    "file": path_of("{}/rules.md"),
    "folder": path_of("{}"),
}


@dataclass(frozen=True)
class Step:
    """A change to whichever entry stands at a place by then."""

    kind: str
    which: int
    text: str


STEPS = st.lists(st.builds(Step, st.sampled_from(["add", "replace", "remove"]), st.integers(0, 30), TEXTS), max_size=5)


def meant(step: Step, document: str, entries: Sequence[str]) -> Operation:
    if step.kind == "add" or not entries:
        return Add(document, step.text)
    old = entry_hash(entries[step.which % len(entries)])
    return Replace(document, old, step.text) if step.kind == "replace" else Remove(document, old)


def untouched(content: bytes, form: FormatName, operation: Operation) -> list[bytes]:
    """The bytes of every piece the operation does not name. A delimiter may go with the entry it parts."""
    pieces = FORMATS[form].read(content).pieces
    named = "" if isinstance(operation, Add) else operation.old_sha256
    place = next((at for at, piece in enumerate(pieces) if piece.entry and entry_hash(piece.entry) == named), None)
    kept = [piece for at, piece in enumerate(pieces) if at != place and (piece.entry is not None or form == "list")]
    return [piece.raw.encode("utf-8", "surrogateescape") for piece in kept]


def stand_in_order(kept: Sequence[bytes], content: bytes) -> bool:
    place = 0
    for piece in kept:
        found = content.find(piece, place)
        if found < 0:
            return False
        place = found + len(piece)
    return True


def change(target: Target, document: str, form: FormatName, step: Step) -> None:
    with target.held(document) as held:
        before = held.read(document) or b""
        operation = meant(step, document, FORMATS[form].read(before).entries)
        outcome = applied(before, form, [operation])
        if isinstance(outcome, Unfit):
            return
        assert isinstance(outcome, Applied)
        assert held.write(document, outcome.after, target.read(document))
    after = target.read(document)
    assert after == outcome.after
    assert stand_in_order(untouched(before, form, operation), after)
    assert FORMATS[form].read(after).to_bytes() == after


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=40)
@given(content=CONTENT, steps=STEPS)
def test_any_changes_to_any_document_keep_what_they_do_not_name(kind: str, content: bytes, steps: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        target = KINDS[kind](Machine(Path(folder).resolve()))
        place = target.places()[0]
        with target.held(place.document) as held:
            assert held.write(place.document, content, held.read(place.document))
        assert target.read(place.document) == content
        for step in steps:
            change(target, place.document, place.form, step)


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=20)
@given(content=CONTENT)
def test_taking_a_document_away_and_bringing_it_back_gives_the_same_bytes(kind: str, content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        target = KINDS[kind](Machine(Path(folder).resolve()))
        document = target.places()[0].document
        for written in (content, None, content):
            with target.held(document) as held:
                assert held.write(document, written, held.read(document))
                assert held.read(document) == target.read(document) == written
