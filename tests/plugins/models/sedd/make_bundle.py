"""Makes the parity bundle of this folder: a small SEDD with random weights, and what it answers.

    python3 make_bundle.py OUT

The network is written down here once more, in numpy and f64, from its description (Lou, Meng and
Ermon, 2024; the layers are those of Peebles and Xie's DiT, 2023): a noise level becomes 256
features, a condition and, layer by layer, shifts, scales and gates; positions are rotary (Su et
al., 2021), and every position sees every other. A score is the logarithm of the ratio that the
network estimates for a token in place of the one that stands there. No line is shared with
draftlab.
"""

import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "python/models"))
from safetensors_file import write_safetensors  # noqa: E402

CONFIG = {
    "graph": {"file": "data", "report_all": False, "type": "absorb"},
    "model": {
        "cond_dim": 16,
        "dropout": 0.1,
        "hidden_size": 32,
        "length": 64,
        "n_blocks": 3,
        "n_heads": 4,
        "name": "tiny",
        "scale_by_sigma": True,
        "type": "ddit",
    },
    "noise": {"sigma_max": 20, "sigma_min": 0.0001, "type": "loglinear"},
    "tokens": 40,
}
FEATURES = 256
# The share of positions that log-linear noise masks at its last moment is 1 less this.
LEFT = 1e-3


def random_weights(config, seed):
    """Weights around 0 and norms around 1, by the published names, in f32."""
    draw = np.random.default_rng(seed)
    d, c = config["model"]["hidden_size"], config["model"]["cond_dim"]
    vocabulary = config["tokens"] + 1
    shapes = {
        "vocab_embed.embedding": (vocabulary, d),
        "sigma_map.mlp.0.weight": (c, FEATURES),
        "sigma_map.mlp.0.bias": (c,),
        "sigma_map.mlp.2.weight": (c, c),
        "sigma_map.mlp.2.bias": (c,),
    }
    for i in range(config["model"]["n_blocks"]):
        block = f"blocks.{i}."
        shapes[block + "norm1.weight"] = (d,)
        shapes[block + "attn_qkv.weight"] = (3 * d, d)
        shapes[block + "attn_out.weight"] = (d, d)
        shapes[block + "norm2.weight"] = (d,)
        shapes[block + "mlp.0.weight"] = (4 * d, d)
        shapes[block + "mlp.0.bias"] = (4 * d,)
        shapes[block + "mlp.2.weight"] = (d, 4 * d)
        shapes[block + "mlp.2.bias"] = (d,)
        shapes[block + "adaLN_modulation.weight"] = (6 * d, c)
        shapes[block + "adaLN_modulation.bias"] = (6 * d,)
    shapes["output_layer.norm_final.weight"] = (d,)
    shapes["output_layer.linear.weight"] = (vocabulary, d)
    shapes["output_layer.linear.bias"] = (vocabulary,)
    shapes["output_layer.adaLN_modulation.weight"] = (2 * d, c)
    shapes["output_layer.adaLN_modulation.bias"] = (2 * d,)
    weights = {
        name: (("norm" in name) + 0.2 * draw.standard_normal(shape)).astype(np.float32)
        for name, shape in shapes.items()
    }
    # The files also hold what rotary positions turn by.
    head = d // config["model"]["n_heads"]
    turns = 10000.0 ** (-np.arange(0, head, 2) / head)
    weights["rotary_emb.inv_freq"] = turns.astype(np.float32)
    return weights


def silu(x):
    return x / (1 + np.exp(-x))


def gelu(x):
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def forward(config, weights, ids, sigma):
    """What enters the first block, what each puts out, and the scores, of one text."""
    w = {name: tensor.astype(np.float64) for name, tensor in weights.items()}
    d, heads = config["model"]["hidden_size"], config["model"]["n_heads"]
    head = d // heads

    def layer_norm(x):
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)

    angles = sigma * 10000.0 ** (-np.arange(FEATURES // 2) / (FEATURES // 2))
    features = np.concatenate([np.cos(angles), np.sin(angles)])
    inner = silu(w["sigma_map.mlp.0.weight"] @ features + w["sigma_map.mlp.0.bias"])
    condition = silu(w["sigma_map.mlp.2.weight"] @ inner + w["sigma_map.mlp.2.bias"])

    def modulation(prefix, parts):
        name = prefix + "adaLN_modulation."
        return np.split(w[name + "weight"] @ condition + w[name + "bias"], parts)

    turns = np.arange(len(ids))[:, None] * 10000.0 ** (-np.arange(0, head, 2) / head)
    cosine, sine = np.cos(turns)[:, None], np.sin(turns)[:, None]

    def rotated(x):
        a, b = x[..., : head // 2], x[..., head // 2 :]
        return np.concatenate([a * cosine - b * sine, b * cosine + a * sine], -1)

    x = w["vocab_embed.embedding"][ids]
    states = [x]
    for i in range(config["model"]["n_blocks"]):
        block = f"blocks.{i}."
        shift, scale, gate, mlp_shift, mlp_scale, mlp_gate = modulation(block, 6)
        a = layer_norm(x) * w[block + "norm1.weight"] * (1 + scale) + shift
        q, k, v = (
            part.reshape(len(ids), heads, head)
            for part in np.split(a @ w[block + "attn_qkv.weight"].T, 3, -1)
        )
        scores = np.einsum("qhd,khd->hqk", rotated(q), rotated(k)) / np.sqrt(head)
        share = np.exp(scores - scores.max(-1, keepdims=True))
        share /= share.sum(-1, keepdims=True)
        seen = np.einsum("hqk,khd->qhd", share, v).reshape(len(ids), d)
        x = x + gate * (seen @ w[block + "attn_out.weight"].T)
        b = layer_norm(x) * w[block + "norm2.weight"] * (1 + mlp_scale) + mlp_shift
        wide = gelu(b @ w[block + "mlp.0.weight"].T + w[block + "mlp.0.bias"])
        x = x + mlp_gate * (wide @ w[block + "mlp.2.weight"].T + w[block + "mlp.2.bias"])
        states.append(x)
    shift, scale = modulation("output_layer.", 2)
    last = layer_norm(x) * w["output_layer.norm_final.weight"] * (1 + scale) + shift
    scores = last @ w["output_layer.linear.weight"].T + w["output_layer.linear.bias"]
    scores = scores - np.log(np.expm1(sigma)) - np.log(config["tokens"])
    scores[np.arange(len(ids)), ids] = 0
    return states, last, scores


def noise_level(ids, mask):
    """The level at which a position is masked as often as positions of this text are."""
    return -np.log(max(1 - np.mean(ids == mask), LEFT))


def texts(config, seed, length):
    """Texts of which one position, some, most and all are masked."""
    draw = np.random.default_rng(seed)
    mask = config["tokens"]
    for masked in (1, 5, 9, length):
        ids = draw.integers(0, mask, length)
        ids[draw.permutation(length)[:masked]] = mask
        yield ids


def main(out):
    weights = random_weights(CONFIG, 5)
    made = {"input_ids": [], "sigma": [], "score": []}
    for ids in texts(CONFIG, 6, 12):
        sigma = noise_level(ids, CONFIG["tokens"])
        states, last, scores = forward(CONFIG, weights, ids, sigma)
        made["input_ids"].append(ids)
        made["sigma"].append(sigma)
        made["score"].append(scores)
        for i, state in enumerate([*states[:-1], last]):
            made.setdefault(f"hidden.{i}", []).append(state)
    out.mkdir(parents=True, exist_ok=True)
    (out / "config.json").write_text(json.dumps(CONFIG, indent=1) + "\n")
    write_safetensors(out / "model.safetensors", weights)
    write_safetensors(
        out / "io.safetensors",
        {
            name: np.stack(parts).astype(np.int64 if name == "input_ids" else np.float32)
            for name, parts in made.items()
        },
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
