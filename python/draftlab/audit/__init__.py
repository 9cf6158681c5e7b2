"""Is somebody else's speculative sampler exact? See docs/AUDIT.md.

    @dl.sampler("mine", drafts=3)
    def verify(target, drawn_from, drafts, random):
        ...
        return tokens

    print(dl.audit(verify))
"""

from draftlab.audit.audit import audit
from draftlab.audit.catch import scripted
from draftlab.audit.report import Report
from draftlab.audit.sampler import sampler, samplers_of

__all__ = ["Report", "audit", "sampler", "samplers_of", "scripted"]
