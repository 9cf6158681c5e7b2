"""The command: what it prints, and its exit status."""

import json
import os
import subprocess
import sys

import pytest

from conftest import ROOT
from draftlab.audit.command import main

AUDITS = ROOT / "examples" / "audits"


@pytest.mark.parametrize("words, status, said", [
    ([f"{AUDITS}/own_draw.py", "--sampler", "own-draw"], 0, "own-draw: exact"),
    ([f"{AUDITS}/own_draw.py"], 1, "typical-acceptance: biased"),
    ([f"{AUDITS}/own_draw.py", "--sampler", "owndraw"], 64, "no sampler 'owndraw'"),
    ([f"{AUDITS}/parts.py"], 65, "no sampler; mark one"),
    (["nowhere.py"], 65, "there is no such file"),
    ([], 64, "usage"),
    (["--battery", "fast", "x.py"], 64, "invalid choice"),
    (["x.py", "--log", "y.jsonl"], 64, "usage"),
    (["--log", "nowhere.jsonl"], 65, "No such file"),
    (["x.py", "--hang", "0"], 64, "--hang"),
    (["x.py", "--seconds", "-1"], 64, "--seconds"),
    (["x.py", "--k", "-1"], 64, "--k"),
    (["x.py", "--workers", "-1"], 64, "--workers"),
    ([f"{AUDITS}/own_draw.py", "--sampler", "own-draw", "--k", "4"], 64, "must be one of 1, 2, 3"),
    ([f"{AUDITS}/own_draw.py", "--sampler", "own-draw", "--toy", "tie"], 64, "'ties'"),
    ([f"{AUDITS}/trees.py", "--k", "2"], 64, "no k to choose"),
])
def test_status_and_sentence(capsys, words, status, said):
    assert main(words) == status
    output = capsys.readouterr()
    assert said in output.out + output.err
    if status >= 64:
        assert output.err.count("\n") == 1


def test_files_that_cannot_be_read(capsys, tmp_path):
    (tmp_path / "broken.py").write_text("import draftlab as dl\n1 / 0\n")
    assert main([str(tmp_path / "broken.py")]) == 65
    assert "ZeroDivisionError" in capsys.readouterr().err
    (tmp_path / "absent.py").write_text("import no_such_module_at_all\n")
    assert main([str(tmp_path / "absent.py")]) == 69


def test_what_can_only_be_drawn_is_not_shown(capsys, monkeypatch):
    from draftlab.audit import run

    monkeypatch.setitem(run.LEVELS, "quick", run.Level(0.5, 60_000, 0.1, 1))
    words = [f"{AUDITS}/draws_by_itself.py", "--sampler", "hidden-generator"]
    assert main(words) == 2
    assert "would have been found with probability 0.99" in capsys.readouterr().out


def test_what_was_out_of_time_is_named_before_anything_else(capsys, monkeypatch):
    words = [f"{AUDITS}/uniform_is_zero.py", "--sampler", "uniform-is-zero-corrected"]
    assert main([*words, "--seconds", "60"]) == 0
    assert "out of time" not in capsys.readouterr().out
    from draftlab.audit import run
    from draftlab.audit.faults import OutOfTime

    def late(*_):
        raise OutOfTime("late")

    monkeypatch.setattr(run, "examine", late)
    assert main([*words, "--seconds", "0.3"]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert lines[1] == "  k tested: 3 of 3"
    assert lines[2].startswith("  not looked at, out of time: 27 laws: k 1: two tokens, one resid")
    assert "--seconds 2 may do" in lines[-2]


@pytest.mark.parametrize("calls, tested, verdict", [(1, [1], "not shown"), (3, [1, 2, 3],
                                                                           "not shown")])
def test_every_number_of_drafts_comes_first(monkeypatch, calls, tested, verdict):
    import draftlab as dl
    from draftlab.audit import run
    from draftlab.audit.faults import OutOfTime
    from draftlab.audit.sampler import sampler_of
    from parts import chain

    walked, examine = [], run.examine

    def a_few(sampler, toy, runs, seconds):
        walked.append(toy)
        if len(walked) > calls:
            raise OutOfTime("late")
        return examine(sampler, toy, runs, seconds)

    monkeypatch.setattr(run, "examine", a_few)
    monkeypatch.setattr(run.Look, "draw", lambda self, waiting: self.unseen.update(
        {id(toy): run.OUT_OF_TIME for toy in waiting}))

    def alike(target, drawn_from, drafts, random):  # Others import `chain` itself.
        return chain(target, drawn_from, drafts, random)

    mine = dl.sampler("mine", drafts=3)(alike)
    report = dl.audit(mine, seconds=60)
    assert report.tested == tested and report.verdict == verdict
    assert len(report.unseen) == len(run.toys_of(sampler_of(mine), "quick")) - calls
    missing = [k for k in (1, 2, 3) if k not in tested]
    said = str(report).splitlines()[1]
    assert said == f"  k tested: {len(tested)} of 3" + (
        f", not {', '.join(map(str, missing))}" if missing else "")


@pytest.mark.parametrize("choice, laws, tested", [
    (["--k", "2"], 6, "k tested: 1 of 3, not 1, 3"), (["--toy", "ties"], 1, "1 of 3, not 2, 3"),
    (["--k", "2", "--toy", "reversed"], 1, "k tested: 1 of 3, not 1, 3")])
def test_a_part_of_the_battery(capsys, choice, laws, tested):
    words = [f"{AUDITS}/own_draw.py", "--sampler", "own-draw", "--format", "json", *choice]
    assert main(words) == 0
    made = json.loads(capsys.readouterr().out)["samplers"][0]
    assert len(made["toys"]) == laws and made["k_declared"] == [1, 2, 3]
    assert main([*words[:3], *choice]) == 0
    assert tested in capsys.readouterr().out.splitlines()[1]


def test_the_random_laws_can_be_had_again(capsys):
    words = [f"{AUDITS}/own_draw.py", "--sampler", "own-draw", "--toy", "random 1"]
    laws = []
    for more in ([], [], ["--random-seed", "7"], ["--random-seed", "7"]):
        main([*words, *more, "--format", "json"])
        made = json.loads(capsys.readouterr().out)["samplers"][0]
        laws.append((made["random_seed"], made["toys"][0]["laws"]))
    assert laws[0] != laws[1] and laws[2] == laws[3] and laws[2][0] == 7
    assert laws[0][0] > 0 and laws[0][0] != laws[1][0]


def test_json(capsys):
    assert main([f"{AUDITS}/own_draw.py", "--format", "json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    verdicts = {made["sampler"]: made["verdict"] for made in answer["samplers"]}
    assert answer["status"] == 1 and verdicts["own-draw"] == "exact"
    case = next(made for made in answer["samplers"] if made["status"])["smallest_case"]
    assert {"event", "tv", "laws", "depth", "emitted_law", "target_law"} <= set(case)


@pytest.mark.parametrize("command, words", [("audit", "['parts.py']"),
                                            ("audit", "['--log', 'parts.py']"),
                                            ("census", "['--sources', '.']")])
def test_an_interpreter_without_numpy_is_named_with_the_way_out(command, words):
    script = (f"import sys; sys.modules['numpy'] = None\n"
              f"from draftlab.{command}.command import main; sys.exit(main({words}))")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "python")}, cwd=AUDITS,
                          check=False)
    assert done.returncode == 69 and done.stdout == ""
    assert done.stderr == (
        f"draftlab {command} needs numpy, which {sys.executable} does not have: install "
        "python3-numpy, or name another interpreter with --python or in DRAFTLAB_PYTHON\n")
