"""A block-diffusion model (SDAR) in numpy, stateless and with a cache of finished blocks.

    ./draftlab run configs/base/arithmetic.ini --plugin examples/python/sdar_numpy.py \\
        --model sdar-numpy --limit 10

and the same with --model sdar-cached.

Both read a checkpoint folder in Hugging Face's names and commit the tokens that the C++ model
commits in f32: tests/python/models/test_sdar.py compares them.
"""

import json
import struct
from pathlib import Path

import numpy as np

import draftlab as dl

TYPES = {"F32": np.float32, "F16": np.float16, "BF16": np.uint16}


def read_safetensors(path):
    """{name: float32 array}. A bf16 number is the upper half of a float32."""
    with open(path, "rb") as opened:
        (size,) = struct.unpack("<Q", opened.read(8))
        header = json.loads(opened.read(size))
        data = opened.read()
    arrays = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        array = np.frombuffer(data[begin:end], TYPES[entry["dtype"]])
        if entry["dtype"] == "BF16":
            array = (array.astype(np.uint32) << 16).view(np.float32)
        arrays[name] = array.astype(np.float32).reshape(entry["shape"])
    return arrays


class Network:
    """The transformer: RMS norms, rotary positions, norms of queries and keys, SwiGLU."""

    def __init__(self, folder):
        self.config = config = json.loads(Path(folder, "config.json").read_text())
        weights = read_safetensors(Path(folder, "model.safetensors"))
        self.embedding = weights["model.embed_tokens.weight"]
        self.head = weights.get("lm_head.weight", self.embedding)
        self.norm_weight = weights["model.norm.weight"]
        self.layers = []
        for i in range(config["num_hidden_layers"]):
            begin = f"model.layers.{i}."
            self.layers.append(
                {
                    name[len(begin) : -len(".weight")].split(".")[-1]: array
                    for name, array in weights.items()
                    if name.startswith(begin)
                }
            )
        self.parameters = sum(array.size for array in weights.values())
        half = np.arange(config["head_dim"] // 2)
        self.rates = config["rope_theta"] ** (-2.0 * half / config["head_dim"])

    def norm(self, x, weight):
        mean = np.mean(x * x, axis=-1, keepdims=True)
        return x / np.sqrt(mean + np.float32(self.config["rms_norm_eps"])) * weight

    def rotated(self, x, positions):
        """`x` [..., n, heads, head_dim], `positions` [..., n]."""
        angles = positions[..., None, None] * self.rates
        cos, sin = np.cos(angles).astype(np.float32), np.sin(angles).astype(np.float32)
        a, b = np.split(x, 2, axis=-1)
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], axis=-1)

    def forward(self, ids, positions, allowed, past=None):
        """Hidden states [..., n, width] of tokens that see `allowed` [..., n, past + n] of what is
        cached and of each other; and the keys and values of every layer."""
        x = self.embedding[ids]
        config, made = self.config, []
        bias = np.where(allowed, np.float32(0), np.float32(-np.inf))[..., None, :, :]
        group = config["num_attention_heads"] // config["num_key_value_heads"]
        for i, layer in enumerate(self.layers):
            a = self.norm(x, layer["input_layernorm"])
            q, k, v = (
                (a @ layer[name].T).reshape(*a.shape[:-1], -1, config["head_dim"])
                for name in ("q_proj", "k_proj", "v_proj")
            )
            q = self.rotated(self.norm(q, layer["q_norm"]), positions)
            k = self.rotated(self.norm(k, layer["k_norm"]), positions)
            made.append((k, v))
            if past is not None:
                k = np.concatenate([past[i][0], k], axis=-3)
                v = np.concatenate([past[i][1], v], axis=-3)
            q, k, v = (np.moveaxis(each, -2, -3) for each in (q, k, v))
            k, v = (np.repeat(each, group, axis=-3) for each in (k, v))
            scores = q @ np.swapaxes(k, -1, -2) / np.float32(np.sqrt(config["head_dim"])) + bias
            scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
            mixed = scores @ v / scores.sum(axis=-1, keepdims=True)
            mixed = np.moveaxis(mixed, -3, -2)
            x = x + mixed.reshape(*mixed.shape[:-2], -1) @ layer["o_proj"].T
            a = self.norm(x, layer["post_attention_layernorm"])
            gate = a @ layer["gate_proj"].T
            x = x + (gate / (1 + np.exp(-gate)) * (a @ layer["up_proj"].T)) @ layer["down_proj"].T
        return x, made

    def logits(self, hidden):
        return self.norm(hidden, self.norm_weight) @ self.head.T


class Checkpoint:
    """What both models have in common."""

    checkpoint: str = dl.option("data/checkpoints/arithmetic", help="Folder of the checkpoint.")
    family = "sdar"

    def load(self, machine):
        self.net = Network(self.checkpoint)
        config = self.net.config
        self.vocabulary, self.mask = config["vocab_size"], config["mask_token_id"]
        self.longest, self.stops = config["max_position_embeddings"], [config["eos_token_id"]]
        self.parameters = self.net.parameters


@dl.model("sdar-numpy")
class Sdar(Checkpoint, dl.Model):
    """SDAR in numpy, which computes everything anew for every question."""

    view = "bidirectional"
    forms = ("committed", "chain")

    def logits(self, ids, allowed, positions, asked):
        hidden, _ = self.net.forward(ids, positions, allowed)
        return self.net.logits(hidden[asked])


class Memory:
    """Keys and values of the finished blocks of one sequence, and the tokens they were made of."""

    def __init__(self, layers, heads, size):
        empty = np.zeros((0, heads, size), np.float32)
        self.past = [(empty, empty)] * layers
        self.tokens = []

    def crop(self, length):
        self.past = [(k[:length], v[:length]) for k, v in self.past]
        self.tokens = self.tokens[:length]

    def append(self, made, tokens):
        self.past = [
            (np.concatenate([k, more_k]), np.concatenate([v, more_v]))
            for (k, v), (more_k, more_v) in zip(self.past, made)
        ]
        self.tokens += tokens


@dl.model("sdar-cached")
class SdarCached(Checkpoint, dl.CachedModel):
    """SDAR in numpy, which keeps the keys and values of finished blocks."""

    forms = ("committed", "chain")

    def __init__(self):
        self.memories = {}

    def truncate(self, sequence, length):
        """What was contradicted shows when the tokens are compared; see `ask`."""

    def extend(self, sequence, tokens, positions):
        """A block is cached once all of it is final, and not before; see `ask`."""

    def forget(self, sequence):
        super().forget(sequence)
        self.memories.pop(sequence, None)

    def ask(self, sequence, question):
        memory = self.memories.get(sequence)
        if memory is None:
            config = self.net.config
            memory = self.memories[sequence] = Memory(
                config["num_hidden_layers"], config["num_key_value_heads"], config["head_dim"]
            )
        self.finish(memory, question)
        (ids, positions, allowed, asked) = self.rows(memory, question)
        hidden, _ = self.net.forward(ids, positions, allowed, memory.past)
        question.positions += len(ids)
        return self.net.logits(hidden[asked])

    def finish(self, memory, question):
        """Drops the blocks that changed, and caches those that are finished by now."""
        block, tokens = question.block_of(), question.canvas.tokens
        is_final = tokens >= 0
        is_final[list(question.canvas.tentative)] = False
        until = len(tokens) if is_final.all() else int(np.argmin(is_final))
        if until < len(tokens):
            until = int(np.argmax(block == block[until]))  # Only whole blocks are kept.
        same = 0
        while same < min(len(memory.tokens), until) and memory.tokens[same] == tokens[same]:
            same += 1
        memory.crop(same if same == until else int(np.argmax(block == block[same])))
        begin = len(memory.tokens)
        if begin < until:
            places = np.arange(begin, until)
            allowed = block[None, :until] <= block[places, None]
            _, made = self.net.forward(tokens[places], places, allowed, memory.past)
            memory.append(made, tokens[places].tolist())

    def rows(self, memory, question):
        """Returns tokens, positions, what each sees, and which rows answer: the block with its
        masks; or, in the causal view, what was drafted, and a masked row for each position that is
        asked."""
        begin, block = len(memory.tokens), question.block_of()
        ids, places, seen, answers = [], [], [], []

        def add(token, position, sees):
            ids.append(token)
            places.append(position)
            seen.append([*sees, len(ids) - 1])
            return len(ids) - 1

        if question.view == "bidirectional":
            here = np.flatnonzero(block == block[question.asked[0][1]])
            tokens = question.tokens(dl.ROOT, self.mask)
            for position in here:
                add(int(tokens[position]), int(position), range(len(here)))
            answers = [position - int(here[0]) for _, position in question.asked]
        else:
            canvas, rows = question.canvas.tokens, {}
            for node, position in question.asked:
                drafted = {each.position: i for i, each in path_of(question, node)}
                path = []
                for place in range(begin, position):
                    if place in drafted or canvas[place] >= 0:
                        index = drafted.get(place)
                        key = (tuple(path), place, index)
                        if key not in rows:
                            token = canvas[place] if index is None else question.nodes[index].token
                            rows[key] = add(int(token), place, path)
                        path.append(rows[key])
                answers.append(add(self.mask, position, path))
        allowed = np.zeros((len(ids), begin + len(ids)), dtype=bool)
        allowed[:, :begin] = True
        for row, sees in enumerate(seen):
            allowed[row, [begin + each for each in sees]] = True
        return np.array(ids), np.array(places), allowed, answers


def path_of(question, node):
    """(index, node) of the drafted tokens that a node stands on, itself last."""
    path = []
    while node != dl.ROOT:
        path.append((node, question.nodes[node]))
        node = question.nodes[node].parent
    return path[::-1]
