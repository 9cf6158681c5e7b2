"""Models with a state that is not taken back are named, with the smallest case and what is left."""

import json
import os
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

import draftlab as dl
from draftlab.audit.command import load, main
from draftlab.audit.faults import UsageError
from draftlab.audit.recurrent import audit_recurrent, models_of

sys.path.insert(0, str(ROOT / "tests" / "python" / "models"))
from rwkv import Rwkv, read  # noqa: E402

DATA = Path(os.environ.get("DRAFTLAB_DATA", ROOT / ".." / "shared" / "data"))
EXAMPLES = ROOT / "examples" / "audits" / "recurrent.py"
# Verdict, and of the state what is named.
VERDICTS = {
    "token-shift": ("taken back", []),
    "shift-not-taken-back": ("not taken back", ["state['row']"]),
    "one-token-too-few": ("not taken back", ["state['row']", "state['memory']"]),
    "convolution": ("taken back", []),
    "convolution-drifts": ("not taken back", ["state[0]"]),
    "snapshot-in-place": ("not taken back", ["state[0]", "state[1]"]),
    "restored-once": ("not taken back", ["state[0]", "state[1]"]),
    "restored-in-place": ("taken back", []),
    "first-value": ("taken back", []),
    "first-value-kept": ("not taken back", []),
}


def test_every_example_has_its_verdict():
    found = {model.name: audit_recurrent(model) for model in models_of(load(str(EXAMPLES)))}
    assert {name: (report.verdict, report.places) for name, report in found.items()} == VERDICTS
    assert found["restored-once"].case.way == "tree"  # One branch does not show it.
    kept = found["first-value-kept"]
    assert kept.shows_at == 0 and f"follows, which is {kept.case.after[0]}:" in str(kept)
    assert "not taken back   something that no snapshot shows" in str(kept)
    for report in found.values():
        assert report.status == (0 if report.verdict == "taken back" else 1)
        assert report.tested > 400 or report.case is not None


class Counter:
    """Its logits tell the whole text: the number that its tokens spell."""

    def __init__(self):
        self.text = []

    def step(self, token):
        self.text = [*self.text, token]
        return np.array([hash(tuple(self.text)) % 1000, 1.0])

    def snapshot(self):
        return list(self.text)

    def restore(self, snapshot):
        self.text = list(snapshot)


def judged(subject):
    dl.recurrent_model("mine", vocabulary=2)(subject)
    return audit_recurrent(vars(subject)["_draftlab_recurrent_model"])


def test_the_smallest_case_and_where_it_shows():
    class Late(Counter):
        """What it does not take back shows two tokens later."""

        def restore(self, snapshot):
            self.dropped = len(self.text) - len(snapshot)
            self.text, self.since = list(snapshot), 0

        def step(self, token):
            logits = super().step(token)
            if getattr(self, "dropped", 0) >= 2:
                self.since += 1
                logits[1] += self.since > 2
            return logits

    report = judged(Late)
    assert report.verdict == "not taken back"
    assert (len(report.case.text), len(report.case.drafts), report.case.accepted) == (0, 2, 0)
    assert report.shows_at == 2 and report.difference == 1
    third = report.case.after[2]
    assert f"after token 3 of what follows, which is {third}: logits differ by 1" in str(report)


def test_rounding_is_not_a_fault():
    class Rounds(Counter):
        def restore(self, snapshot):
            super().restore(snapshot)
            self.noise = 1e-6

        def step(self, token):
            return super().step(token) * (1 + getattr(self, "noise", 0.0))

    report = judged(Rounds)
    assert report.verdict == "taken back up to rounding" and report.status == 0
    assert 0 < report.rounding < 1e-2


def test_what_cannot_be_judged():
    class Dice(Counter):
        def step(self, token):
            return np.random.random(2)

    class Falls(Counter):
        def restore(self, snapshot):
            raise KeyError("row 3")

    class Short(Counter):
        def step(self, token):
            return np.zeros(3)

    assert judged(Dice).verdict == "does not repeat itself" and judged(Dice).status == 1
    report = judged(Falls)
    assert report.verdict == "crashes" and "KeyError: 'row 3'" in str(report)
    with pytest.raises(UsageError, match=r"shape \[3\], and must return \[2\] finite logits"):
        judged(Short)
    with pytest.raises(UsageError, match="vocabulary = 1 must be at least 2"):
        dl.recurrent_model("mine", vocabulary=1)
    with pytest.raises(UsageError, match="it has no snapshot, restore"):
        dl.recurrent_model("mine", vocabulary=2)(type("Bare", (), {"step": lambda self, token: 0}))


def test_the_command(capsys):
    assert main([str(EXAMPLES), "--sampler", "convolution"]) == 0
    assert "convolution: taken back\n  450 rollbacks" in capsys.readouterr().out
    assert main([str(EXAMPLES), "--format", "json"]) == 1
    rows = json.loads(capsys.readouterr().out)["samplers"]
    assert [row["name"] for row in rows] == list(VERDICTS)
    assert rows[1]["case"]["drafts"] and rows[1]["not_taken_back"] == ["state['row']"]


@pytest.mark.parametrize("file, keeps", [*product(["5v2-730K", "7v0-834K"], [None, 0, 1, 2]),
                                         ("7v0-834K", "first")])
def test_trained_rwkv(file, keeps):
    """A real model is taken back, and a row or matrix of one layer that is kept is named. The first
    layer's value (version 7) stands in no snapshot; what shows is a token."""
    path = DATA / "real" / "tiny-rwkv" / f"tiny-rwkv-{file}-FP32.bin"
    if not path.exists():
        pytest.skip(f"there is no {path} (set DRAFTLAB_DATA)")
    rwkv = Rwkv(read(path))
    layer = rwkv.layers // 2

    class Model:
        def __init__(self):
            self.state, self.first = rwkv.fresh(), None

        def step(self, token):
            logits, self.first = rwkv.step(token, self.state, self.first), None
            self.value = rwkv.first
            return logits

        def snapshot(self):
            return [list(rows) for rows in self.state]

        def restore(self, snapshot):
            kept, self.state = self.state[layer], [list(rows) for rows in snapshot]
            if keeps == "first":
                self.first = self.value
            elif keeps is not None:
                self.state[layer][keeps] = kept[keeps]

    dl.recurrent_model(file, vocabulary=rwkv.vocabulary)(Model)
    report = audit_recurrent(vars(Model)["_draftlab_recurrent_model"], seconds=2)
    if keeps is None:
        assert report.verdict == "taken back", str(report)
        assert 1 < report.tested < 450 and "of 450, out of time" in str(report)
    else:
        assert report.verdict == "not taken back" and report.shows_at == 0, str(report)
        assert report.places == ([] if keeps == "first" else [f"state[{layer}][{keeps}]"])
