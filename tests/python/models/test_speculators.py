"""Heads of the speculators format tell the laws that their equations say.

The heads are written down here once more, in numpy and f64, from the format's description: EAGLE-3
(Li et al., 2025), a module of multi-token prediction (DeepSeek-V3, 2024) and DFlash (Chen et al.,
2026), each on a small Llama with random weights. What a decode recorded of every draft's law is
compared. No line is shared with draftlab.
"""

import json

import numpy as np
import pytest
from safetensors_file import write_safetensors

from draftlab import Trace

VOCABULARY, WIDTH, LAYERS, LENGTH, PROMPT = 19, 16, 4, 15, [3, 1, 4, 1, 5]
TARGET = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu",
    "hidden_size": WIDTH, "intermediate_size": 24, "num_hidden_layers": LAYERS,
    "num_attention_heads": 4, "num_key_value_heads": 2, "rms_norm_eps": 1e-5, "rope_theta": 500.0,
    "vocab_size": VOCABULARY, "max_position_embeddings": 64, "eos_token_id": 2,
}  # fmt: skip
# The layer of a head has other sizes than its target's.
LAYER = {
    "hidden_act": "silu", "hidden_size": WIDTH, "intermediate_size": 20, "num_attention_heads": 3,
    "num_key_value_heads": 1, "head_dim": 6, "rms_norm_eps": 1e-4, "rope_theta": 300.0,
    "num_hidden_layers": 1,
}  # fmt: skip
KNOWN = [0, 1, 2, 4, 5, 7, 8, 11, 12, 13, 17]


def drawn(draw, shapes):
    return {name: ((len(shape) == 1) + 0.4 * draw.standard_normal(shape)).astype(np.float32)
            for name, shape in shapes.items()}  # fmt: skip


def shapes_of(layer, room, reads, attention="self_attn.", mlp="mlp."):
    """A layer's tensors but its input's norm; `reads` is the width that attention reads."""
    head = layer.get("head_dim", layer["hidden_size"] // layer["num_attention_heads"])
    rows = {"q": layer["num_attention_heads"] * head, "k": layer["num_key_value_heads"] * head}
    shapes = {
        f"{room}{attention}q_proj.weight": (rows["q"], reads),
        f"{room}{attention}k_proj.weight": (rows["k"], reads),
        f"{room}{attention}v_proj.weight": (rows["k"], reads),
        f"{room}{attention}o_proj.weight": (WIDTH, rows["q"]),
        f"{room}post_attention_layernorm.weight": (WIDTH,),
    }
    for name, inside in (("gate", 1), ("up", 1), ("down", 0)):
        pair = (layer["intermediate_size"], WIDTH)
        shapes[f"{room}{mlp}{name}_proj.weight"] = pair if inside else pair[::-1]
    return shapes


def norm(x, weight, layer):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + layer["rms_norm_eps"]) * weight


def rotated(x, theta, first=0):
    """Heads [rows, heads, dh] at their rows' positions."""
    half = x.shape[-1] // 2
    angles = (first + np.arange(len(x)))[:, None] * theta ** (-np.arange(half) / half)
    cosine, sine = np.cos(angles)[:, None], np.sin(angles)[:, None]
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * cosine - b * sine, b * cosine + a * sine], -1)


def layer_of(layer, weights, room, reads, row, lent=None):
    """The output of a layer whose attention reads `reads`, beside the rows `row`. Rows that are
    lent are keys and values before these, and then each row sees all."""
    own = [name for name in weights if name.startswith(room)]
    take = {name[len(room) :]: np.float64(weights[name]) for name in own}
    heads, groups = layer["num_attention_heads"], layer["num_key_value_heads"]
    every = reads if lent is None else np.concatenate([lent, reads])
    q = reads @ take["self_attn.q_proj.weight"].T
    k, v = (every @ take[f"self_attn.{name}_proj.weight"].T for name in "kv")
    q, k, v = (x.reshape(len(x), n, -1) for x, n in ((q, heads), (k, groups), (v, groups)))
    if "self_attn.q_norm.weight" in take:
        q, k = norm(q, take["self_attn.q_norm.weight"], layer), norm(
            k, take["self_attn.k_norm.weight"], layer
        )
    q = rotated(q, layer["rope_theta"], len(k) - len(q))
    k = rotated(k, layer["rope_theta"])
    k, v = (np.repeat(x, heads // groups, 1) for x in (k, v))
    scores = np.einsum("ihd,jhd->hij", q, k) / np.sqrt(q.shape[-1])
    if lent is None:
        scores[:, np.triu(np.ones((len(q), len(q)), bool), 1)] = -np.inf
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    shares /= shares.sum(-1, keepdims=True)
    y = row + np.einsum("hij,jhd->ihd", shares, v).reshape(len(q), -1) @ take[
        "self_attn.o_proj.weight"
    ].T
    b = norm(y, take["post_attention_layernorm.weight"], layer)
    gate, up = b @ take["mlp.gate_proj.weight"].T, b @ take["mlp.up_proj.weight"].T
    return y + (gate / (1 + np.exp(-gate)) * up) @ take["mlp.down_proj.weight"].T


def target_states(weights, tokens):
    """The states after so many layers, from none on, and the last one normed."""
    states = [np.float64(weights["model.embed_tokens.weight"])[tokens]]
    for i in range(LAYERS):
        room = f"model.layers.{i}."
        reads = norm(states[-1], weights[room + "input_layernorm.weight"], TARGET)
        states.append(layer_of(TARGET, weights, room, reads, states[-1]))
    return states, norm(states[-1], weights["model.norm.weight"], TARGET)


class Eagle3:
    def __init__(self, draw, config, own_embedding):
        self.config = {"speculators_model_type": "eagle3", "draft_vocab_size": len(KNOWN),
                       "transformer_layer_config": {"model_type": "llama", **LAYER}, **config}
        shapes = {"fc.weight": (WIDTH, 3 * WIDTH), "norm.weight": (WIDTH,),
                  "layers.0.hidden_norm.weight": (WIDTH,),
                  "layers.0.input_layernorm.weight": (WIDTH,),
                  "lm_head.weight": (len(KNOWN), WIDTH),
                  **shapes_of(LAYER, "layers.0.", 2 * WIDTH)}  # fmt: skip
        if own_embedding:
            shapes["embed_tokens.weight"] = (VOCABULARY, WIDTH)
        self.weights = drawn(draw, shapes)
        self.taps = config.get("eagle_aux_hidden_state_layer_ids", [2, LAYERS // 2, LAYERS - 3])
        self.files = {**self.weights, "d2t": np.array(KNOWN) - np.arange(len(KNOWN)),
                      "t2d": np.isin(np.arange(VOCABULARY), KNOWN)}  # fmt: skip

    def of_target(self, states, last):
        return np.concatenate([states[i] for i in self.taps], -1) @ self.weights["fc.weight"].T

    def states(self, embedded, read):
        embedded = norm(embedded, self.weights["layers.0.input_layernorm.weight"], LAYER)
        normed = norm(read, self.weights["layers.0.hidden_norm.weight"], LAYER)
        row = normed if self.config.get("norm_before_residual") else read
        reads = np.concatenate([embedded, normed], -1)
        out = layer_of(LAYER, self.weights, "layers.0.", reads, row)
        return self.normed(out) if self.config.get("norm_output") else out

    def normed(self, states):
        return norm(states, self.weights["norm.weight"], LAYER)

    def logits(self, states, head):
        normed = states if self.config.get("norm_output") else self.normed(states)
        every = np.full((len(states), VOCABULARY), -np.inf)
        every[:, KNOWN] = normed @ self.weights["lm_head.weight"].T
        return every


class Mtp:
    ROOMS = {
        "speculators": ("mtp_layers.0.", "mtp_layers.0.token_layernorm",
                        "mtp_layers.0.hidden_layernorm", "mtp_layers.0.input_proj",
                        "mtp_layers.0.final_layernorm"),
        "own": ("mtp.layers.0.", "mtp.pre_fc_norm_embedding", "mtp.pre_fc_norm_hidden", "mtp.fc",
                "mtp.norm"),
    }  # fmt: skip

    def __init__(self, draw, names):
        self.config = {"speculators_model_type": "mtp", "num_nextn_predict_layers": 1,
                       "transformer_layer_config": {"model_type": "qwen3", **LAYER}}  # fmt: skip
        self.room, token, hidden, join, last = self.ROOMS[names]
        self.names = [name + ".weight" for name in (token, hidden, join, last)]
        self.weights = drawn(draw, {
            self.names[0]: (WIDTH,), self.names[1]: (WIDTH,), self.names[2]: (WIDTH, 2 * WIDTH),
            self.names[3]: (WIDTH,), self.room + "input_layernorm.weight": (WIDTH,),
            self.room + "self_attn.q_norm.weight": (6,),
            self.room + "self_attn.k_norm.weight": (6,),
            **shapes_of(LAYER, self.room, WIDTH)})  # fmt: skip
        self.files = self.weights

    def of_target(self, states, last):
        return last

    def states(self, embedded, read):
        token, hidden, join, last = (self.weights[name] for name in self.names)
        pairs = np.concatenate([norm(embedded, token, LAYER), norm(read, hidden, LAYER)], -1)
        row = pairs @ join.T
        reads = norm(row, self.weights[self.room + "input_layernorm.weight"], LAYER)
        return norm(layer_of(LAYER, self.weights, self.room, reads, row), last, LAYER)

    def logits(self, states, head):
        return states @ head.T


class Dflash:
    BLOCK, MASK = 5, 18

    def __init__(self, draw, config, known):
        self.known = known
        layer = {**LAYER, "num_hidden_layers": 2}
        self.config = {"speculators_model_type": "dflash", "draft_vocab_size": len(known),
                       "block_size": self.BLOCK, "mask_token_id": self.MASK,
                       "sample_from_anchor": False,
                       "transformer_layer_config": {"model_type": "qwen3", **layer},
                       **config}  # fmt: skip
        self.taps = config.get("aux_hidden_state_layer_ids", [2, LAYERS // 2, LAYERS - 3])
        shapes = {"fc.weight": (WIDTH, len(self.taps) * WIDTH), "hidden_norm.weight": (WIDTH,),
                  "norm.weight": (WIDTH,), "lm_head.weight": (len(known), WIDTH)}  # fmt: skip
        for room in ("layers.0.", "layers.1."):
            shapes |= {room + "input_layernorm.weight": (WIDTH,),
                       room + "self_attn.q_norm.weight": (6,),
                       room + "self_attn.k_norm.weight": (6,),
                       **shapes_of(LAYER, room, WIDTH)}  # fmt: skip
        self.weights = self.files = drawn(draw, shapes)
        if len(known) < VOCABULARY:
            self.files = {**self.weights, "d2t": np.array(known) - np.arange(len(known))}

    def law(self, target, committed, drafts):
        states, _ = target_states(target, committed)
        read = np.concatenate([states[i] for i in self.taps], -1)[:-1]
        lent = norm(read @ self.weights["fc.weight"].T, self.weights["hidden_norm.weight"], LAYER)
        tokens = [committed[-1]] + [self.MASK] * (self.BLOCK - 1)
        row = np.float64(target["model.embed_tokens.weight"])[tokens]
        for room in ("layers.0.", "layers.1."):
            reads = norm(row, self.weights[room + "input_layernorm.weight"], LAYER)
            row = layer_of(LAYER, self.weights, room, reads, row, lent)
        told = norm(row, self.weights["norm.weight"], LAYER) @ self.weights["lm_head.weight"].T
        logits = np.full(VOCABULARY, -np.inf)
        logits[self.known] = told[1 + len(drafts)]
        shares = np.exp(logits - logits.max())
        return shares / shares.sum()


HEADS = {
    "eagle3": lambda draw: Eagle3(draw, {}, False),
    "eagle3-layers": lambda draw: Eagle3(
        draw, {"eagle_aux_hidden_state_layer_ids": [0, 4, 1], "norm_before_residual": True}, True),
    "eagle3-output": lambda draw: Eagle3(draw, {"norm_output": True}, False),
    "mtp": lambda draw: Mtp(draw, "speculators"),
    "mtp-own": lambda draw: Mtp(draw, "own"),
    "dflash": lambda draw: Dflash(draw, {}, KNOWN),
    "dflash-layers": lambda draw: Dflash(
        draw, {"aux_hidden_state_layer_ids": [4, 1]}, list(range(VOCABULARY))),
}  # fmt: skip


def law(head, target, committed, drafts):
    """The head's law after these drafts. A text's first token has no row."""
    if isinstance(head, Dflash):
        return head.law(target, committed, drafts)
    tokens = committed + drafts
    states, last = target_states(target, tokens)
    read = head.of_target(states, last)[:-1]
    embedding = head.weights.get("embed_tokens.weight", target["model.embed_tokens.weight"])
    embedded = np.float64(embedding)[tokens[1:]]
    for known in range(len(committed) - 1, len(tokens)):
        out = head.states(embedded, read)
        if known < len(tokens) - 1:
            read[known] = out[known - 1]
    logits = head.logits(out, np.float64(target["lm_head.weight"]))[-1]
    shares = np.exp(logits - logits.max())
    return shares / shares.sum()


@pytest.mark.parametrize("name", HEADS)
def test_the_laws_of_a_head_are_those_of_its_equations(program, tmp_path, name):
    draw = np.random.default_rng(7)
    shapes = {"model.embed_tokens.weight": (VOCABULARY, WIDTH), "model.norm.weight": (WIDTH,),
              "lm_head.weight": (VOCABULARY, WIDTH)}  # fmt: skip
    for i in range(LAYERS):
        shapes[f"model.layers.{i}.input_layernorm.weight"] = (WIDTH,)
        shapes |= shapes_of(TARGET, f"model.layers.{i}.", WIDTH)
    target, head = drawn(draw, shapes), HEADS[name](draw)
    for folder, config, tensors in (("target", TARGET, target), ("head", head.config, head.files)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "config.json").write_text(json.dumps(config))
        write_safetensors(tmp_path / folder / "model.safetensors", tensors)
    config = program.write("a.ini", f"""
model = autoregressive
task = positions
frontier = left-to-right
drafter = {"at-once" if isinstance(head, Dflash) else "shallow"}
verifier = chain
[model.autoregressive]
checkpoint = target
feature_head = head
[task.positions]
length = {LENGTH}
prompt = {",".join(f"{i}:{token}" for i, token in enumerate(PROMPT))}
[decode]
draft_length = 3
[run]
samples = 6
[trace]
drafts = all
top_k = {VOCABULARY}
""")
    asked = ["--drafter.at-once.guide", "shallow"] if isinstance(head, Dflash) else []
    program.ok("run", config, "--out", "a.h5", "--threads", 1, *asked)
    compared = 0
    for sample in Trace(tmp_path / "a.h5"):
        committed = list(PROMPT)
        for step in sample["steps"]:
            drafts = []
            for draft in step["drafts"]:
                told = np.zeros(VOCABULARY)
                for n in range(1, VOCABULARY + 1):
                    if draft[f"top_p{n}"] > 0:
                        told[int(draft[f"top_id{n}"])] = draft[f"top_p{n}"]
                assert np.abs(told - law(head, target, committed, drafts)).max() < 1e-4
                drafts.append(draft["id"])
                compared += 1
            committed += [token["id"] for token in step["tokens"]]
    assert compared > 60
