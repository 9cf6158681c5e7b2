"""Writes small RWKV models of random weights beside this file, and the logits that numpy computes
of them in f64 from the published equations (tests/python/models/rwkv.py). Each model is written
twice: as a file of rwkv.cpp, and as safetensors in the names of PyTorch checkpoints.

    python3 small.py

Twelve tokens, a width of 8 in two heads, two layers. small-VERSION.json has a text and the logits
after each of its tokens.
"""
import json
import pathlib
import struct
import sys

import numpy as np

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parents[2] / "python/models"))
from rwkv import Rwkv  # noqa: E402
from safetensors_file import write_safetensors  # noqa: E402

VOCABULARY, WIDTH, HEADS, LAYERS, INNER, RANK = 12, 8, 2, 2, 16, 4
SIZE = WIDTH // HEADS
TEXT = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 11, 0, 7]


def weights(version, random):
    """The tensors of a PyTorch checkpoint; numbers are those of f32."""
    def draw(*shape, around=0.0, by=0.5):
        return (around + by * random.standard_normal(shape)).astype("f4")

    tensors = {"emb.weight": draw(VOCABULARY, WIDTH, by=1.0),
               "head.weight": draw(VOCABULARY, WIDTH)}
    norms = ["ln_out", "blocks.0.ln0"]
    for layer in range(LAYERS):
        block = f"blocks.{layer}."
        norms += [block + "ln1", block + "ln2", block + "att.ln_x"]
        for name in ("receptance", "key", "value", "output"):
            tensors[f"{block}att.{name}.weight"] = draw(WIDTH, WIDTH)
        tensors[block + "ffn.key.weight"] = draw(INNER, WIDTH)
        tensors[block + "ffn.value.weight"] = draw(WIDTH, INNER)
        if version == "7":
            for mix in "rwkvag":
                tensors[f"{block}att.x_{mix}"] = draw(1, 1, WIDTH)
            for name in "wavg":
                tensors[f"{block}att.{name}1"] = draw(WIDTH, RANK)
                tensors[f"{block}att.{name}2"] = draw(RANK, WIDTH)
            for name in ("w0", "a0", "v0", "k_k", "k_a"):
                tensors[f"{block}att.{name}"] = draw(1, 1, WIDTH)
            tensors[block + "att.r_k"] = draw(HEADS, SIZE)
            tensors[block + "ffn.x_k"] = draw(1, 1, WIDTH)
        else:
            for mix in ("att.time_mix_k", "att.time_mix_v", "att.time_mix_r", "att.time_mix_g",
                        "ffn.time_mix_k", "ffn.time_mix_r"):
                tensors[block + mix] = draw(1, 1, WIDTH)
            for name in ("time_decay", "time_faaaa"):
                tensors[f"{block}att.{name}"] = draw(HEADS, SIZE)
            tensors[block + "att.gate.weight"] = draw(WIDTH, WIDTH)
            tensors[block + "ffn.receptance.weight"] = draw(WIDTH, WIDTH)
    for norm in norms:
        tensors[norm + ".weight"] = draw(WIDTH, around=1.0)
        tensors[norm + ".bias"] = draw(WIDTH)
    return tensors


def logits(tensors):
    """After each token of TEXT, of tensors in the names of rwkv.cpp."""
    network = Rwkv(tensors, np.float64)
    state = network.fresh()
    return [network.step(token, state) for token in TEXT]


def as_rwkv_cpp(version, published):
    """What rwkv.cpp's files have instead: tensors and their names."""
    tensors = {}
    for name, tensor in published.items():
        last = name.rsplit(".", 1)[-1]
        if version == "7" and last in ("x_w", "x_k", "x_v", "x_a", "x_g") and ".att." in name:
            continue
        if last == "x_r":
            stem = name[:-1]
            name = stem + "rwkvag"
            tensor = np.concatenate([published[stem + mix] for mix in "rwkvag"])
        if last in ("w1", "w2", "a1", "a2", "v1", "v2", "g1", "g2"):
            tensor = tensor.T
        if last == "time_decay":
            tensor = np.exp(-np.exp(tensor.astype("f8"))).astype("f4")[..., None]
        if last == "time_faaaa":
            tensor = tensor[..., None]
        if name in ("blocks.0.att.v0", "blocks.0.att.v1", "blocks.0.att.v2"):
            continue
        tensors[name] = np.ascontiguousarray(tensor)
    return tensors


def rwkv_cpp(tensors):
    file = struct.pack("<6i", 0x67676d66, 101, VOCABULARY, WIDTH, LAYERS, 0)
    for name, tensor in tensors.items():
        file += struct.pack("<3i", tensor.ndim, len(name), 0)
        file += struct.pack(f"<{tensor.ndim}i", *tensor.shape[::-1]) + name.encode()
        file += tensor.tobytes()
    return file


def main():
    for version in ("5.2", "7"):
        published = weights(version, np.random.default_rng(41))
        stem = HERE / f"small-{version}"
        tensors = as_rwkv_cpp(version, published)
        pathlib.Path(f"{stem}.bin").write_bytes(rwkv_cpp(tensors))
        write_safetensors(pathlib.Path(f"{stem}.safetensors"), published)
        recorded = {"text": TEXT, "logits": [[round(float(number), 7) for number in row]
                                             for row in logits(tensors)]}
        pathlib.Path(f"{stem}.json").write_text(json.dumps(recorded) + "\n")


if __name__ == "__main__":
    main()
