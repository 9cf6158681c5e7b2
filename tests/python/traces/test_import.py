"""`draftlab import`: records of others, what they do not say, and what is wrong with them."""

import json
import subprocess

import pytest
from conftest import BINARIES
from foreign import imported, refused

LINE = {"id": "7", "prompt_token_ids": [5, 6, 7], "generated_token_ids": [1, 2],
        "acc_eagle": {"acc_len": [2, 1]}, "acc_ngram": {"acc_len": [1, 1]}}
HEAD = "task,request,prompt_tokens,generated_tokens,method,acceptance_lengths"


def written(folder):
    lines = (folder / "ours.csv").read_text().splitlines()
    comments = [line for line in lines if line.startswith("#")]
    return comments, lines[len(comments):]


def test_lines_of_specdecode_bench(tmp_path):
    done = imported(tmp_path, json.dumps(LINE) + "\n", "--task-name", "sums")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "ours.csv: 2 records; NaN: none\n"
    comments, rows = written(tmp_path)
    assert rows == [HEAD, "sums,7,3,2,eagle3,2 1", "sums,7,3,2,ngram,1 1"]
    assert comments[0] == "# source: somebody, on some GPU"
    assert "theirs, SpecDecode-Bench's JSONL, sha256 " in comments[1]
    assert "seconds of steps" in comments[2] and "arrival times" in comments[2]


def test_what_a_record_does_not_say_is_nan_and_named(tmp_path):
    said = {key: LINE[key] for key in ("acc_eagle", "generated_token_ids")}
    done = imported(tmp_path, json.dumps(said))
    assert done.stdout == "ours.csv: 1 records; NaN: task, request, prompt_tokens\n"
    comments, rows = written(tmp_path)
    assert rows[1:] == ["NaN,NaN,NaN,2,eagle3,2 1"]
    assert comments[2].startswith("# not said by the source: task, request, prompt_tokens, seconds")


def test_a_csv_with_two_columns_and_again_what_was_imported(tmp_path):
    done = imported(tmp_path, "method,acceptance_lengths\nmedusa,3 2 1\n", "--task-name", "chat")
    assert done.stdout.endswith("NaN: request, prompt_tokens, generated_tokens\n")
    assert written(tmp_path)[1] == [HEAD, "chat,NaN,NaN,NaN,medusa,3 2 1"]
    first = (tmp_path / "ours.csv").read_text()
    (tmp_path / "ours.csv").unlink()
    imported(tmp_path, first)
    assert written(tmp_path)[1] == [HEAD, "chat,NaN,NaN,NaN,medusa,3 2 1"]


def test_what_was_imported_is_simulated(tmp_path):
    imported(tmp_path, json.dumps(LINE), "--task-name", "sums")
    (tmp_path / "c.ini").write_text(
        "[cost]\nsource = made\n[target]\ncached = 0\nrow = 1\nfixed = 10\n[eagle3]\nfixed = 3\n"
        "[engine]\nfixed = 0\n")
    words = ["simulate", "ours.csv", "--cost", "c.ini", "--batches", "1", "--drafted", "1"]
    done = subprocess.run([str(BINARIES / "draftlab"), *words], cwd=tmp_path, capture_output=True,
                          text=True, check=False)
    # Without drafts 13 and 11 seconds; with one, 13, and 12 + 3.
    assert done.stdout.endswith(f"| sums | 1 | {24 / 28:.4f} |\n"), done.stderr


@pytest.mark.parametrize("text, words, status, sentence", [
    ("", [], 65, "theirs:1: there is no column 'method'"),
    ("{}", [], 65, "theirs:1: none of acc_eagle, acc_ngram is there"),
    ("{", [], 65, "theirs:1: this is no JSON"),
    ('{"acc_eagle": {"acc_len": [1, 0]}}', [], 65, "theirs:1: 'acc_eagle.acc_len' has to be"),
    ('{"acc_eagle": {"acc_len": [1]}, "prompt_token_ids": [-1]}', [], 65,
     "theirs:1: 'prompt_token_ids' has to be a list of token ids"),
    ("method,acceptance_lengths\nm,1 x\n", [], 65, "theirs:2: 'acceptance_lengths' has to be"),
    ("task,method,acceptance_lengths\na,m,1\n", ["--task-name", "b"], 65,
     "--task-name = 'b' contradicts"),
    ("method,acceptance_lengths\nm,1\n", ["--drafted", "1"], 64, "--drafted = '1' is for traces"),
], ids=["empty", "no lengths", "no JSON", "a zero", "a token id", "a word", "two tasks",
        "drafted for a CSV"])
def test_what_is_wrong_is_one_sentence(tmp_path, text, words, status, sentence):
    refused(tmp_path, status, sentence, imported(tmp_path, text, *words))


def test_the_program_hands_its_flags_on(tmp_path):
    (tmp_path / "theirs").write_text(json.dumps(LINE))
    done = subprocess.run([str(BINARIES / "draftlab"), "import", "theirs", "--out", "ours.h5",
                           "--source", "me", "--drafted", "1,2"], cwd=tmp_path,
                          capture_output=True, text=True, check=False)
    assert done.stdout.startswith("ours.h5: samples: 4, arms: 4, steps: 8;"), done.stderr


def test_nothing_is_overwritten(tmp_path):
    (tmp_path / "ours.csv").write_text("mine")
    done = imported(tmp_path, json.dumps(LINE))
    assert done.returncode == 73 and (tmp_path / "ours.csv").read_text() == "mine"
