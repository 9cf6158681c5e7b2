"""A row of the census: whose sampler it is, where it stands, and how it is called."""

import importlib.util
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Callable, List, Optional, Sequence, Tuple

from draftlab.audit.faults import DataError, UsageError
from draftlab.census.theirs import Code, loaded, parts

CLAIMS = ("lossless", "lossy by design", "opt-in", "not stated")


@dataclass
class Row:
    """One sampler of one repository at one commit.

    `adapter` takes the module with their functions and returns the function that is audited:
    `verify(target, drawn_from, drafts)`, torch tensors in, a list of tokens out, as docs/AUDIT.md
    says; `sampling`, `parents` and `retrieve_indices` may follow. With `batch` it takes a `call`.
    """

    name: str
    repository: str
    commit: str
    code: Tuple[Code, ...]
    function: str  # The name that the table shows.
    expected: str  # The verdict that this commit had: "exact", "biased" or "crashes".
    claim: str = "lossless"
    drafts: int = 2  # The battery drafts up to so many tokens.
    takes: str = "probabilities"
    tree: Optional[Tuple[int, ...]] = None
    siblings: str = "iid"
    cuts: str = "target"
    batch: int = 0  # So many requests a call, which is then docs/AUDIT.md's of an engine.
    controls: Tuple[Tuple[str, int], ...] = ()  # (the name of a break, which of its places)
    shown_by: str = ""  # The toy of the battery that shows the bias, where not every one does.
    not_covered: str = ""
    because: str = ""  # Why it is biased, in words for its maintainers.
    read_from: str = ""  # The fork that the commit was read from, if not the repository itself.
    adapter: Callable = field(default=None, repr=False)
    file: str = ""

    def __post_init__(self):
        if self.claim not in CLAIMS:
            raise UsageError(f"row '{self.name}': claim = {self.claim!r} must be one of "
                             f"{', '.join(CLAIMS)}")
        if self.batch and self.expected != "exact":
            raise UsageError(f"row '{self.name}': a bias has to be shown for a single request, "
                             "since its plain Monte Carlo has no batches")
        if isinstance(self.code, Code):
            self.code = (self.code,)

    def texts(self, sources: str) -> List[str]:
        """The files as they stand at the commit; raises Missing."""
        return [_show(self, sources, code.path) for code in self.code]

    def definitions(self, texts: Sequence[str]) -> List[Any]:
        """What the adapter needs of them, as syntax trees."""
        try:
            return [node for text, code in zip(texts, self.code) for node in parts(text, code)]
        except LookupError as error:
            raise DataError(f"row '{self.name}': {error.args[0]}") from error

    def sampler(self, definitions: List[Any]):
        """The audited sampler made of these syntax trees."""
        from draftlab.audit.engines import engine
        from draftlab.audit.sampler import sampler

        mark = engine(self.name, self.drafts, batch=self.batch, greedy_rows="raw",
                      tensors="torch") if self.batch else \
            sampler(self.name, self.drafts, takes=self.takes, tensors="torch", tree=self.tree,
                    siblings=self.siblings, cuts=self.cuts)
        needs = [name for code in self.code for name in code.needs]
        return mark(self.adapter(loaded(definitions, needs)))


class Missing(Exception):
    """A checkout, or the commit in it, is not there."""


def row(name: str, **fields: Any) -> Callable:
    """Marks an adapter as a row of the census; the fields are those of Row."""

    def mark(adapter: Any) -> Any:
        adapter.census_rows = [*getattr(adapter, "census_rows", []),
                               Row(name, adapter=adapter, file=adapter.__code__.co_filename,
                                   **fields)]
        return adapter

    return mark


def _show(made: Row, sources: str, path: str) -> str:
    """A file at the commit: of an archive, a folder NAME-COMMIT, or of a git checkout."""
    tail = made.repository.split("/")[-1]
    archive = Path(sources, f"{tail}-{made.commit}")
    if archive.is_dir():
        if not (archive / path).is_file():
            raise Missing(f"{archive} does not have {path}")
        return (archive / path).read_text(encoding="utf-8")
    tried = [Path(sources, folder) for folder in (made.repository, tail)]
    folder = next((place for place in tried if place.is_dir()), None)
    if folder is None:
        raise Missing(f"no checkout {tail} of https://github.com/{made.repository}, commit "
                      f"{made.commit}")
    shown = subprocess.run(["git", "-C", str(folder), "show", f"{made.commit}:{path}"],
                           capture_output=True, check=False)
    if shown.returncode:
        raise Missing(f"{folder} does not have {path} at commit {made.commit} of "
                      f"https://github.com/{made.repository}")
    return shown.stdout.decode("utf-8")


def adapters_folder() -> Path:
    """The folder `census` beside the folder that holds this package."""
    return Path(__file__).resolve().parents[3] / "census"


def rows_of(names: Sequence[str]) -> List[Row]:
    """The rows with these names, or of these files; all of them where none is named."""
    folder = adapters_folder()
    if not folder.is_dir() and not all(name.endswith(".py") for name in names or [""]):
        raise UsageError(f"{folder}: the folder of adapters is not there; name files of adapters")
    files = [Path(name) for name in names if name.endswith(".py")]
    named = len(files) < len(names) or not names
    every = [made for path in sorted(folder.glob("*.py")) if named for made in _load(path)]
    known = {made.name: made for made in every}
    if not names:
        return every
    chosen = []
    for name in names:
        if name.endswith(".py"):
            chosen += _load(files.pop(0))
        elif name in known:
            chosen.append(known[name])
        else:
            raise UsageError(f"'{name}' is no row of the census; it has {', '.join(known)}")
    return chosen


def _load(path: Path) -> List[Row]:
    if not path.is_file():
        raise DataError(f"{path}: there is no such file")
    name = "census_" + "".join(c if c.isalnum() else "_" for c in path.stem)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (SyntaxError, NameError, TypeError, ImportError, UsageError) as error:
        raise DataError(f"{os.fspath(path)}: {type(error).__name__}: {error}") from error
    found = [made for value in vars(module).values()
             for made in getattr(value, "census_rows", [])]
    if not found:
        raise DataError(f"{path}: no row; mark an adapter with @row(NAME, ...)")
    return found
