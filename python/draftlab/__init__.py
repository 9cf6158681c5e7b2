"""Parts, models and audits for draftlab, written in Python.

    import draftlab as dl

    @dl.router("long-spans")
    class LongSpans:
        span: int = dl.option(2, low=1, high=4096, help="Shortest span worth verifying, in tokens.")
        def decide(self, step):
            return step.span.length >= self.span

Names are imported when they are first used: `import draftlab` needs the standard library alone,
and numpy, msgpack, h5py, pandas, torch or transformers are loaded by whoever needs them.
"""

import importlib
from typing import Any, List

__version__ = "0.1.0"

# The module that defines each public name.
_HOMES = {
    "Model": "base_model",
    "CachedModel": "base_model",
    "router": "parts",
    "estimator": "parts",
    "acceptance": "parts",
    "unmasker": "parts",
    "drafter": "parts",
    "verifier": "parts",
    "frontier": "parts",
    "model": "parts",
    "task": "parts",
    "ConfigError": "parts",
    "option": "options",
    "ROOT": "values",
    "Route": "values",
    "Node": "values",
    "Drafts": "values",
    "Commit": "values",
    "Proposal": "values",
    "Judged": "values",
    "Verdict": "values",
    "Window": "values",
    "Prompt": "values",
    "Canvas": "values",
    "Distribution": "laws",
    "Answer": "laws",
    "Question": "models",
    "Weights": "models",
    "run": "program",
    "sweep": "program",
    "certify": "program",
    "check": "program",
    "describe": "program",
    "DraftlabError": "commands",
    "Trace": "trace",
    "hf": "hf",
    **dict.fromkeys(("audit", "engine", "recurrent_model", "sampler", "scripted"), "audit"),
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'draftlab' has no attribute '{name}'")
    module = importlib.import_module(f"draftlab.{home}")
    value = module if home == name else getattr(module, name)
    globals()[name] = value
    return value


def __dir__() -> List[str]:
    return sorted(set(globals()) | set(_HOMES))
