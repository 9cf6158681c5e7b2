"""What a trace says is computed again, by a second program that shares no line with the first.

    draftlab recheck out/quickstart.h5

The decoder is C++, this is numpy; what they have in common is the trace and the papers. For every
step it asks: does the probability with which a draft was accepted follow from the two laws that the
trace has of it? Does the random number at its address say what became of it? Was what was committed
what the walk over these verdicts commits? Would the router have decided so from what it saw? Do the
counts add up? It prints how many of how many agree, and what a trace does not suffice for.
"""

from draftlab.recheck.agreement import Agreement
from draftlab.recheck.check import recheck

__all__ = ["Agreement", "recheck"]
