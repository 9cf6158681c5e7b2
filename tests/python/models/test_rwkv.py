"""Greedy texts of the public RWKV models equal those of numpy (rwkv.py), byte by byte, whichever
way rejected drafts are taken back, and a trace says what that cost.

The weights are not part of the project; where they lie beside it, or at DRAFTLAB_DATA, they are
read.
"""

import os
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from rwkv import Rwkv, read

from draftlab import Trace

DATA = Path(os.environ.get("DRAFTLAB_DATA", ROOT / ".." / "shared" / "data")) / "real/tiny-rwkv"
FILES = {version: DATA / f"tiny-rwkv-{version}-FP32.bin" for version in ("5v2-730K", "7v0-834K")}
BEGINNING, COUNT, DRAFTS = "Lily and Tom wanted", 48, 4
CONFIG = f"""model    = rwkv
task     = continuation
frontier = left-to-right
[task.continuation]
text   = {BEGINNING}
length = {len(BEGINNING) + COUNT}
[decode]
temperature  = 0
draft_length = {DRAFTS}
[verifier.chain]
bonus = true
[run]
threads = 1
"""
# Of the ways: the bytes of how many states a step of so many drafts keeps at most, and whether
# anything runs again.
WAYS = {"snapshot": (DRAFTS, False), "replay": (1, True), "none": (0, True)}


@pytest.mark.parametrize("version", FILES)
def test_greedy_texts_equal_those_of_numpy_in_every_way_of_going_back(program, version):
    if not DATA.is_dir():
        pytest.skip(f"there is no {DATA} (set DRAFTLAB_DATA)")
    (program.folder / "rwkv.ini").write_text(CONFIG)
    network = Rwkv(read(FILES[version]))
    expected = network.greedy(BEGINNING.encode(), COUNT)
    state = sum(part.nbytes for rows in network.fresh() for part in rows)
    for rollback, (states, again) in WAYS.items():
        out = program.folder / f"{rollback}.h5"
        draft = next(file for name, file in FILES.items() if name != version)
        program.ok("run", "rwkv.ini", "--model.rwkv.checkpoint", FILES[version], "--model.draft",
                   "rwkv", "--model.draft.checkpoint", draft, "--drafter", "model", "--verifier",
                   "chain", "--model.rwkv.rollback", rollback, "--out", out)
        trace = Trace(out)
        tokens = [token["id"] for step in trace.sample(0)["steps"] for token in step["tokens"]]
        assert tokens == expected
        kept, rerun = trace["step_kept_bytes"], trace["step_rerun"]
        assert trace["run_rollback"].tolist() == [rollback]
        assert kept.max() == states * state and np.any(rerun > 0) == again
