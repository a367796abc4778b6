"""Train the scanner's second opinion (`src/reverie/safety/classifier.py`) and say how it does on texts it has not seen.

usage: suspicion.py [--harmless FOLDER ...] [--without AUTHOR | --fold NUMBER] [--out FILE]

Learns from `data/scan-*.jsonl` (labelled texts), from a third of `data/notice-*.jsonl` (turns of people, all harmless)
and from the prose and code in the folders given (documentation, packages: all harmless). `--without` leaves an author
of scan texts out, `--fold` a fifth of the blocks of each; the figures are about what was left out. Every third turn of
people is always left out: a score of 0 is what one in 500 of those exceeds. Needs Reverie itself and scikit-learn.
"""

from __future__ import annotations

import argparse
import json
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from people import people
from scipy.sparse import csr_matrix
from sklearn.svm import LinearSVC

from reverie.safety.classifier import SLOTS, feature_slots, share, windows
from reverie.safety.views import folded

HERE = Path(__file__).parent
SURFACES = ("memory", "context", "skill", "script")
PROSE, CODE = (".md", ".rst", ".txt", "METADATA"), (".py", ".sh", ".js")
PEOPLE = "people"  # who gives the zero of the scale
ROUNDS = 2  # first the attacks of one window, then of each attack the window that looks most like one
ALARMS = 0.002  # of people's turns above zero
FOLDS = 5


class Text(NamedTuple):
    author: str
    block: str
    surface: str
    attack: bool
    words: str


class Row(NamedTuple):
    """A text, and the rows of the matrix that are its windows."""

    text: Text
    windows: range


class Corpus(NamedTuple):
    rows: list[Row]
    matrix: csr_matrix


def texts(harmless: Iterable[Path]) -> Iterator[Text]:
    for path in sorted((HERE / "data").glob("scan-*.jsonl")):
        for line in path.open(encoding="utf-8"):
            row = json.loads(line)
            yield Text(path.stem[-1], row["block"], row["surface"], bool(row["label"]), row["text"])
    for number, row in enumerate(people()):
        if number % 3:
            yield Text(PEOPLE if number % 3 == 1 else "notice", "", "memory", False, row["text"])
    for path in sorted(found for folder in harmless for found in folder.rglob("*") if found.is_file()):
        if path.name.endswith(PROSE + CODE):
            surface = "script" if path.name.endswith(CODE) else "context"
            yield Text("files", "", surface, False, path.read_text("utf-8", "replace")[:3_000])


def corpus(found: Iterable[Text]) -> Corpus:
    rows, ends, slots, shares = list[Row](), array("q", [0]), array("i"), array("f")
    for text in found:
        plain, first = folded(text.words).text, len(ends) - 1
        for start, end in windows(plain):
            for kind, group in enumerate(feature_slots(plain[start:end])):
                slots.extend(kind * SLOTS + slot for slot in group)
                shares.extend([share(group)] * len(group))
            ends.append(len(slots))
        if len(ends) - 1 > first:
            rows.append(Row(text, range(first, len(ends) - 1)))
    shape = (len(ends) - 1, 2 * SLOTS)
    return Corpus(rows, csr_matrix((np.array(shares), np.array(slots), np.array(ends)), shape=shape))


def trained(data: Corpus, rows: list[Row]) -> LinearSVC:
    harmless = [place for row in rows if not row.text.attack for place in row.windows]
    attacks = [row.windows for row in rows if row.text.attack]
    chosen = [places.start for places in attacks if len(places) == 1]
    model = LinearSVC(class_weight="balanced")
    for _ in range(ROUNDS):
        model.fit(data.matrix[harmless + chosen], [0] * len(harmless) + [1] * len(chosen))
        every = model.decision_function(data.matrix)
        chosen = [places.start + int(every[places.start : places.stop].argmax()) for places in attacks]
    return model


def scores(data: Corpus, model: LinearSVC) -> NDArray[np.float64]:
    """Of each text, that of its most suspicious window."""
    every = model.decision_function(data.matrix)
    return np.array([every[row.windows.start : row.windows.stop].max() for row in data.rows])


def figures(rows: list[Row], found: NDArray[np.float64]) -> None:
    """What share of attacks and of harmless texts is above zero, and what is found at given rates of false alarms."""
    for author in sorted({row.text.author for row in rows}):
        for surface in SURFACES:
            chosen = [row.text.author == author and row.text.surface == surface for row in rows]
            attack = np.array([row.text.attack for row in rows])[chosen]
            if attack.any() and not attack.all():
                bad, good = found[chosen][attack], found[chosen][~attack]
                at = " ".join(f"{(bad > np.quantile(good, 1 - rate)).mean():.2f}" for rate in (0.015, 0.03, 0.05))
                zero = f"{(bad > 0).mean():.2f}, false {(good > 0).mean():.3f}"
                print(f"{author} {surface:8} found {zero}; found at 1.5, 3, 5 % false: {at}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--harmless", type=Path, nargs="*", default=[])
    parser.add_argument("--without", default="")
    parser.add_argument("--fold", type=int, default=-1)
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    data = corpus(texts(asked.harmless))
    blocks = sorted({row.text.block for row in data.rows if row.text.block})
    left_out = {asked.without, *(block for place, block in enumerate(blocks) if place % FOLDS == asked.fold)} - {""}
    is_out = [bool({row.text.author, row.text.block} & (left_out | {PEOPLE})) for row in data.rows]
    rows = [row for row, out in zip(data.rows, is_out, strict=True) if not out]
    print(f"{len(rows):,} texts learned from, {len(data.rows) - len(rows):,} left out")
    model = trained(data, rows)
    found = scores(data, model)
    zero = np.quantile(found[[row.text.author == PEOPLE for row in data.rows]], 1 - ALARMS)
    figures([row for row, out in zip(data.rows, is_out, strict=True) if out], found[is_out] - zero)
    if asked.out:
        weights = model.coef_[0].reshape(2, SLOTS)
        scale = np.abs(weights).max() / 127
        bits, bias = np.round(weights / scale).astype(np.int8), model.intercept_[0] - zero
        np.savez_compressed(asked.out, weights=bits, scale=np.float32(scale), bias=np.float32(bias))
        print(f"{asked.out}: {asked.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
