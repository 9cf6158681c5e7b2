"""Models in torch: GPT-2 against the C++ model, and the wrappers of Hugging Face models against a
stand-in with the interface of transformers. They are skipped where torch is not installed."""

import json
import os
import struct
import sys

import numpy as np
import pytest
from conftest import ROOT

from draftlab import Trace

torch = pytest.importorskip("torch")
PLUGIN = ROOT / "examples/python/gpt2_torch.py"
PATIENT = ["--python-timeout", 600, "--threads", 1]
CONFIG = """
model = autoregressive
task = positions
frontier = left-to-right
drafter = stepwise
[model.autoregressive]
checkpoint = gpt2
[task.positions]
length = 14
prompt = 0:1, 1:7
[run]
samples = 12
"""


def write_gpt2(folder, vocabulary=40, width=16, layers=2, heads=2, positions=32):
    """A checkpoint of random weights, as the hub has them."""
    random = np.random.default_rng(5)
    shapes = {"wte.weight": (vocabulary, width), "wpe.weight": (positions, width)}
    for i in range(layers):
        shapes.update({
            f"h.{i}.attn.c_attn.weight": (width, 3 * width),
            f"h.{i}.attn.c_attn.bias": (3 * width,),
            f"h.{i}.attn.c_proj.weight": (width, width), f"h.{i}.attn.c_proj.bias": (width,),
            f"h.{i}.mlp.c_fc.weight": (width, 4 * width), f"h.{i}.mlp.c_fc.bias": (4 * width,),
            f"h.{i}.mlp.c_proj.weight": (4 * width, width), f"h.{i}.mlp.c_proj.bias": (width,),
        })  # fmt: skip
    norms = [f"h.{i}.ln_{j}" for i in range(layers) for j in (1, 2)] + ["ln_f"]
    for name in norms:
        shapes[name + ".weight"] = shapes[name + ".bias"] = (width,)
    header, data = {}, b""
    for name, shape in shapes.items():
        array = random.standard_normal(shape).astype(np.float32) * 0.4
        array += name.endswith("weight") and len(shape) == 1
        header[name] = {"dtype": "F32", "shape": list(shape),
                        "data_offsets": [len(data), len(data) + array.nbytes]}  # fmt: skip
        data += array.tobytes()
    folder.mkdir()
    words = json.dumps(header).encode()
    words += b" " * (-len(words) % 8)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(words)) + words + data)
    (folder / "config.json").write_text(json.dumps({
        "model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": vocabulary,
        "n_embd": width, "n_layer": layers, "n_head": heads, "n_positions": positions,
        "layer_norm_epsilon": 1e-5, "activation_function": "gelu_new", "eos_token_id": 3,
        "bos_token_id": 3,
    }))  # fmt: skip


@pytest.fixture
def decoded(program, monkeypatch):
    """Decodes the config with a model of Python, and without one with the C++ model."""
    write_gpt2(program.folder / "gpt2")
    path = program.write("a.ini", CONFIG)
    stand_in = os.pathsep.join([str(ROOT / "tests/python/with_torch/stand_in"), str(PLUGIN.parent),
                                os.environ.get("PYTHONPATH", "")])  # fmt: skip
    monkeypatch.setenv("PYTHONPATH", stand_in)

    def decode(out, *words):
        program.ok("run", path, "--out", out, "--batch", 4, *PATIENT, *words, timeout=1200)
        return Trace(program.folder / out)

    return decode


def agree(one, other):
    assert (one["token_id"] == other["token_id"]).all() and len(one["token_id"]) > 50
    assert np.nanmax(np.abs(one["token_p"] - other["token_p"])) < 1e-4


def test_gpt2_in_torch_commits_what_the_original_commits(decoded):
    words = ["--plugin", PLUGIN, "--model", "gpt2-torch", "--model.gpt2-torch.checkpoint", "gpt2"]
    agree(decoded("a.h5"), decoded("b.h5", *words))


@pytest.mark.parametrize("drafter", ["stepwise", "prompt-lookup", "ngram"])
def test_a_causal_model_of_transformers_with_and_without_its_cache(decoded, program, drafter):
    program.write("hf.py", "import draftlab as dl\ndl.hf.causal_lm('gpt2')\n"
                  "dl.hf.causal_lm('gpt2', name='causal-plain', cache=False)\n")  # fmt: skip
    theirs = decoded("a.h5", "--drafter", drafter)
    for model in ("causal-lm", "causal-plain"):
        ours = decoded(model + ".h5", "--drafter", drafter, "--plugin", "hf.py", "--model", model)
        agree(theirs, ours)
    assert "GPT" not in program.ok("describe", "model.causal-lm", "--plugin", "hf.py")


def test_a_masked_and_a_block_diffusion_model_of_transformers(program, decoded):
    checkpoint = str(ROOT / "data/checkpoints/arithmetic")
    program.write("hf.py", "import draftlab as dl\n"
                  f"dl.hf.block_diffusion({checkpoint!r}, mask=6)\n"
                  f"dl.hf.masked_lm({checkpoint!r}, mask=6)\n")  # fmt: skip
    config = str(ROOT / "configs/base/arithmetic.ini")
    words = ["--limit", 1, "--decode.stop", "token",
             "--plugin", ROOT / "examples/python/sdar_numpy.py",
             "--plugin", "hf.py"]  # fmt: skip
    traces = []
    for model in ("sdar-numpy", "block-diffusion-lm", "masked-lm"):
        more = [f"--model.{model}.checkpoint", checkpoint]
        program.ok(
            "run",
            config,
            *words,
            "--model",
            model,
            *more,
            "--out",
            model + ".h5",
            *PATIENT,
            timeout=1200,
        )
        traces.append(Trace(program.folder / (model + ".h5")))
    for trace in traces[1:]:
        agree_short(traces[0], trace)


def agree_short(one, other):
    assert (one["token_id"] == other["token_id"]).all() and len(one["token_id"]) > 5
    assert np.nanmax(np.abs(one["token_p"] - other["token_p"])) < 1e-4


def test_transformers_itself_where_it_is_installed(decoded, program, monkeypatch):
    monkeypatch.delenv("PYTHONPATH")
    sys.modules.pop("transformers", None)
    pytest.importorskip("transformers")
    program.write("hf.py", "import draftlab as dl\ndl.hf.causal_lm('gpt2')\n")
    agree(decoded("a.h5"), decoded("b.h5", "--plugin", "hf.py", "--model", "causal-lm"))
