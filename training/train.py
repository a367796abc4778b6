"""Train the tagger.

usage: train.py --base FOLDER --out FOLDER [--without AUTHOR] [--epochs 6] [--rate 1e-4] [--seed 7]

`--base` holds all-MiniLM-L6-v2 (config.json, model.safetensors, tokenizer.json). `--without` leaves an author out and
says how well the others' examples carry over to that one. Author `k`, written for measuring, is always left out
(`measure.py tagger`). Under an hour on a few CPU cores, a minute on a GPU.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from itertools import pairwise
from pathlib import Path

import torch
from model import KINDS, Example, Tagger, base_model, batch, examples, loss, tokenizer, varied
from people import HELD_OUT
from tokenizers import Tokenizer

HERE = Path(__file__).parent
SIZE = 32  # turns a step
ALIKE = 20  # steps whose turns are sorted by length
WARM = 0.1  # of all steps


def trained(rows: list[Example], base: Path, epochs: int, rate: float, seed: int) -> Tagger:
    torch.manual_seed(seed)
    chance = random.Random(seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tagger, tokens = base_model(base).to(device).train(), tokenizer(base)
    steps = epochs * (len(rows) // SIZE + 1)
    optimizer = torch.optim.AdamW(tagger.parameters(), lr=rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / (WARM * steps)) * max(0.0, 1 - step / steps)
    )
    for epoch in range(epochs):
        start, total = time.monotonic(), 0.0
        made = varied(rows, chance)
        for turns in batches(made, chance):
            found = loss(tagger, batch(turns, tokens, device))
            optimizer.zero_grad()
            found.backward()
            torch.nn.utils.clip_grad_norm_(tagger.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total += found.item() * len(turns)
        print(f"epoch {epoch + 1}: loss {total / len(made):.4f}, {time.monotonic() - start:.0f} s", flush=True)
    return tagger.eval()


def batches(made: list[Example], chance: random.Random) -> list[list[Example]]:
    """Turns of about one length together, as a step takes as long as its longest turn; else in no order."""
    found = list[list[Example]]()
    for first in range(0, len(made), SIZE * ALIKE):
        some = sorted(made[first : first + SIZE * ALIKE], key=lambda one: len(one.text))
        found += [some[place : place + SIZE] for place in range(0, len(some), SIZE)]
    chance.shuffle(found)
    return found


@torch.no_grad()
def measured(tagger: Tagger, rows: list[Example], tokens: Tokenizer) -> dict[str, float]:
    """How well turns with something to keep are told from the others, by the turn's number and by its words."""
    device = next(tagger.parameters()).device.type
    by_turn, by_word, right, kinds = list[float](), list[float](), 0, 0
    for first in range(0, len(rows), 64):
        made = batch(rows[first : first + 64], tokens, device)
        logits, turn = tagger(made.ids, made.mask)
        chances = logits.float().softmax(-1)
        keep = chances[..., : len(KINDS)].sum(-1) * (made.classes != -100)
        by_turn += turn.float().sigmoid().tolist()
        by_word += keep.topk(min(4, keep.shape[1]), dim=1).values.mean(1).tolist()
        inside = (made.classes >= 0) & (made.classes < len(KINDS))
        kinds += int(inside.sum())
        right += int((chances[..., : len(KINDS)].argmax(-1) == made.classes)[inside].sum())
    kept = [one.keeps for one in rows]
    figures = {"turns": len(rows), "kind_right": round(right / max(1, kinds), 3)}
    for name, scores in (("turn", by_turn), ("word", by_word)):
        no = sorted((s for s, k in zip(scores, kept, strict=True) if not k), reverse=True)
        yes = [s for s, k in zip(scores, kept, strict=True) if k]
        for rate in (0.03, 0.06, 0.1):
            limit = no[int(rate * len(no))]
            figures[f"{name}@{rate}"] = round(sum(s > limit for s in yes) / len(yes), 3)
    for low, high in pairwise((0.0, 0.15, 0.35, 0.6, 0.8, 0.95, 1.01)):  # of what scores so, how much is to be kept
        inside = [k for s, k in zip(by_word, kept, strict=True) if low <= s < high]
        figures[f"kept of {low}–{min(1.0, high)}"] = round(sum(inside) / max(1, len(inside)), 2)
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=HERE / "data")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--without", default="")
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args()
    rows = examples(asked.data)
    learnt = [one for one in rows if one.author not in HELD_OUT + asked.without]
    tagger = trained(learnt, asked.base, asked.epochs, asked.rate, asked.seed)
    asked.out.mkdir(parents=True, exist_ok=True)
    torch.save({name: tensor.half().cpu() for name, tensor in tagger.state_dict().items()}, asked.out / "tagger.pt")
    if asked.without:
        held_out = [one for one in rows if one.author in asked.without]
        print(json.dumps({"without": asked.without} | measured(tagger, held_out, tokenizer(asked.base))), flush=True)


if __name__ == "__main__":
    main()
