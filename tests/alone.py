"""Every file of the program and of its tests compiles by itself, as with the preset `dev`.

    alone.py SOURCE [--days N] [--jobs N] [WORD ...]

The launcher compiles many files as one, where a file may do without a header that its neighbour
includes. Here each is read alone, in a folder that is thrown away, and nothing is made of it. All
take nine minutes on two cores; with --days those are read whose turn it is today, so that N days
see all. With words only files are read whose path has one of them.
"""

import argparse
import datetime
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

from clang import wrong_of

ROOMS = ("core", "plugins", "analysis", "experiments", "tests")


def output_of(command):
    """What a command prints; where it fails, that is the end."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{shlex.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def reading(entry):
    """The compiler's command, without the file that it would make."""
    words = shlex.split(entry["command"])
    at = words.index("-o")
    return [*words[:at], *words[at + 2:], "-fsyntax-only"]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--days", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    if asked.days < 1:
        parser.error("--days counts from 1")
    source = asked.source.resolve()
    rooms = tuple(f"{source / room}/" for room in ROOMS)
    with tempfile.TemporaryDirectory() as build:
        output_of(["cmake", "-S", source, "--preset", "dev", "-B", build])
        output_of(["ninja", "-C", build, "commit"])
        commands = json.loads((pathlib.Path(build) / "compile_commands.json").read_text())
        for entry in commands:
            if entry["file"].endswith("cmake_pch.hxx.cxx"):
                output_of(["sh", "-c", f"cd {build} && {entry['command']}"])
        entries = [entry for entry in commands if entry["file"].startswith(rooms)
                   and (not asked.words or any(word in entry["file"] for word in asked.words))]
        if not entries:
            sys.exit(f"{source} has no such file")

        entries = entries[datetime.date.today().toordinal() % asked.days::asked.days]
        wrong = wrong_of(entries, reading, asked.jobs)
    print(f"{len(entries)} files compile by themselves, but for {wrong}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
