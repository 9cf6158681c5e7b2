"""`draftlab rerun` decodes again from a trace alone, and says where it first differs."""

import shutil

import h5py
import numpy as np
import pytest
from conftest import BLOCKS, ORDERED, ROOT, TWINS


def decoded(program, text, *words):
    config = program.write("a.ini", text)
    program.ok("run", config, "--out", "a.h5", *words)
    (program.folder / "a.ini").unlink()  # The trace has to do without it.
    return "a.h5"


@pytest.mark.parametrize("text", [ORDERED, BLOCKS])
def test_a_trace_is_made_again(program, text):
    said = program.ok("rerun", decoded(program, text))
    assert "60 of 60 samples as recorded" in said
    assert "within 0" in said


def test_data_are_not_needed(program):
    stories = ROOT / "configs" / "quickstart.ini"
    program.ok("run", str(stories), "--limit", "2", "--out", "a.h5")
    said = program.ok("rerun", "a.h5", "--sample", "1")
    assert "1 of 1 samples as recorded" in said


@pytest.mark.parametrize("column, change, said", [
    ("token_id", lambda old: (old + 1) % 4, "was committed at position"),
    ("draft_id", lambda old: (old + 1) % 4, "draft 0: token"),
    ("step_routed", lambda old: 1 - old, "routed: "),
])
def test_the_first_difference_is_named(program, column, change, said):
    path = program.folder / decoded(program, ORDERED)
    with h5py.File(path, "r+") as trace:
        steps = trace["step_sample_index"][:]
        if column == "step_routed":
            row = int(np.flatnonzero((steps == 7) & (trace["step_routed"][:] >= 0))[0])
        else:
            of = trace[f"{column.split('_')[0]}_step_index"][:]
            row = int(np.flatnonzero(steps[of] == 7)[0])
        trace[column][row] = change(trace[column][row])
    # HDF5 leaves the bytes of a removed attribute in the file, where the checksum is looked for.
    path.write_bytes(path.read_bytes().replace(b"draftlab-crc32:", b"no-checksum:..."))
    done = program.run("rerun", "a.h5")
    assert done.returncode == 1
    assert "59 of 60 samples as recorded" in done.stdout
    assert "first difference: sample 7 (prompt" in done.stdout
    assert said in done.stdout


def test_another_option_says_where_it_decides_otherwise(program):
    decoded(program, ORDERED)
    done = program.run("rerun", "a.h5", "--run.seed", "2")
    assert done.returncode == 1
    assert "first difference: sample 0" in done.stdout


def test_a_plugin_that_is_missing_is_named(program):
    shutil.copy(TWINS, program.folder / "mine.py")
    text = ORDERED.replace("drafter = self", "drafter = self-twin") + "[plugins]\nmine = mine.py\n"
    decoded(program, text)
    said = program.fails(78, "rerun", "a.h5")
    assert "was decoded with plugin 'mine', which lay at" in said
    assert "name it with --plugin" in said
    (program.folder / "mine.py").rename(program.folder / "moved.py")
    assert "60 of 60" in program.ok("rerun", "a.h5", "--plugin", "moved.py")
    with open(program.folder / "moved.py", "a", encoding="utf-8") as opened:
        opened.write("# Another line.\n")
    (program.folder / "moved.py").rename(program.folder / "mine.py")
    assert "it has changed since" in program.fails(78, "rerun", "a.h5", "--plugin", "mine.py")


def test_a_trace_without_prompts_is_refused(program):
    decoded(program, ORDERED, "--trace.prompts", "false")
    assert "does not hold the tokens of its prompts" in program.fails(65, "rerun", "a.h5")


def test_prompts_survive_units_and_a_sweep(program):
    config = program.write("a.ini", ORDERED.replace("drafter = self", "") +
                           "[sweep]\ndrafter = stepwise, self\n")
    program.ok("sweep", config, "--out", "cells", "--jobs", "1")
    program.ok("check-trace", "cells/sweep.h5")
    said = program.ok("rerun", "cells/sweep.h5")
    assert said.count("60 of 60 samples as recorded") == 2
    with h5py.File(program.folder / "cells" / "sweep.h5") as trace:
        assert trace.attrs["prompts"] == "all"
        assert trace["given_id"].shape == (1,)  # Both arms share the prompt.
