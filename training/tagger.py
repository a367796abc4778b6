"""Train the tagger: it gives each word of a person's turn a kind worth keeping, or a reason not to keep it.

usage: tagger.py --out FILE [--without AUTHORS] [--epochs 6] [--rate 1e-4] [--seeds 7,8,9]

It begins with the base of many languages (`base.py`). Every token gets one class: a kind worth keeping (`KINDS`), or a
reason not to keep it (`WHYS`). A turn with nothing to keep has one reason for all of it; beside a kept quotation the
reason is not known, and any of them is right. One more number a turn: whether it holds anything to keep. Runs with
several seeds are averaged, weight by weight. `--without` leaves authors out and says how well the others' examples
carry over to them. Author `k`, written for measuring, is always left out (`measure.py tagger`).
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import torch
from encoder import DATA, DEVICE, FIRST, WIDTH, averaged, encoder, export, padded, tokenizer, trained, vectors
from people import HELD_OUT, area
from torch import nn

from reverie.dreams.light.tagger import KINDS, WHYS

CLASSES = (*KINDS, *WHYS)
UNKNOWN_WHY, IGNORED = -1, -100
MOST_TOKENS = 320
SIZE = 32  # turns a step
ALIKE = 20  # steps whose turns are sorted by length
JOINS = ("\n\n", "\n", " ")


@dataclass(frozen=True)
class Example:
    """A turn with the class of each of its characters."""

    text: str
    classes: list[int] = field(repr=False)
    author: str

    @property
    def keeps(self) -> bool:
        return any(0 <= one < len(KINDS) for one in self.classes)


def examples(authors: str = "", but: str = "") -> list[Example]:
    paths = sorted(DATA.glob("notice-?.jsonl"))
    return [
        one
        for path in paths
        if path.stem[-1] not in but and (not authors or path.stem[-1] in authors)
        for one in _of_file(path)
    ]


def _of_file(path: Path) -> Iterator[Example]:
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        text, keep = row["text"], row["keep"]
        rest = UNKNOWN_WHY if keep else CLASSES.index(row["why"] or "none")
        classes = [rest] * len(text)
        for one in keep:
            start = text.index(one["quote"])
            end = start + len(one["quote"])
            classes[start:end] = [KINDS.index(one["kind"])] * (end - start)
        yield Example(text, classes, path.stem[-1])


def joined(first: Example, second: Example, between: str) -> Example:
    """Two turns of one author as one: something to keep stands beside something that is not."""
    classes = first.classes + [UNKNOWN_WHY] * len(between) + second.classes
    return Example(first.text + between + second.text, classes, first.author)


def unpunctuated(one: Example) -> Example:
    """As dictated: without full stops and commas."""
    kept = [place for place, sign in enumerate(one.text) if not re.match(r"[.,;!]", sign)]
    return Example("".join(one.text[place] for place in kept), [one.classes[place] for place in kept], one.author)


class Varied:
    """The turns of one epoch: some joined, some without punctuation. A step takes as long as its longest turn, so turns
    of about one length stand together; else in no order."""

    def __init__(self, rows: list[Example], seed: int) -> None:
        self._rows, self._chance = rows, random.Random(seed)
        self._by_author: dict[str, list[Example]] = {}
        for one in rows:
            self._by_author.setdefault(one.author, []).append(one)

    def __call__(self) -> list[Example]:
        chance, made = self._chance, [self._changed(one) for one in self._rows]
        chance.shuffle(made)
        found = list[list[Example]]()
        for first in range(0, len(made), SIZE * ALIKE):
            some = sorted(made[first : first + SIZE * ALIKE], key=lambda one: len(one.text))
            found += [some[place : place + SIZE] for place in range(0, len(some), SIZE)]
        last = found.pop()  # a shorter one would shift those after it
        chance.shuffle(found)
        return [one for step in (*found, last) for one in step]

    def _changed(self, one: Example) -> Example:
        chance = self._chance
        if chance.random() < 0.25 and len(one.text) < 400:
            pair = [one, chance.choice(self._by_author[one.author])]
            chance.shuffle(pair)
            one = joined(*pair, chance.choice(JOINS))
        return unpunctuated(one) if chance.random() < 0.1 else one


class Tagger(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.bert = encoder("base")
        self.tokens = nn.Linear(WIDTH, len(CLASSES))
        self.turn = nn.Linear(WIDTH, 1)
        self.dropout = nn.Dropout(0.1)

    def forward(self, words: torch.Tensor, attention_mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = self.bert(inputs_embeds=words, attention_mask=attention_mask).last_hidden_state
        mask = attention_mask.unsqueeze(-1).to(hidden.dtype)
        pooled = (hidden * mask).sum(1) / mask.sum(1).clamp(min=1)
        return self.tokens(self.dropout(hidden)), self.turn(self.dropout(pooled)).squeeze(-1)


def one_run(rows: list[Example], epochs: int, rate: float, seed: int) -> Tagger:
    tokens = tokenizer(MOST_TOKENS)
    torch.manual_seed(FIRST)

    def loss(tagger: Tagger, some: list[Example]) -> torch.Tensor:
        coded = tokens.encode_batch([one.text for one in some])
        mask = padded([[1] * len(one.ids) for one in coded])
        classes = torch.full(mask.shape, IGNORED, dtype=torch.long)
        for row, (one, code) in enumerate(zip(some, coded, strict=True)):
            for place, (start, end) in enumerate(code.offsets):
                if end > start:
                    classes[row, place] = one.classes[start]
        classes = classes.to(DEVICE)
        logits, turn = tagger(vectors(padded([one.ids for one in coded])), mask)
        chances = logits.float().log_softmax(-1)
        told = chances.gather(-1, classes.clamp(min=0).unsqueeze(-1)).squeeze(-1)
        any_why = chances[..., len(KINDS) :].logsumexp(-1)
        each = torch.where(classes == UNKNOWN_WHY, any_why, told)
        counted = (classes != IGNORED).float()
        weight = (
            counted / counted.sum(1, keepdim=True).clamp(min=1).sqrt()
        )  # a long turn counts more, not by its length
        by_token = -(each * weight).sum() / weight.sum()
        keeps = torch.tensor([float(one.keeps) for one in some], device=DEVICE)
        by_turn: torch.Tensor = nn.functional.binary_cross_entropy_with_logits(turn.float(), keeps)
        return by_token + 0.5 * by_turn

    return trained(Tagger(), Varied(rows, seed), loss, epochs=epochs, rate=rate, seed=seed, size=SIZE)


@torch.no_grad()
def measured(tagger: Tagger, rows: list[Example]) -> str:
    """How well turns with something to keep are told from the others by their four highest words."""
    tokens, scores = tokenizer(MOST_TOKENS), list[float]()
    tagger.to(DEVICE)
    for one in rows:
        ids = padded([tokens.encode(one.text).ids])
        chances = tagger(vectors(ids), torch.ones_like(ids))[0][0].float().softmax(-1)
        keep = chances[1:-1, : len(KINDS)].sum(-1)
        scores.append(float(keep.topk(min(4, len(keep))).values.mean()))
    kept = [one.keeps for one in rows]
    no = sorted((score for score, keep in zip(scores, kept, strict=True) if not keep), reverse=True)
    yes = [score for score, keep in zip(scores, kept, strict=True) if keep]
    found = (
        f"{sum(s > no[int(rate * len(no))] for s in yes) / len(yes):.2f} at {rate:.0%}" for rate in (0.03, 0.06, 0.1)
    )
    return f"{len(rows)} turns, AUC {area(kept, scores):.3f}, found {', '.join(found)} false"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--without", default="")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--seeds", default="7,8,9")
    asked = parser.parse_args()
    rows = examples(but=HELD_OUT + asked.without)
    tagger = averaged(one_run, asked.seeds, rows, asked.epochs, asked.rate)
    for author in asked.without + HELD_OUT:
        print(f"{author}: {measured(tagger, examples(author))}", flush=True)
    export(tagger, ("words", "attention_mask"), ("classes", "keeps"), asked.out)


if __name__ == "__main__":
    main()
