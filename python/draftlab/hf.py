"""Hugging Face models as models of draftlab: `dl.hf.causal_lm`, `dl.hf.masked_lm`,
`dl.hf.block_diffusion`.

    # my_models.py
    import draftlab as dl
    Gpt2 = dl.hf.causal_lm("gpt2")

    ./draftlab run CONFIG --plugin my_models.py --model causal-lm

They need torch and transformers, which are imported when the model is loaded; code that a
repository brings is never run. Each is the name of a model or a folder, and an option `checkpoint`
that names another one. The device and the type come from the config (run.device, run.dtype).
"""

from typing import Any, List

import numpy as np

from draftlab import base_model, options, parts
from draftlab.models import ROOT


class Pretrained:
    """What the wrappers have in common: loading, and tensors."""

    checkpoint: str
    auto = "AutoModel"  # This class of transformers loads it.

    def load(self, machine: Any) -> None:
        import torch
        import transformers

        self.torch, self.device = torch, machine.device
        kind = getattr(torch, {"f32": "float32", "bf16": "bfloat16"}[machine.dtype])
        if machine.threads > 0:
            torch.set_num_threads(machine.threads)
        loaded = getattr(transformers, self.auto).from_pretrained(self.checkpoint, torch_dtype=kind)
        self.net = loaded.to(machine.device).eval()
        config = self.net.config
        self.vocabulary = int(config.vocab_size)
        self.longest = int(getattr(config, "max_position_embeddings", 0) or 0)
        ends = getattr(config, "eos_token_id", None)
        self.stops = (
            [] if ends is None else list(ends) if isinstance(ends, (list, tuple)) else [ends]
        )
        self.family = str(config.model_type)
        self.parameters = sum(each.numel() for each in self.net.parameters())

    def tensor(self, array: np.ndarray) -> Any:
        return self.torch.from_numpy(np.ascontiguousarray(array)).to(self.device)

    def ask_net(self, **arguments: Any) -> Any:
        with self.torch.no_grad():
            return self.net(**arguments)


class _Causal(Pretrained, base_model.Model):
    """A causal language model: every row is computed whole."""

    auto, view = "AutoModelForCausalLM", "causal"

    def logits(self, ids: Any, allowed: Any, positions: Any, asked: Any) -> Any:
        rows, places = (self.tensor(each) for each in asked)
        # Rows are padded on the right, where no asked position looks.
        return self.ask_net(input_ids=self.tensor(ids)).logits[rows, places]


class _CachedCausal(Pretrained, base_model.CachedModel):
    """A causal language model with the cache of transformers, which is cropped after every draft.
    Canvases are prompts at the beginning, decoded left to right."""

    auto, forms = "AutoModelForCausalLM", ("committed", "chain")

    def __init__(self) -> None:
        self.memories: dict = {}

    def forget(self, sequence: int) -> None:
        super().forget(sequence)
        self.memories.pop(sequence, None)

    def truncate(self, sequence: int, length: int) -> None:
        known = self.memories.pop(sequence).tokens[:length]
        if known:  # What is behind its last token has to be computed once more.
            self.extend(sequence, known, list(range(length)))

    def extend(self, sequence: int, tokens: List[int], positions: List[int]) -> None:
        memory = self.memories.setdefault(sequence, _Memory())
        length = len(memory.tokens)
        if positions != list(range(length, length + len(tokens))):
            raise ValueError(
                f"a causal model's cache was extended at positions {positions}; decode left to "
                "right, with the prompt at the beginning"
            )
        memory.last = self.run(memory, tokens)
        memory.tokens += tokens

    def run(self, memory: Any, tokens: List[int]) -> Any:
        """The logits behind the last of these tokens, which the cache then holds."""
        answer = self.ask_net(
            input_ids=self.tensor(np.array([tokens])), past_key_values=memory.cache, use_cache=True
        )
        memory.cache = answer.past_key_values
        return answer.logits[0, -1]

    def ask(self, sequence: int, question: Any) -> Any:
        if sequence not in self.memories:
            raise ValueError("a causal model needs a token at position 0")
        memory = self.memories[sequence]
        known, length, rows = {ROOT: memory.last}, len(memory.tokens), []
        for node, position in question.asked:
            path = question.path(node)
            places = [each.position for each in path]
            if [*places, position] != list(range(length, length + len(path) + 1)):
                raise ValueError(f"position {position} does not follow what is known before it")
            if node not in known:
                known[node] = self.run(memory, [each.token for each in path])
                memory.cache.crop(length)
            rows.append(known[node])
        return self.torch.stack(rows).float().cpu().numpy()


class _Memory:
    """What is cached of one sequence, and the logits behind its last token."""

    def __init__(self) -> None:
        self.cache: Any = None
        self.last: Any = None
        self.tokens: List[int] = []


class _Masked(Pretrained, base_model.Model):
    """A masked language model, or a block-diffusion model: an asked position holds the mask."""

    auto, view = "AutoModelForMaskedLM", "bidirectional"

    def logits(self, ids: Any, allowed: Any, positions: Any, asked: Any) -> Any:
        rows, places = (self.tensor(each) for each in asked)
        # [rows, 1, L, L], added to the scores: what may not be seen is as low as numbers go.
        low = self.torch.finfo(self.net.dtype).min
        seen = self.tensor(allowed[:, None])
        mask = self.torch.zeros(seen.shape, dtype=self.net.dtype, device=self.device)
        answer = self.ask_net(
            input_ids=self.tensor(ids),
            attention_mask=mask.masked_fill(~seen, low),
            position_ids=self.tensor(positions),
        )
        return answer.logits[rows, places]


def _register(base: type, name: str, source: str, **more: Any) -> type:
    summary = f"{base.auto} of transformers: {source}"  # type: ignore[attr-defined]
    checkpoint = options.option(source, help="Name or folder of the checkpoint.")
    made = type(base.__name__, (base,), {"checkpoint": checkpoint, "__doc__": summary, **more})
    checkpoint.__set_name__(made, "checkpoint")
    return parts.model(name)(made)


def causal_lm(source: str, *, name: str = "causal-lm", cache: bool = True) -> type:
    """A model that predicts the next token, such as GPT-2 or Llama. `cache`: keys and values are
    kept (one question at a time); without it the questions of a batch are one forward."""
    return _register(_CachedCausal if cache else _Causal, name, source)


def masked_lm(source: str, *, mask: int, name: str = "masked-lm") -> type:
    """A model that fills in masks and sees the whole canvas, as BERT does; `mask` is its id."""
    return _register(_Masked, name, source, mask=mask)


def block_diffusion(source: str, *, mask: int, name: str = "block-diffusion-lm") -> type:
    """A model that denoises a block given those before it, such as SDAR; its class must take an
    attention mask of shape [rows, 1, L, L]."""
    return _register(_Masked, name, source, mask=mask, auto="AutoModelForCausalLM")
