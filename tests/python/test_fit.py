"""`draftlab.simulate.fit`: known coefficients come back, and what cannot be fitted is said."""

import numpy as np
import pytest
from draftlab.simulate.cost import read_cost
from draftlab.simulate.fit import main

HEAD = "part,cached,rows,seconds\n"


def line(part, cached, rows, law):
    return f"{part},{cached},{rows},{law[0] * cached + law[1] * rows + law[2]!r}\n"


def fitted(folder, text):
    (folder / "points.csv").write_text(text)
    return main([str(folder / "points.csv"), "--out", str(folder / "c.ini"), "--source", "made"])


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
