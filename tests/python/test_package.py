"""The package itself: its modules import each other without a circle, and Trace says its types."""

import ast
import inspect
import re
import typing

from conftest import ROOT

PACKAGE = ROOT / "python/draftlab"


def imported(path):
    """The modules of the package that a file imports, at its top or later; not for types alone."""
    tree = ast.parse(path.read_text())
    for guarded in ast.walk(tree):
        if isinstance(guarded, ast.If) and "TYPE_CHECKING" in ast.dump(guarded.test):
            guarded.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("draftlab"):
            within = node.module.replace(".", "/")
            for name in [within, *(f"{within}/{alias.name}" for alias in node.names)]:
                for file in (f"{name}.py", f"{name}/__init__.py"):
                    if (ROOT / "python" / file).is_file() and file != "draftlab/__init__.py":
                        yield ROOT / "python" / file


def circle(at, above, finished, edges):
    """A path that comes back to where it was, or nothing."""
    if at in above:
        return [*above[above.index(at):], at]
    for then in edges[at] if at not in finished else ():
        found = circle(then, [*above, at], finished, edges)
        if found:
            return found
    finished.add(at)
    return []


def test_no_module_imports_one_that_imports_it():
    edges = {path: set(imported(path)) - {path} for path in PACKAGE.rglob("*.py")}
    assert edges[PACKAGE / "trace.py"] == {PACKAGE / "commands.py"}
    finished = set()
    for path in edges:
        found = circle(path, [], finished, edges)
        assert not found, " imports ".join(step.name for step in found)


def test_every_method_of_trace_says_its_types():
    from draftlab import Trace

    methods = [each for name, each in vars(Trace).items() if inspect.isfunction(each)]
    assert len(methods) > 15
    for method in methods:
        types = typing.get_type_hints(method, localns={"pandas": _Any, "xarray": _Any})
        wanted = set(inspect.signature(method).parameters) - {"self"} | {"return"}
        assert set(types) == wanted, method.__name__


class _Any:
    """Stands for modules that are loaded where they are asked for."""

    DataFrame = Dataset = typing.Any


# The packages of conda-forge that are called otherwise than CMake calls them.
OF_CONDA = {"Boost": "libboost-devel", "Eigen3": "eigen", "ICU": "icu", "Torch": "libtorch",
            "SENTENCEPIECE": "libsentencepiece", "HTTPLIB": "cpp-httplib"}
# What comes with the compiler or the package beside it.
WITH_OTHERS = {"PkgConfig", "OpenMP"}


def test_conda_has_every_library_that_cmake_asks_for_in_the_same_version():
    cmake = (ROOT / "CMakeLists.txt").read_text()
    asked = dict(re.findall(r"find_package\((\w+) ?([\d.]*) ?REQUIRED", cmake))
    asked |= dict(re.findall(r"pkg_check_modules\((\w+) REQUIRED \w+ [\w-]+>=([\d.]+)", cmake))
    listed = (ROOT / "environment.yml").read_text()
    conda = dict(re.findall(r"^  - ([\w-]+)(?:>=([\d.]+))?", listed, re.M))
    assert len(asked) > 12 and "HTTPLIB" in asked
    for name, version in asked.items():
        if name not in WITH_OTHERS:
            assert conda[OF_CONDA.get(name, name.lower())] == version, name
