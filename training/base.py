"""Teach the base network other languages: a sentence in any of them gets the place that its English has.

usage: base.py --teacher FOLDER --corpus FOLDER [--seconds 420] [--rate 4e-4] [--seed 7]

`--teacher` holds all-MiniLM-L6-v2 (config.json, model.safetensors, tokenizer.json), `--corpus` what `corpus.py` wrote.
The student begins as the teacher, with a larger vocabulary. Of each pair it puts both sentences where the teacher puts
the English one, and guesses words left out of the other one. Writes the table of words that ships, its tokenizer, and
`base.npz`, with which the other scripts begin. `--seconds` is how long it learns: seven minutes on a GPU.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import shutil
import time
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from encoder import BASE, DEVICE, WEIGHTS, WIDTH
from numpy.typing import NDArray
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import nn
from torch.nn import functional
from transformers import BertConfig, BertModel

MOST_TOKENS = 96
SIZE = 512  # pairs a step
SORTED = 64  # steps whose pairs are sorted by length
MASKED, MASK, PAD, UNKNOWN = 0.2, 103, 0, 100
WARM = 0.04  # of the time
GUESSING = 0.15  # what a guessed word counts beside the two places
BARE = 0.1  # of the sentences are read without the marks on their letters, as many people type
ASIDE = 0.02  # of the pairs, to measure
LATIN = "de fr es it pt nl pl sv da nb fi cs hu tr ca hr sl sk ro"
Numbers = NDArray[np.int64]


def teacher(folder: Path) -> BertModel:
    config = BertConfig.from_json_file(str(folder / "config.json"))
    made = BertModel(config, add_pooling_layer=False)
    weights = load_file(str(folder / "model.safetensors"))
    missing, _ = made.load_state_dict({name: one.float() for name, one in weights.items()}, strict=False)
    if missing:
        raise SystemExit(f"The weights in {folder} lack {missing[:3]}.")
    return made.to(DEVICE).eval()


def begun(known: BertModel, old: Tokenizer, new: Tokenizer) -> BertModel:
    """The teacher with more words: a new one begins near the mean of the pieces it was read in."""
    student = BertModel(known.config, add_pooling_layer=False)
    student.load_state_dict(known.state_dict(), strict=False)
    table, words = known.embeddings.word_embeddings.weight.detach().cpu(), old.get_vocab()
    chance = torch.Generator().manual_seed(1)
    fresh = torch.randn(new.get_vocab_size(), WIDTH, generator=chance) * float(table.std())
    for word, number in new.get_vocab().items():
        pieces = old.encode(word.removeprefix("##"), add_special_tokens=False).ids
        if words.get(word) == number:
            fresh[number] = table[number]
        elif read := [one for one in pieces if one != UNKNOWN]:
            fresh[number] = table[read].mean(0) + fresh[number] * 0.2
    student.embeddings.word_embeddings = nn.Embedding.from_pretrained(fresh, freeze=False, padding_idx=PAD)
    return student.to(DEVICE)


@dataclass(frozen=True)
class Texts:
    """All ids one after the other, and where each text begins."""

    ids: Numbers
    starts: Numbers

    @classmethod
    def coded(cls, tokens: Tokenizer, texts: list[str]) -> Texts:
        ids, starts = list[Numbers](), [0]
        for first in range(0, len(texts), 50_000):
            for one in tokens.encode_batch(texts[first : first + 50_000]):
                ids.append(np.array(one.ids, dtype=np.int64))
                starts.append(starts[-1] + len(one.ids))
        return cls(np.concatenate(ids), np.array(starts))

    @property
    def lengths(self) -> Numbers:
        return np.diff(self.starts)

    def batch(self, rows: Numbers) -> torch.Tensor:
        begins, ends = self.starts[rows], self.starts[rows + 1]
        made = np.zeros((len(rows), int((ends - begins).max())), dtype=np.int64)
        for place, (begin, end) in enumerate(zip(begins, ends, strict=True)):
            made[place, : end - begin] = self.ids[begin:end]
        return torch.from_numpy(made).to(DEVICE)


@dataclass(frozen=True)
class Pairs:
    """English as the teacher reads it and as the student does, the other sentences, and which English each has."""

    told: Texts
    english: Texts
    other: Texts
    of: Numbers
    languages: NDArray[np.str_]


def read(corpus: Path, folder: Path) -> tuple[Pairs, Tokenizer, Tokenizer]:
    known, of, languages, texts = dict[str, int](), list[int](), list[str](), list[str]()
    chance = random.Random(1)
    with lzma.open(corpus / "pairs.xz", "rt", encoding="utf-8") as file:
        for english, language, text in map(json.loads, file):
            of.append(known.setdefault(english, len(known)))
            languages.append(language)
            texts.append(bare(text) if language in LATIN.split() and chance.random() < BARE else text)
    old, new = (Tokenizer.from_file(str(one / "tokenizer.json")) for one in (folder, corpus))
    for tokens in (old, new):
        tokens.no_padding()
        tokens.enable_truncation(MOST_TOKENS)
    coded = Texts.coded(old, list(known)), Texts.coded(new, list(known)), Texts.coded(new, texts)
    print(f"{len(of):,} pairs, {len(known):,} English; pieces of a text: {coded[2].lengths.mean():.1f}", flush=True)
    return Pairs(*coded, np.array(of), np.array(languages)), old, new


def bare(text: str) -> str:
    return "".join(one for one in unicodedata.normalize("NFD", text) if not unicodedata.combining(one))


def places(network: BertModel, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Where a text stands, and where each of its words does."""
    mask = (ids != PAD).long()
    hidden = network(input_ids=ids, attention_mask=mask).last_hidden_state
    some = mask.unsqueeze(-1).to(hidden.dtype)
    return (hidden * some).sum(1) / some.sum(1), hidden


def steps(rows: Numbers, lengths: Numbers, chance: np.random.Generator) -> Iterator[Numbers]:
    """Without end: pairs of about one length together, the steps in no order."""
    while True:
        order, found = chance.permutation(rows), list[Numbers]()
        for first in range(0, len(order), SIZE * SORTED):
            some = order[first : first + SIZE * SORTED]
            found += np.array_split(some[np.argsort(lengths[some])], max(1, len(some) // SIZE))
        chance.shuffle(found)  # type: ignore[arg-type]
        yield from found


def taught(
    student: BertModel, known: BertModel, pairs: Pairs, rows: Numbers, *, seconds: float, rate: float, seed: int
) -> None:
    torch.manual_seed(seed)
    guess = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU(), nn.LayerNorm(WIDTH)).to(DEVICE)
    optimizer = torch.optim.AdamW([*student.train().parameters(), *guess.parameters()], lr=rate, weight_decay=0.01)
    begin, shown = time.monotonic(), 0.0
    lengths = pairs.other.lengths + pairs.english.lengths[pairs.of]
    for step, some in enumerate(steps(rows, lengths, np.random.default_rng(seed))):
        gone = (time.monotonic() - begin) / seconds
        if gone >= 1:
            break
        for group in optimizer.param_groups:
            group["lr"] = rate * min(gone / WARM, 1.0) * max(1 - gone, 0.0)
        told, english, other = (
            pairs.told.batch(pairs.of[some]),
            pairs.english.batch(pairs.of[some]),
            pairs.other.batch(some),
        )
        with torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=DEVICE == "cuda"):
            with torch.no_grad():
                place = places(known, told)[0].float()
            same = functional.mse_loss(places(student, english)[0].float(), place) * WIDTH
            alike = functional.mse_loss(places(student, other)[0].float(), place) * WIDTH
            left = (torch.rand(other.shape, device=DEVICE) < MASKED) & (other > MASK)
            states = guess(places(student, other.masked_fill(left, MASK))[1][left])
            logits = (states @ student.embeddings.word_embeddings.weight.T).float()
            guessed = functional.cross_entropy(logits, other[left]) if len(states) else same * 0
        optimizer.zero_grad(set_to_none=True)
        (same + alike + GUESSING * guessed).backward()
        nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        optimizer.step()
        if gone - shown > 0.05:
            shown, (one, two, three) = gone, (float(each.detach()) for each in (same, alike, guessed))
            print(f"{gone:.0%}, step {step}: English {one:.2f}, other {two:.2f}, guessed {three:.2f}", flush=True)


@torch.no_grad()
def nearest(student: BertModel, pairs: Pairs, aside: Numbers) -> str:
    """Of 300 sentences of a language: how often the nearest English one of the 300 is its own."""
    student.eval()

    def where(texts: Texts, rows: Numbers) -> torch.Tensor:
        parts = [places(student, texts.batch(rows[first : first + 256]))[0] for first in range(0, len(rows), 256)]
        return functional.normalize(torch.cat(parts).float(), dim=-1)

    found = list[str]()
    for language in sorted(set(pairs.languages[aside])):
        rows = aside[pairs.languages[aside] == language][:300]
        like = where(pairs.other, rows) @ where(pairs.english, pairs.of[rows]).T
        right = like.argmax(1) == torch.arange(len(rows), device=like.device)
        found.append(f"{language} {float(right.float().mean()):.2f}")
    return ", ".join(found)


def in_bytes(table: torch.Tensor) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Eight bits a number, one scale a row."""
    scales = table.abs().amax(1).clamp(min=1e-6) / 127
    return (table / scales[:, None]).round().clamp(-127, 127).to(torch.int8).numpy(), scales.numpy()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--teacher", "--corpus"):
        parser.add_argument(name, type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=420)
    parser.add_argument("--rate", type=float, default=4e-4)
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args()
    known = teacher(asked.teacher)
    pairs, old, new = read(asked.corpus, asked.teacher)
    student = begun(known, old, new)
    order = np.random.default_rng(3).permutation(len(pairs.of))
    aside, rows = np.split(order, [int(len(order) * ASIDE)])
    taught(student, known, pairs, rows, seconds=asked.seconds, rate=asked.rate, seed=asked.seed)
    print("nearest:", nearest(student, pairs, aside))
    weights = {name: one.detach().cpu().float() for name, one in student.state_dict().items()}
    vectors, scales = in_bytes(weights.pop("embeddings.word_embeddings.weight"))
    np.savez(WEIGHTS / "words.npz", vectors=vectors, scales=scales)
    shutil.copy(asked.corpus / "tokenizer.json", WEIGHTS)
    whole = dict[str, NDArray[np.float32] | NDArray[np.int8]]()
    for name, one in weights.items():
        if one.dim() == 2:
            whole[name], whole[f"{name}.scales"] = in_bytes(one)
        else:
            whole[name] = one.numpy()
    np.savez(BASE, **whole)  # type: ignore[arg-type]


if __name__ == "__main__":
    main()
