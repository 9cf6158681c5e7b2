"""Runs the commands that the pages show, page after page (the README first), in a folder of their
own that has links to what lies in the tree. So a page may read what a command above it, or on a
page before it, has made.

    commands.py SOURCE PROGRAM [PAGE...]

Lines of blocks that begin with `./draftlab`, `draftlab` or `g++` are commands, and so are Python
blocks, but for one that begins with the comment `# NAME.py`: it is written to that file. How a
command is run:

- `run` decodes one prompt on one thread, whatever limit is shown;
- `sweep` prints its table of cells (`--dry-run`) and submits nothing, unless it names an action;
- `certify` samples 20,000 decodes of vector tokens, where the command does not say how many;
- a pattern stands for its first match;
- `widen` is not run again where an equal command above has made the folder;
- `train`, `distill`, `bench` and `serve` are not run: the config that they name is checked;
- what reads a file that such a command would have made is not run either;
- a command with a placeholder (a word of capitals, such as DIR or KIND.NAME), one in a block marked
  `text`, and one in a code span of the prose are not run.

Of every command, run or not, the name, the flags and the parts named by dotted keys must exist.
"""

import importlib.util
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time

from markdown import Page, pages

# Words of capitals, alone or between the signs that join words of a command.
PLACEHOLDER = re.compile(r"(?:^|[/=,.:])[A-Z][A-Z_]+(?:$|[/=,.:])|^[A-Z]:[A-Z]$")
LONGEST = 600  # seconds that one command may take
ACTIONS = {"--dry-run", "--status", "--retry", "--cancel", "--gather", "--worker"}


class Program:
    """The program's own account of its commands, flags and sections."""

    def __init__(self, path):
        self.path = path
        self.commands = set(re.findall(r"^  (\w[\w-]*) ", self.says("--help"), re.M)) | {"help"}
        self.kinds = set(re.findall(r"^(\w+)$", self.says("list"), re.M))
        self.helps = {}

    def says(self, *words):
        done = subprocess.run([self.path, *words], capture_output=True, text=True, check=False)
        return done.stdout

    def flags(self, command):
        if command not in self.helps:
            text = self.says(command, "--help")
            self.helps[command] = set(re.findall(r"^  (--[\w.-]+)", text, re.M))
        return self.helps[command] | {"--plugin", "--help"}


def faults_of(words, program):
    """Yields a sentence for each thing of a command that does not exist."""
    words = list(words)
    while len(words) > 1 and words[0] == "--plugin":
        words = words[2:]
    if not words:
        return
    if words[0] in ("--help", "--version", "test") or PLACEHOLDER.search(words[0]):
        return  # `test` is the launcher's, and its arguments are ctest's
    if words[0] not in program.commands:
        yield f"there is no command '{words[0]}'"
        return
    if "--slurm" in words:
        words = words[:words.index("--slurm")]
    for word in words[1:]:
        if not word.startswith("--"):
            continue
        flag = word.partition("=")[0]
        key = flag[2:].split(".")
        if flag in program.flags(words[0]) or key[0] in program.kinds:
            continue
        # A command may have keys of its own, such as bench.llama, which only it reads.
        if "." in flag and (key[0] in ("sweep", words[0]) or program.says("describe", key[0])):
            continue
        yield f"draftlab {words[0]} has no flag {flag}"


def is_placeholder(words):
    return any(PLACEHOLDER.search(word) for word in words)


def set_flag(words, flag, alias, value):
    """The words with --flag VALUE set once, under either of its names."""
    out, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in (flag, alias):
            skip = True
        elif not word.startswith((flag + "=", alias + "=")):
            out.append(word)
    return out + [flag, value]


def shortened(words, folder):
    """Returns what is run instead of the command; None where nothing is."""
    command, rest = words[0], []
    for word in words[1:]:  # a pattern stands for its first match
        matches = sorted(folder.glob(word)) if re.search(r"[*?]", word) and "/" in word else []
        rest.append(str(matches[0].relative_to(folder)) if matches else word)
    configs = [word for word in rest if word.endswith(".ini")]
    if command == "run":
        rest = set_flag(rest, "--run.limit", "--limit", "1")
        return [command] + set_flag(rest, "--run.threads", "--threads", "1")
    if command == "sweep" and not ACTIONS & set(rest):
        rest = rest[:rest.index("--slurm")] if "--slurm" in rest else rest
        return [command] + [word for word in rest if word != "--estimate"] + ["--dry-run"]
    if command == "certify" and "--certify.samples" not in rest:
        if any("cspd" in word for word in configs):
            return [command] + rest + ["--certify.samples", "20000"]
    if command in ("train", "distill", "bench", "serve"):
        return ["check", configs[0]] if configs else None
    return [command] + rest


def out_of(words):
    return words[words.index("--out") + 1] if "--out" in words else None


class Pages:
    def __init__(self, source, program, folder):
        self.source, self.program, self.folder = source, program, folder
        self.wrong, self.ran, self.not_made, self.widened = [], 0, [], []
        modules = ("h5py", "pandas", "xarray", "h5netcdf")
        self.without_modules = not all(importlib.util.find_spec(module) for module in modules)
        packages = str(source / "python")
        self.environment = dict(os.environ, OMP_NUM_THREADS="1", PYTHONPATH=packages)
        for entry in source.iterdir():
            if entry.name not in ("build", "out", ".git", "draftlab"):
                (folder / entry.name).symlink_to(entry)
        (folder / "out").mkdir()

    def fail(self, page, line, text):
        self.wrong.append(f"{page.path.relative_to(self.source)}:{line}: {text}")
        print("  WRONG " + self.wrong[-1], flush=True)

    def execute(self, page, line, words, accepted=(0,)):
        started = time.monotonic()
        shown = shlex.join(map(str, words))
        print(f"{page.path.relative_to(self.source)}:{line}: {shown[:180]}", flush=True)
        try:
            done = subprocess.run(words, cwd=self.folder, env=self.environment, timeout=LONGEST,
                                  capture_output=True, text=True, check=False)
        except subprocess.TimeoutExpired:
            return self.fail(page, line, f"took more than {LONGEST} s")
        self.ran += 1
        print(f"    {time.monotonic() - started:.1f} s", flush=True)
        if done.returncode not in accepted:
            self.fail(page, line, f"status {done.returncode}: {shown}\n{done.stdout[-1500:]}"
                                  f"{done.stderr[-1500:]}")

    def command(self, page, line, words, runs):
        for fault in faults_of(words, self.program):
            self.fail(page, line, fault)
            return
        if not runs or is_placeholder(words) or words[0] == "test":
            return
        if self.reads_what_was_not_made(words):
            return
        if words[0] == "widen":
            if words in self.widened:
                return
            self.widened.append(words)
        instead = shortened(words, self.folder)
        if words[0] in ("train", "distill") and out_of(words):
            self.not_made.append(out_of(words))
        if instead:
            # The doctor says by its status what it thinks of the machine.
            accepted = (0, 1) if words[0] == "doctor" else (0,)
            self.execute(page, line, [self.program.path] + instead, accepted)

    def reads_what_was_not_made(self, words):
        """Whether a word names a folder that a command not run would have made, or lies in it."""
        paths = [path for word in words for path in re.split("[=,]", word)]
        return any((path + "/").startswith(made + "/") for path in paths for made in self.not_made)

    def lines_of(self, block):
        """(line, text) of commands; a line that ends in a backslash goes on in the next."""
        text, begin = "", 0
        for number, line in enumerate(block.lines, block.line + 1):
            begin = begin if text else number
            text += line.rstrip("\\") + " "
            if not line.endswith("\\"):
                yield begin, text.strip()
                text = ""

    def python(self, page, block):
        file = re.match(r"# ([\w-]+\.py)\n", block.text)
        if file:
            (self.folder / file.group(1)).write_text(block.text, encoding="utf-8")
        elif not self.without_modules:
            self.execute(page, block.line, [sys.executable, "-c", block.text])

    def page(self, page):
        for block in page.blocks:
            if block.language == "python":
                self.python(page, block)
            if block.language not in ("", "sh", "text"):
                continue
            for line, text in self.lines_of(block):
                if re.match(r"(\./)?draftlab\s", text):
                    words = shlex.split(text, comments=True)[1:]
                    self.command(page, line, words, block.language != "text")
                elif re.match(r"g\+\+\s", text) and block.language != "text":
                    self.execute(page, line, shlex.split(text, comments=True))
        for line, text in page.spans():
            words = text.split()
            if len(words) > 1 and words[0] in ("draftlab", "./draftlab"):
                self.command(page, line, words[1:], runs=False)


def main():
    source, program = pathlib.Path(sys.argv[1]).resolve(), Program(os.path.abspath(sys.argv[2]))
    wanted = [source / name for name in sys.argv[3:]]
    with tempfile.TemporaryDirectory() as name:
        run = Pages(source, program, pathlib.Path(name))
        for path in wanted or pages(source):
            run.page(Page(path))
        if run.ran == 0:
            run.wrong.append("no command was found")
        print("\n".join(run.wrong) if run.wrong else f"{run.ran} commands")
        if not run.wrong and run.without_modules:
            print("skipped: the Python blocks, because h5py, pandas, xarray or h5netcdf is missing")
            return 77
        return 1 if run.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
