"""`draftlab import` of sums: servers' logs, answers and profiles, and what was exported."""

import csv
import io
import json

import pytest
from conftest import BLOCKS
from foreign import imported, refused

VLLM = "(APIServer pid=7) INFO 08-04 20:51:08 [metrics.py:120] SpecDecoding metrics: Mean " \
    "acceptance length: 3.49, Accepted throughput: 0.12 tokens/s, Drafted throughput: 0.34 " \
    "tokens/s, Accepted: 92 tokens, Drafted: 259 tokens, Per-position acceptance rate: 0.757, " \
    "0.622, 0.432, 0.324, 0.189, 0.108, 0.054, Avg Draft acceptance rate: 35.5%\n"
SGLANG = "[2026-01-02 03:04:05 TP0] Decode batch, #running-req: 4, #token: 2048, token usage: " \
    "0.01, accept len: 2.90, accept rate: 0.58, cuda graph: True, gen throughput (token/s): " \
    "410.25, #queue-req: 0\n"
OLD_SGLANG = "Decode batch. #running-req: 1, #token: 20, token usage: 0.00, accept len: 3.25, " \
    "cuda graph: True, gen throughput (token/s): 99.50, #queue-req: 0, \n"
LLAMA = """slot print_timing: id  3 | task 12 |
prompt eval time =     648.99 ms /   133 tokens (    4.88 ms per token,   204.94 tokens per second)
       eval time =   30387.12 ms /  2048 tokens (   14.84 ms per token,    67.40 tokens per second)
      total time =   31036.11 ms /  2181 tokens
draft acceptance rate = 0.98260 ( 1186 accepted /  1207 generated)
statistics mtp: #calls(b,g,a) = 1 861 690, #gen drafts = 690, #acc drafts = 690
"""
NEW_LLAMA = """0.11.1 I slot print_timing: id  0 | task 27 |        eval time =     100.00 ms / \
   20 tokens (    5.00 ms per token,   200.00 tokens per second)
0.11.1 I slot print_timing: id  0 | task 27 | draft acceptance = 0.84783 (   39 accepted /    46 \
generated), mean len =  2.70
0.12.1 I slot print_timing: id  1 | task 30 | draft acceptance = 0.50000 (    1 accepted /     2 \
generated), mean len =  2.00
"""


def rows(folder, text, *words):
    """The rows that are written, without what is NaN in them."""
    done = imported(folder, text, *words)
    assert done.returncode == 0, done.stderr
    lines = (folder / "ours.csv").read_text().splitlines()
    comments = [line for line in lines if line.startswith("#")]
    table = list(csv.DictReader(io.StringIO("\n".join(lines[len(comments):]))))
    for key in table[0]:
        nan = any(row[key] == "NaN" for row in table)
        assert nan == (f" {key}" in comments[-1].replace(",", "")), (key, comments[-1])
    (folder / "ours.csv").unlink()
    return [{key: value for key, value in row.items() if value != "NaN"} for row in table], done


def test_the_log_of_vllm(tmp_path):
    found, done = rows(tmp_path, "INFO: something else\n" + VLLM, "--task-name", "chat")
    assert done.stdout.startswith("ours.csv: 1 records; NaN: request, method, running_requests")
    assert found == [{"line": "2", "task": "chat", "draft_length": "7", "drafted_tokens": "259",
                      "accepted_tokens": "92", "mean_length": "3.49", "acceptance_rate": "0.355",
                      "accepted_by_depth": "0.757 0.622 0.432 0.324 0.189 0.108 0.054"}]


def test_the_log_of_vllm_before_any_draft(tmp_path):
    line = VLLM.replace("35.5%", "nan%")
    assert "acceptance_rate" not in rows(tmp_path, line)[0][0]


def test_the_log_of_sglang(tmp_path):
    plain = "Decode batch, #running-req: 1, #token: 5, cuda graph: True, gen throughput " \
        "(token/s): 9.00, #queue-req: 0\n"
    assert rows(tmp_path, SGLANG + plain + OLD_SGLANG)[0] == [
        {"line": "1", "running_requests": "4", "mean_length": "2.9", "acceptance_rate": "0.58",
         "tokens_per_second": "410.25"},
        {"line": "3", "running_requests": "1", "mean_length": "3.25", "tokens_per_second": "99.5"}]


def test_the_log_of_llama_cpp(tmp_path):
    lonely = "draft acceptance rate = 0.25000 (    1 accepted /     4 generated)\n"
    assert rows(tmp_path, LLAMA + lonely)[0] == [
        {"line": "5", "request": "12", "drafted_tokens": "1207", "accepted_tokens": "1186",
         "generated_tokens": "2048", "acceptance_rate": "0.9826", "tokens_per_second": "67.4"},
        {"line": "7", "drafted_tokens": "4", "accepted_tokens": "1", "acceptance_rate": "0.25"}]
    first, second = rows(tmp_path, NEW_LLAMA)[0]
    assert first == {"line": "2", "request": "27", "drafted_tokens": "46", "accepted_tokens": "39",
                     "generated_tokens": "20", "mean_length": "2.7", "acceptance_rate": "0.84783",
                     "tokens_per_second": "200.0"}
    assert second["request"] == "30" and "generated_tokens" not in second


def test_times_of_llama_cpp_are_those_of_the_request(tmp_path):
    said = "(    5.00 ms per token,   200.00 tokens per second)\n"
    text = "slot print_timing: id  0 | task 5 |        eval time =  100.00 ms /    20 tokens " + \
        said + "slot print_timing: id  0 | task 6 | prompt eval time =  10.00 ms /    9 tokens " + \
        said + "slot print_timing: id  0 | task 6 | draft acceptance = 0.50000 (    1 accepted /" \
        "     2 generated), mean len =  2.00\n"
    only, = rows(tmp_path, text)[0]
    assert only["request"] == "6" and "generated_tokens" not in only


PROFILE = {"schema_version": "1.0", "measured": True, "method": "eagle3",
           "num_speculative_tokens": 2, "marginal_accept_rates": [0.75, 0.25],
           "mean_accept_length": 2.0, "acceptance_length_histogram": {"1": 1, "2": 2, "3": 1},
           "per_category": {"qa": {"num_steps": 3, "mean_accept_length": 1.5,
                                   "conditional_accept_rates": [0.5, 0.5]}}}


def test_a_profile(tmp_path):
    assert rows(tmp_path, json.dumps(PROFILE, indent=2))[0] == [
        {"line": "1", "method": "eagle3", "draft_length": "2", "steps": "4",
         "accepted_tokens": "4", "mean_length": "2.0", "accepted_by_depth": "0.75 0.25"},
        {"line": "1", "task": "qa", "method": "eagle3", "draft_length": "2", "steps": "3",
         "mean_length": "1.5", "accepted_by_depth": "0.5 0.25"}]


def test_what_was_exported_comes_back(tmp_path, program):
    program.write("run.ini", BLOCKS + "[sweep]\ndecode.block_size = 2, 4\n")
    program.ok("run", "run.ini", "--out", "own.h5")
    program.ok("export", "own.h5", "--requests", "own.jsonl", "--profile", "profiles")
    requests = rows(tmp_path, (tmp_path / "own.jsonl").read_text())[0]
    own = program.ok("report", "own.h5", "--dialect", "vllm").splitlines()[1:3]
    assert len(requests) == 120
    for run in range(2):
        mine = [row for row in requests if row["request"].startswith(f"{run}/")]
        steps, drafted, accepted = (sum(int(row[key]) for row in mine) for key in
                                    ("steps", "drafted_tokens", "accepted_tokens"))
        text = (tmp_path / f"profiles/run-{run}/speculation_profile.json").read_text()
        profile = rows(tmp_path, text)[0][0]
        assert (int(profile["steps"]), int(profile["accepted_tokens"])) == (steps, accepted)
        assert float(profile["mean_length"]) == pytest.approx(1 + accepted / steps, abs=1e-6)
        deep = [float(rate) for rate in profile["accepted_by_depth"].split()]
        assert 1 + sum(deep) == pytest.approx(1 + accepted / steps, abs=1e-5)
        begun = sum(int(row["steps"]) * float(row["accepted_by_depth"].split()[0])
                    for row in mine if "accepted_by_depth" in row)
        assert begun / steps == pytest.approx(deep[0], abs=1e-6)
        rate, mean, first = map(float, own[run].split()[-3:])
        assert rate == pytest.approx(accepted / drafted, abs=5e-4)
        assert mean == pytest.approx(float(profile["mean_length"]), abs=5e-4)
        assert first == pytest.approx(deep[0], abs=5e-4)


@pytest.mark.parametrize("text, status, sentence", [
    (VLLM.replace("Drafted: 259 tokens, ", ""), 65,
     "theirs:1: 'SpecDecoding metrics:' stands here and not as vLLM is known to go on"),
    (SGLANG + VLLM, 65, "theirs:2: this line is of vLLM and line 1 of SGLang"),
    ("nothing of interest\n", 65, "theirs:1: there is no column 'method', and no other format"),
    (json.dumps({**PROFILE, "measured": False}), 65, "measured = False: the profile is a stub"),
    (json.dumps({**PROFILE, "schema_version": "2.0"}), 65, "schema_version = '2.0' has to be"),
    (json.dumps({**PROFILE, "mean_accept_length": 2.1}), 65,
     "mean_accept_length = 2.1 contradicts"),
    (json.dumps({**PROFILE, "marginal_accept_rates": [1.5]}), 65, "between 0 and 1"),
    ('{"metrics": {"speculative_decoding": {"num_spec_steps": -1}}}', 65,
     "theirs:1: num_spec_steps = -1 has to be a whole number"),
    ('{"metrics": {"speculative_decoding": {"num_spec_steps": 1}}}\n{"acc_eagle": {}}', 65,
     "theirs:2: this line is not vLLM's answers to requests"),
], ids=["another version", "two servers", "no log", "a stub", "another schema", "another mean",
        "a rate", "a count", "two formats"])
def test_what_is_wrong_is_one_sentence(tmp_path, text, status, sentence):
    refused(tmp_path, status, sentence, imported(tmp_path, text))
