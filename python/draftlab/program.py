"""draftlab's commands from Python: run, sweep, certify, check, describe."""

import inspect
import os
import re
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Set, Union

from draftlab import options, parts
from draftlab.commands import call, text_of

if TYPE_CHECKING:
    from draftlab.trace import Trace  # It needs h5py, and commands without a trace do not.

KINDS = (
    "model frontier drafter verifier acceptance router estimator unmasker task".split()
)  # These keywords of run, sweep and certify take a part.


class _Words:
    """The words of a command line, and what must live while it runs."""

    def __init__(self, name: str, stack: ExitStack) -> None:
        self.words: List[str] = [name]
        self._stack, self._serving = stack, False
        self._loaded: Set[str] = set()

    def plugins(self, plugin: Union[str, Sequence[str]]) -> None:
        for file in [plugin] if isinstance(plugin, (str, os.PathLike)) else plugin:
            self._load(str(file))

    def _load(self, file: str) -> None:
        """Once, by whatever path it is named."""
        if os.path.realpath(file) not in self._loaded:
            self._loaded.add(os.path.realpath(file))
            self.words += ["--plugin", file]

    def part(self, kind: str, given: Any) -> None:
        """A name, a decorated class, or an instance of one with its options."""
        if isinstance(given, str):
            self.words += [f"--{kind}", given]
            return
        cls: Any = given if isinstance(given, type) else type(given)
        if getattr(cls, "draftlab_kind", None) != kind:
            raise TypeError(f"{kind} = {given!r} is no class that @draftlab.{kind} decorates")
        name = cls.draftlab_name
        self._reach(cls)
        self.words += [f"--{kind}", name]
        if given is cls:
            return
        for each in options.options_of(cls):
            self.words += [f"--{kind}.{name}.{each.name}", text_of(getattr(given, each.name))]

    def _reach(self, cls: Any) -> None:
        """A class of a file is loaded from there; one of a notebook is served by this process."""
        file = _file_of(cls)
        if file and parts.REGISTERED.get((cls.draftlab_kind, cls.draftlab_name)) is cls:
            self._load(file)
        elif self.words[0] == "sweep":
            raise TypeError(
                f"the workers of a sweep load their parts from files; write {cls.__name__} into "
                "one and import it"
            )
        elif not self._serving:
            from draftlab import serving

            self._serving = True
            served = self._stack.enter_context(serving.Temporary())
            self.words += ["--plugin", served.address]

    def settings(self, more: Dict[str, Any]) -> None:
        for key, value in more.items():
            self.words += [f"--{key}", text_of(value)]


def _file_of(cls: type) -> Optional[str]:
    if cls.__module__ == "__main__":
        return None
    try:
        file = inspect.getsourcefile(cls)
    except TypeError:
        return None
    return file if file and file.endswith(".py") and os.path.exists(file) else None


def _command(
    name: str, config: Any, plugin: Any, keys: Any, chosen: Dict[str, Any], stack: ExitStack
) -> _Words:
    words = _Words(name, stack)
    words.words += map(str, [config] if isinstance(config, (str, os.PathLike)) else config)
    words.plugins(plugin)
    for kind in KINDS:
        if kind in chosen:
            words.part(kind, chosen.pop(kind))
    for key in chosen:
        if key not in ("limit", "seed", "batch", "threads", "device", "dtype"):
            raise TypeError(f"{name} takes no '{key}'; config keys stand in options={{...}}")
    words.settings({**chosen, **(keys or {})})
    return words


def run(
    config: Union[str, "os.PathLike[str]"],
    *,
    out: Optional[str] = None,
    plugin: Union[str, Sequence[str]] = (),
    options: Optional[Dict[str, Any]] = None,
    show: bool = True,
    **chosen: Any,
) -> "Trace":
    """Decodes every cell of a config and returns its Trace.

        trace = dl.run("configs/quickstart.ini", router=LongSpans(span=3), limit=50)

    Keywords are kinds of parts (a name, a class or an instance), or limit, seed, batch, threads,
    device, dtype; `options` sets config keys: {"decode.draft_length": 3}. `out`: the trace's file.
    """
    from draftlab.trace import Trace

    with ExitStack() as stack:
        words = _command("run", config, plugin, options, chosen, stack)
        if out is not None:
            words.words += ["--out", str(out)]
        printed = call(words.words, show)
    return Trace(re.findall(r"^trace: (.*)$", printed, re.M)[-1])


def sweep(
    config: Union[str, "os.PathLike[str]"],
    *,
    jobs: int = 1,
    out: Optional[str] = None,
    plugin: Union[str, Sequence[str]] = (),
    options: Optional[Dict[str, Any]] = None,
    show: bool = True,
    **chosen: Any,
) -> "Trace":
    """The same, each cell on its own, `jobs` of them at a time; parts must come from files."""
    from draftlab.trace import Trace

    with ExitStack() as stack:
        words = _command("sweep", config, plugin, options, chosen, stack)
        words.words += ["--jobs", str(jobs)] + (["--out", str(out)] if out else [])
        printed = call(words.words, show)
    return Trace(re.findall(r"^trace: (.*)$", printed, re.M)[-1])


@dataclass
class Certificate:
    """Whether every claim holds; `tv` is the largest total variation among the cells."""

    text: str
    holds: bool
    cells: List[float]

    @property
    def tv(self) -> float:
        return max(self.cells)

    def __str__(self) -> str:
        return self.text


def certify(
    config: Any,
    *,
    plugin: Union[str, Sequence[str]] = (),
    options: Optional[Dict[str, Any]] = None,
    show: bool = False,
    **chosen: Any,
) -> Certificate:
    """The exact output distribution against the reference of the config."""
    with ExitStack() as stack:
        words = _command("certify", config, plugin, options, chosen, stack)
        text = call(words.words, show, holds=(0, 1))
    cells = [float(number) for number in re.findall(r"total variation +(\S+)", text)]
    return Certificate(text, "DOES NOT HOLD" not in text, cells)


def check(
    config: Any,
    *,
    plugin: Union[str, Sequence[str]] = (),
    options: Optional[Dict[str, Any]] = None,
    **chosen: Any,
) -> str:
    """Validates a config; what `draftlab check` prints. DraftlabError names every fault."""
    with ExitStack() as stack:
        said = call(_command("check", config, plugin, options, chosen, stack).words, show=False)
    return said


def describe(name: str, *, plugin: Union[str, Sequence[str]] = ()) -> str:
    """Options, defaults, ranges and source of what `name` names ("router.min-span")."""
    with ExitStack() as stack:
        words = _Words("describe", stack)
        words.words.append(name)
        words.plugins(plugin)
        said = call(words.words, show=False)
    return said
