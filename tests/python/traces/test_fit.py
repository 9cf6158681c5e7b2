"""`draftlab simulate --fit`: known coefficients come back, and what cannot be fitted is said."""

import h5py
import numpy as np
import pytest
from draftlab import Trace
from draftlab.simulate.command import main
from draftlab.simulate.cost import read_cost
from draftlab.simulate.points import read_points

HEAD = "part,cached,rows,seconds\n"


def line(part, cached, rows, law):
    return f"{part},{cached},{rows},{law[0] * cached + law[1] * rows + law[2]!r}\n"


def fitted(folder, text):
    (folder / "points.csv").write_text(text)
    return main([str(folder / "points.csv"), "--fit", str(folder / "c.ini"), "--source", "made"])


def grid(part, law):
    return "".join(line(part, cached, rows, law) for cached in (0, 1000, 50000)
                   for rows in (1, 8, 64, 384))


def test_known_coefficients_come_back(tmp_path, capsys):
    target, draft = (4e-8, 2e-5, 6e-3), (2e-9, 0.0, 2e-3)
    text = HEAD + "# by nobody\n" + grid("target", target) + grid("mine", draft)
    assert fitted(tmp_path, text + "engine,0,0,0.001\nengine,0,0,0.003\n") == 0
    cost = read_cost(str(tmp_path / "c.ini"))
    found = cost.target
    assert np.allclose((found.cached, found.row, found.fixed), target, rtol=1e-6, atol=0)
    found = cost.draft("mine").forward
    assert np.allclose((found.cached, found.row, found.fixed), draft, rtol=1e-6, atol=1e-15)
    assert cost.engine == pytest.approx(0.002) and cost.source == "made"
    assert "; 12 points; relative residuals: root mean square" in capsys.readouterr().out


def test_the_residual_is_said_and_no_coefficient_is_negative(tmp_path, capsys):
    # Seconds fall with the rows, so row is 0. The third line is met by cached = 2 - fixed; fixed is
    # sum(1/t) / sum(1/t^2) of the others, 1.5 / 1.25, and they are off by -0.4 and 0.2.
    text = HEAD + "target,0,1,2\ntarget,0,2,1\ntarget,1,1,2\nengine,0,0,1\n"
    assert fitted(tmp_path, text) == 0
    found = read_cost(str(tmp_path / "c.ini")).target
    assert found.row == 0
    assert (found.cached, found.fixed) == (pytest.approx(0.8), pytest.approx(1.2))
    assert "root mean square 2.58e-01, largest 4.00e-01" in capsys.readouterr().out


@pytest.mark.parametrize("text, sentence", [
    ("part,rows\n", "the first line has to be part,cached,rows,seconds"),
    (HEAD + "target,0,x,1\n", "points.csv:2: rows = 'x' has to be a number of at least 0"),
    (HEAD + "target,0,1,0\n", "points.csv:2: seconds = '0' has to be a number above 0"),
    (HEAD + "cost,0,1,1\n", "points.csv:2: part = 'cost' has to be target, engine or"),
    (HEAD + "target,0,1,1\n", "there is no line of part 'engine'"),
    (HEAD + "target,0,1,1\ntarget,0,2,2\nengine,0,0,1\n", "do not tell cached, row and fixed"),
], ids=["head", "word", "zero", "cost", "engine", "rank"])
def test_what_cannot_be_fitted_is_one_sentence(tmp_path, capsys, text, sentence):
    assert fitted(tmp_path, text) == 65
    said = capsys.readouterr().err
    assert sentence in said and len(said.splitlines()) == 1 and not (tmp_path / "c.ini").exists()


def test_a_surface_that_is_there_stays(tmp_path, capsys):
    (tmp_path / "c.ini").write_text("mine")
    assert fitted(tmp_path, HEAD + grid("target", (1, 1, 1)) + "engine,0,0,1\n") == 73
    assert "c.ini" in capsys.readouterr().err and (tmp_path / "c.ini").read_text() == "mine"


@pytest.mark.parametrize("words, sentence", [
    (["--fit", "c.ini"], "--source is needed"),
    (["--fit", "c.ini", "--source", "made", "--cost", "c.ini"], "--cost says nothing to --fit"),
    (["--fit", "c.ini", "--source", "made", "--learn", "t.csv"], "give one of them"),
    ([], "--cost is needed"),
], ids=["source", "cost", "learn", "nothing"])
def test_flags_that_do_not_belong_together(capsys, words, sentence):
    assert main(["a.csv", *words]) == 64
    assert sentence in capsys.readouterr().err


CAUSAL = """
model = table
task = positions
frontier = left-to-right
[model.table]
kind = ordered
vocabulary = 5
length = 8
[task.positions]
length = 8
prompt = 0:1
[decode]
draft_length = 2
[run]
samples = 4
threads = 1
"""


def test_the_forwards_of_a_trace(program):
    """Counted again sample by sample: what stands in the caches, the rows, and the seconds."""
    arms = "\n[sweep]\ndrafter = stepwise, ngram\n"
    program.write("both.ini", CAUSAL + arms)
    program.ok("run", "both.ini", "--timed", "--out", "t.h5")
    trace = Trace(program.folder / "t.h5")
    expected = {"target": [], "engine": []}
    for sample in trace:
        cached, alone = sample["prompt_tokens"], trace["run_sequential"][sample["run_index"]]
        for step in sample["steps"]:
            kinds = [kind for kind in ("draft", "verify", "commit") if step[f"nfe_{kind}"] == 1]
            assert kinds == ["draft" if alone else "verify"] and step["drafter_nfe_draft"] == 0
            taken = step[f"ns_{kinds[0]}"]
            expected["target"].append((cached, step[f"positions_{kinds[0]}"], taken / 1e9))
            expected["engine"].append((cached, 0, (step["ns"] - taken) / 1e9))
            cached += step["committed"]
    assert cached == 8
    found = read_points(str(program.folder / "t.h5"))
    assert sorted(found) == ["engine", "ngram", "target"]
    assert found["ngram"] == []  # It asks no model.
    for part in expected:
        assert np.shape(found[part]) == np.shape(expected[part])
        assert np.allclose(found[part], expected[part], rtol=1e-9, atol=0)


def test_what_a_drafter_drafts_is_counted_and_one_more(program):
    program.write("toy.ini", CAUSAL.replace("frontier = left-to-right\n", ""))
    program.ok("run", "toy.ini", "--drafter", "self", "--timed", "--out", "t.h5")
    trace = Trace(program.folder / "t.h5")
    drafted = [step["drafted"] for sample in trace for step in sample["steps"] if step["ns_draft"]]
    found = read_points(str(program.folder / "t.h5"))["self"]
    assert [rows for _, rows, _ in found] == [count + 1 for count in drafted] and len(drafted) > 4


def test_a_law_comes_back_from_a_trace(program):
    """The times of a trace are overwritten by a law; a drafter that looks up costs nothing."""
    program.write("toy.ini", CAUSAL)
    program.ok("run", "toy.ini", "--drafter", "ngram", "--decode.draft_length", "3", "--timed",
               "--run.samples", "40", "--out", "t.h5")
    with h5py.File(program.folder / "t.h5", "r+") as file:
        before = {}
        for at, sample in enumerate(file["step_sample_index"][:]):
            cached = before.get(sample, int(file["sample_prompt_tokens"][sample]))
            before[sample] = cached + int(file["step_committed"][at])
            rows = int(file["step_positions_verify"][at])
            file["step_ns_verify"][at] = taken = 500 * cached + 3000 * rows + 9000
            file["step_ns"][at] = taken + file["step_ns_draft"][at] + 70000
    program.ok("simulate", "t.h5", "--fit", "c.ini", "--source", "me, on a toy")
    cost = read_cost(str(program.folder / "c.ini"))
    found = cost.target
    assert (found.cached, found.row, found.fixed) == pytest.approx((5e-7, 3e-6, 9e-6), rel=1e-6)
    assert cost.source == "me, on a toy" and cost.draft("ngram").forward.seconds(5, 3) == 0
    assert cost.engine == pytest.approx(7e-5, rel=1e-6)


def test_a_trace_of_samples_side_by_side_is_refused(program):
    program.write("toy.ini", CAUSAL)
    program.ok("run", "toy.ini", "--drafter", "stepwise", "--out", "t.h5", "--run.workers", "2")
    said = program.fails(65, "simulate", "t.h5", "--fit", "c.ini", "--source", "me")
    assert "2 samples were decoded side by side" in said and "--timed" in said
