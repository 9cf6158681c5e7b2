"""Models that `recheck --model` asks again, in numpy: toys, and a network of each family. None
shares a line with the C++; checkpoints are read in Hugging Face's names."""

import os
from typing import Callable, Dict, Optional, Tuple

from draftlab.recheck.models.context import Model
from draftlab.recheck.models.safetensors import config_of
from draftlab.recheck.record import Settings


def _table(settings: Settings, section: str, folder: str) -> Model:
    from draftlab.recheck.models.table import Table

    return Table(settings, section)


def _noisy_table(settings: Settings, section: str, folder: str) -> Model:
    from draftlab.recheck.models.noisy_table import NoisyTable

    return NoisyTable(settings, section)


def _transformer(settings: Settings, section: str, folder: str) -> Model:
    from draftlab.recheck.models.transformer import Causal, Diffusion

    name = settings(section)
    if name == "autoregressive":
        return Causal(folder)
    return Diffusion(folder, settings, whole=name == "masked-diffusion")


def _xlnet(settings: Settings, section: str, folder: str) -> Model:
    from draftlab.recheck.models.xlnet import AnySubset

    return AnySubset(folder)


# Who makes the model, and the architectures that it knows; none where there is no checkpoint.
_MODELS: Dict[str, Tuple[Callable[[Settings, str, str], Model], Tuple[str, ...]]] = {
    "table": (_table, ()), "noisy-table": (_noisy_table, ()),
    "any-subset": (_xlnet, ("XLNetLMHeadModel",)),
    "block-diffusion": (_transformer, ("SDARForCausalLM",)),
    "masked-diffusion": (_transformer, ("SDARForCausalLM",)),
    "autoregressive": (_transformer, ("Qwen3ForCausalLM",))}


def model_of(settings: Settings, section: str = "model") -> Tuple[Optional[Model], str]:
    """The model that a section of a config names, or None and why it cannot be asked here."""
    name = settings(section)
    if name not in _MODELS:
        return None, f"model '{name}' has no second program"
    make, architectures = _MODELS[name]
    if not architectures:
        return make(settings, section, ""), ""
    if settings("run.dtype", "f32") != "f32":
        return None, f"arithmetic in {settings('run.dtype')} is not that of numpy"
    options = f"model.{name}" if section == "model" else section
    folder = settings(f"{options}.checkpoint")
    if not os.path.isfile(os.path.join(folder, "config.json")):
        return None, f"checkpoint '{folder}' is not here"
    architecture = config_of(folder).get("architectures", ["unknown"])[0]
    if architecture not in architectures:
        return None, f"architecture '{architecture}' has no second program"
    return make(settings, section, folder), ""
