"""`dl.scripted()`: catches the numbers of samplers that draw by themselves.

While it is on, the functions of numpy.random, random, secrets, os and torch that make numbers ask
the audit instead, so that a sampler written for an engine is enumerated as it stands. Generators
that are made meanwhile are caught, too, and those that a sampler holds already are replaced
(`held.py`). Outside an audited call everything draws as it always does.
"""

import contextlib
import sys
from typing import Any, Dict

from draftlab.audit import catch_numpy, catch_python
from draftlab.audit.asked import answered_by, either
from draftlab.audit.catch_numpy import CaughtGenerator
from draftlab.audit.held import swapped

__all__ = ["answered_by", "scripted"]


def _proxy(generator: Any) -> Any:
    """What stands in for a generator; None where it is none, or one of its user's own making."""
    if isinstance(generator, catch_numpy.GENERATORS):
        return CaughtGenerator(generator)
    return catch_python.caught(generator) if type(generator) in catch_python.GENERATORS else None


def _stand_in(value: Any, known: Dict[int, Any]) -> Any:
    """What stands in for something that a sampler holds: a generator, a method of one, or a
    function that is caught under its own name. None: it stays."""
    if id(value) in known:
        return known[id(value)]
    of = getattr(value, "__self__", None) if callable(value) else None
    proxy = _proxy(of if of is not None else value)
    if of is None or proxy is None:
        return proxy
    name = value.__name__
    return either(value, lambda *arguments, **named: getattr(proxy, name)(*arguments, **named))


@contextlib.contextmanager
def scripted(*holders):
    """Catches numpy.random, random, secrets, os.urandom and torch; `holders` are functions, classes
    or globals of modules in which generators are caught, too."""
    undo, known = [], {}

    def put(owner, name, value):
        real = getattr(owner, name)
        undo.append((owner, name, real))
        known[id(real)] = value
        setattr(owner, name, value)

    catch_numpy.put_all(put)
    catch_python.put_all(put)
    if "torch" in sys.modules:
        from draftlab.audit import catch_torch

        catch_torch.put_all(put)
    try:
        with swapped(holders, lambda value: _stand_in(value, known)):
            yield
    finally:
        for owner, name, value in reversed(undo):
            setattr(owner, name, value)
