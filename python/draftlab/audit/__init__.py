"""Is somebody else's speculative sampler exact? See docs/AUDIT.md.

    @dl.sampler("mine", drafts=3)
    def verify(target, drawn_from, drafts, random):
        ...
        return tokens

    print(dl.audit(verify))
"""

import sys
import types

from draftlab.audit.catch import scripted
from draftlab.audit.engines import engine
from draftlab.audit.report import Report
from draftlab.audit.run import audit
from draftlab.audit.sampler import sampler, samplers_of

__all__ = ["Report", "audit", "engine", "sampler", "samplers_of", "scripted"]


class _Callable(types.ModuleType):
    """Makes `dl.audit(function)` the function's audit, though `dl.audit` is this package."""

    def __call__(self, *arguments, **named) -> Report:
        return audit(*arguments, **named)


sys.modules[__name__].__class__ = _Callable
