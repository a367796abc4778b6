"""Write the trained tagger as the ONNX file that ships, its weights in 8 bits.

usage: export.py --base FOLDER --trained FOLDER --out FILE

Weights keep one scale a row, and 7 of their 8 bits: products of 8-bit numbers overflow on processors without VNNI, and
then figures would differ from machine to machine.
"""

from __future__ import annotations

import argparse
import hashlib
import tempfile
from pathlib import Path

import torch
from model import base_model
from onnxruntime.quantization import QuantType, quantize_dynamic


def write_graph(base: Path, trained: Path, out: Path) -> None:
    tagger = base_model(base)
    tagger.load_state_dict({name: one.float() for name, one in torch.load(trained / "tagger.pt").items()})
    tagger.eval()
    ids, mask = torch.ones(2, 8, dtype=torch.long), torch.ones(2, 8, dtype=torch.long)
    both = {0: "turns", 1: "tokens"}
    axes = {"input_ids": both, "attention_mask": both, "classes": both, "keeps": {0: "turns"}}
    torch.onnx.export(
        tagger,
        (ids, mask),
        str(out),
        input_names=["input_ids", "attention_mask"],
        output_names=["classes", "keeps"],
        dynamic_axes=axes,
        opset_version=17,
        dynamo=False,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--base", "--trained", "--out"):
        parser.add_argument(name, type=Path, required=True)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole.onnx"
        write_graph(asked.base, asked.trained, whole)
        quantize_dynamic(str(whole), str(asked.out), per_channel=True, reduce_range=True, weight_type=QuantType.QInt8)
    written = asked.out.read_bytes()
    print(f"{asked.out}: {len(written):,} bytes, sha256 {hashlib.sha256(written).hexdigest()}")


if __name__ == "__main__":
    main()
