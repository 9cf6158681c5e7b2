"""What dl.hf asks of transformers, over networks of examples/python: classes that load a folder,
models that are called with tensors by name, and a cache that can be cropped."""

from types import SimpleNamespace

import gpt2_torch
import sdar_numpy
import torch


class Cache:
    def __init__(self, ids):
        self.ids = ids

    def crop(self, length):
        self.ids = self.ids[:, :length]


class Causal(torch.nn.Module):
    def __init__(self, folder, dtype):
        super().__init__()
        self.net = gpt2_torch.Network(folder, dtype)
        config = self.net.config
        self.config = SimpleNamespace(
            vocab_size=config["vocab_size"], max_position_embeddings=config["n_positions"],
            eos_token_id=config.get("eos_token_id"), model_type="gpt2",
        )  # fmt: skip
        self.calls = 0

    def forward(self, input_ids, past_key_values=None, use_cache=False):
        assert not torch.is_grad_enabled() and not self.training
        old = input_ids[:, :0] if past_key_values is None else past_key_values.ids
        ids = torch.cat([old, input_ids], 1)
        length = ids.shape[1]
        left = torch.ones(length, length, dtype=torch.bool).tril()[None]
        hidden = self.net(ids, left)[:, old.shape[1] :]
        return SimpleNamespace(
            logits=self.net.logits(hidden), past_key_values=Cache(ids) if use_cache else None
        )


class Masked(torch.nn.Module):
    dtype = torch.float32

    def __init__(self, folder):
        super().__init__()
        self.net = sdar_numpy.Network(folder)
        config = self.net.config
        self.config = SimpleNamespace(
            vocab_size=config["vocab_size"], eos_token_id=[config["eos_token_id"]],
            max_position_embeddings=config["max_position_embeddings"], model_type="sdar",
        )  # fmt: skip

    def forward(self, input_ids, attention_mask, position_ids):
        rows, length = input_ids.shape
        assert attention_mask.shape == (rows, 1, length, length)
        assert set(attention_mask.unique().tolist()) <= {0.0, torch.finfo(torch.float32).min}
        hidden, _ = self.net.forward(
            input_ids.numpy(), position_ids.numpy(), attention_mask[:, 0].numpy() == 0
        )
        return SimpleNamespace(logits=torch.from_numpy(self.net.logits(hidden)))


class AutoModelForCausalLM:
    @staticmethod
    def from_pretrained(source, torch_dtype):
        import json
        from pathlib import Path

        kind = json.loads(Path(source, "config.json").read_text())["model_type"]
        return Causal(source, torch_dtype) if kind == "gpt2" else Masked(source)


class AutoModelForMaskedLM:
    @staticmethod
    def from_pretrained(source, torch_dtype):
        return Masked(source)
