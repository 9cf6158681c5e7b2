"""Traces as pandas and xarray see them; the package installed; a notebook without a screen."""

import json
import os
import re
import subprocess
import sys

import h5py
import pytest
from conftest import ORDERED, ROOT

from draftlab import Trace

ARMS = ORDERED.replace("samples = 60", "samples = 4") + "[sweep]\ndecode.draft_length = 1, 3\n"


@pytest.fixture
def trace(program):
    program.ok("run", program.write("a.ini", ARMS), "--out", "a.h5")
    return Trace(program.folder / "a.h5")


@pytest.mark.parametrize("table", ["sample", "step", "token", "draft"])
def test_every_row_knows_its_arm_and_what_distinguishes_it(trace, table):
    pytest.importorskip("pandas")
    frame = trace.frame(table)
    assert len(frame) == trace.rows[table] > 0
    assert set(frame["decode.draft_length"]) == {"1", "3"}
    assert frame.groupby("decode.draft_length").arm.nunique().max() == 1
    if table == "draft":  # At length 1 a step drafts one token only.
        steps = trace.frame("step")
        assert steps[steps["decode.draft_length"] == "1"].drafted.max() == 1
        assert steps[steps["decode.draft_length"] == "3"].drafted.max() == 3


def test_all_evaluations_are_a_column(trace):
    pytest.importorskip("pandas")
    for table in ("sample", "step"):
        frame = trace.frame(table)
        parts = [frame[f"nfe_{kind}"] for kind in ("prefill", "draft", "verify", "commit")]
        assert (frame.nfe == sum(parts)).all() and frame.nfe.sum() > 0
    assert trace.frame("sample").nfe.sum() == trace.frame("step").nfe.sum()


def test_a_report_of_a_trace_that_is_not_valid_says_so_and_prints_its_numbers(program):
    program.ok("run", program.write("a.ini", ARMS), "--out", "a.h5")
    with h5py.File(program.folder / "a.h5") as whole:
        with h5py.File(program.folder / "b.h5", "w") as changed:
            for name in whole:
                whole.copy(name, changed)
            changed.attrs.update({key: value for key, value in whole.attrs.items()
                                  if key != "checksum"})
            changed["token_p"][0] = 2.0
    done = program.run("report", "b.h5", "--metric", "nfe")
    assert done.returncode == 0 and done.stdout.startswith("| arm"), done.stderr
    assert re.match("warning: 'b.h5' is not valid, so numbers made of it may be wrong: ",
                    done.stderr)


def test_the_run_table_stays_as_it_is(trace):
    pytest.importorskip("pandas")
    assert list(trace.frame("run").columns) == [name[4:] for name in trace.columns["run"]]


def test_xarray_opens_a_trace_as_it_is(trace):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    with xarray.open_dataset(trace.path, engine="h5netcdf") as data:
        assert data["step_accepted"].dims == ("step",)
        assert int(data["step_accepted"].sum()) == int(trace["step_accepted"].sum())
    assert int(trace.dataset()["step_accepted"].sum()) == int(trace["step_accepted"].sum())


def test_the_notebook_runs_from_its_first_cell_to_its_last(program):
    """With nbclient where it is installed, and by executing the cells in order everywhere."""
    file = ROOT / "docs/notebooks/first_steps.ipynb"
    book = json.loads(file.read_text())
    assert (book["nbformat"], book["metadata"]["kernelspec"]["language"]) == (4, "python")
    cells = ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]
    for name in ("configs", "data", "docs"):
        (program.folder / name).symlink_to(ROOT / name)
    shown = "\nshown = [mine._repr_html_(), figure._repr_svg_()]\n" + (
        "assert shown[0].startswith('<table>') and '<svg' in shown[1]\nprint(lossy.text)\n"
    )
    done = subprocess.run(
        [sys.executable, "-"], input="\n".join(cells) + shown, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "python")}, cwd=program.folder, timeout=280,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "fewer forwards" in done.stdout and "the claim holds: True" in done.stdout


def test_the_package_installs_without_a_network(program):
    """pip builds it with the setuptools of the system, and what is installed imports."""
    pytest.importorskip("setuptools")
    pytest.importorskip("pip")
    source = program.folder / "python"
    subprocess.run(["cp", "-r", str(ROOT / "python"), str(source)], check=True)
    place = program.folder / "installed"
    words = ["install", "--no-index", "--no-deps", "--no-build-isolation", "--target", str(place)]
    done = subprocess.run(
        [sys.executable, "-m", "pip", *words, str(source)], capture_output=True, text=True,
        env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}, timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (place / "draftlab" / "py.typed").exists()
    said = subprocess.run(
        [sys.executable, "-c", "import draftlab as dl; print(dl.__file__, dl.audit, dl.router)"],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(place)},
        cwd=program.folder, check=True,
    ).stdout  # fmt: skip
    assert said.startswith(str(place))


PART = """
import draftlab as dl

@dl.router("frozen")
class Frozen:
    span: int = dl.option(1, low=0, high=9, help="Shortest span.")
    def decide(self, step):
        return step.span.length >= self.span
"""


def test_a_sweep_refuses_a_file_that_changed_since_it_was_frozen(program):
    import h5py

    path = program.write("a.ini", ARMS.replace("drafter = self", "drafter = self\nrouter = frozen"))
    part = program.write("part.py", PART)
    words = ["sweep", path, "--plugin", "part.py", "--out", "s"]
    program.ok(*words)
    program.ok(*words)  # It is the same sweep, so nothing is left to decode.
    before = h5py.File(program.folder / "s/sweep.h5")["step_verified"][:].sum()
    program.write("part.py", PART.replace(">= self.span", "> 9"))
    fault = program.fails(73, *words)
    assert "part.py' has changed since the sweep in 's' was frozen" in fault
    program.ok("sweep", "s")  # The sweep goes on with the file as it was.
    assert h5py.File(program.folder / "s/sweep.h5")["step_verified"][:].sum() == before
    program.ok(*words, "--replace")
    after = h5py.File(program.folder / "s/sweep.h5")["step_verified"][:].sum()
    assert after < before, part
    for copy in (program.folder / "s/plugins").glob("*-part.py"):
        copy.write_text(PART + "# damaged")
    assert "the file has changed, its digest is" in program.fails(78, "sweep", "s")


def test_a_trace_says_for_how_many_numbers_of_rows_all_threads_were_chosen(program):
    words = [ROOT / "configs/quickstart.ini", "--threads", "2", "--limit", "4"]
    program.ok("run", *words, "--run.workers", "1", "--out", "run.h5")
    program.ok("sweep", *words, "--jobs", "1", "--out", "sweep")
    cells = list((program.folder / "sweep/cells").glob("*.h5"))
    assert len(cells) == 3
    for path in [program.folder / "run.h5", *cells]:
        with h5py.File(path) as trace:
            assert re.search(
                r", 2 threads for \d+ of [1-9]\d* numbers of rows$", trace.attrs["libraries"]
            )
