"""Train what two checks of the verification ask: does an entry decide where things go, and are words the person's own?

usage: checks.py --out FILE [--without AUTHORS] [--epochs 6] [--rate 1.5e-4] [--seeds 7,8,9]

It begins with the shipped tagger, which has read people's turns already, and needs nothing else. Runs with several
seeds are averaged, weight by weight. `--without ab` leaves authors out. Two minutes a seed on a GPU. How well the
shipped file does: `measure.py checks`.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from encoder import (
    DATA,
    DEVICE,
    FIRST,
    SIZE,
    WIDTH,
    averaged,
    encoder,
    export,
    padded,
    tokenizer,
    trained,
    vectors,
)
from people import people
from torch import nn

POLICIES = ("none", "recipient", "payment", "source", "permission")
HELD_OUT = "pqtuvw"  # nothing is learnt from them; the README says why p and q are among them
MOST_TOKENS = 256
STATEMENTS, TURNS = 9_000, 3_000  # of the tagger's data: what people say all day, which decides nothing and is theirs
OF_TURNS = 0.5  # their weight
LONGEST = 200  # characters of a statement that may stand beside another
JOINED = 0.2  # of the entries


@dataclass(frozen=True)
class Example:
    """A text with what is known of it: the policy it decides (a number of `POLICIES`), or whether it is their own."""

    text: str
    policy: int | None = None
    own: float | None = None
    weight: float = 1.0


def written(but: str) -> list[Example]:
    """What was written for this purpose, without those authors."""
    found = list[Example]()
    for path in sorted(path for path in DATA.glob("*-?.jsonl") if path.stem[-1] not in but):
        if path.stem.startswith("policy-"):
            found += [Example(row["text"], POLICIES.index(row["policy"])) for row in rows(path.stem)]
        elif path.stem.startswith("own-"):
            found += [Example(row["turn"], own=float(row["own"])) for row in rows(path.stem)]
    return found


def rows(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (DATA / f"{name}.jsonl").read_text("utf-8").splitlines()]


def everyday(chance: random.Random) -> tuple[list[Example], list[Example]]:
    """What people say all day: statements of the tagger's and the relation's data, and the tagger's turns. Turns
    with something to keep are the person's own words."""
    turns = list(people())
    pairs = [
        row for path in sorted(DATA.glob("relate-*.jsonl")) for row in rows(path.stem) if path.stem[-1] not in HELD_OUT
    ]
    said = [row["old"] for row in pairs] + [row["new"] for row in pairs if row["kind"] != "unrelated"]
    short = dict.fromkeys(text for text in said if len(text) < LONGEST and "?" not in text)
    statements = [
        Example(text, 0, weight=OF_TURNS) for text in (*(one["quote"] for row in turns for one in row["keep"]), *short)
    ]
    own = [Example(row["text"], own=1.0, weight=OF_TURNS) for row in turns if row["keep"]]
    quoted = [Example(row["text"], own=0.0, weight=OF_TURNS) for row in turns if row["why"] == "quoted"]
    chance.shuffle(statements)
    chance.shuffle(own)
    return statements, own[:TURNS] + quoted


class Checks(nn.Module):
    """One number for each policy, and one for whether the words are somebody else's."""

    def __init__(self) -> None:
        super().__init__()
        self.bert = encoder("tagger")
        self.policy = nn.Linear(2 * WIDTH, len(POLICIES))
        self.foreign = nn.Linear(2 * WIDTH, 1)
        self.dropout = nn.Dropout(0.1)

    def forward(self, words: torch.Tensor, attention_mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = self.bert(inputs_embeds=words, attention_mask=attention_mask).last_hidden_state
        mask = attention_mask.unsqueeze(-1).to(hidden.dtype)
        mean, most = (hidden * mask).sum(1) / mask.sum(1), (hidden + (mask - 1) * 1e4).max(1).values
        pooled = self.dropout(torch.cat([mean, most], -1))
        return self.policy(pooled), self.foreign(pooled).squeeze(-1)


class Coded:
    """Texts as numbers, each coded once."""

    def __init__(self) -> None:
        self._tokens, self._coded = tokenizer(MOST_TOKENS), dict[str, list[int]]()

    def batch(self, texts: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
        for text in texts:
            if text not in self._coded:
                self._coded[text] = self._tokens.encode(text).ids
        coded = [self._coded[text] for text in texts]
        return vectors(padded(coded)), padded([[1] * len(one) for one in coded])


def one_run(examples: list[Example], epochs: int, rate: float, seed: int) -> Checks:
    chance, coded = random.Random(seed), Coded()
    torch.manual_seed(FIRST)

    plain = [one for one in examples if one.policy == 0 and len(one.text) < LONGEST]

    def rows() -> list[Example]:
        """Some entries say two things; one of them may decide something."""
        beside = (chance.choice(plain).text for _ in examples)
        pairs = ([one.text, other] for one, other in zip(examples, beside, strict=True))
        made = [
            replace(one, text=chance.choice(("; ", " ")).join(chance.sample(both, 2)))
            if one.policy is not None and chance.random() < JOINED
            else one
            for one, both in zip(examples, pairs, strict=True)
        ]
        return chance.sample(made, len(made))

    def loss(network: Checks, some: list[Example]) -> torch.Tensor:
        return sum(losses(network, some, coded), torch.zeros((), device=DEVICE)) / len(some)

    return trained(Checks(), rows, loss, epochs=epochs, rate=rate, seed=seed)


def losses(checks: Checks, some: list[Example], coded: Coded) -> Iterator[torch.Tensor]:
    with torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=DEVICE == "cuda"):
        policy, foreign = (one.float() for one in checks(*coded.batch([one.text for one in some])))
    weights = torch.tensor([one.weight for one in some], device=DEVICE)
    for place, wanted in ((policy, [one.policy for one in some]), (foreign, [one.own for one in some])):
        known = [number for number, one in enumerate(wanted) if one is not None]
        if known and place is policy:
            right = torch.tensor([some[one].policy for one in known], device=DEVICE)
            each = nn.functional.cross_entropy(place[known], right, reduction="none", label_smoothing=0.05)
            yield (each * weights[known]).sum()
        elif known:
            right = torch.tensor([1.0 - (some[one].own or 0.0) for one in known], device=DEVICE)
            each = nn.functional.binary_cross_entropy_with_logits(place[known], right, reduction="none")
            yield (each * weights[known]).sum()


@torch.no_grad()
def undecided(checks: Checks, statements: list[Example]) -> list[Example]:
    """Without those that are taken for a policy: some of them are one, and nobody has read them for that."""
    coded, kept = Coded(), list[Example]()
    for first in range(0, len(statements), SIZE):
        some = statements[first : first + SIZE]
        none = checks(*coded.batch([one.text for one in some]))[0].softmax(-1)[:, 0].tolist()
        kept += [one for one, chance in zip(some, none, strict=True) if chance > 0.5]
    return kept


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--without", default="")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--rate", type=float, default=1.5e-4)
    parser.add_argument("--seeds", default="7,8,9")
    asked = parser.parse_args()
    by_hand, seed = written(HELD_OUT + asked.without), int(asked.seeds.split(",")[0])
    statements, turns = everyday(random.Random(seed))
    first = one_run(by_hand, asked.epochs // 2, asked.rate, seed)
    plain = undecided(first, statements)[:STATEMENTS]
    print(f"{len(by_hand)} texts by hand, {len(plain)} statements and {len(turns)} turns of the tagger's data")
    checks = averaged(one_run, asked.seeds, [*by_hand, *plain, *turns], asked.epochs, asked.rate)
    export(checks, ("words", "attention_mask"), ("policy", "foreign"), asked.out)


if __name__ == "__main__":
    main()
