"""What CI runs is what a clone has: every preset can be built and tested, tests without labels are
those of `./draftlab test`, and the workflow calls .ci/run in the Debian that is supported.

    ci.py SOURCE
"""

import json
import os
import pathlib
import re
import sys


def names(presets, kind):
    return [preset["name"] for preset in presets[kind] if not preset.get("hidden")]


def faults(source):
    presets = json.loads((source / "CMakePresets.json").read_text())
    wanted = names(presets, "configurePresets")
    for kind in ("buildPresets", "testPresets"):
        if names(presets, kind) != wanted:
            yield f"CMakePresets.json: {kind} are {names(presets, kind)}, and not {wanted}"
    base = next(preset for preset in presets["testPresets"] if preset["name"] == "base")
    launcher = (source / "draftlab").read_text()
    labels = "".join(re.findall(r"^ *labels=['\"](?:\$labels)?([^'\"]*)['\"]", launcher, re.M))
    if not labels or base["filter"]["exclude"]["label"] != labels:
        yield f"CMakePresets.json: tests leave out other labels than ./draftlab test: {labels}"
    workflow = (source / ".github/workflows/ci.yml").read_text()
    for line in ("image: debian:12", "- run: .ci/run"):
        if not re.search(rf"^ +{re.escape(line)}$", workflow, re.M):
            yield f".github/workflows/ci.yml: there is no line '{line}'"
    if not os.access(source / ".ci/run", os.X_OK):
        yield ".ci/run is not executable"


def main():
    found = list(faults(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or "presets and workflow are complete")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
