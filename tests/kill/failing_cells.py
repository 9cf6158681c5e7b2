#!/usr/bin/env python3
"""A sweep of many cells of which one in a hundred crashes, one hangs and one takes all memory.

  failing_cells.py PROGRAM MODULE [CELLS [SECONDS]]

CELLS are hundreds, two or more (200); a cell that hangs is given up after SECONDS (3).

All others are done, and each that failed is named with its cause. Prints what a cell cost.
"""
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import time

CONFIG = """
model = table
task = positions
router = one-in-many
[model.table]
length = 4
[task.positions]
length = 4
[sweep]
run.seed                  = {seeds}
router.one-in-many.number = {numbers}
"""
CAUSES = {
    7: "its process ended with signal 6",
    8: "a sample took longer than",
    9: "the memory did not suffice",
}
MOST_BYTES = 8 << 30  # The cells that take all memory have so many bytes of address space.


def main():
    program, module = (str(pathlib.Path(name).resolve()) for name in sys.argv[1:3])
    cells = int(sys.argv[3]) if len(sys.argv) > 3 else 200
    most_seconds = sys.argv[4] if len(sys.argv) > 4 else "3"
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        numbers = {"seeds": range(cells // 100), "numbers": range(100)}
        text = CONFIG.format(**{key: ", ".join(map(str, of)) for key, of in numbers.items()})
        (folder / "a.ini").write_text(text)
        resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
        command = [program, "--plugin", module, "sweep", folder / "a.ini", "--out", folder / "out"]
        began = time.time()
        done = subprocess.run(
            [*command, "--jobs", "2", "--sample-seconds", most_seconds],
            capture_output=True,
            text=True,
        )
        seconds, used = time.time() - began, sum(os.times()[2:4])
        said = done.stdout
        wrong = []
        if done.returncode != 1:
            wrong.append(f"it ends with {done.returncode}: {done.stderr[-400:]}")
        failed = 3 * cells // 100
        if f"{cells} cells, {cells - failed} done, {failed} failed" not in said:
            wrong.append(said[:200])
        named = re.findall(
            r"seed=(\d+) \S*number=(\d+) failed(?: with exit status \d+)?: (.*)", done.stderr
        )
        if len({(seed, number) for seed, number, _ in named}) != failed:
            wrong.append(f"{len(named)} of {failed} failures are named")
        for seed, number, cause in named:
            if not cause.startswith(CAUSES[int(number)]):
                wrong.append(f"cell {seed}, {number}: {cause}")
        if wrong:
            print("FAILED: " + "\n".join(wrong))
            sys.exit(1)
        print(
            f"{cells} cells, {failed} failed as they should and are named, the others are done: "
            f"{seconds:.0f} s, {1000 * used / cells:.1f} ms of processor time a cell"
        )


if __name__ == "__main__":
    main()
