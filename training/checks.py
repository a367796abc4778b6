"""Train what two checks of the verification ask: does an entry decide where things go, and are words the person's own?

usage: checks.py --out FILE [--without AUTHORS] [--epochs 8] [--rate 1e-4] [--seeds 7,8,9]
       checks.py --measure AUTHORS

It begins with the shipped tagger, which has read people's turns already, and needs nothing else. Runs with several
seeds are averaged, weight by weight. `--without ab` leaves authors out. `--measure tu` says how well the shipped file
does on them. Two minutes a seed on a GPU.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from tokenizers import Encoding, Tokenizer
from torch import nn
from transformers import BertConfig, BertModel

HERE = Path(__file__).parent
DATA = HERE / "data"
TAGGER = HERE.parent / "src" / "reverie" / "dreams" / "light" / "weights"
POLICIES = ("none", "recipient", "payment", "source", "permission")
HELD_OUT = "tu"  # written for measuring; nothing is learnt from them
MOST_TOKENS = 256
SIZE = 32
STATEMENTS, TURNS = 4_500, 3_000  # of the tagger's data: what people say all day, which decides nothing and is theirs
OF_TURNS = 0.5  # their weight
WIDTH = 384


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
    """Statements of the tagger's data, and its turns: those with something to keep are the person's own words."""
    turns = [row for path in sorted(DATA.glob("notice-*.jsonl")) for row in rows(path.stem)]
    statements = [Example(one["quote"], 0) for row in turns for one in row["keep"]]
    own = [Example(row["text"], own=1.0, weight=OF_TURNS) for row in turns if row["keep"]]
    quoted = [Example(row["text"], own=0.0, weight=OF_TURNS) for row in turns if row["why"] == "quoted"]
    chance.shuffle(statements)
    chance.shuffle(own)
    return statements, own[:TURNS] + quoted


def tagger_weights() -> dict[str, torch.Tensor]:
    """The shipped tagger's encoder, out of its 8 bits."""
    graph = onnx.load(str(TAGGER / "tagger.onnx")).graph
    stored = {one.name: numpy_helper.to_array(one) for one in graph.initializer}

    def whole(name: str) -> torch.Tensor:
        shifted = stored[f"{name}_quantized"].astype(np.float32) - stored[f"{name}_zero_point"].astype(np.float32)
        return torch.tensor(shifted * stored[f"{name}_scale"])

    plain = re.compile(r"bert\..*\.(?:weight|bias)")
    found = {name: torch.tensor(one) for name, one in stored.items() if plain.fullmatch(name)}
    for table in ("word", "token_type", "position"):
        name = f"bert.embeddings.{table}_embeddings.weight"
        found[name] = whole(name)
    for node in graph.node:
        layer = re.search(r"/(bert/encoder/layer\.\d)/(.+)/MatMul", node.name)
        for name in (one for one in node.input if layer and re.fullmatch(r"onnx::MatMul_\d+_quantized", one)):
            path = f"{layer[1]}/{layer[2]}".replace("/", ".")
            found[f"{path}.weight"] = whole(name.removesuffix("_quantized")).T.contiguous()
    return {name.removeprefix("bert."): one for name, one in found.items()}


class Checks(nn.Module):
    """One number for each policy, and one for whether the words are somebody else's."""

    def __init__(self) -> None:
        super().__init__()
        config = BertConfig(hidden_size=WIDTH, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536)
        config._attn_implementation = "eager"
        self.bert = BertModel(config, add_pooling_layer=False)
        missing, _ = self.bert.load_state_dict(tagger_weights(), strict=False)
        if missing:
            raise SystemExit(f"The tagger lacks {missing[:3]}.")
        self.policy = nn.Linear(2 * WIDTH, len(POLICIES))
        self.foreign = nn.Linear(2 * WIDTH, 1)
        self.dropout = nn.Dropout(0.1)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = self.bert(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        mask = attention_mask.unsqueeze(-1).to(hidden.dtype)
        mean, most = (hidden * mask).sum(1) / mask.sum(1), (hidden + (mask - 1) * 1e4).max(1).values
        pooled = self.dropout(torch.cat([mean, most], -1))
        return self.policy(pooled), self.foreign(pooled).squeeze(-1)


class Texts:
    """Texts as numbers, each coded once."""

    def __init__(self, device: str) -> None:
        self._tokens = Tokenizer.from_file(str(TAGGER / "tokenizer.json"))
        self._tokens.no_padding()
        self._tokens.enable_truncation(MOST_TOKENS)
        self._device, self._coded = device, dict[str, Encoding]()

    def batch(self, texts: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
        for text in texts:
            self._coded.setdefault(text, self._tokens.encode(text))
        coded = [self._coded[text].ids for text in texts]
        longest = max(map(len, coded))
        ids = torch.tensor([one + [0] * (longest - len(one)) for one in coded])
        mask = torch.tensor([[1] * len(one) + [0] * (longest - len(one)) for one in coded])
        return ids.to(self._device), mask.to(self._device)


def trained(examples: list[Example], epochs: int, rate: float, seed: int, device: str) -> Checks:
    torch.manual_seed(seed)
    chance, texts = random.Random(seed), Texts(device)
    checks = Checks().to(device).train()
    steps = epochs * (len(examples) // SIZE + 1)
    optimizer = torch.optim.AdamW(checks.parameters(), lr=rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / (0.1 * steps)) * max(0.0, 1 - step / steps)
    )
    for epoch in range(epochs):
        chance.shuffle(examples)
        for first in range(0, len(examples), SIZE):
            some = examples[first : first + SIZE]
            loss = sum(losses(checks, some, texts)) / SIZE
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(checks.parameters(), 1.0)
            optimizer.step()
            schedule.step()
        print(f"epoch {epoch + 1}: loss {float(loss.detach()):.4f}", flush=True)
    return checks.eval()


def losses(checks: Checks, some: list[Example], texts: Texts) -> Iterator[torch.Tensor]:
    policy, foreign = checks(*texts.batch([one.text for one in some]))
    device = policy.device
    weights = torch.tensor([one.weight for one in some], device=device)
    for place, wanted in ((policy, [one.policy for one in some]), (foreign, [one.own for one in some])):
        known = [number for number, one in enumerate(wanted) if one is not None]
        if known and place is policy:
            right = torch.tensor([some[one].policy for one in known], device=device)
            each = nn.functional.cross_entropy(place[known], right, reduction="none", label_smoothing=0.05)
            yield (each * weights[known]).sum()
        elif known:
            right = torch.tensor([1.0 - (some[one].own or 0.0) for one in known], device=device)
            each = nn.functional.binary_cross_entropy_with_logits(place[known], right, reduction="none")
            yield (each * weights[known]).sum()


@torch.no_grad()
def undecided(checks: Checks, statements: list[Example], device: str) -> list[Example]:
    """Without those that are taken for a policy: some of them are one, and nobody has read them for that."""
    texts, kept = Texts(device), list[Example]()
    for first in range(0, len(statements), SIZE):
        some = statements[first : first + SIZE]
        none = checks(*texts.batch([one.text for one in some]))[0].softmax(-1)[:, 0].tolist()
        kept += [one for one, chance in zip(some, none, strict=True) if chance > 0.5]
    return kept


def averaged(runs: list[Checks]) -> Checks:
    """Their weights' mean: each run errs elsewhere."""
    states = [one.state_dict() for one in runs]
    means = {name: torch.stack([one[name].float().cpu() for one in states]).mean(0) for name in states[0]}
    runs[0].load_state_dict(means, strict=False)
    return runs[0]


def export(checks: Checks, out: Path) -> None:
    ids = torch.ones(2, 8, dtype=torch.long)
    both = {0: "texts", 1: "tokens"}
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.onnx"
        torch.onnx.export(
            checks.cpu(),
            (ids, ids),
            str(whole),
            input_names=["input_ids", "attention_mask"],
            output_names=["policy", "foreign"],
            dynamic_axes={"input_ids": both, "attention_mask": both, "policy": {0: "texts"}, "foreign": {0: "texts"}},
            opset_version=17,
            dynamo=False,
        )
        quantize_dynamic(str(whole), str(out), per_channel=True, reduce_range=True, weight_type=QuantType.QInt8)
    shipped = out.read_bytes()
    print(f"{out}: {len(shipped):,} bytes, sha256 {hashlib.sha256(shipped).hexdigest()}")


def measured(authors: str) -> None:
    from reverie.dreams.verify.trained import foreign, policy

    for author in authors:
        decided, told = dict[str, list[float]](), dict[str, list[float]]()
        for row in rows(f"policy-{author}"):
            decided.setdefault(str(row["policy"]), []).append(policy(str(row["text"]))[1])
        for row in rows(f"own-{author}"):
            told.setdefault("own" if row["own"] else "foreign", []).append(foreign(str(row["turn"])))
        for found in (decided, told):
            shares = {kind: f"{np.mean(np.array(each) >= 0.5):.2f} of {len(each)}" for kind, each in found.items()}
            print(author, shares)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--without", default="")
    parser.add_argument("--measure", default="")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--seeds", default="7,8,9")
    asked = parser.parse_args()
    if asked.measure:
        measured(asked.measure)
        return
    if asked.out is None:
        parser.error("say where to write the trained file: --out FILE")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    by_hand = written(HELD_OUT + asked.without)
    runs = list[Checks]()
    for seed in map(int, asked.seeds.split(",")):
        statements, turns = everyday(random.Random(seed))
        first = trained(list(by_hand), asked.epochs, asked.rate, seed, device)
        plain = undecided(first, statements, device)[:STATEMENTS]
        print(f"{len(by_hand)} texts by hand, {len(plain)} statements and {len(turns)} turns of the tagger's data")
        runs.append(trained([*by_hand, *plain, *turns], asked.epochs, asked.rate, seed, device))
    export(averaged(runs), asked.out)


if __name__ == "__main__":
    main()
