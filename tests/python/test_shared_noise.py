"""Where drafter and target share the noise of a position, drafts change nothing: a checkpoint that
comes with draftlab writes, at equal seeds, the texts that it writes alone."""

import csv
import io

import pytest
from conftest import ROOT


@pytest.mark.parametrize("noise, temperature", [("gumbel", 1), ("gumbel", 0.7), ("uniform", 1)])
def test_drafts_change_no_text(program, noise, temperature):
    (program.folder / "data").symlink_to(ROOT / "data")  # The config's checkpoints are there.
    program.ok("run", ROOT / "configs/baselines/own-draw.ini", "--limit", 12, "--out", "a.h5",
               "--decode.noise", noise, "--decode.temperature", temperature,
               "--sweep.verifier", "own-draw,chain", "--sweep.decode.draft_length", "3",
               timeout=300)  # fmt: skip
    text = program.ok("report", "a.h5", "--by", "drafter,verifier", "--metric",
                      "same_text,tokens_per_step", "--format", "csv")  # fmt: skip
    rows = {(row["drafter"], row["verifier"], row["metric"]): float(row["value"])
            for row in csv.DictReader(io.StringIO(text)) if row["value"]}  # fmt: skip
    assert rows["model", "own-draw", "same_text"] == 1
    assert rows["model", "own-draw", "tokens_per_step"] > 1.5
    # The ratio test writes other texts of the same law.
    assert rows["model", "chain", "same_text"] < 1
