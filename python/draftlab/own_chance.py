"""Says when a part draws random numbers of its own. No seed of a run repeats these, and no
certificate follows them: what a part decides by them, it decides anew each time."""

import random
import sys
from typing import Any, Dict, List, Set, Tuple

import numpy as np

_LOOKS = 16  # Only the first calls of a method are looked at, so that a run is not slower.


class Watch:
    """Compares the random generators that a part can reach before and after a call of it. Unseen
    are generators that are made within the call, the clock, and those of the system."""

    def __init__(self) -> None:
        self._looked: Dict[Tuple[type, str], int] = {}
        self._told: Set[type] = set()

    def before(self, part: Any, method: str) -> Dict[str, Any]:
        """The states of these generators; none of them once a method has been looked at enough."""
        looked = self._looked.get((type(part), method), 0)
        if looked >= _LOOKS or type(part) in self._told:
            return {}
        self._looked[type(part), method] = looked + 1
        return _states(part)

    def after(self, part: Any, method: str, before: Dict[str, Any]) -> None:
        if not before:
            return
        now = _states(part)
        drawn = [name for name, state in before.items() if now.get(name, state) != state]
        if not drawn or type(part) in self._told:
            return
        self._told.add(type(part))
        file = getattr(sys.modules.get(type(part).__module__), "__file__", "") or ""
        print(
            f"{part.draftlab_kind} '{part.draftlab_name}' ({file.rpartition('/')[2]}) drew random "
            f"numbers of its own in {method} ({', '.join(drawn)}): no seed repeats them, and a "
            "certificate cannot follow them; draw with step.draw, step.below and step.normal",
            file=sys.stderr,
            flush=True,
        )


def _states(part: Any) -> Dict[str, Any]:
    states: Dict[str, Any] = {
        "random": random.getstate(),
        "numpy.random": _numpy(np.random.get_state()),
    }
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "get_rng_state"):
        states["torch"] = torch.get_rng_state().numpy().tobytes()
    module = sys.modules.get(type(part).__module__)
    for holder, of in ((part, "self."), (module, "")):
        for name, value in list(getattr(holder, "__dict__", {}).items()):
            if isinstance(value, np.random.Generator):
                states[of + name] = repr(value.bit_generator.state)
            elif isinstance(value, np.random.RandomState):
                states[of + name] = _numpy(value.get_state())
            elif isinstance(value, random.Random):
                states[of + name] = value.getstate()
            elif torch is not None and isinstance(value, getattr(torch, "Generator", ())):
                states[of + name] = value.get_state().cpu().numpy().tobytes()
    return states


def _numpy(state: Any) -> List[Any]:
    return [each.tobytes() if isinstance(each, np.ndarray) else each for each in state]
