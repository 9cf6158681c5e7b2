"""The command: what it prints, and its exit status."""

import json

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


def test_time_that_ended_is_said_and_how_much_more_may_do(capsys, monkeypatch):
    from draftlab.audit import walk

    words = [f"{AUDITS}/uniform_is_zero.py", "--sampler", "uniform-is-zero-corrected"]
    assert main([*words, "--seconds", "60"]) == 0
    assert "out of time" not in capsys.readouterr().out
    monkeypatch.setattr(walk.Walker, "deadline", property(lambda self: 0.0, lambda *_: None),
                        raising=False)
    assert main([*words, "--seconds", "0.3"]) == 2
    assert "before 3 of the laws were walked; --seconds 2 may do" in capsys.readouterr().out


def test_json(capsys):
    assert main([f"{AUDITS}/own_draw.py", "--format", "json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    verdicts = {made["sampler"]: made["verdict"] for made in answer["samplers"]}
    assert answer["status"] == 1 and verdicts["own-draw"] == "exact"
    case = next(made for made in answer["samplers"] if made["status"])["smallest_case"]
    assert {"event", "tv", "laws", "depth"} <= set(case)
