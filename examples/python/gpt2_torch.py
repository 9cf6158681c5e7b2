"""GPT-2 in torch, on whatever device `run.device` names, from a folder in Hugging Face's names.

    ./draftlab run CONFIG --plugin examples/python/gpt2_torch.py --model gpt2-torch \\
        --model.gpt2-torch.checkpoint FOLDER

It is stateless: the package lays every question out as rows. torch for Python is Debian's
python3-torch, or any other.
"""

import json
from pathlib import Path

import numpy as np
import torch

import draftlab as dl
from sdar_numpy import read_safetensors


class Network(torch.nn.Module):
    """The transformer: learned positions, norms with biases, GELU by tanh, tied embeddings."""

    def __init__(self, folder, dtype):
        super().__init__()
        self.config = json.loads(Path(folder, "config.json").read_text())
        weights = read_safetensors(Path(folder, "model.safetensors"))
        self.heads = self.config["n_head"]
        self.names = {}
        for name, array in weights.items():
            short = name.removeprefix("transformer.")
            self.names[short] = short.replace(".", "_")
            self.register_buffer(self.names[short], torch.from_numpy(array.copy()).to(dtype))

    def weight(self, name):
        return getattr(self, self.names[name])

    def norm(self, x, name):
        weight, bias = self.weight(name + ".weight"), self.weight(name + ".bias")
        epsilon = self.config.get("layer_norm_epsilon", 1e-5)
        return torch.nn.functional.layer_norm(x, weight.shape, weight, bias, epsilon)

    def linear(self, x, name):
        return x @ self.weight(name + ".weight") + self.weight(name + ".bias")

    def forward(self, ids, allowed):
        """Hidden states [rows, L, width] of ids [rows, L], which see `allowed` [rows, L, L]."""
        rows, length = ids.shape
        x = self.weight("wte.weight")[ids] + self.weight("wpe.weight")[:length]
        low = torch.finfo(x.dtype).min
        for i in range(self.config["n_layer"]):
            q, k, v = (
                each.reshape(rows, length, self.heads, -1).transpose(1, 2)
                for each in self.linear(self.norm(x, f"h.{i}.ln_1"), f"h.{i}.attn.c_attn").chunk(
                    3, -1
                )
            )
            scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
            shares = scores.masked_fill(~allowed[:, None], low).softmax(-1)
            mixed = (shares @ v).transpose(1, 2).reshape(rows, length, -1)
            x = x + self.linear(mixed, f"h.{i}.attn.c_proj")
            y = self.linear(self.norm(x, f"h.{i}.ln_2"), f"h.{i}.mlp.c_fc")
            y = 0.5 * y * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (y + 0.044715 * y**3)))
            x = x + self.linear(y, f"h.{i}.mlp.c_proj")
        return self.norm(x, "ln_f")

    def logits(self, hidden):
        return hidden @ self.weight("wte.weight").T


@dl.model("gpt2-torch")
class Gpt2(dl.Model):
    """GPT-2 in torch."""

    checkpoint: str = dl.option("", help="Folder of the checkpoint.")
    view, family = "causal", "gpt2"

    def load(self, machine):
        dtype = {"f32": torch.float32, "bf16": torch.bfloat16}[machine.dtype]
        self.device = machine.device
        self.net = Network(self.checkpoint, dtype).to(self.device).eval()
        config = self.net.config
        self.vocabulary, self.longest = config["vocab_size"], config["n_positions"]
        self.stops = [config["eos_token_id"]] if "eos_token_id" in config else []
        self.parameters = sum(each.numel() for each in self.net.buffers())

    @torch.no_grad()
    def logits(self, ids, allowed, positions, asked):
        given = (torch.from_numpy(each).to(self.device) for each in (ids, allowed))
        hidden = self.net(*given)
        rows, places = (torch.from_numpy(np.ascontiguousarray(each)) for each in asked)
        return self.net.logits(hidden[rows, places]).float()
