"""The unmasking order that is learned from traces: what is counted, and what is committed."""

import json

import numpy as np
import pytest
from conftest import ROOT

from draftlab.trace import Trace

EXAMPLE = ROOT / "examples/learned_order"


@pytest.fixture
def learn(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLE))
    import learn

    return learn


def test_an_order_alone_is_lossless_and_its_controls_are_not(program):
    program.ok("certify", EXAMPLE / "order.ini")
    program.ok("certify", EXAMPLE / "control.ini")


def test_a_gap_reaches_back_to_the_last_token_before(learn):
    known = np.array([0, 1, 5])
    assert learn.gaps(np.array([2, 3, 4, 6, 9]), known).tolist() == [1, 2, 3, 1, 4]
    assert learn.gaps(np.array([0, 2]), np.array([1])).tolist() == [1, 1]


def test_drafts_are_counted_by_whether_the_text_kept_them_and_how_soon(learn):
    def draft(position, token, entropy):
        return {"position": position, "id": token, "entropy": entropy}

    def step(position, token, *drafts):
        return {"tokens": [{"position": position, "id": token}], "drafts": drafts}

    learn.SOON = 2
    sample = {"length": 4, "steps": [
        step(1, 7, draft(1, 7, 0.1), draft(2, 5, 0.2), draft(3, 9, 0.3)),
        step(2, 6, draft(2, 6, 0.4), draft(3, 9, 0.5)),
        step(3, 9, draft(3, 9, 0.6))]}
    entropy, gap, kept, due = map(np.concatenate, zip(*learn.examples([sample])))
    assert entropy.tolist() == [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    assert gap.tolist() == [1, 2, 3, 1, 2, 1]
    assert kept.tolist() == [True, False, True, True, True, True]
    # The last position is committed two steps after the first, which is not soon.
    assert due.tolist() == [True, False, False, True, True, True]


def test_what_was_learned_decides_what_is_committed(program, learn):
    """Two tables are opposite: the first prefers near drafts, the second those farther away."""
    texts = {}
    for name, due in (("near", [0.9, 0.5, 0.1]), ("far", [0.1, 0.5, 0.9])):
        learned = {"entropies": [], "gaps": [1, 2], "kept": [[0.5, 0.5, 0.5]], "due": [due]}
        (program.folder / f"{name}.json").write_text(json.dumps(learned))
        program.ok("run", EXAMPLE / "order.ini", "--unmasker.learned-order.learned",
                   program.folder / f"{name}.json", "--out", f"{name}.h5")
        sample = next(iter(Trace(program.folder / f"{name}.h5")))
        texts[name] = [token["position"] for step in sample["steps"] for token in step["tokens"]]
    # Position 2 is given, so 0 and 3 have no gap before them.
    assert {name: set(order[:2]) for name, order in texts.items()} == {"near": {0, 3},
                                                                       "far": {1, 4}}


def test_as_many_are_committed_as_are_all_kept(program, learn):
    kept = {"entropies": [], "gaps": [1], "kept": [[0.9, 0.9]], "due": [[0.5, 0.5]]}
    (program.folder / "kept.json").write_text(json.dumps(kept))
    for sure, committed in ((0.95, [1, 1, 1, 1]), (0.8, [2, 2]), (0.7, [3, 1])):
        program.ok("run", EXAMPLE / "order.ini", "--unmasker.learned-order.most", 0,
                   "--unmasker.learned-order.sure", sure, "--unmasker.learned-order.learned",
                   program.folder / "kept.json", "--out", f"{sure}.h5")
        sample = next(iter(Trace(program.folder / f"{sure}.h5")))
        assert [len(step["tokens"]) for step in sample["steps"]] == committed
