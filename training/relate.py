"""Train what `reverie.relate` asks: does a new statement say the same as an old one, refine it, or take its place?

usage: relate.py --out FILE [--without AUTHORS] [--epochs 7] [--rate 1.5e-4] [--seeds 7,8,9]
       relate.py --measure AUTHORS [--file FILE]

Both statements are read together, by the shipped tagger's encoder, trained further. Runs with several seeds are
averaged, weight by weight. `--without ab` leaves authors out. `--measure v` says how well the shipped rules, or a
trained file, do on author v.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from encoder import DATA, DEVICE, FIRST, WIDTH, averaged, encoder, export, padded, tokenizer, trained, vectors
from people import people
from torch import nn

KINDS = ("same", "refines", "supersedes", "contradicts", "unrelated")
SAME, REFINES, SUPERSEDES, CONTRADICTS, UNRELATED = range(len(KINDS))
BOTH_WAYS = (SAME, CONTRADICTS, UNRELATED)
HELD_OUT = "lvw"  # nothing is learnt from them
PLAIN = "pik"  # plain pairs, as most are in real life: they count twice
MOST_OLD, MOST_NEW = 110, 200  # tokens
BEGIN, END = 101, 102
INPUTS = ("words", "attention_mask", "sides")
LONGEST = 700  # characters of a turn that is put beside a statement


@dataclass(frozen=True)
class Pair:
    old: str
    new: str
    kind: int
    author: str


def pairs(but: str) -> list[Pair]:
    found = list[Pair]()
    for path in sorted(path for path in DATA.glob("relate-?.jsonl") if path.stem[-1] not in but):
        rows = map(json.loads, path.read_text("utf-8").splitlines())
        written = [Pair(row["old"], row["new"], KINDS.index(row["kind"]), path.stem[-1]) for row in rows]
        found += written * (2 if path.stem[-1] in PLAIN else 1)
    return found


def turns() -> list[str]:
    """What people say all day."""
    return [row["text"] for row in people() if len(row["text"]) < LONGEST]


class Varied:
    """The pairs of one epoch: some inside a longer turn or entry, some the other way round, some made by chance."""

    def __init__(self, rows: list[Pair], seed: int) -> None:
        self._rows, self._turns, self._chance = rows, turns(), random.Random(seed)

    def __call__(self) -> list[Pair]:
        chance, rows = self._chance, self._rows
        made = [self._changed(one) for one in rows]
        for _ in range(len(rows) // 6):
            said = chance.choice(self._turns) if chance.random() < 0.5 else chance.choice(rows).new
            made.append(Pair(chance.choice(rows).old, said, UNRELATED, ""))
        for one in chance.sample(rows, len(rows) // 100):
            made.append(replace(one, new=one.old, kind=SAME))
        chance.shuffle(made)
        return made

    def _changed(self, one: Pair) -> Pair:
        chance = self._chance
        if one.kind in BOTH_WAYS and chance.random() < 0.2:
            one = replace(one, old=one.new, new=one.old)
        if chance.random() < 0.25 and len(one.new) < 500:
            beside = chance.choice(self._turns) if chance.random() < 0.6 else chance.choice(self._rows).new
            both = [one.new, beside[:LONGEST]]
            chance.shuffle(both)
            kind = REFINES if one.kind == SAME else one.kind
            one = replace(one, new=chance.choice(("\n\n", "\n", " ")).join(both), kind=kind)
        if chance.random() < 0.1 and len(one.old) < 200:
            both = [one.old, chance.choice(self._rows).old[:200]]
            chance.shuffle(both)
            one = replace(one, old=chance.choice((" ", "; ")).join(both))
        if chance.random() < 0.08:
            one = replace(one, new=re.sub(r"[.,;!]", "", one.new).lower())
        return one


class Relation(nn.Module):
    """One number for each kind."""

    def __init__(self) -> None:
        super().__init__()
        self.bert = encoder("tagger")
        self.kind = nn.Linear(5 * WIDTH, len(KINDS))
        self.dropout = nn.Dropout(0.1)

    def forward(self, words: torch.Tensor, attention_mask: torch.Tensor, sides: torch.Tensor) -> torch.Tensor:
        hidden = self.bert(inputs_embeds=words, attention_mask=attention_mask, token_type_ids=sides).last_hidden_state
        every = attention_mask.unsqueeze(-1).to(hidden.dtype)
        new = sides.unsqueeze(-1).to(hidden.dtype) * every
        before = (hidden * (every - new)).sum(1) / (every - new).sum(1).clamp(min=1)
        after = (hidden * new).sum(1) / new.sum(1).clamp(min=1)
        most = (hidden + (every - 1) * 1e4).max(1).values
        pooled = torch.cat([hidden[:, 0], before, after, (before - after).abs(), most], -1)
        return self.kind(self.dropout(pooled))


class Coded:
    """Pairs as numbers, each text coded once."""

    def __init__(self) -> None:
        self._tokens, self._coded = tokenizer(MOST_NEW + 2), dict[str, list[int]]()

    def batch(self, some: list[Pair]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        ids, sides = list[list[int]](), list[list[int]]()
        for one in some:
            old, new = self._ids(one.old)[:MOST_OLD], self._ids(one.new)[:MOST_NEW]
            ids.append([BEGIN, *old, END, *new, END])
            sides.append([0] * (len(old) + 2) + [1] * (len(new) + 1))
        return vectors(padded(ids)), padded([[1] * len(one) for one in ids]), padded(sides)

    def _ids(self, text: str) -> list[int]:
        if text not in self._coded:
            self._coded[text] = self._tokens.encode(text).ids[1:-1]
        return self._coded[text]


def one_run(rows: list[Pair], epochs: int, rate: float, seed: int) -> Relation:
    coded = Coded()
    torch.manual_seed(FIRST)

    def loss(network: Relation, some: list[Pair]) -> torch.Tensor:
        with torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=DEVICE == "cuda"):
            logits = network(*coded.batch(some))
        kinds = torch.tensor([one.kind for one in some], device=DEVICE)
        chances = logits.float().log_softmax(-1)
        conflict = chances[:, SUPERSEDES : CONTRADICTS + 1].logsumexp(-1)
        none = chances[:, [SAME, REFINES, UNRELATED]].logsumexp(-1)
        told = torch.where((kinds == SUPERSEDES) | (kinds == CONTRADICTS), conflict, none)
        by_kind: torch.Tensor = nn.functional.cross_entropy(logits.float(), kinds, label_smoothing=0.05)
        return by_kind - 0.5 * told.mean()

    return trained(Relation(), Varied(rows, seed), loss, epochs=epochs, rate=rate, seed=seed)


def by_network(file: Path, rows: list[Pair]) -> list[tuple[str, float]]:
    """The kind of each pair and the chance that it is a conflict, by a trained file."""
    from onnxruntime import InferenceSession

    session, coded = InferenceSession(str(file), providers=["CPUExecutionProvider"]), Coded()
    found = list[tuple[str, float]]()
    for one in rows:
        given = zip(INPUTS, coded.batch([one]), strict=True)
        (logits,) = session.run(["kind"], {name: tensor.cpu().numpy() for name, tensor in given})
        chances = torch.tensor(logits[0]).softmax(-1).tolist()
        found.append((KINDS[chances.index(max(chances))], chances[SUPERSEDES] + chances[CONTRADICTS]))
    return found


def measured(authors: str, file: Path | None) -> None:
    """The shipped rules, or a trained file, on those authors."""
    from reverie.text.relation import relate

    for author in authors:
        rows = pairs("".join(set("abcdefghijklmnopqrstuvwxyz") - {author}))
        told = [relate(one.old, one.new) for one in rows] if file is None else []
        found = [(str(one.kind), one.conflict) for one in told] if file is None else by_network(file, rows)
        conflict = np.array([one for _, one in found])
        right = np.array([one.kind in (SUPERSEDES, CONTRADICTS) for one in rows])
        yes, no = conflict[right][:, None], conflict[~right]
        auc = (yes > no).mean() + (yes == no).mean() / 2
        surely = np.sort(no)[-1 - int(0.05 * len(no))]
        kinds = np.mean([KINDS[row.kind] == kind for row, (kind, _) in zip(rows, found, strict=True)])
        at_five = (yes > surely).mean()
        print(f"{author}: {len(rows)} pairs, AUC {auc:.3f}, found {at_five:.3f} at 5 % false, kinds {kinds:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--without", default="")
    parser.add_argument("--measure", default="")
    parser.add_argument("--file", type=Path)
    parser.add_argument("--epochs", type=int, default=7)
    parser.add_argument("--rate", type=float, default=1.5e-4)
    parser.add_argument("--seeds", default="7,8,9")
    asked = parser.parse_args()
    if asked.measure:
        measured(asked.measure, asked.file)
        return
    if asked.out is None:
        parser.error("say where to write the trained file: --out FILE")
    rows = pairs(HELD_OUT + asked.without)
    print(f"{len(rows)} pairs by {len({one.author for one in rows})} authors")
    export(averaged(one_run, asked.seeds, rows, asked.epochs, asked.rate), INPUTS, ("kind",), asked.out)


if __name__ == "__main__":
    main()
