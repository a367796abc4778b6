"""Fit what tells a password of plain words from a description of one.

usage: plain_words.py --out ../src/reverie/safety/weights/plain_words.json
       plain_words.py --measure

"The password is sunflower garden" gives it away, "the password is too short" does not. What people say of a thing
stands behind "is" in all the data here, in many languages; names of things stand behind "the". A line between the two,
over pieces of words, is all that is learnt; nobody labelled anything. Half a minute, without a GPU. `--measure` says
what an audit makes of the sentences that were set aside, and of people's turns.
"""

from __future__ import annotations

import argparse
import base64
import json
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from people import DATA, HELD_OUT, people

from reverie.audit.hazards import without_plain_secrets
from reverie.safety.redact import redact
from reverie.safety.secrets.values import IS, SLOTS, WORDS, slots_of

PASSWORDS = DATA / "password-t.jsonl"
ASIDE = (PASSWORDS, *(DATA / f"notice-{author}.jsonl" for author in HELD_OUT))
ROUNDS, RATE, SEED = 3, 0.3, 1
FEWEST = 20  # names beside a verb, or those beside "is" are taken
GLUED = 0.15  # of the names: two words written as one
_BEHIND = re.compile(
    rf"(?<![^\W\d_])({IS}|are|was|were|sind|war|waren|son|sont|sono|são|zijn)\s+([^.,;:!?()\n\"“”«»—]+)"
)
_THE = (
    "the|a|an|our|my|his|der|die|das|ein|eine|den|dem|meine?|le|la|un|une|les|el|los|mi|una|il|lo|mon|ma|meu|minha|o|um"
    "|uma|de|het|een|mijn|en|ett|min|mitt"
)
_NAME = re.compile(rf"(?<![^\W\d_])(?:{_THE})\s+([^\W\d_]{{4,14}})(?=\s+[^\W\d_]{{1,4}}\b|[.,;!?]|$)", re.IGNORECASE)


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def texts() -> list[str]:
    rows = [row for path in sorted(DATA.glob("*.jsonl")) if path not in ASIDE for row in lines(path)]
    said = (row.get(name) for row in rows for name in ("text", "turn", "old", "new"))
    return list(dict.fromkeys(text for text in said if isinstance(text, str)))


def examples(chance: random.Random) -> Iterator[tuple[str, float]]:
    """What was said of things, and as many names, from texts with the same verb in them: so of the same languages."""
    described, names = list[tuple[str, str]](), defaultdict[str, Counter[str]](Counter)
    for text in texts():
        here = [found[1].lower() for found in _NAME.finditer(text)]
        for found in _BEHIND.finditer(text):
            described.append((found[1], " ".join(found[2].split()[:WORDS])))
            names[found[1]].update(here)
    known = {verb: list(some) for verb, some in names.items() if len(some) >= FEWEST}
    for verb, said in described:
        some = known.get(verb, known["is"])
        glued = chance.random() < GLUED
        count = 2 if glued else chance.choices((1, 2, 3), (0.6, 0.3, 0.1))[0]
        yield ("" if glued else " ").join(chance.choice(some) for _ in range(count)), 1.0
        yield said, 0.0


def fitted(rows: list[tuple[str, float]], chance: random.Random) -> tuple[np.ndarray, float]:
    """Logistic regression by gradient steps that grow smaller where much was seen (AdaGrad)."""
    coded = [(np.array(slots_of(words)), wanted) for words, wanted in rows]
    weights, seen, bias = np.zeros(SLOTS), np.full(SLOTS, 1e-2), 0.0
    for _ in range(ROUNDS):
        chance.shuffle(coded)
        for slots, wanted in coded:
            share = len(slots) ** -0.5
            wrong = 1 / (1 + np.exp(-(weights[slots].sum() * share + bias))) - wanted
            seen[slots] += (wrong * share) ** 2
            weights[slots] -= RATE * (wrong * share + 1e-4 * weights[slots]) / np.sqrt(seen[slots])
            bias -= 0.02 * wrong
    return weights, float(bias)


def measured() -> Iterator[str]:
    for part, which in (("1", "in view while it was made"), ("2", "at the first look")):
        rows = [(row["given"], has_plain_secret(str(row["text"]))) for row in lines(PASSWORDS) if row["part"] == part]
        for given, name in ((True, "given away"), (False, "described")):
            found = [hit for wanted, hit in rows if wanted is given]
            yield f"{which}, {name}: {sum(found)} of {len(found)}"
    turns = [str(row["text"]) for row in people(but="")]
    yield f"people's turns: {sum(map(has_plain_secret, turns))} of {len(turns):,}"


def has_plain_secret(text: str) -> bool:
    sure = redact(text).text
    return sure != text or without_plain_secrets(sure) != sure


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    either = asked.add_mutually_exclusive_group(required=True)
    either.add_argument("--out", type=Path)
    either.add_argument("--measure", action="store_true")
    given, chance = asked.parse_args(), random.Random(SEED)
    if given.measure:
        print("\n".join(measured()))
        return
    out = given.out
    rows = list(examples(chance))
    weights, bias = fitted(rows, chance)
    scale = float(np.abs(weights).max()) / 127
    kept = base64.b64encode(np.round(weights / scale).astype(np.int8).tobytes()).decode()
    out.write_text(json.dumps({"bias": round(bias, 4), "scale": scale, "weights": kept}, indent=1) + "\n")
    print(f"{out}: {len(rows):,} examples, {out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
