"""`draftlab import --out FILE.h5`: the trace is valid, has what the source says, and no more."""

import json
import re

import numpy as np
import pytest
from foreign import imported, refused

from draftlab.audit.faults import DataError
from draftlab.foreign.schema import parse
from draftlab.foreign.whole_file import whole_file
from draftlab.simulate.acceptance import Request
from draftlab.simulate.cost import read_cost
from draftlab.simulate.walk import World, walk
from draftlab.trace import TABLES, Trace

HEAD = "task,request,prompt_tokens,generated_tokens,method,acceptance_lengths\n"
LENGTHS = [2, 1, 3, 1, 4, 2, 1, 1, 2]
ROW = HEAD + f"sums,7,3,9,eagle3,{' '.join(map(str, LENGTHS))}\n"


def trace(folder, program, text, *words):
    """What is written, once the program has found it valid and what is recomputed of it right."""
    done = imported(folder, text, *words, out="ours.h5")
    assert done.returncode == 0, done.stderr
    checked = program.ok("check-trace", "ours.h5")
    assert checked.startswith("ours.h5: valid") and len(checked.splitlines()) == 1, checked
    assert "ours.h5: all agree" in program.ok("recheck", "ours.h5")
    return Trace(folder / "ours.h5"), done.stdout


def test_lengths_are_walked_with_each_draft_length(tmp_path, program):
    found, printed = trace(tmp_path, program, ROW, "--drafted", "0,2")
    assert printed.startswith("ours.h5: samples: 2, arms: 2, steps: 14;")
    plain, drafting = found
    assert found["run_sequential"].tolist() == [1, 0]
    assert [step["committed"] for step in plain["steps"]] == [1] * 9
    assert [step["drafted"] for step in drafting["steps"]] == [0, 2, 2, 2, 2]
    assert [step["committed"] for step in drafting["steps"]] == [1, 2, 3, 2, 1]
    assert [step["accepted"] for step in drafting["steps"]] == [0, 1, 2, 1, 0]
    stops = [found.meanings("step_stop")[step["stop"]] for step in drafting["steps"]]
    assert stops == ["unverified", "wrong_token", "complete", "wrong_token", "wrong_token"]


def test_steps_are_those_of_simulate(tmp_path, program):
    rng = np.random.default_rng(3)
    rows = [(f"r{i}", rng.integers(1, 6, 40 + i).tolist()) for i in range(5)]
    text = HEAD + "".join(f"sums,{name},4,40,eagle3,{' '.join(map(str, lengths))}\n"
                          for name, lengths in rows)
    found, _ = trace(tmp_path, program, text, "--drafted", "1,3")
    surface = tmp_path / "c.ini"
    surface.write_text("[cost]\nsource = made\n[target]\ncached = 0\nrow = 0\nfixed = 1\n"
                       "[eagle3]\nfixed = 0\n[engine]\nfixed = 0\n")
    world = World.of([Request("sums", name, 4, {"eagle3": np.array(lengths)})
                      for name, lengths in rows], "eagle3", read_cost(str(surface)))
    for run, drafted in enumerate((1, 3)):
        # A forward takes a second, the prefill too: seconds are steps.
        seconds = walk(world, 1, lambda step: np.full(len(step.rows), drafted))
        here = found["sample_run_index"] == run
        assert found["sample_n_steps"][here].tolist() == seconds.tolist()
        assert found["sample_generated"][here].tolist() == [len(lengths) for _, lengths in rows]


def test_what_the_source_does_not_say_is_empty_and_named(tmp_path, program):
    found, printed = trace(tmp_path, program, ROW, "--drafted", "2")
    missing = found.attributes["not_said"].split()
    for column in missing:
        values = found[column]
        empty = np.isnan(values) if values.dtype.kind == "f" else values == type(values[0])()
        assert np.all(empty), column
    said = {name for table in TABLES if found.rows[table] for name in found.columns[table]}
    assert {"sample_seconds", "token_id", "run_checkpoint", "step_ns"} <= set(missing) <= said
    assert "sample_seconds" in printed and "sample_ns_*" in printed and "token_id" in printed
    for attribute in ("host", "cpu", "gpu", "seed", "threads", "git_commit", "device"):
        assert attribute not in found.attributes
    assert "sample_prompt_tokens" not in missing
    assert found.attributes["source"] == "somebody, on some GPU"
    assert "theirs, a CSV of acceptance lengths, sha256 " in found.attributes["read_from"]
    assert "walked by draftlab" in found.attributes["steps"]
    assert found.attributes["drafts"] == "none" and list(found["piece_text"]) == ["?"]


def test_no_report_counts_what_the_source_does_not_say(tmp_path, program):
    requests = "".join(ROW.splitlines()[1].replace("sums,7", f"sums,{i}") + "\n" for i in range(12))
    trace(tmp_path, program, HEAD + requests, "--drafted", "0,2")
    report = json.loads(program.ok("report", "ours.h5", "--metric", "nfe,same_text", "--format",
                                   "json"))
    nfe, same = ([group["cells"][name]["value"] for group in report["groups"]]
                 for name in ("nfe", "same_text"))
    assert nfe == [9, 5]  # Forwards are said.
    assert same == [None, None]  # The ids of its tokens are not.
    head, *rows = program.ok("report", "ours.h5", "--cost").split("\n\n")[0].splitlines()
    columns = re.split(r"\s{2,}", head)
    for row in rows:
        cells = dict(zip(columns, re.split(r"\s{2,}", row)))
        assert cells["rows/step"] == cells["positions/step"] == "-"
        assert float(cells["forwards/step"]) > 0


def test_a_column_that_some_records_lack_is_named(tmp_path, program):
    text = ROW + "sums,8,NaN,3,eagle3,1 1 1\n"
    found, _ = trace(tmp_path, program, text, "--drafted", "1")
    assert found["sample_prompt_tokens"].tolist() == [3, 0]
    missing = found.attributes["not_said"].split()
    assert {"sample_prompt_tokens", "sample_length", "token_position"} <= set(missing)


def test_token_ids_and_prompts_that_are_said_are_there(tmp_path, program):
    line = {"id": "7", "prompt_token_ids": [5, 6, 7], "generated_token_ids": [1, 2, 9, 8],
            "acc_eagle": {"acc_len": [3, 1, 1, 1]}}
    found, _ = trace(tmp_path, program, json.dumps(line), "--drafted", "2", "--task-name", "sums")
    assert found["token_id"].tolist() == [1, 2, 9, 8]
    assert found["token_position"].tolist() == [3, 4, 5, 6]
    assert found["given_id"].tolist() == [5, 6, 7] and found.attributes["prompts"] == "all"
    assert list(found["sample_prompt_id"]) == ["sums/7"] and found.rows["piece"] == 0
    assert [found.meanings("token_source")[source] for source in found["token_source"]] == \
        ["bonus", "accepted", "accepted", "bonus"]


def test_the_program_reads_it(tmp_path, program):
    text = ROW + "sums,8,3,4,eagle3,1 3 1 1\n"
    trace(tmp_path, program, text, "--drafted", "0,2")
    table = program.ok("report", "ours.h5", "--format", "csv", "--metric", "tokens_per_forward")
    assert "decode.draft_length=2" in table
    assert "mean acceptance length" in program.ok("report", "ours.h5", "--dialect", "vllm")
    shown = program.ok("inspect", "ours.h5", "--run", "1")
    assert "9 decoded in 5 steps" in shown
    assert "recorded no drafts" in program.fails(65, "replay", "ours.h5")


DETAILED = {"id": "cmpl-1", "usage": {"completion_tokens": 6}, "metrics": {"speculative_decoding": {
    "mean_acceptance_length": 2.5, "draft_acceptance_rate": 0.6, "num_spec_steps": 2,
    "acceptance_histogram": [0, 1, 1, 0], "num_accepted_draft_tokens": 3, "num_draft_tokens": 5,
    "num_spec_tokens": 3, "per_step_accepted": [2, 1], "per_step_drafted": [2, 3]}}}


def test_detailed_answers_of_vllm_are_steps(tmp_path, program):
    null = {"id": "cmpl-0", "metrics": {"speculative_decoding": None}}
    text = json.dumps(null) + "\n" + json.dumps(DETAILED)
    found, _ = trace(tmp_path, program, text, "--task-name", "chat")
    assert found["step_drafted"].tolist() == [2, 3] and found["step_accepted"].tolist() == [2, 1]
    assert found["step_committed"].tolist() == [3, 2] and list(found["sample_prompt_id"]) == \
        ["chat/cmpl-1"]
    assert [found.meanings("step_stop")[stop] for stop in found["step_stop"]] == \
        ["complete", "wrong_token"]
    assert list(zip(found["setting_key"], found["setting_value"])) == [("decode.draft_length", "3")]
    assert "sample_prompt_tokens" in found.attributes["not_said"].split()


def changed(**values):
    line = json.loads(json.dumps(DETAILED))
    line["metrics"]["speculative_decoding"].update(values)
    return json.dumps(line)


@pytest.mark.parametrize("text, words, status, sentence", [
    (ROW, [], 64, "--drafted is missing"),
    (ROW, ["--drafted", "2,02"], 64, "--drafted = '2,02' has to be different whole numbers"),
    (ROW + ROW[len(HEAD):], ["--drafted", "1"], 65,
     "theirs: request 'sums/7' of one arm stands here twice"),
    (json.dumps(DETAILED), ["--drafted", "1"], 64, "'1' is for acceptance lengths, and theirs is"),
    (changed(per_step_accepted=[3, 0]), [], 65, "theirs:1: step 0 accepts 3 of 2 drafts"),
    (changed(per_step_accepted=[2**40]), [], 65, "'per_step_accepted' has to be a list of whole"),
    (HEAD + "a,b,99999999999,3,m,1\n", ["--drafted", "1"], 65, "prompt_tokens = '99999999999' has"),
    ("method,acceptance_lengths\n\0,1\n", ["--drafted", "1"], 65, "theirs:2: a CSV has no NUL"),
    ("{" + '"a":[' * 9999, ["--drafted", "1"], 65, "theirs:1: this is no JSON"),
    (changed(per_step_drafted=[2]), [], 65, "has 2 entries and 'per_step_drafted' 1"),
    (changed(num_draft_tokens=6, draft_acceptance_rate=0.5), [], 65,
     "num_draft_tokens = 6 contradicts 'per_step_drafted', which makes it 5"),
    (changed(mean_acceptance_length=2), [], 65, "mean_acceptance_length = 2 contradicts"),
    (changed(acceptance_histogram=[0, 2, 1, 0]), [], 65, "num_spec_steps = 2 contradicts"),
    (json.dumps({"metrics": {"speculative_decoding": {"num_spec_steps": 2}}}), [], 65,
     "theirs:1: this answer has no 'per_step_accepted'"),
    ("draft acceptance rate = 0.5 (    1 accepted /     2 generated)\n", [], 65,
     "theirs: llama.cpp's log gives sums and no steps"),
], ids=["no length", "twice a length", "twice a request", "lengths for steps", "too many accepted",
        "a large count", "a large prompt", "NUL", "deep",
        "unequal", "another sum", "another mean", "another histogram", "a summary", "a log"])
def test_what_makes_no_trace_is_refused(tmp_path, text, words, status, sentence):
    refused(tmp_path, status, sentence, imported(tmp_path, text, *words, out="ours.h5"), "ours.h5")


def test_names_that_no_file_can_hold_are_mended(tmp_path, program):
    line = {"id": "a\ud800\0b", "acc_eagle": {"acc_len": [2, 1]}}
    found, _ = trace(tmp_path, program, json.dumps(line), "--drafted", "1")
    assert list(found["sample_prompt_id"]) == ["a??b"]


def test_a_program_that_is_not_there_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setenv("DRAFTLAB_PROGRAM", str(tmp_path / "none"))
    done = imported(tmp_path, ROW, "--drafted", "1", out="ours.h5")
    assert done.returncode == 73 and len(done.stderr.splitlines()) == 1, done.stderr


def test_a_write_that_fails_leaves_nothing(tmp_path):
    with pytest.raises(OSError) as failed, whole_file(str(tmp_path / "ours.h5")) as partial:
        assert partial != str(tmp_path / "ours.h5")
        raise OSError(28, "No space left on device")
    assert failed.value.filename == str(tmp_path / "ours.h5") and not list(tmp_path.iterdir())


def test_a_trace_is_not_overwritten(tmp_path):
    (tmp_path / "ours.h5").write_text("mine")
    done = imported(tmp_path, ROW, "--drafted", "1", out="ours.h5")
    assert done.returncode == 73 and (tmp_path / "ours.h5").read_text() == "mine"
    done = imported(tmp_path, ROW, "--drafted", "1", out="nowhere/ours.h5")
    assert done.returncode == 73 and "'nowhere/ours.h5': No such file" in done.stderr


def test_the_schema_is_the_program_s(tmp_path, program):
    found, _ = trace(tmp_path, program, ROW, "--drafted", "1")
    printed = program.ok("check-trace", "--schema")
    schema = parse(printed)
    program.write("run.ini", "model = table\ntask = positions\ndrafter = self\n[model.table]\n"
                  "kind = ordered\nlength = 7\n[task.positions]\nlength = 7\nprompt = 2:1\n"
                  "[run]\nsamples = 1\n")
    program.ok("run", "run.ini", "--out", "own.h5")
    own = Trace(tmp_path / "own.h5")
    assert found.attributes["schema"] == own.attributes["schema"] == schema.text()
    assert found.attributes["schema_version"] == own.attributes["schema_version"]
    for table in TABLES:
        for column in found.columns[table]:
            here, there = found.file[column], own.file[column]
            assert here.dtype == there.dtype, column
            for key in ("units", "sample_dimension", "instance_dimension", "flag_meanings"):
                assert here.attrs.get(key) == there.attrs.get(key), (column, key)
            assert here.dims[0][0].name == "/" + table
    with pytest.raises(DataError, match="no table 'axis'"):
        parse(printed.replace("### `axis`", "### `other`"))
