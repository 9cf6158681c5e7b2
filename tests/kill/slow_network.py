#!/usr/bin/env python3
"""Many workers decode one sweep, each on a machine of its own as far as it can tell: their folder
is on a slow network and their clocks are ten minutes apart (slow_network.cc). Some are killed.

  slow_network.py PROGRAM COMPARE SHIM [WORKERS] [TIMES] [SEED]

The sweep ends complete every time: each cell is done, and its trace equals that of a run in peace,
times apart. What the dead held is free when their leases end, and what the living hold is theirs,
whatever their clocks say.
"""
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

CONFIG = """
model = table
task = positions
[model.table]
length = 8
[task.positions]
length = 8
[run]
samples = 20
[trace]
unit_tokens = 100
[sweep]
drafter = self, ngram
decode.draft_length = 1, 2, 3, 4
decode.temperature = 0.5, 1, 1.5, 2
"""
LEASE = 10  # A lease holds for so many seconds.
APART = 600


def fail(sentence):
    print("FAILED: " + sentence)
    sys.exit(1)


class Network:
    def __init__(self, program, shim, root, chance):
        self.program, self.shim, self.root, self.chance = program, shim, root, chance
        self.machines = 0

    def start(self, *arguments):
        self.machines += 1
        environment = {
            **os.environ,
            "LD_PRELOAD": self.shim,
            "SLOW_NETWORK_ROOT": str(self.root),
            "SLOW_NETWORK_HOST": f"node-{self.machines}",
            "SLOW_NETWORK_CLOCK": str(self.chance.randint(-APART // 2, APART // 2)),
            "DRAFTLAB_LEASE_SECONDS": str(LEASE),
        }
        return subprocess.Popen(
            [self.program, *map(str, arguments)],
            env=environment,
            cwd=self.root,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *arguments):
        process = self.start(*arguments)
        said, _ = process.communicate()
        return process.returncode, said


def sweep(network, config, workers, cells):
    status, said = network.run("sweep", config, "--out", "sweep", "--estimate")
    if status != 0:
        fail(f"it could not be frozen: {said}")
    processes = [network.start("sweep", "sweep", "--worker") for _ in range(workers)]
    time.sleep(1)
    dead = network.chance.sample(processes, workers // 16)
    for process in dead:
        process.kill()
    for process in processes:
        said, _ = process.communicate()
        # 1: others hold what is left.
        if process.returncode not in (0, 1) and process not in dead:
            fail(f"a worker ends with {process.returncode}: {said}")
    time.sleep(LEASE)
    status, said = network.run("sweep", "sweep", "--worker")
    if status != 0:
        fail(f"cells are left: {said} {network.run('sweep', 'sweep', '--status')[1]}")
    status, said = network.run("sweep", "sweep", "--gather")
    if status != 0 or f"{cells} done" not in said:
        fail(f"it is not complete: {said}")


def main():
    program, compare, shim = (str(pathlib.Path(name).resolve()) for name in sys.argv[1:4])
    numbers = [int(word) for word in sys.argv[4:]]
    workers, times, seed = numbers + [64, 3, 1][len(numbers) :]
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        config, whole, root = folder / "a.ini", folder / "whole.h5", folder / "network"
        config.write_text(CONFIG)
        subprocess.run([program, "run", config, "--out", whole], check=True, capture_output=True)
        for number in range(times):
            shutil.rmtree(root, ignore_errors=True)
            root.mkdir()
            began = time.time()
            sweep(Network(program, shim, root, chance), config, workers, 32)
            if subprocess.run([compare, root / "sweep/sweep.h5", whole]).returncode != 0:
                fail("what the workers decoded differs")
            twice = len(list((root / "sweep/attempts").iterdir())) - 32
            # Only what the dead held is taken from them. A busy machine lets some others sleep
            # through their leases; were clocks believed, all would lose their cells.
            if twice > workers // 16 + workers // 4:
                fail(f"{twice} cells were taken from workers, of whom {workers // 16} died")
            print(
                f"{number + 1}: {workers} workers, {workers // 16} killed, 32 cells done, "
                f"{twice} further attempts, {time.time() - began:.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
