"""How well the shipped files do on authors nothing was learnt from.

usage: measure.py tagger [AUTHORS]       k
       measure.py checks [AUTHORS]       pqtuvw

Needs Reverie itself, and neither a GPU nor what trains.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from people import DATA, HELD_OUT, area

from reverie.dreams.light.tagger import tag_sentences
from reverie.dreams.verify.checks import FOREIGN
from reverie.dreams.verify.trained import crossed, foreign, policy

FALSE = (0.03, 0.06, 0.1)


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()]


def tagger(author: str) -> Iterator[str]:
    """The share of turns with something to keep whose highest words score above what so many of the others reach, and
    how much of what scores so is to be kept."""
    turns = rows(f"notice-{author}")
    scores, kept = [highest(row["text"]) for row in turns], [bool(row["keep"]) for row in turns]
    no = sorted((score for score, keep in zip(scores, kept, strict=True) if not keep), reverse=True)
    yes = [score for score, keep in zip(scores, kept, strict=True) if keep]
    found = (f"{np.mean([s > no[int(rate * len(no))] for s in yes]):.2f} at {rate:.0%} false" for rate in FALSE)
    yield f"{author}: {len(turns)} turns, {len(yes)} of them with something to keep, AUC {area(kept, scores):.3f}"
    yield f"{author}: found {', '.join(found)}"


def highest(text: str) -> float:
    """The turn's four words that are likeliest to be worth keeping."""
    return tag_sentences([text])[0].between(0, len(text)).keep


def checks(author: str) -> Iterator[str]:
    """What the network finds at .5, and what is found where it is asked: by the floor, and where words are taken for
    somebody else's."""
    entries = [(row["policy"], policy(row["text"])[1], crossed(row["text"])) for row in rows(f"policy-{author}")]
    turns = [(not row["own"], foreign(row["turn"])) for row in rows(f"own-{author}")]
    for part, asked in (("network", lambda chance, cross: chance >= 0.5), ("floor", lambda chance, cross: cross)):
        found = {
            kind: [asked(chance, cross) for each, chance, cross in entries if each == kind]
            for kind in ("recipient", "payment", "source", "permission", "none")
        }
        yield f"{author} {part}: {', '.join(f'{kind} {np.mean(of):.2f} of {len(of)}' for kind, of in found.items())}"
    for limit in dict.fromkeys((0.5, FOREIGN)):
        others, own = ([chance >= limit for other, chance in turns if other is which] for which in (True, False))
        shares = (f"{np.mean(of):.2f} of {len(of)}" for of in (others, own))
        yield f"{author} at {limit}: foreign {next(shares)}, own {next(shares)}"
    decides = area([kind != "none" for kind, *_ in entries], [chance for _, chance, _ in entries])
    told = area([other for other, _ in turns], [chance for _, chance in turns])
    yield f"{author} AUC: policy {decides:.3f}, foreign {told:.3f}"


def main() -> None:
    match sys.argv[1:]:
        case ["tagger", *some]:
            lines, authors = tagger, "".join(some) or HELD_OUT
        case ["checks", *some]:
            lines, authors = checks, "".join(some) or "pqtuvw"
        case _:
            raise SystemExit(__doc__)
    for author in authors:
        print(*lines(author), sep="\n", flush=True)


if __name__ == "__main__":
    main()
