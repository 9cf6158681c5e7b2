#!/usr/bin/env python3
"""Cuts the power under a run and under a sweep of two processes: at a call drawn at random every
process ends, and the disk loses what was not synced. Then the same command goes on.

  power_cut.py PROGRAM COMPARE SHIM [CUTS] [SEED]

The disk is a strict one. A file has the bytes of its last fsync; a name that was given, changed or
taken away is so only after an fsync of its folder, and a folder is there only after one of its
parent. In every other cut it keeps a part of the rest, as disks do: of each folder's changes those
up to some moment, of each file's bytes those up to some place.

After each cut all traces open, no sample is gone that was on the disk before, and every unit is
there whose writer had gone on to something else. What ends with status 0 is cut once more, and its
trace equals that of a run in peace, times apart.
"""
import ctypes
import os
import pathlib
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile

CONFIG = """
model = table
task = positions
[model.table]
length = 8
[task.positions]
length = 8
[run]
samples = 60
[trace]
unit_tokens = 100
[sweep]
drafter = self, stepwise
decode.draft_length = 2, 3
"""
PR_SET_CHILD_SUBREAPER = 36
NEVER = 1 << 40


def fail(sentence):
    print("FAILED: " + sentence)
    sys.exit(1)


class Disk:
    """The folder that stands for a disk, and what the shim wrote down of it."""

    def __init__(self, folder, shim):
        self.root, self.state, self.shim = folder / "disk", folder / "state", shim

    def format(self):
        shutil.rmtree(self.root, ignore_errors=True)
        self.root.mkdir()

    def run(self, command, fatal):
        """The status of a command, and how many calls it made; every process of it has ended."""
        shutil.rmtree(self.state, ignore_errors=True)
        (self.state / "grave").mkdir(parents=True)
        (self.state / "count").write_bytes(struct.pack("ll", 0, fatal))
        environment = {
            **os.environ,
            "LD_PRELOAD": str(self.shim),
            "POWER_CUT_ROOT": str(self.root),
            "POWER_CUT_STATE": str(self.state),
            "DRAFTLAB_LEASE_SECONDS": "0.5",
        }
        with open(self.state / "said", "w") as said:
            leader = subprocess.Popen(
                command, cwd=self.root, env=environment, stdout=said, stderr=said
            )
            status = leader.wait()
        end_children()
        return status, struct.unpack("ll", (self.state / "count").read_bytes())[0]

    def said(self):
        return (self.state / "said").read_text()[-600:]

    def log(self):
        file = self.state / "log"
        lines = file.read_text().splitlines() if file.exists() else []
        return [line.split("\t") for line in lines]

    def lose(self, chance):
        """Takes away what was not synced; a chance keeps a part of it."""
        names, written, kept = [], set(), {}
        for _, what, *of in self.log():
            if what == "write":
                written.add(of[0])
                kept.setdefault(of[0], int(of[1]))
            elif what == "sync":
                written.discard(of[0])
                kept[of[0]] = int(of[1])
            elif what == "sync-folder":
                names = [name for name in names if os.path.dirname(name[1]) != of[0]]
            else:
                names.append((what, of[-2] if what == "rename" else of[0], of))
        if chance:
            some = {}
            for name in names:
                some.setdefault(os.path.dirname(name[1]), []).append(name)
            for folder in sorted(some):
                del some[folder][: chance.randint(0, len(some[folder]))]
            names = [name for name in names if name in some[os.path.dirname(name[1])]]
        for file in [*self.root.rglob("*"), *(self.state / "grave").iterdir()]:
            inode, size = str(file.lstat().st_ino), file.lstat().st_size
            if inode in written and file.is_file():
                least = min(kept[inode], size)
                os.truncate(file, chance.randint(least, size) if chance else least)
                written.discard(inode)
        for what, path, of in reversed(names):
            take_back(what, path, of)

    def promised(self):
        """Units whose writer did something else after it had named them."""
        named, promised = {}, []
        for thread, what, *of in self.log():
            if thread in named and what != "sync-folder":
                promised.append(named.pop(thread))
            if what == "rename" and of[1].endswith(".h5"):
                named[thread] = of[1]
        return promised


def take_back(what, path, of):
    try:
        if what == "create":
            os.unlink(path)
        elif what == "mkdir":
            shutil.rmtree(path)
        elif what == "rmdir":
            os.mkdir(path)
        elif what == "unlink":
            os.link(of[1], path)
        elif what == "rename":
            os.rename(path, of[0])
            if of[2]:
                os.link(of[2], path)
    except FileNotFoundError:
        pass  # Its folder went with another change that was taken back.


def end_children():
    """Workers that outlived their starter are children of this process by now."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            for child in (
                pathlib.Path("/proc/self/task", str(os.getpid()), "children").read_text().split()
            ):
                os.kill(int(child), signal.SIGKILL)


def samples(compare, disk):
    """Checks all traces on the disk: a trace that is merged holds what its units held."""
    traces = [
        file
        for file in disk.root.rglob("*.h5")
        if not (file.parent.suffix == ".units" and file.parent.with_suffix("").exists())
        and file.name != "sweep.h5"
    ]
    done = subprocess.run([compare, "--samples", *traces], capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"a file does not open after a cut: {done.stderr}")
    return int(done.stdout)


def cut(kind, command, result, whole, compare, disk, cuts, chance):
    disk.format()
    status, usual = disk.run(command, NEVER)
    if status != 0:
        fail(f"{kind}: without a cut it ends with {status}: {disk.said()}")
    disk.format()
    made = rounds = before = 0
    while made < cuts or rounds == 0:
        status, calls = disk.run(command, chance.randrange(usual) if made < cuts else NEVER)
        over = status == 0
        was_cut = calls > struct.unpack("ll", (disk.state / "count").read_bytes())[1]
        if not over and not was_cut:
            fail(f"{kind}: ends with {status} after {made} cuts: {disk.said()}")
        disk.lose(chance if made % 2 and not over else None)
        made += 1
        for unit in disk.promised():
            trace = pathlib.Path(unit).parent.with_suffix("")
            if not os.path.exists(unit) and not (trace.suffix == ".h5" and trace.exists()):
                fail(f"{kind}: {unit} was written, and is gone after cut {made}")
        now = samples(compare, disk)
        if now < before:
            fail(f"{kind}: {before} samples were on the disk, and after cut {made} there are {now}")
        before = now
        if over:
            if subprocess.run([compare, disk.root / result, whole]).returncode != 0:
                fail(f"{kind}: what was resumed differs")
            rounds, before = rounds + 1, 0
            disk.format()
    print(f"{kind}: {made} cuts in {rounds} runs of {usual} calls, nothing lost", flush=True)


def main():
    program, compare, shim = (str(pathlib.Path(name).resolve()) for name in sys.argv[1:4])
    cuts = int(sys.argv[4]) if len(sys.argv) > 4 else 200
    chance = random.Random(int(sys.argv[5]) if len(sys.argv) > 5 else 1)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        config, whole = folder / "a.ini", folder / "whole.h5"
        config.write_text(CONFIG)
        subprocess.run([program, "run", config, "--out", whole], check=True, capture_output=True)
        disk = Disk(folder, shim)
        run = [program, "run", config, "--out", "some/folder/run.h5", "--resume"]
        cut("run", run, "some/folder/run.h5", whole, compare, disk, cuts // 2, chance)
        sweep = [program, "sweep", config, "--out", "sweep", "--jobs", "2"]
        cut("sweep", sweep, "sweep/sweep.h5", whole, compare, disk, cuts - cuts // 2, chance)


if __name__ == "__main__":
    main()
