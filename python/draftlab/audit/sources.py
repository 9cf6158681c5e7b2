"""Names what a sampler draws from where the audit cannot answer: generators that it can reach and
whose state a call changes, the libraries' own, and the clock."""

import random
import sys
import time
from typing import Any, Callable, Dict, List

import numpy as np

from draftlab.audit.episodes import episode_of
from draftlab.audit.held import places, swapped
from draftlab.audit.numbers import Drawn
from draftlab.audit.sampler import Sampler
from draftlab.audit.toys import Toy

_CALLS = 24
_CLOCKS = ("time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns",
           "process_time", "process_time_ns")
UNSEEN = "nothing that it can see, such as a device's generator, compiled code, or a generator " \
         "that is written in Python"


def sources_of(sampler: Sampler, toy: Toy) -> List[str]:
    """What the sampler draws from beside the audit's numbers."""
    holders = sampler.holders()
    episode, source = episode_of(sampler, toy), Drawn(1)
    read: Dict[str, int] = {}
    clocks = {id(getattr(time, name)): _counted(name, read) for name in _CLOCKS}
    before = _states(holders)
    with swapped([vars(time), *holders], lambda value: clocks.get(id(value))):
        for _ in range(_CALLS):
            episode(source)
    after = _states(holders)
    found = [name for name, state in before.items() if after.get(name, state) != state]
    found += [f"the clock (time.{name})" for name, times in read.items() if times >= _CALLS]
    return found or [UNSEEN]


def _counted(name: str, read: Dict[str, int]) -> Callable:
    real = getattr(time, name)

    def function():
        read[name] = read.get(name, 0) + 1
        return real()

    return function


def _states(holders: List[Any]) -> Dict[str, str]:
    """The state of each generator that can be reached, by a name for it."""
    torch = sys.modules.get("torch")
    states = {"Python's random": repr(random.getstate()),
              "numpy.random": repr(np.random.mtrand._rand.get_state())}
    if torch is not None:
        states["torch's default generator"] = repr(torch.get_rng_state().tolist())
    for place in places(holders):
        state = _state(place.value, torch)
        if state:
            kind = type(place.value)
            states[f"{place.path} ({kind.__module__.split('.')[0]}'s {kind.__name__})"] = state
    return states


def _state(value: Any, torch: Any) -> str:
    """The state of a generator as text; empty where it is none."""
    if isinstance(value, np.random.BitGenerator):
        return repr(value.state)
    if isinstance(value, random.Random) and not isinstance(value, random.SystemRandom):
        return repr(value.getstate())
    if torch is not None and isinstance(value, torch.Generator):
        return repr(value.get_state().tolist())
    return ""
