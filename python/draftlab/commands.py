"""draftlab's program: where it is, one call of it, and the figure that a notebook shows."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, List, Sequence


class DraftlabError(RuntimeError):
    """A command failed: its message, and `status`, its exit status (sysexits)."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def program() -> str:
    """The program: $DRAFTLAB_PROGRAM, the launcher of the source tree that holds this package or
    the current folder, or `draftlab` on the path."""
    named = os.environ.get("DRAFTLAB_PROGRAM")
    if named:
        return named
    here = [Path(__file__).resolve(), Path.cwd() / "x"]
    for place in here:
        for folder in place.parents:
            if (folder / "draftlab").is_file() and (folder / "CMakePresets.json").is_file():
                return str(folder / "draftlab")
    found = shutil.which("draftlab")
    if found:
        return found
    raise DraftlabError(
        "the program draftlab is not found; name it in DRAFTLAB_PROGRAM, or run in its source tree",
        69,
    )


def text_of(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(text_of, value))
    return str(value)


def call(words: Sequence[str], show: bool = True, holds: Sequence[int] = (0,)) -> str:
    """Runs the program; what it printed. Its progress goes to this process's standard error; an
    interrupt ends it as Ctrl-C would, and what was finished is kept."""
    process = subprocess.Popen(
        [program(), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    errors: List[str] = []
    try:
        reader = threading.Thread(target=_relay, args=(process.stderr, errors, show), daemon=True)
        reader.start()
        output = process.stdout.read()  # type: ignore[union-attr]
        status = process.wait()
        reader.join()
    except KeyboardInterrupt:
        process.send_signal(signal.SIGINT)
        process.wait()
        raise
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    if status not in holds:
        message = "".join(errors).strip().split("\r")[-1] or output.strip()
        raise DraftlabError(message, status)
    return output


def _relay(stream: Any, kept: List[str], show: bool) -> None:
    for line in stream:
        kept.append(line)
        if show:
            sys.stderr.write(line)
            sys.stderr.flush()


class Figure:
    """A picture that a notebook shows; `svg` is its text."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg


def plot(path: Any, figure: str, **flags: Any) -> Figure:
    """One figure of a trace, drawn by gnuplot (`draftlab plot --help` lists them)."""
    with tempfile.TemporaryDirectory(prefix="draftlab-") as folder:
        words = ["plot", str(path), "--figure", figure, "--format", "svg", "--out", folder]
        for name, value in flags.items():
            words += [f"--{name}", text_of(value)]
        printed = call(words, show=False)
        drawn = sorted(Path(folder).rglob("*.svg"))
        if not drawn:
            raise DraftlabError(f"draftlab plot drew no '{figure}': {printed.strip()}", 65)
        return Figure(drawn[0].read_text())
