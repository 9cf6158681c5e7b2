"""The interface of lm-evaluation-harness 0.4 as its model guide describes it, for tests where the
package is not installed: what a model derives from, how it is registered and made from the command
line's words, and what a request is."""

import abc
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Dict, Tuple

MODELS: Dict[str, type] = {}


@dataclass
class Instance:
    """A request: what it asks for, and the arguments of it."""

    request_type: str
    args: Tuple[Any, ...]


class LM(abc.ABC):
    """A model answers three kinds of requests; results are in the order of the requests."""

    @abc.abstractmethod
    def loglikelihood(self, requests):
        """[(log-likelihood, whether greedy decoding gives it)] of (context, continuation)."""

    @abc.abstractmethod
    def loglikelihood_rolling(self, requests):
        """[log-likelihood] of (document,)."""

    @abc.abstractmethod
    def generate_until(self, requests):
        """[text] of (context, keywords such as until, max_gen_toks, do_sample, temperature)."""

    @classmethod
    def create_from_arg_string(cls, text, additional=None):
        """--model_args a=1,b=x, and what other flags say where they are given."""
        words = dict(word.split("=", 1) for word in text.split(",") if word)
        known: Dict[str, Any] = {key: int(value) if value.isdigit() else value
                                 for key, value in words.items()}
        return cls(**known, **{k: v for k, v in (additional or {}).items() if v is not None})


def register_model(*names):
    def registered(cls):
        assert issubclass(cls, LM)
        MODELS.update(dict.fromkeys(names, cls))
        return cls

    return registered


def _evaluate():
    """The command: here it says which models are known."""
    print(*MODELS)


def install():
    """Makes the modules that a model of the harness imports."""
    for name, held in {"lm_eval": {}, "lm_eval.api": {}, "lm_eval.api.model": {"LM": LM},
                       "lm_eval.api.registry": {"register_model": register_model},
                       "lm_eval.__main__": {"cli_evaluate": _evaluate}}.items():
        module = sys.modules.setdefault(name, ModuleType(name))
        vars(module).update(held)
