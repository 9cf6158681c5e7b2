"""`draftlab results`: pages whose tables are printed by the commands above them."""

import re
import subprocess

import pytest

from draftlab.commands import program
from draftlab.results.command import INSTRUCTIONS, differences, processor_has, tables_of
from draftlab.results.page import Command, Page, PageError, command_of
from draftlab.results.paper import with_paper, without_paper
from draftlab.results.times import time_titles, without_times

REPORT = {"metrics": [{"name": "nfe", "title": "NFE", "unit": "1"},
                      {"name": "seconds", "title": "seconds", "unit": "s"},
                      {"name": "tokens_per_second", "title": "tokens/s", "unit": "s-1"}]}
TABLE = [
    "| arm | NFE | fewer NFE | seconds | fewer seconds | samples | verdict |",
    "|---|---|---|---|---|---|---|",
    "| self | 3.0 | 2.00x | 0.5 | 1.1x | 4 | seconds: undecided, about 9 prompts; BLEU: worse |",
]
BLOCK = """# A page

```
./draftlab run configs/quickstart.ini --threads 1 --limit 2 --out out/q.h5
./draftlab report out/q.h5 --metric nfe,seconds
```

<!-- printed -->
<!-- end of what was printed -->

Prose that stays.
"""


@pytest.fixture
def page(tmp_path):
    def write(text):
        path = tmp_path / "page.md"
        path.write_text(text, encoding="utf-8")
        return str(path)

    return write


def test_times_are_what_a_metric_in_seconds_says():
    titles = time_titles(REPORT)
    assert titles == {"seconds", "tokens/s"}
    assert without_times(TABLE, titles)[1] == ["self", "3.0", "2.00x", "-", "-", "4", "BLEU: worse"]


def test_a_papers_columns_stay_and_are_compared_with_nothing():
    printed = ["| arm | NFE |", "|---|---|", "| k = 2 | 3.0 |", "| k = 4 | 2.0 |", "",
               "| arm | BLEU |", "|---|---|", "| k = 2 | 58 |"]
    shown = ["| arm | NFE | the paper | the paper, time |", "|---|---|---|---|",
             "| k = 4 | 2.5 | 2.1 | 7 s |", "", "| arm | BLEU |", "|---|---|", "| k = 2 | 57 |"]
    anew = with_paper(printed, shown)
    assert anew == ["| arm | NFE | the paper | the paper, time |", "|---|---|---|---|",
                    "| k = 2 | 3.0 |  |  |", "| k = 4 | 2.0 | 2.1 | 7 s |", "", *printed[5:]]
    assert without_paper(anew) == printed
    assert with_paper(printed, printed) == printed
    assert differences(anew, printed, set()) == []
    wrong = [line.replace("2.0", "2.2") for line in anew]
    assert len(differences(wrong, printed, set())) == 1


def test_a_changed_cell_is_found_and_a_changed_time_is_not():
    titles = time_titles(REPORT)
    slower = [line.replace("0.5", "0.9").replace("about 9", "about 7") for line in TABLE]
    faster = [line.replace("2.00x", "2.01x") for line in TABLE]
    assert differences(TABLE, slower, titles) == []
    assert len(differences(TABLE, faster, titles)) == 1
    assert differences(TABLE, TABLE[:2], titles)
    # A verdict that was on times alone comes and goes.
    before = [line.replace("; BLEU: worse", "") for line in TABLE]
    without = [line.rpartition("|")[0].rpartition("|")[0] + "|" for line in before]
    assert differences(before, without, titles) == []


def test_times_over_the_values_of_a_key_are_compared_with_nothing():
    pivot = ["NFE: function evaluations", "", "| arm | k=1 | k=2 |", "|---|---|---|",
             "| self | 4.0 [3.9, 4.1] | 2.0 [1.9, 2.1] (2.00x) |", "",
             "seconds: wall time of decoding a sample", "", "| arm | k=1 | k=2 |", "|---|---|---|",
             "| self | 0.40 [0.38, 0.41] | 0.21 [0.20, 0.22] (1.90x) |"]
    titles = time_titles(REPORT)
    slower = [line.replace("0.21 [0.20, 0.22] (1.90x)", "0.25 [0.24, 0.26] (1.60x)")
              for line in pivot]
    fewer = [line.replace("2.0 [1.9, 2.1]", "2.1 [2.0, 2.2]") for line in pivot]
    assert differences(pivot, slower, titles) == []
    assert len(differences(pivot, fewer, titles)) == 1
    # In brackets behind each value stands how many times fewer seconds it took.
    other = [line.replace("(2.00x)", "(1.50x*)") for line in pivot]
    assert len(differences(pivot, other, time_titles(REPORT, "nfe"))) == 1
    assert differences(pivot, other, time_titles(REPORT, "seconds")) == []
    assert len(differences(pivot, fewer, time_titles(REPORT, "seconds"))) == 1


def test_every_column_of_a_later_and_wider_table_is_compared():
    narrow = ["| arm | NFE |", "|---|---|", "| self | 3.0 |", ""]
    wide = ["| arm | NFE | BLEU | seconds |", "|---|---|---|---|", "| self | 3.0 | 57 | 0.5 |"]
    titles = time_titles(REPORT)
    slower = [line.replace("0.5", "0.9") for line in wide]
    worse = [line.replace("57", "56") for line in wide]
    assert differences([*narrow, *wide], [*narrow, *slower], titles) == []
    assert len(differences([*narrow, *wide], [*narrow, *worse], titles)) == 1


def test_of_a_table_that_was_timed_words_are_compared_and_numbers_are_not():
    shown = ["us of 20 calls", "", "| what | 1 row | verdict | the paper |", "|---|---|---|---|",
             "| q8, 4 threads | 1.5 ms [1, 2] | exact | 7 |"]
    slower = ["us of 20 calls", "", "| what | 1 row | verdict |", "|---|---|---|",
              "| q8, 4 threads | 9 ms [8, 9.5] | exact |"]
    assert differences(shown, slower, set(), timed=True) == []
    for was, now in [("exact", "biased"), ("4 threads", "2 threads"), ("1 row", "2 rows"),
                     ("20 calls", "30 calls")]:
        other = [line.replace(was, now) for line in slower]
        assert len(differences(shown, other, set(), timed=True)) == 1
    assert differences(shown, slower[:-1], set(), timed=True)
    assert len(differences(shown, slower, set())) == 1


def test_what_is_printed_replaces_what_stood_there(page):
    path = page(BLOCK + BLOCK)
    read = Page(path)
    for printed in read.printed:
        read.show(printed, TABLE, 7.4, "avx2")
    read.write()
    again = Page(path)
    assert [printed.marker for printed in again.printed] == ["<!-- printed in 7 s by avx2 -->"] * 2
    assert [again.shown(printed) for printed in again.printed] == [TABLE, TABLE]
    assert [printed.seconds for printed in again.printed] == [7, 7]
    assert "\n".join(again.lines).count("Prose that stays.") == 2


def test_aligned_columns_become_a_table_that_goes_on_behind_its_first_column():
    text = ("a caption: of two tables\n\nlimits     k = 1  k = 2\nN = 1  1 [0, 2]      3\n\n"
            "limits  all\nN = 1     4\n\nother  k = 1\nN = 1      5\n\nA sentence.\n")
    assert tables_of(text) == ["| limits | k = 1 | k = 2 | all |", "|---|---|---|---|",
                               "| N = 1 | 1 [0, 2] | 3 | 4 |", "", "| other | k = 1 |",
                               "|---|---|", "| N = 1 | 5 |"]
    assert tables_of("| a | b |\n|---|--:|\n\n" + text) == ["| a | b |", "|---|---|"]


def test_a_table_keeps_its_title_the_line_right_before_it():
    table = "| k | 1 |\n|---|--:|\n| a | 2 |\n"
    text = (f"A sentence.\nAnd one more.\n\n{table}\nNFE: function evaluations\n\n{table}\n"
            f"- A note.\n\nnear\n{table}")
    kept = ["| k | 1 |", "|---|---|", "| a | 2 |"]
    printed = tables_of(text)
    assert printed == [*kept, "", "NFE: function evaluations", "", *kept, "", *kept]
    paper = dict(zip(kept, ["| k | 1 | the paper |", "|---|---|---|", "| a | 2 | 3 |"]))
    shown = [paper.get(line, line) for line in printed]
    assert with_paper(printed, shown) == shown
    assert differences(shown, printed, set()) == []
    assert len(differences([line.replace("NFE", "BLEU") for line in shown], printed, set())) == 1


@pytest.mark.parametrize("text, said", [
    ("prose\n\n<!-- printed -->\n", "stands below no block of commands"),
    (BLOCK.replace("<!-- printed -->", "between\n\n<!-- printed -->"), "below no block"),
    (BLOCK.replace("<!-- end of what was printed -->\n", ""), "has no end"),
])
def test_a_marker_out_of_its_place_is_named(page, text, said):
    with pytest.raises(PageError, match=said):
        Page(page(text))


def results(*words):
    return subprocess.run([program(), "results", *words], capture_output=True, text=True,
                          check=False)


def test_a_page_is_printed_and_then_holds_and_a_typed_number_does_not(page):
    path = page(BLOCK)
    assert results(path).returncode == 0
    text = open(path, encoding="utf-8").read()
    assert "| NFE |" in text and "Prose that stays." in text
    assert results(path, "--check").returncode == 0
    row = next(line for line in text.split("\n") if line.startswith("| ") and "[" in line)
    typed = text.replace(row, row.replace("[", "[9", 1))
    open(path, "w", encoding="utf-8").write(typed)
    done = results(path, "--check")
    assert done.returncode == 1
    assert "differs" in done.stdout and "0 of 1 tables as printed" in done.stdout


def test_a_table_says_by_which_instructions_it_came_out_the_same(page, monkeypatch):
    marker = "<!-- printed in 20 s by avx512 -->"
    path = page(BLOCK.replace("<!-- printed -->", marker))
    # Whatever the environment says, the flag chooses.
    monkeypatch.setenv("DRAFTLAB_INSTRUCTIONS", "none")
    # What differs is not signed, and so is nothing without the flag.
    assert results(path, "--check", "--sign").returncode == 1
    assert marker in open(path, encoding="utf-8").read()
    assert results(path).returncode == 0
    by_avx2 = open(path, encoding="utf-8").read()
    assert re.search("<!-- printed in [0-9]+ s by avx2 -->", by_avx2)
    none = ("--check", "--instructions", "none")
    done = results(path, *none)
    assert done.returncode == 0 and done.stdout.endswith("1 of 1 tables as printed, by none\n")
    assert open(path, encoding="utf-8").read() == by_avx2
    for _ in range(2):
        assert results(path, *none, "--sign").returncode == 0
        signed = open(path, encoding="utf-8").read()
        assert signed == by_avx2.replace(" s by avx2 -->", " s by avx2; again by none -->")
    assert "--sign writes down what --check found" in results(path, "--sign").stderr


PRINTS_ITS_INSTRUCTIONS = """import os
names = ("DRAFTLAB_INSTRUCTIONS", "ATEN_CPU_CAPABILITY", "OPENBLAS_CORETYPE")
print("| kernels |", "|---|", *(f"| {os.environ[name]} |" for name in names), sep=chr(10))
"""


def test_commands_compute_with_the_instructions_that_were_asked_for(page, tmp_path):
    (tmp_path / "kernels.py").write_text(PRINTS_ITS_INSTRUCTIONS, encoding="utf-8")
    text = (f"```\nVARIABLES python3 {tmp_path}/kernels.py\n```\n\n"
            "<!-- printed -->\n<!-- end of what was printed -->\n")

    def printed(variables, *flags):
        path = page(text.replace("VARIABLES", variables))
        done = results(path, *flags)
        assert done.returncode == 0, done.stderr
        read = Page(path)
        return read.printed[0].by, [line.strip("| ") for line in read.shown(read.printed[0])[2:]]

    assert printed("A=b") == ("avx2", ["avx2", "avx2", "Haswell"])
    assert printed("A=b", "--instructions", "none") == ("none", ["none", "default", "Nehalem"])
    # Variables of a command are stronger.
    assert printed("DRAFTLAB_INSTRUCTIONS=none")[0] == "none"


def test_a_table_that_is_timed_computes_with_all_that_the_machine_has(page, tmp_path, monkeypatch):
    """It says which machine that was, needs no canonical run, and is signed by nobody."""
    script = ("import os, time\nprint('| kernels | s |', '|---|---|', "
              "f\"| {os.environ.get('DRAFTLAB_INSTRUCTIONS')} | {time.monotonic()} |\", "
              "sep=chr(10))\n")
    (tmp_path / "kernels.py").write_text(script, encoding="utf-8")
    monkeypatch.delenv("DRAFTLAB_INSTRUCTIONS", raising=False)
    block = BLOCK.replace(" --threads 1", "").replace("<!-- printed -->", "<!-- timed -->")
    path = page(block.replace("./draftlab report out/q.h5 --metric nfe,seconds",
                              f"python3 {tmp_path}/kernels.py"))
    assert results(path).returncode == 0
    text = open(path, encoding="utf-8").read()
    assert "| None | " in text
    assert re.search(r"<!-- timed in \d+ s on [^<>]+ \(family \d+, model \d+, [a-z0-9]+\), "
                     r"\d+ cores -->", text)
    done = results(path, "--check", "--sign")
    assert done.returncode == 0 and "1 of 1 tables as printed" in done.stdout
    assert open(path, encoding="utf-8").read() == text


def test_instructions_that_the_processor_lacks_are_refused(page):
    for name, its in INSTRUCTIONS.items():
        done = results(page(BLOCK), "--instructions", name, "--only", "no such command")
        if processor_has(name):
            assert done.returncode == 65
        else:
            assert done.returncode == 69
            assert f"has no {its.flag}, which --instructions {name} computes with" in done.stderr


def test_variables_stand_before_a_command_as_in_a_shell():
    assert command_of("DRAFTLAB_INSTRUCTIONS=avx2 A=b ./draftlab run x.ini --k 'v w'") == Command(
        ["run", "x.ini", "--k", "v w"], {"DRAFTLAB_INSTRUCTIONS": "avx2", "A": "b"})
    assert command_of("./draftlab report out/q.h5") == Command(["report", "out/q.h5"], {})
    assert command_of("A=b python3 x.py") == Command(["x.py"], {"A": "b"}, python=True)
    assert command_of("A=b sh x.sh") is None
    assert command_of("") is None


SCRIPT = """import os, sys
from draftlab.trace import Trace
print("| " + os.environ["A"] + " |", "|---|", f"| {Trace(sys.argv[1]).rows['run']} |", sep=chr(10))
"""


def test_a_file_of_python_prints_a_table_too(page, tmp_path):
    (tmp_path / "table.py").write_text(SCRIPT, encoding="utf-8")
    block = BLOCK.replace("./draftlab report out/q.h5 --metric nfe,seconds",
                          f"A=b PYTHONPATH=python python3 {tmp_path}/table.py out/q.h5")
    path = page(block)
    done = results(path)
    assert done.returncode == 0, done.stderr
    assert Page(path).shown(Page(path).printed[0]) == ["| b |", "|---|", "| 3 |"]
    done = results(page(block.replace("table.py", "none.py")))
    assert done.returncode == 65
    assert f"python3 {tmp_path}/none.py out/q.h5 ended with status 2" in done.stderr


def test_another_precision_is_canonical_with_the_vectors_that_every_processor_has(page):
    path = page(BLOCK.replace("./draftlab run", "DRAFTLAB_INSTRUCTIONS=avx2 ./draftlab run")
                .replace("--threads 1", "--threads 1 --dtype bf16"))
    assert results(path).returncode == 0


@pytest.mark.parametrize("command, said", [
    (BLOCK.replace(" --threads 1", ""), "without --threads 1"),
    (BLOCK.replace("--threads 1", "--threads 1 --dtype bf16"), "not f32"),
    (BLOCK.replace("--threads 1", "--threads 1 --sweep.run.dtype f32,q8"), "not f32"),
])
def test_only_canonical_runs_are_printed(page, command, said):
    done = results(page(command))
    assert done.returncode == 65
    assert said in done.stderr


WEIGHTS = BLOCK.replace("configs/quickstart.ini", "configs/models/llama2c.ini "
                        "--model.autoregressive.checkpoint small.bin")


def test_a_block_whose_weights_are_not_there_is_skipped_by_name(page, tmp_path):
    path, folder = page(WEIGHTS), tmp_path / "weights"
    folder.mkdir()
    done = results(path, "--files", str(folder))
    assert done.returncode == 0, done.stderr
    assert "skipped, there is no small.bin (--files)" in done.stdout
    # A file of that name is taken from the folder, and what is wrong with it is said.
    (folder / "small.bin").write_bytes(b"x")
    done = results(path, "--files", str(folder))
    assert done.returncode == 65 and "small.bin" in done.stderr and "skipped" not in done.stdout


@pytest.mark.parametrize("command, lacks", [
    ("report lattice/curves.h5 shuffled/curves.h5", "shuffled/curves.h5"),
    ("run configs/base/infill.ini --threads 1 --model.any-subset.checkpoint lattice,shuffled",
     "lattice,shuffled"),
])
def test_a_block_of_a_training_that_was_not_done_is_skipped_by_name(page, tmp_path, command, lacks):
    path = page(f"# A page\n\n```\n./draftlab {command}\n```\n\n"
                "<!-- printed -->\n<!-- end of what was printed -->\n")
    folder = tmp_path / "trainings"
    (folder / "lattice").mkdir(parents=True)
    done = results(path, "--files", str(folder))
    assert done.returncode == 0, done.stderr
    assert f"skipped, there is no {lacks} (--files)" in done.stdout


def test_times_over_the_values_of_a_key_may_be_others(page):
    path = page(BLOCK.replace("--metric nfe,seconds",
                              "--by drafter,router --pivot router --speedup nfe "
                              "--metric nfe,seconds"))
    assert results(path).returncode == 0
    text = open(path, encoding="utf-8").read()
    title = "seconds: wall time of decoding a sample"
    head, times = text.split(title)
    slower = times.replace("0.", "9.").replace("(1", "(2")
    assert slower != times
    open(path, "w", encoding="utf-8").write(head + title + slower)
    assert results(path, "--check").returncode == 0
    open(path, "w", encoding="utf-8").write(text.replace("--speedup nfe", "--speedup seconds"))
    assert results(path).returncode == 0
    text = open(path, encoding="utf-8").read()
    faster = re.sub(r"\(([0-9.]+)x", r"(1\1x", text)
    assert faster != text
    open(path, "w", encoding="utf-8").write(faster)
    assert results(path, "--check").returncode == 0


def test_only_may_name_a_flag_of_a_command(page):
    done = results(page(BLOCK), "--only", "--no-such-flag")
    assert done.returncode == 65
    assert "no table of these pages is printed by a command" in done.stderr


def test_a_pattern_is_the_files_that_match(page):
    pattern = "configs/certify/unmaskers/lossy-taken-*.ini"
    path = page(f"# A page\n\n```\n./draftlab certify --table {pattern}\n```\n\n"
                "<!-- printed -->\n<!-- end of what was printed -->\n")
    assert results(path).returncode == 0
    rows = [line.split("|")[1].strip() for line in Page(path).lines if line.startswith("| `")]
    assert rows == ["`configs/certify/unmaskers/lossy-taken-back-wino.ini`",
                    "`configs/certify/unmaskers/lossy-taken-back.ini`"]
