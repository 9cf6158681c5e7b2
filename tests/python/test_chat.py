"""`draftlab chat` in a terminal and in a pipe: what is shown is what `run` decodes."""

import os
import pty
import re
import subprocess

import pytest
from conftest import BINARIES, ORDERED, ROOT

from draftlab.trace import Trace

QUICKSTART = str(ROOT / "configs/quickstart.ini")
MARKS = re.compile(r"\[-.*?-\]|\{\+|\+\}|^step \d+:", re.M)


def words(text):
    return "".join(text.split())


def in_terminal(*arguments, typed=b""):
    """What the program writes to a terminal of 80 columns."""
    master, slave = pty.openpty()
    process = subprocess.Popen([str(BINARIES / "draftlab"), "chat", *arguments], stdout=slave,
                               stdin=slave if typed else subprocess.DEVNULL,
                               env={**os.environ, "TERM": "xterm", "NO_COLOR": ""})
    os.close(slave)
    if typed:
        os.write(master, typed)
    written = b""
    try:
        while True:
            more = os.read(master, 65536)
            if not more:
                break
            written += more
    except OSError:  # The other end is closed.
        pass
    os.close(master)
    assert process.wait() == 0
    return written.decode()


def test_a_prompt_of_the_task_is_decoded_as_run_decodes_it(program):
    program.ok("run", QUICKSTART, "--drafter", "self", "--limit", "1", "--out", "a.h5")
    trace = Trace(f"{program.folder}/a.h5")
    *steps, status, text = program.ok("chat", QUICKSTART, "--drafter", "self",
                                      "--question", "0").splitlines()
    row, = (i for i, run in enumerate(trace["sample_run_index"])
            if trace["run_arm"][run] == "drafter=self")
    sample = trace.sample(row)
    assert len(steps) == len(sample["steps"])
    nfe = sample["nfe_draft"] + sample["nfe_verify"]
    assert f"| {sample['generated']} tokens | NFE {nfe} |" in status
    assert words(text) in words(sample["text"])
    sources = [token["source"] for step in sample["steps"] for token in step["tokens"]]
    meanings = trace.meanings("token_source")
    replaced = sum(meanings[source] == "resampled" for source in sources)
    assert replaced > 3 and sum(line.count("{+") for line in steps) == replaced


def test_steps_of_a_pipe_make_the_text(program):
    done = program.run("chat", QUICKSTART, "--prompt", "Once upon a time", "--tokens", "12")
    assert done.returncode == 0 and "one of 3 cells" in done.stderr
    *steps, status, text = done.stdout.splitlines()
    assert words(MARKS.sub("", "\n".join(steps))) == words(text)
    assert status.startswith(f"step {len(steps)} | 12 tokens")


def test_a_terminal_is_written_over_in_colour():
    shown = in_terminal(QUICKSTART, "--prompt", "Once upon a time", "--tokens", "12")
    assert shown.count("A\r\x1b[J") >= 3
    for colour in ("\x1b[32m", "\x1b[31m", "\x1b[31;9m"):
        assert colour in shown
    last = shown.rsplit("\x1b[J", 1)[1]
    assert "\x1b[31;9m" not in last and "tokens a forward" in last


def test_what_is_typed_is_answered_line_by_line(program):
    done = subprocess.run([str(BINARIES / "draftlab"), "chat", QUICKSTART, "--tokens", "4"],
                          input="One day\n\nOne day\n", capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert sum("| 4 tokens |" in line for line in lines) == 2
    shown = in_terminal(QUICKSTART, "--tokens", "4", typed=b"One day\n\x04")
    assert shown.count("> ") == 2 and "| 4 tokens |" in shown


@pytest.mark.parametrize("arguments, status, said", [
    (["--prompt", "a", "--question", "0"], 64, "give one of them"),
    (["--question", "1000000"], 64, "--question 1000000 is beyond the"),
    (["--system", "Be brief"], 64, "choose another format"),
])
def test_what_cannot_be_shown_is_one_sentence(program, arguments, status, said):
    assert said in program.fails(status, "chat", QUICKSTART, *arguments)


def test_a_model_without_text_shows_ids(program):
    path = program.write("a.ini", ORDERED)
    assert "has no tokenizer" in program.fails(78, "chat", path, "--prompt", "1")
    assert re.search(r"^step 0: <\d>", program.ok("chat", path, "--question", "0"), re.M)
