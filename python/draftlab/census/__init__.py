"""The census: are the public samplers lossless? See docs/CENSUS.md.

An adapter is a function that `row` marks; `Code` and `Piece` say what it takes from whose file, and
`shaped` applies what a request asks for where their code does not.
"""

import importlib
from typing import Any

from draftlab.census.rows import row
from draftlab.census.theirs import Code, Piece

__all__ = ["Code", "Piece", "row", "shaped"]


def __getattr__(name: str) -> Any:
    """`shaped` needs torch, which the command asks for first."""
    if name != "shaped":
        raise AttributeError(name)
    return importlib.import_module("draftlab.census.requests").shaped
