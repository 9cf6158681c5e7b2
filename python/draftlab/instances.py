"""Instances of parts: their methods, called with what draftlab sent, and what they keep."""

import functools
from types import SimpleNamespace
from typing import Any, Callable, Dict, FrozenSet, List, Mapping

import numpy as np

from draftlab import laws, options, parts, steps, values

Arrays = Mapping[str, np.ndarray]


def state_of(part: Any) -> str:
    """Returns what a part has learnt as text: its `state()`, or all attributes but options."""
    own = getattr(part, "state", None)
    if callable(own):
        return str(own())
    known = _not_learnt(type(part))  # type: ignore[arg-type]
    kept = {name: value for name, value in vars(part).items() if name not in known}
    return _text(kept, type(part).__name__)


@functools.lru_cache(maxsize=None)
def _not_learnt(cls: type) -> FrozenSet[str]:
    """Attributes that instances of a class are given."""
    return frozenset(each.name for each in options.options_of(cls)) | {"decode", "blocks"}


def _text(value: Any, of: str) -> str:
    """Canonical text of plain values: equal texts, equal values."""
    if value is None or isinstance(value, (bool, int, str, bytes)):
        return repr(value)
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, np.generic):
        return _text(value.item(), of)
    if isinstance(value, np.ndarray):
        return f"{value.dtype.str}{value.shape}{value.tobytes().hex()}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(_text(each, of) for each in value) + "]"
    if isinstance(value, dict):
        items = sorted((_text(key, of), _text(each, of)) for key, each in value.items())
        return "{" + ",".join(f"{key}:{each}" for key, each in items) + "}"
    raise TypeError(
        f"{of} keeps a {type(value).__name__}, of which draftlab cannot tell whether it has "
        "changed; define state(self), which returns it as text"
    )


def create(header: Dict[str, Any]) -> Any:
    cls = parts.registered(header["kind"], header["name"])
    part = cls(**header["options"])
    part.decode, part.blocks = SimpleNamespace(), SimpleNamespace(size=0, origin=0, part=0)
    return part


def begin(part: Any, header: Dict[str, Any]) -> None:
    part.decode = SimpleNamespace(**header["decode"])
    size, origin, cut = header["blocks"]
    part.blocks = SimpleNamespace(size=size, origin=origin, part=cut)


def wrong(method: str, given: Any, wanted: str) -> TypeError:
    return TypeError(f"{method} returned {type(given).__name__} {given!r:.80}; {wanted}")


# What each method is called with.


def _decide(part: Any, header: Dict[str, Any], arrays: Arrays, scope: Any) -> Any:
    return part.decide(steps.Numbers(header, arrays))


def _alpha(part: Any, header: Dict[str, Any], arrays: Arrays, scope: Any) -> Any:
    return part.alpha(steps.Numbers(header, arrays))


def _expected(part: Any, header: Dict[str, Any], arrays: Arrays, scope: Any) -> Any:
    return part.expected(steps.Numbers(header, arrays))


def _probability(part: Any, header: Dict[str, Any], arrays: Arrays, scope: Any) -> Any:
    return part.probability(steps.Trial(header["trial"], scope))


def _replacement(part: Any, header: Dict[str, Any], arrays: Arrays, scope: Any) -> Any:
    if not callable(getattr(part, "replacement", None)):
        return None
    return part.replacement(steps.Trial(header["trial"], scope))


def _propose(part: Any, header: Dict[str, Any], arrays: Arrays, scope: Any) -> Any:
    return part.propose(steps.Step(header, arrays, part, scope))


def _judge(part: Any, header: Dict[str, Any], arrays: Arrays, scope: Any) -> Any:
    step = steps.Step(header, arrays, part, scope)
    return part.judge(step, steps.Drafted(header, arrays, scope), steps.Judge(scope))


def _choose(part: Any, header: Dict[str, Any], arrays: Arrays, scope: Any) -> Any:
    step = steps.Step(header, arrays, part, scope)
    return part.choose(step, steps.Drafted(header, arrays, scope))


def _preview(part: Any, header: Dict[str, Any], arrays: Arrays, scope: Any) -> Any:
    step = steps.Step(header, arrays, part, scope)
    return part.preview(step, steps.Drafted(header, arrays, scope))


def _top_up(part: Any, header: Dict[str, Any], arrays: Arrays, scope: Any) -> Any:
    step = steps.Step(header, arrays, part, scope)
    drafted = steps.Drafted(header, arrays, scope)
    return part.top_up(step, drafted, steps.outcome_of(header, arrays))


def _of_canvas(method: str) -> Callable[..., Any]:
    return lambda part, header, arrays, scope: getattr(part, method)(
        steps.canvas_of(header, arrays)
    )


def _state(part: Any, header: Dict[str, Any], arrays: Arrays, scope: Any) -> Any:
    return state_of(part)


def _observe(part: Any, header: Dict[str, Any], arrays: Arrays, scope: Any) -> Any:
    verify, score, propensity, flip, context = header["route"]
    memo = arrays["memo"] if "memo" in arrays else np.zeros(0)
    route = values.Route(verify, score, flip, context, propensity, memo)
    part.observe(steps.canvas_of(header, arrays), route, steps.outcome_of(header, arrays))


CALLS: Dict[str, Callable[..., Any]] = {
    "decide": _decide,
    "alpha": _alpha,
    "expected": _expected,
    "probability": _probability,
    "replacement": _replacement,
    "propose": _propose,
    "judge": _judge,
    "choose": _choose,
    "preview": _preview,
    "top_up": _top_up,
    "next": _of_canvas("next"),
    "done": _of_canvas("done"),
    "settled": _of_canvas("settled"),
    "check": _of_canvas("check"),
    "state": _state,
    "observe": _observe,
}

# What each method may return, and how it is sent.


def _send_route(given: Any) -> List[Any]:
    if isinstance(given, values.Route):
        return given.packed()
    if isinstance(given, (bool, np.bool_)):
        return values.Route(bool(given)).packed()
    raise wrong("decide", given, "it returns True, False or a Route")


def _send_number(given: Any) -> float:
    if isinstance(given, (bool, np.bool_)) or np.ndim(given) != 0:
        raise wrong("the method", given, "it returns a number")
    return values.real("what the method returned", given)


def _send_distribution(given: Any) -> Any:
    return None if given is None else laws.reference(given)


def _packed(kind: Any, method: str) -> Callable[[Any], Any]:
    def send(given: Any) -> Any:
        if not isinstance(given, kind):
            raise wrong(method, given, f"it returns a {kind.__name__}")
        return given.packed()

    return send


def _send_commits(method: str) -> Callable[[Any], Any]:
    def send(given: Any) -> Any:
        if isinstance(given, values.Verdict):
            return given.packed()
        if not isinstance(given, (list, tuple)):
            raise wrong(method, given, "it returns a list of Commit, or a Verdict")
        source = "threshold" if method == "choose" else "fallback"
        commits = [each if len(each) == 3 else (*each, source) for each in given]
        return values.Verdict(commits, "unverified").packed()

    return send


SENDS: Dict[str, Callable[[Any], Any]] = {
    "decide": _send_route,
    "expected": _send_number,
    "probability": _send_number,
    "replacement": _send_distribution,
    "propose": _packed(values.Proposal, "propose"),
    "judge": _packed(values.Verdict, "judge"),
    "choose": _send_commits("choose"),
    "preview": lambda given: int(given),
    "top_up": _send_commits("top_up"),
    "next": _packed(values.Window, "next"),
    "done": lambda given: bool(given),
    "settled": lambda given: [int(position) for position in given],
    "check": lambda given: None,
    "state": lambda given: given,
    "observe": lambda given: None,
}
