"""Is somebody else's speculative sampler exact? See docs/AUDIT.md.

    @dl.sampler("mine", drafts=3)
    def verify(target, drawn_from, drafts, random):
        ...
        return tokens

    print(dl.audit(verify))
"""

import importlib
import sys
import types
from typing import Any

_HOMES = {"Report": "report", "audit": "run", "engine": "engines", "sampler": "sampler",
          "recurrent_model": "recurrent", "samplers_of": "sampler", "scripted": "catch"}
__all__ = list(_HOMES)


class _Callable(types.ModuleType):
    """Makes `dl.audit(function)` the function's audit, though `dl.audit` is this package.

    Names are imported when they are first used, so that the command can say in a sentence that
    numpy is missing.
    """

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return importlib.import_module("draftlab.audit.run").audit(*arguments, **named)

    def __getattribute__(self, name: str) -> Any:
        homes = object.__getattribute__(self, "__dict__").get("_HOMES", {})
        if name in homes:
            return getattr(importlib.import_module(f"draftlab.audit.{homes[name]}"), name)
        return super().__getattribute__(name)


sys.modules[__name__].__class__ = _Callable
