"""Makes the parity bundles of this folder: small Llamas with random weights, and what they answer.

    python3 make_bundles.py OUT

The network is written down here once more, in numpy and f64, from its equations: RMSNorm (Zhang and
Sennrich, 2019), rotary positions (Su et al., 2021) with the scaling of Llama 3.1, grouped queries
(Ainslie et al., 2023) and SwiGLU (Shazeer, 2020). Weights are also rounded as bf16, Q8_0 and Q4_0
are, and each rounded network has logits of its own: with rows as they are, and for Q8_0 and Q4_0
with the rows of products rounded to eight bits, as docs/results/quantised.md says. Of the texts
that are drawn that is taken whose rows lie furthest from where rounding turns over, so that sums of
f32 in any order round them alike. No line is shared with draftlab.
"""

import json
import struct
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python/models"))
from safetensors_file import write_safetensors  # noqa: E402

BLOCK = 32

LLAMA3 = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "attention_bias": False,
    "bos_token_id": 1,
    "eos_token_id": [2, 5],
    "hidden_act": "silu",
    "hidden_size": 32,
    "intermediate_size": 64,
    "max_position_embeddings": 512,
    "mlp_bias": False,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "num_key_value_heads": 2,
    "pretraining_tp": 1,
    "rms_norm_eps": 1e-05,
    "rope_scaling": {
        "factor": 8.0,
        "high_freq_factor": 4.0,
        "low_freq_factor": 1.0,
        "original_max_position_embeddings": 64,
        "rope_type": "llama3",
    },
    "rope_theta": 1000.0,
    "tie_word_embeddings": False,
    "vocab_size": 61,
}
MISTRAL = {
    "architectures": ["MistralForCausalLM"],
    "model_type": "mistral",
    "eos_token_id": 2,
    "head_dim": 16,
    "hidden_act": "silu",
    "hidden_size": 32,
    "intermediate_size": 64,
    "max_position_embeddings": 512,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "num_key_value_heads": 1,
    "rms_norm_eps": 1e-06,
    "rope_parameters": {"rope_theta": 20000.0, "rope_type": "default"},
    "sliding_window": None,
    "tie_word_embeddings": True,
    "vocab_size": 61,
}


def random_weights(config, seed):
    """Weights around 0 and norms around 1, by the names of Hugging Face, in f32."""
    draw = np.random.default_rng(seed)
    d, inner = config["hidden_size"], config["intermediate_size"]
    heads, groups = config["num_attention_heads"], config["num_key_value_heads"]
    head = config.get("head_dim", d // heads)
    shapes = {"model.embed_tokens.weight": (config["vocab_size"], d)}
    for i in range(config["num_hidden_layers"]):
        layer = f"model.layers.{i}."
        shapes[layer + "input_layernorm.weight"] = (d,)
        shapes[layer + "self_attn.q_proj.weight"] = (heads * head, d)
        shapes[layer + "self_attn.k_proj.weight"] = (groups * head, d)
        shapes[layer + "self_attn.v_proj.weight"] = (groups * head, d)
        shapes[layer + "self_attn.o_proj.weight"] = (d, heads * head)
        shapes[layer + "post_attention_layernorm.weight"] = (d,)
        shapes[layer + "mlp.gate_proj.weight"] = (inner, d)
        shapes[layer + "mlp.up_proj.weight"] = (inner, d)
        shapes[layer + "mlp.down_proj.weight"] = (d, inner)
    shapes["model.norm.weight"] = (d,)
    if not config["tie_word_embeddings"]:
        shapes["lm_head.weight"] = (config["vocab_size"], d)
    return {
        name: ((len(shape) == 1) + 0.2 * draw.standard_normal(shape)).astype(np.float32)
        for name, shape in shapes.items()
    }


def frequencies(config, head):
    """The rotations of a head by position 1."""
    rope = config.get("rope_parameters", config)
    own = rope["rope_theta"] ** (-np.arange(0, head, 2) / head)
    scaling = config.get("rope_scaling")
    if not scaling:
        return own
    wavelength = 2 * np.pi / own
    original = scaling["original_max_position_embeddings"]
    low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
    smooth = (original / wavelength - low) / (high - low)
    between = (1 - smooth) * own / scaling["factor"] + smooth * own
    return np.where(
        wavelength < original / high,
        own,
        np.where(wavelength > original / low, own / scaling["factor"], between),
    )


def forward(config, weights, head_weight, ids, rounded=lambda rows: rows):
    """Hidden states (the input of each layer, and the last one normed) and logits of one text. The
    rows that are multiplied with weights are `rounded`."""
    eps, heads, groups = config["rms_norm_eps"], *(
        config[key] for key in ("num_attention_heads", "num_key_value_heads")
    )
    head = config.get("head_dim", config["hidden_size"] // heads)
    w = {name: tensor.astype(np.float64) for name, tensor in weights.items()}

    def norm(x, weight):
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + eps) * weight

    angles = np.arange(len(ids))[:, None] * frequencies(config, head)
    cosine, sine = np.cos(angles)[:, None], np.sin(angles)[:, None]

    def rotated(x):
        a, b = x[..., : head // 2], x[..., head // 2 :]
        return np.concatenate([a * cosine - b * sine, b * cosine + a * sine], -1)

    causal = np.triu(np.full((len(ids), len(ids)), -np.inf), 1)
    x = w["model.embed_tokens.weight"][ids]
    hidden = [x]
    for i in range(config["num_hidden_layers"]):
        layer = f"model.layers.{i}."
        own = {name[len(layer) :]: w[name] for name in w if name.startswith(layer)}
        a = rounded(norm(x, own["input_layernorm.weight"]))
        q, k, v = (
            (a @ own[f"self_attn.{name}_proj.weight"].T).reshape(len(ids), -1, head)
            for name in "qkv"
        )
        k, v = (np.repeat(each, heads // groups, 1) for each in (rotated(k), v))
        scores = np.einsum("qhd,khd->hqk", rotated(q), k) / np.sqrt(head) + causal
        share = np.exp(scores - scores.max(-1, keepdims=True))
        share /= share.sum(-1, keepdims=True)
        seen = np.einsum("hqk,khd->qhd", share, v).reshape(len(ids), -1)
        x = x + rounded(seen) @ own["self_attn.o_proj.weight"].T
        b = rounded(norm(x, own["post_attention_layernorm.weight"]))
        gate = b @ own["mlp.gate_proj.weight"].T
        up = b @ own["mlp.up_proj.weight"].T
        inner = gate / (1 + np.exp(-gate)) * up
        x = x + rounded(inner) @ own["mlp.down_proj.weight"].T
        hidden.append(x)
    hidden[-1] = norm(x, w["model.norm.weight"])
    return hidden, rounded(hidden[-1]) @ head_weight.astype(np.float64).T


def bf16(x):
    """Rounded to the nearest number of bf16; ties go to the even one."""
    bits = x.view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)


def blocks_of(x):
    return x.reshape(-1, BLOCK)


def q8_parts(x):
    """Scales (f16) and numbers of Q8_0: the largest number of a block is 127 or -127."""
    scale = np.abs(blocks_of(x)).max(1, keepdims=True) / np.float32(127)
    numbers = np.where(scale > 0, blocks_of(x) / np.where(scale > 0, scale, 1), 0)
    return scale.astype(np.float16), np.round(numbers).astype(np.int8)


def q4_parts(x):
    """Scales (f16) and numbers of Q4_0, 0 to 15: the largest in size of a block is 0, for -8."""
    each = blocks_of(x)
    largest = np.take_along_axis(each, np.abs(each).argmax(1)[:, None], 1)
    scale = largest / np.float32(-8)
    inverse = np.where(scale != 0, 1 / np.where(scale != 0, scale, 1), 0).astype(np.float32)
    numbers = np.clip(np.floor(each * inverse + np.float32(8.5)), 0, 15)
    return scale.astype(np.float16), numbers.astype(np.uint8)


def q8(x):
    scale, numbers = q8_parts(x)
    return (scale.astype(np.float32) * numbers).reshape(x.shape).astype(np.float32)


def q4(x):
    scale, numbers = q4_parts(x)
    return (scale.astype(np.float32) * (numbers.astype(np.float32) - 8)).reshape(x.shape)


class EightBits:
    """Rounds rows in blocks to whole numbers up to 127; scales are powers of two where asked."""

    def __init__(self, powers):
        self.powers = powers
        # How near to a half any number came, in steps.
        self.nearest = 0.5

    def __call__(self, rows):
        each = blocks_of(rows)
        scale = np.abs(each).max(1, keepdims=True) / 127
        if self.powers:
            scale = 2.0 ** np.ceil(np.log2(scale))
        # The largest of a block is 127 whatever the sums; where scales are powers, it may be less.
        self.nearest = min(self.nearest, np.abs(np.abs(each / scale) % 1 - 0.5).min())
        return (np.round(each / scale) * scale).reshape(rows.shape)


def rounded(config, weights, how):
    """The weights of products rounded, and the head. The embedding is rounded for bf16 alone."""
    tied = config["tie_word_embeddings"]
    head = weights["model.embed_tokens.weight" if tied else "lm_head.weight"]
    if how is None:
        return weights, head
    made = {}
    for name, tensor in weights.items():
        keep = tensor.ndim == 1 or (name == "model.embed_tokens.weight" and how is not bf16)
        made[name] = tensor if keep else how(tensor)
    return made, how(head)


def write_sharded(folder, weights):
    """Two files and their index; layer 0's tensors lie in both."""
    names = list(weights)
    files = ["model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"]
    map_of = {name: files[i % 2] for i, name in enumerate(names)}
    for file in files:
        write_safetensors(
            folder / file, {name: weights[name] for name in names if map_of[name] == file}
        )
    index = {
        "metadata": {"total_size": sum(tensor.nbytes for tensor in weights.values())},
        "weight_map": map_of,
    }
    text = json.dumps(index, indent=1) + "\n"
    (folder / "model.safetensors.index.json").write_text(text)


GGUF_NAMES = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}


def gguf_name(name):
    whole = {
        "model.embed_tokens.weight": "token_embd.weight",
        "model.norm.weight": "output_norm.weight",
        "lm_head.weight": "output.weight",
    }
    if name in whole:
        return whole[name]
    _, _, number, *part, _ = name.split(".")
    return f"blk.{number}.{GGUF_NAMES['.'.join(part)]}.weight"


def in_pairs(rows, head):
    """Rows of queries or keys as llama.cpp wants them: what turns together stands together."""
    made = np.empty_like(rows)
    for first in range(0, len(rows), head):
        for i in range(head // 2):
            made[first + 2 * i] = rows[first + i]
            made[first + 2 * i + 1] = rows[first + head // 2 + i]
    return made


def write_gguf(path, config, weights):
    """Matrices as Q8_0; embedding, norms and the divisors of frequencies as F32."""
    head = config.get("head_dim", config["hidden_size"] // config["num_attention_heads"])
    own = config["rope_theta"] ** (-np.arange(0, head, 2) / head)
    tensors = {"rope_freqs.weight": (own / frequencies(config, head)).astype(np.float32)}
    for name, tensor in weights.items():
        paired = name.endswith(("q_proj.weight", "k_proj.weight"))
        tensors[gguf_name(name)] = in_pairs(tensor, head) if paired else tensor

    def text(words):
        return struct.pack("<Q", len(words)) + words.encode()

    key = text("general.architecture") + struct.pack("<I", 8) + text("llama")
    infos, data = b"", b""
    for name, tensor in tensors.items():
        data += b"\0" * (-len(data) % 32)
        eight = tensor.ndim == 2 and name != "token_embd.weight"
        infos += text(name) + struct.pack("<I", tensor.ndim)
        infos += b"".join(struct.pack("<Q", size) for size in reversed(tensor.shape))
        infos += struct.pack("<IQ", 8 if eight else 0, len(data))
        if eight:
            for scale, numbers in zip(*q8_parts(tensor)):
                data += scale.tobytes() + numbers.tobytes()
        else:
            data += tensor.tobytes()
    front = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), 1) + key + infos
    path.write_bytes(front + b"\0" * (-len(front) % 32) + data)


def with_rows(config, weights, ids):
    """Logits of networks of eight and four bits whose rows are rounded, too, and how near to a half
    these came."""
    made, nearest = {}, 0.5
    for name, how in (("q8", q8), ("q4", q4)):
        rows = EightBits(powers=how is q4)
        made[f"logits.{name}.rows"] = forward(config, *rounded(config, weights, how), ids, rows)[1]
        nearest = min(nearest, rows.nearest)
    return made, nearest


def drawn_text(config, weights, seed, length):
    """Of a thousand texts that whose rows lie furthest from a half."""
    draw = np.random.default_rng(seed)
    texts = [draw.integers(0, config["vocab_size"], length) for _ in range(1000)]
    distances = [with_rows(config, weights, ids)[1] for ids in texts]
    print(f"rows come within {max(distances):.1e} steps of a half")
    return texts[int(np.argmax(distances))]


def answers(config, weights, seed, length):
    """The inputs and outputs of a bundle: logits with the weights as they are, and rounded."""
    ids = drawn_text(config, weights, seed, length)
    made = {"input_ids": ids, **with_rows(config, weights, ids)[0]}
    for name, how in (("", None), (".bf16", bf16), (".q8", q8), (".q4", q4)):
        hidden, made["logits" + name] = forward(config, *rounded(config, weights, how), ids)
        if how is None:
            made.update((f"hidden.{i}", states) for i, states in enumerate(hidden))
    return {
        name: tensor[None].astype(np.int64 if name == "input_ids" else np.float32)
        for name, tensor in made.items()
    }


def main(out):
    for name, config, seed in (("llama-3", LLAMA3, 1), ("mistral", MISTRAL, 2)):
        folder = out / name
        folder.mkdir(parents=True, exist_ok=True)
        weights = random_weights(config, seed)
        made = answers(config, weights, seed + 10, 40)
        (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
        write_safetensors(folder / "io.safetensors", made)
        if name == "mistral":
            write_sharded(folder, weights)
            continue
        write_safetensors(folder / "model.safetensors", weights)
        # The same network rounded to Q8_0, as llama.cpp's files have it. It is computed in f32.
        folder = out / "llama-3-gguf"
        folder.mkdir(exist_ok=True)
        (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
        write_gguf(folder / "model.gguf", config, weights)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
