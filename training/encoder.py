"""What the scripts of this folder share: the words' vectors, an encoder to begin with, runs, and the way into a file.

The networks have one table of words, which `base.py` made and nothing changes afterwards: an 8-bit vector for each
piece of a word. They read vectors, not numbers of words, so the table ships once.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import re
import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from tokenizers import Tokenizer
from torch import nn
from transformers import BertConfig, BertModel

HERE = Path(__file__).parent
DATA = HERE / "data"
BASE = HERE / "base.npz"
WEIGHTS = HERE.parent / "src" / "reverie" / "text" / "weights"
WIDTH = 384
FIRST = 1  # the seed of new layers: runs that begin at one place can be averaged
SIZE = 64  # texts a step
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
Made = TypeVar("Made", bound=nn.Module)
Example = TypeVar("Example")


@cache
def table() -> torch.Tensor:
    """The vector of each piece of a word."""
    stored = np.load(WEIGHTS / "words.npz")
    return torch.tensor(stored["vectors"].astype(np.float32) * stored["scales"][:, None]).to(DEVICE)


def vectors(ids: torch.Tensor) -> torch.Tensor:
    return nn.functional.embedding(ids, table())


def encoder(begin: str) -> BertModel:
    """As `base.py` left it ("base"), or the shipped tagger's, which has read people's turns already ("tagger")."""
    config = BertConfig(
        vocab_size=1, hidden_size=WIDTH, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536
    )
    config._attn_implementation = "eager"
    bert = BertModel(config, add_pooling_layer=False)
    missing, _ = bert.load_state_dict(_base_weights() if begin == "base" else _tagger_weights(), strict=False)
    if lacking := [name for name in missing if "word_embeddings" not in name]:
        raise SystemExit(f"The {begin} lacks {lacking[:3]}.")
    return bert


def _base_weights() -> dict[str, torch.Tensor]:
    stored = np.load(BASE)
    return {
        name: torch.tensor(
            stored[name] * stored[f"{name}.scales"][:, None] if f"{name}.scales" in stored else stored[name]
        )
        for name in stored
        if not name.endswith(".scales")
    }


def _tagger_weights() -> dict[str, torch.Tensor]:
    """Out of their 8 bits."""
    graph = onnx.load(str(WEIGHTS / "tagger.onnx")).graph
    stored = {one.name: numpy_helper.to_array(one) for one in graph.initializer}

    def whole(name: str) -> torch.Tensor:
        shifted = stored[f"{name}_quantized"].astype(np.float32) - stored[f"{name}_zero_point"].astype(np.float32)
        return torch.tensor(shifted * stored[f"{name}_scale"])

    plain = re.compile(r"bert\..*\.(?:weight|bias)")
    found = {name: torch.tensor(one) for name, one in stored.items() if plain.fullmatch(name)}
    for kind in ("token_type", "position"):
        name = f"bert.embeddings.{kind}_embeddings.weight"
        if name not in found:
            found[name] = whole(name)
    for node in graph.node:
        layer = re.search(r"/(bert/encoder/layer\.\d)/(.+)/MatMul", node.name)
        for name in (one for one in node.input if layer and re.fullmatch(r"onnx::MatMul_\d+_quantized", one)):
            path = f"{layer[1]}/{layer[2]}".replace("/", ".")
            found[f"{path}.weight"] = whole(name.removesuffix("_quantized")).T.contiguous()
    return {name.removeprefix("bert."): one for name, one in found.items()}


def tokenizer(most_tokens: int) -> Tokenizer:
    made = Tokenizer.from_file(str(WEIGHTS / "tokenizer.json"))
    made.no_padding()
    made.enable_truncation(most_tokens)
    return made


def padded(rows: Sequence[Sequence[int]]) -> torch.Tensor:
    longest = max(map(len, rows))
    return torch.tensor([[*one, *[0] * (longest - len(one))] for one in rows]).to(DEVICE)


def trained(
    network: Made,
    rows: Callable[[], list[Example]],
    loss: Callable[[Made, list[Example]], torch.Tensor],
    *,
    epochs: int,
    rate: float,
    seed: int,
    size: int = SIZE,
) -> Made:
    """One run. `rows` gives the examples of one epoch."""
    network.to(DEVICE).train()
    torch.manual_seed(seed)
    steps = epochs * (len(rows()) // size + 1)
    optimizer = torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda step: min(1.0, (step + 1) / (0.1 * steps)) * max(0.0, 1 - step / steps)
    )
    for epoch in range(epochs):
        total, examples = 0.0, rows()
        for first in range(0, len(examples), size):
            found = loss(network, examples[first : first + size])
            optimizer.zero_grad()
            found.backward()
            nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total += float(found.detach()) * size
        print(f"seed {seed}, epoch {epoch + 1}: loss {total / len(examples):.4f}", flush=True)
    return network.eval()


def averaged(one_run: Callable[..., Made], seeds: str, *given: object) -> Made:
    """The mean of the weights of one run for each seed: each errs elsewhere. On a GPU they run beside each other."""
    numbers = [int(one) for one in seeds.split(",")]
    if DEVICE == "cuda" and len(numbers) > 1:
        with multiprocessing.get_context("spawn").Pool(len(numbers)) as pool:
            runs = pool.starmap(_run_on_cpu, [(one_run, *given, seed) for seed in numbers])
    else:
        runs = [one_run(*given, seed) for seed in numbers]
    states = [one.state_dict() for one in runs]
    means = {name: torch.stack([one[name].float().cpu() for one in states]).mean(0) for name in states[0]}
    runs[0].load_state_dict(means)
    return runs[0].eval()


def _run_on_cpu(one_run: Callable[..., nn.Module], *given: object) -> nn.Module:
    return one_run(*given).cpu()


def export(network: nn.Module, inputs: Sequence[str], outputs: Sequence[str], out: Path) -> None:
    """As ONNX, weights in 7 of 8 bits, one scale a row: products of 8-bit numbers overflow on processors without VNNI,
    and then figures would differ from machine to machine."""
    words, ids = torch.zeros(2, 8, WIDTH), torch.ones(2, 8, dtype=torch.long)
    axes = {name: {0: "texts", 1: "tokens"} for name in (*inputs, "classes")} | {
        name: {0: "texts"} for name in outputs if name != "classes"
    }
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.onnx"
        torch.onnx.export(
            network.cpu(),
            (words, *(ids for _ in inputs[1:])),
            str(whole),
            input_names=list(inputs),
            output_names=list(outputs),
            dynamic_axes={name: one for name, one in axes.items() if name in (*inputs, *outputs)},
            opset_version=17,
            dynamo=False,
        )
        quantize_dynamic(str(whole), str(out), per_channel=True, reduce_range=True, weight_type=QuantType.QInt8)
    shipped = out.read_bytes()
    print(f"{out}: {len(shipped):,} bytes, sha256 {hashlib.sha256(shipped).hexdigest()}")
