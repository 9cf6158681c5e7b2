"""Tokens a second of RWKV on one thread: draftlab's, token by token, and those of numpy (rwkv.py),
in rounds of both. Every round decodes one text greedily, and both have to write the same bytes.

    python3 rwkv_speed.py MODEL.bin...

Prints medians of fifteen rounds with quartiles, and the quotient of the two of a round.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

# Before numpy is loaded: its products would else take every core.
for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"

import numpy as np  # noqa: E402
from rwkv import Rwkv, read  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "python"))
from draftlab import Trace  # noqa: E402
from draftlab.commands import program  # noqa: E402

GIVEN, COUNT, ROUNDS = "Once upon a time, there was", 256, 15
CONFIG = f"""model    = rwkv
task     = continuation
frontier = left-to-right
drafter  = stepwise
[task.continuation]
text   = {GIVEN}
length = {len(GIVEN) + COUNT}
[decode]
temperature = 0
"""


def of_draftlab(model, folder):
    """Seconds of the decode, and the bytes."""
    config, out = folder / "rwkv.ini", folder / "rwkv.h5"
    config.write_text(CONFIG, encoding="utf-8")
    out.unlink(missing_ok=True)
    subprocess.run([program(), "run", config, "--model.rwkv.checkpoint", model, "--timed",
                    "--threads", "1", "--out", out], check=True, capture_output=True)
    sample = Trace(out).sample(0)
    return sample["seconds"], [token["id"] for step in sample["steps"] for token in step["tokens"]]


def of_numpy(network):
    began = time.perf_counter()
    tokens = network.greedy(GIVEN.encode(), COUNT)
    return time.perf_counter() - began, tokens


def row(model):
    network, ours, theirs = Rwkv(read(model)), [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(ROUNDS):
            seconds, tokens = of_draftlab(model, pathlib.Path(folder))
            ours.append(COUNT / seconds)
            seconds, same = of_numpy(network)
            theirs.append(COUNT / seconds)
            if tokens != same:
                sys.exit("draftlab and numpy write different texts")

    def quartiles(values):
        low, median, high = np.quantile(values, [0.25, 0.5, 0.75])
        return f"{median:,.0f} [{low:,.0f}, {high:,.0f}]"

    low, median, high = np.quantile(np.array(ours) / np.array(theirs), [0.25, 0.5, 0.75])
    return (f"| {pathlib.Path(model).name} | {quartiles(ours)} | {quartiles(theirs)} "
            f"| {median:.1f}x [{low:.1f}, {high:.1f}] | {ROUNDS} |")


def main(*models):
    rows = [row(model) for model in models]
    print("| file | draftlab, tokens/s | numpy, tokens/s | of the same round | rounds |")
    print("|---|---|---|---|---|")
    print(*rows, sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
