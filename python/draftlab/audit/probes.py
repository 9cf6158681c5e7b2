"""What is asked of a sampler before its law: does it answer the same question the same way?"""

from typing import List, Tuple

import numpy as np

from draftlab.audit.episodes import episode_of
from draftlab.audit.faults import SamplerFault
from draftlab.audit.generator import seeded
from draftlab.audit.numbers import Script
from draftlab.audit.sampler import Sampler, State
from draftlab.audit.toys import Toy

_CASES = 24


def _scripts() -> List[List[float]]:
    generator = seeded(7)
    return [generator.random(97).tolist() for _ in range(_CASES)]


def _play(episode, stream) -> Tuple:
    script = Script((), stream)
    outcome = episode(script)
    return outcome, tuple(script.asked), tuple(script.values)


def draws_by_itself(sampler: Sampler, toy: Toy) -> bool:
    """Says whether it uses numbers that the audit does not see; raises where its state leaks.

    The same cases are played three times from the state before any call: twice alone, and once
    after other calls. Alone they differ only if there are hidden numbers; if they agree alone and
    differ after other calls, something is kept from one call to the next.
    """
    episode = episode_of(sampler, toy)
    state = State(sampler)
    scripts = _scripts()

    def alone(stream):
        state.restore()
        return _play(episode, stream)

    with np.errstate(all="ignore"):
        first = [alone(stream) for stream in scripts]
        again = [alone(stream) for stream in scripts]
        if first != again:
            return True
        state.restore()
        after = [_play(episode, stream) for stream in scripts + scripts[::-1]]
        state.restore()
    for one, later, stream in zip(first + first[::-1], after, scripts + scripts[::-1]):
        if one != later:
            raise SamplerFault(
                "state leaks",
                f"the same drafts and the same numbers gave {list(one[0])} in a first call and "
                f"{list(later[0])} after other calls: state leaks between calls")
    return False
