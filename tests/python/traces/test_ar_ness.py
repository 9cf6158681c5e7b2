"""What AR-ness predicts (examples/ar_ness): ranks, gains, groups, and which prompts are drawn."""

import numpy as np
import pytest
from conftest import ROOT

from draftlab.trace import Trace

# Two cells of four prompts: AR-ness local and global, right answers of dynamic decoding and of
# verification, and NFE of both.
NEAR = np.array([[0.1, 0.2, 0.3, 0.4], [1, 1, 1, 1], [0, 0, 1, 1], [1, 1, 1, 0], [4, 4, 6, 6],
                 [8, 4, 4, 4]], dtype=float)
FAR = np.array([[0.5, 0.6, 0.7, 0.8], [1, 1, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1], [4, 4, 4, 4],
                [8, 8, 8, 8]], dtype=float)


@pytest.fixture
def predicts(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples/ar_ness"))
    import predicts

    return predicts


def test_equal_values_share_their_mean_rank_and_what_never_differs_has_no_correlation(predicts):
    assert predicts.ranks(np.array([7, 3, 7, 1])).tolist() == [3.5, 2, 3.5, 1]
    assert predicts.spearman(np.array([1, 2, 3, 9]), np.array([1, 4, 9, 16])) == pytest.approx(1)
    # Ranks 1 2 3 4 against 1.5 1.5 3 4: 4.5 / sqrt(5 * 4.5).
    assert predicts.spearman(np.arange(4), np.array([0, 0, 1, 2])) == pytest.approx(0.9486833)
    assert np.isnan(predicts.spearman(np.ones(4), np.arange(4)))
    assert np.isnan(predicts.spearman(np.arange(4), np.ones(4)))


def test_gains_are_accuracy_won_and_evaluations_saved(predicts):
    assert predicts.gains(NEAR.mean(axis=1)).tolist() == [0.25, 1, 0.5, 0.75, 0.25, 1]
    assert predicts.gains(NEAR)[4].tolist() == [1, 1, 0, -1]
    assert predicts.gains(NEAR)[5].tolist() == [0.5, 1, 1.5, 1.5]


def test_groups_are_of_one_checkpoint_one_block_size_or_one_cell(predicts):
    cells = {("a", 4, "t"): NEAR, ("a", 8, "t"): FAR, ("b", 4, "t"): FAR}
    groups = predicts.groups_of(cells)
    assert [group.shape[1] for group in groups["all cells"]] == [3]
    assert [group[0].tolist() for group in groups["the block sizes of a checkpoint"]] == [
        [0.25, 0.65], [0.65]]
    assert [group[0].tolist() for group in groups["the checkpoints at a block size"]] == [
        [0.25, 0.65], [0.65]]
    assert [group.shape[1] for group in groups["the prompts of a cell"]] == [4, 4, 4]
    found = predicts.correlations(cells)
    # Of the two cells of `a` the one farther to the right in AR-ness gains more accuracy (0.25 to
    # 1) and saves less (1 to 0.5); in global AR-ness they do not differ.
    assert found["the block sizes of a checkpoint"][:2] == [1, -1]
    assert np.isnan(found["the block sizes of a checkpoint"][2:]).all()
    # The prompts of FAR all gain alike, so NEAR's alone count.
    assert found["the prompts of a cell"][0] == pytest.approx(-0.9486833)


def test_the_checkpoints_of_a_task_have_the_same_prompts_drawn(predicts):
    order = np.tile(np.arange(50.0), (6, 1))
    cells = {("a", 4, "t"): order, ("b", 8, "t"): order, ("c", 4, "u"): order}
    again = predicts.resampled(cells, np.random.default_rng(0))
    assert (again["a", 4, "t"] == again["b", 8, "t"]).all()
    assert (again["a", 4, "t"] != again["c", 4, "u"]).any()
    assert len(set(again["a", 4, "t"][0])) < 50
    assert (again["a", 4, "t"][0] == again["a", 4, "t"][5]).all()


def test_a_trace_becomes_cells_and_two_tables(program, predicts, capsys):
    program.ok("run", ROOT / "configs/s2d2/ar-ness.ini", "--limit", "3", "--threads", "1",
               "--sweep.decode.block_size", "4,8", "--out", "a.h5")
    trace = Trace(program.folder / "a.h5")
    cells = predicts.cells_of(trace)
    assert sorted(cells) == [(checkpoint, block, "programs" if checkpoint == "programs"
                              else "arithmetic")
                             for checkpoint in ("arithmetic", "arithmetic-mixed",
                                                "arithmetic-shifted", "programs")
                             for block in (4, 8)]
    frame = pytest.importorskip("pandas") and trace.samples().sort_values("prompt_index")
    own = frame[(frame["task"] == "programs") & (frame["decode.block_size"] == "8")]
    arms = [own[(own["router"] == router) & (own["unmasker"] == unmasker)] for router, unmasker in
            (("never", "static"), ("never", "threshold"), ("always", "threshold"))]
    expected = [arms[0]["ar_local"], arms[0]["ar_global"], arms[1]["score_correct"],
                arms[2]["score_correct"], arms[1]["nfe"], arms[2]["nfe"]]
    assert cells["programs", 8, "programs"].tolist() == [list(column) for column in expected]
    predicts.RESAMPLED = 20
    predicts.main(program.folder / "a.h5")
    tables = capsys.readouterr().out.strip().split("\n\n")
    assert [len(text.split("\n")) for text in tables] == [2 + 8, 2 + 4]
