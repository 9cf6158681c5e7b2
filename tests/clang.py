"""Another compiler finds neither an error nor a warning in the sources of the program.

    clang.py BUILD COMPILER [--jobs N] [WORD ...]

Each command of BUILD/compile_commands.json that compiles the program or its plugins is given to
COMPILER, and what it makes is thrown away. Nothing is optimised: the optimiser of clang 16.0.6 dies
of a fault of its own on the matrix tiles of bf16_products.cc. With words only files are looked at
whose name has one of them. What uses libtorch is left out: the headers of Debian 12's, 1.13, are
none that clang takes as C++20 (a vector of c10::IValue is used before that is a whole type).
Status 77 says that there is no such compiler.
"""

import argparse
import json
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

# What only g++ knows, and its precompiled headers, which nobody else can read.
OF_GCC = ("-fpch-preprocess", "-Winvalid-pch", "-Wshadow=local")
# Loops that g++ is told to vectorise are loops to others; where a coroutine returns an aggregate,
# clang 14 sees a field that nobody sets; and it sees rows that begin anywhere in arguments that are
# inlined.
SWITCHED_OFF = ["-Wno-unknown-pragmas", "-Wno-missing-field-initializers", "-Wno-align-mismatch",
                "-Wno-unknown-warning-option"]


def command(entry, compiler):
    words = shlex.split(entry["command"])
    if pathlib.Path(words[0]).name == "ccache":
        del words[0]
    kept, words = [compiler], iter(words[1:])
    for word in words:
        if word in ("-o", "-include", "-MF", "-MT"):
            next(words)
        elif word not in ("-c", "-MD", *OF_GCC) and not word.startswith(("-O", "--param=")):
            kept.append(word)
    return [*kept, "-Werror", *SWITCHED_OFF, "-O0", "-c", "-o", "/dev/null"]


def wrong_of(entries, command_of, jobs):
    """How many of a build's files have errors, each of which is printed below its file's name."""

    def look(entry):
        done = subprocess.run(command_of(entry), cwd=entry["directory"], capture_output=True,
                              text=True)
        if done.returncode:
            print(f"{entry['file']}\n{done.stderr}", flush=True)
        return done.returncode != 0

    with ThreadPoolExecutor(jobs) as pool:
        return sum(pool.map(look, entries))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("compiler")
    parser.add_argument("words", nargs="*")
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    if not shutil.which(asked.compiler):
        return 77
    entries = [entry for entry in json.loads((asked.build / "compile_commands.json").read_text())
               if not re.search(r"/tests/|tests/CMakeFiles|draftlab_torch.dir", entry["command"])
               and (not asked.words or any(word in entry["file"] for word in asked.words))]
    if not entries:
        sys.exit(f"{asked.build} compiles no such file")

    wrong = wrong_of(entries, lambda entry: command(entry, asked.compiler), asked.jobs)
    print(f"{asked.compiler}: {len(entries)} files, {wrong} with errors or warnings")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
