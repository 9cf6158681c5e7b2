"""Writes checkpoints of tests in the format of safetensors: a header in JSON, then the numbers."""

import json
import struct

import numpy as np

_KINDS = {"float32": "F32", "int64": "I64", "bool": "BOOL"}


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        raw = np.ascontiguousarray(tensor).tobytes()
        header[name] = {
            "dtype": _KINDS[tensor.dtype.name],
            "shape": list(tensor.shape),
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
