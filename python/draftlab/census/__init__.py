"""The census: are the public samplers lossless? See docs/CENSUS.md.

An adapter is a function that `row` marks; `Code` and `Piece` say what it takes from whose file.
"""

from draftlab.census.rows import row
from draftlab.census.theirs import Code, Piece

__all__ = ["Code", "Piece", "row"]
