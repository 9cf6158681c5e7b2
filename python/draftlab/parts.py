"""Decorators that make a class a part of a decoder, and what is known of such classes."""

import inspect
import os
from typing import Any, Callable, Dict, List, Tuple, Type, TypeVar

from draftlab import options

Class = TypeVar("Class", bound=type)

# (kind, name) of every decorated class.
REGISTERED: Dict[Tuple[str, str], type] = {}

FORMS = ("committed", "chain", "branches", "shallow")

# The method that a kind cannot do without; a name with | is a choice.
_NEEDED = {
    "router": "decide",
    "estimator": "alpha|expected",
    "acceptance": "probability",
    "unmasker": "choose",
    "drafter": "propose",
    "verifier": "judge",
    "frontier": "next",
    "model": "answer",
    "task": "prompt",
    "sampler": "",
}
_METHODS = (
    "decide alpha expected probability replacement choose preview top_up propose judge next done "
    "settled check load encoded open answer forget prompt score text observe state"
).split()


class ConfigError(Exception):
    """A part whose options do not go together raises this; it is shown as a fault of the config."""


def _name_is_plain(name: str) -> bool:
    return bool(name) and all(c in "abcdefghijklmnopqrstuvwxyz0123456789-" for c in name)


def _constructor(cls: type) -> Callable[..., None]:
    """`LongSpans(span=3)`: options by name, checked, before the class's own constructor runs."""
    own: Any = getattr(cls.__init__, "draftlab_own", cls.__init__)  # type: ignore[misc]

    def __init__(self: Any, **values: Any) -> None:
        options.assign(self, values)
        if own is not object.__init__:
            own(self)

    __init__.draftlab_own = own  # type: ignore[attr-defined]
    return __init__


def _register(kind: str, name: str, cls: Class) -> Class:
    if not _name_is_plain(name):
        raise ValueError(f"{kind} '{name}': a name has a-z, 0-9 and - only")
    needed = _NEEDED[kind].split("|")
    if needed != [""] and not any(callable(getattr(cls, each, None)) for each in needed):
        raise TypeError(f"{kind} '{name}' ({cls.__name__}) has no method {' or '.join(needed)}")
    for form in list(getattr(cls, "asks", ())) + list(getattr(cls, "asks_draft_model", ())):
        if form not in FORMS:
            raise ValueError(f"{kind} '{name}' asks '{form}'; there are {', '.join(FORMS)}")
    for each in options.options_of(cls):
        each.check(each.default)
    cls.__init__ = _constructor(cls)  # type: ignore[misc]
    cls.draftlab_kind, cls.draftlab_name = kind, name  # type: ignore[attr-defined]
    REGISTERED[kind, name] = cls
    return cls


def _decorator(kind: str) -> Callable[[str], Callable[[Class], Class]]:
    def named(name: str) -> Callable[[Class], Class]:
        return lambda cls: _register(kind, name, cls)

    named.__name__ = kind
    named.__doc__ = f"Registers a class as the {kind} of that name (docs/plugins/python.md)."
    return named


router = _decorator("router")
estimator = _decorator("estimator")
acceptance = _decorator("acceptance")
unmasker = _decorator("unmasker")
drafter = _decorator("drafter")
verifier = _decorator("verifier")
frontier = _decorator("frontier")
model = _decorator("model")
task = _decorator("task")


def place_of(cls: type) -> str:
    """File and line of a class."""
    try:
        return f"{os.path.relpath(inspect.getfile(cls))}:{inspect.getsourcelines(cls)[1]}"
    except (OSError, TypeError, ValueError):
        return cls.__module__


def summary_of(cls: type) -> str:
    """The first line of the docstring, as a clause."""
    text = (cls.__doc__ or "").strip().split("\n")[0].rstrip(".")
    return text or f"the class {cls.__name__}"


def announced(kind: str, name: str, cls: type) -> Dict[str, Any]:
    """What draftlab is told of a class."""
    return {
        "kind": kind,
        "name": name,
        "summary": summary_of(cls),
        "place": place_of(cls),
        "options": [each.announced() for each in options.options_of(cls)],
        "methods": [each for each in _METHODS if callable(getattr(cls, each, None))]
        + (["rows_are_independent"] if getattr(cls, "rows_are_independent", False) else []),
        "asks": list(getattr(cls, "asks", ())),
        "asks_draft_model": list(getattr(cls, "asks_draft_model", ())),
        "forms": list(getattr(cls, "forms", ())) if kind == "model" else [],
        "reads_expected": bool(getattr(cls, "reads_expected", False)),
        "reads_draft_length": bool(getattr(cls, "reads_draft_length", True)),
    }


def all_announced() -> List[Dict[str, Any]]:
    return [
        announced(kind, name, cls)
        for (kind, name), cls in REGISTERED.items()
        if kind in _NEEDED and kind != "sampler"
    ]


def registered(kind: str, name: str) -> Type[Any]:
    if (kind, name) not in REGISTERED:
        raise KeyError(f"there is no {kind} '{name}'")
    return REGISTERED[kind, name]
