"""Runs a sampler's arithmetic in float64, to tell rounding from bias."""

import contextlib
import sys

import numpy as np

_NARROW = ("float32", "float16", "half", "single")


@contextlib.contextmanager
def float64():
    """While it lasts, numpy's and torch's narrow types are float64 to whoever names them."""
    undo = []

    def put(owner, name, value):
        undo.append((owner, name, getattr(owner, name)))
        setattr(owner, name, value)

    for name in _NARROW:
        put(np, name, np.float64)
    default = None
    if "torch" in sys.modules:
        import torch

        default = torch.get_default_dtype()
        torch.set_default_dtype(torch.float64)
        for name in ("float32", "float", "float16", "half", "bfloat16"):
            put(torch, name, torch.float64)
        for name in ("float", "half", "bfloat16"):
            put(torch.Tensor, name, torch.Tensor.double)
    try:
        yield
    finally:
        if default is not None:
            torch.set_default_dtype(default)
        for owner, name, value in reversed(undo):
            setattr(owner, name, value)
