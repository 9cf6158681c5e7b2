"""Runs this tree's `draftlab import` in a folder, whatever program is under test."""

import os
import subprocess

from conftest import ROOT


def imported(folder, text, *words, out="ours.csv"):
    (folder / "theirs").write_text(text)
    command = [os.environ["DRAFTLAB_PYTHON"], "-m", "draftlab.foreign", "theirs", "--out", out,
               "--source", "somebody, on some GPU", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "python")})


def refused(folder, status, sentence, done, out="ours.csv"):
    """It ended with the status and one sentence, and nothing was written, not even in part."""
    assert (done.returncode, done.stdout) == (status, ""), done.stderr
    assert sentence in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    left = {path.name for path in folder.iterdir() if path.name.startswith(out)}
    assert left == set(), left
