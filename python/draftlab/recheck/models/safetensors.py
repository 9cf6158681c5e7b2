"""Reads a folder of a checkpoint: config.json, and the arrays of model.safetensors."""

import json
import os
import struct
from typing import Any, Dict

import numpy as np

_TYPES: Dict[str, Any] = {"F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "BF16": np.dtype("<u2")}


def config_of(folder: str) -> Dict[str, Any]:
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as opened:
        return json.load(opened)


def weights_of(folder: str) -> Dict[str, np.ndarray]:
    """Every array of the checkpoint in float32. A bf16 number is the upper half of a float32."""
    path = os.path.join(folder, "model.safetensors")
    with open(path, "rb") as opened:
        (size,) = struct.unpack("<Q", opened.read(8))
        header = json.loads(opened.read(size))
        body = opened.read()
    arrays = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        if entry["dtype"] not in _TYPES:
            raise ValueError(f"{path}: '{name}' has type {entry['dtype']}")
        begin, end = entry["data_offsets"]
        numbers = np.frombuffer(body[begin:end], _TYPES[entry["dtype"]])
        if entry["dtype"] == "BF16":
            numbers = (numbers.astype(np.uint32) << 16).view(np.float32)
        arrays[name] = numbers.astype(np.float32).reshape(entry["shape"])
    return arrays


def softmax(logits: np.ndarray, excluded: int) -> np.ndarray:
    """The law of a row of logits without the mask token, in float64."""
    row = logits.astype(np.float64)
    if 0 <= excluded < len(row):
        row[excluded] = -np.inf
    weights = np.exp(row - row.max())
    return weights / weights.sum()
