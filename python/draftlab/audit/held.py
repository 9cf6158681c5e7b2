"""What a sampler holds: the values that its functions can reach in globals, closures, defaults,
attributes and containers, and where each of them stands."""

import contextlib
import types
from dataclasses import dataclass
from typing import Any, Callable, Iterator, List, Optional, Sequence, Set, Tuple

_DEEPEST = 4  # So many attributes or elements are followed.
_MOST = 20_000  # So many values are looked at; more are data.

_LIBRARIES = ("draftlab", "numpy", "torch")  # Nothing that is found in their objects is replaced.


@dataclass
class Place:
    """Where a value stands. `top` is the place in a namespace or closure that leads to it."""

    path: str
    value: Any
    put: Callable[[Any], None]
    top: Optional["Place"] = None


def places(holders: Sequence[Any]) -> Iterator[Place]:
    """Every place that the holders (functions, classes, globals of modules) lead to."""
    seen: Set[int] = set()
    modules = {getattr(one, "__module__", None) for one in holders}
    waiting: List[Tuple[Any, str, Optional[Place], int]] = [(one, "", None, 0) for one in holders]
    while waiting and len(seen) < _MOST:
        holder, path, top, depth = waiting.pop(0)
        if id(holder) in seen:
            continue
        seen.add(id(holder))
        for place in _of(holder, path):
            place.top = top or place
            yield place
            if depth < _DEEPEST and _leads_on(place.value, modules):
                waiting.append((place.value, place.path, place.top, depth + 1))
        if depth == 0 and isinstance(holder, types.FunctionType):
            waiting.append((holder.__globals__, "", None, 0))


def _leads_on(value: Any, modules: Set[Any]) -> bool:
    """Whether something of the sampler's own may be found behind a value. Functions of other
    modules are left alone, since they are not the sampler's."""
    if isinstance(value, types.FunctionType):
        return value.__module__ in modules
    if isinstance(value, (dict, list)):
        return True
    if type(value).__module__.split(".")[0] in _LIBRARIES:
        return False
    if isinstance(value, (type, types.ModuleType)) or callable(value):
        return False
    return hasattr(value, "__dict__")


def _of(holder: Any, path: str) -> Iterator[Place]:
    dot = path + "." if path else ""
    if isinstance(holder, types.FunctionType):
        names = holder.__code__.co_freevars
        for name, cell in zip(names, holder.__closure__ or ()):
            with contextlib.suppress(ValueError):  # It is empty.
                yield Place(name, cell.cell_contents, _into(cell, "cell_contents"))
        for at, value in enumerate(holder.__defaults__ or ()):
            yield Place(f"{holder.__name__}'s default {value!r:.40}", value,
                        _default(holder, at))
    elif isinstance(holder, dict):
        for name, value in list(holder.items()):
            if not (isinstance(name, str) and name.startswith("__")):
                yield Place(f"{path}[{name!r}]" if path else str(name), value,
                            _item(holder, name))
    elif isinstance(holder, list):
        for at, value in enumerate(holder):
            yield Place(f"{path}[{at}]", value, _item(holder, at))
    else:
        for name, value in list(vars(holder).items()):
            if not name.startswith("__"):
                yield Place(dot + name, value, _into(holder, name))


def _into(owner: Any, name: str) -> Callable[[Any], None]:
    return lambda value: setattr(owner, name, value)


def _item(owner: Any, key: Any) -> Callable[[Any], None]:
    return lambda value: owner.__setitem__(key, value)


def _default(function: Any, at: int) -> Callable[[Any], None]:
    def put(value):
        values = list(function.__defaults__)
        values[at] = value
        function.__defaults__ = tuple(values)

    return put


@contextlib.contextmanager
def swapped(holders: Sequence[Any], stand_in: Callable[[Any], Any]) -> Iterator[None]:
    """While it lasts, `stand_in(value)` stands at the place of each value of which it is not
    None. What led there is put back in the end, too, since an audit replaces it by copies."""
    done: List[Place] = []
    try:
        for place in list(places(holders)):
            other = stand_in(place.value)
            if other is not None:
                with contextlib.suppress(AttributeError, TypeError):  # It cannot be set.
                    place.put(other)
                    done.append(place)
        yield
    finally:
        for place in reversed(done):
            place.put(place.value)
        for place in done:
            place.top.put(place.top.value)
