"""Checks docs/results/papers.md, the coverage of the five papers: every row has a config that
exists (or a dash), a known verdict and a reason of one sentence; a claim that was seen says where
its number stands; and every config that is named after a table or figure has a row.

    papers.py SOURCE        exits with 1 and says what is wrong
"""

import pathlib
import re
import sys

VERDICTS = ("reproduced", "contradicted", "cannot be seen here", "not run here")
HEAD = ["item", "config", "command", "where the number stands", "verdict", "reason"]
METHODS = ("assd", "s2d2", "ssd", "bpd", "cspd")


def rows_of(text):
    """(line, cells) of the tables' rows, without their heads and rules."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("| "):
            cells = [cell.strip() for cell in line.strip("|").split(" | ")]
            if cells != HEAD:
                yield number, cells


def faults(text, configs):
    """Yields a sentence for each thing that is wrong; `configs` are paths below configs/."""
    named = set()
    for number, cells in rows_of(text):
        where = f"docs/results/papers.md:{number}: "
        if len(cells) != len(HEAD):
            yield where + f"the row has {len(cells)} cells, which must be {len(HEAD)}"
            continue
        _, config, _, place, verdict, reason = cells
        found = re.fullmatch(r"\[(\S+)\]\(\.\./\.\./configs/(\S+)\)", config)
        if config != "-" and (not found or found.group(1) != found.group(2)):
            yield where + f"the config is {config}, which must be a link to it or a dash"
        elif found and found.group(1) not in configs:
            yield where + f"there is no configs/{found.group(1)}"
        named |= {found.group(1)} if found else set()
        if verdict not in VERDICTS:
            yield where + f"the verdict is '{verdict}', which must be one of {', '.join(VERDICTS)}"
        elif verdict in VERDICTS[:2] and place == "-":
            yield where + f"'{verdict}' needs a page where the number stands"
        if not reason.endswith("."):
            yield where + "the reason must be a sentence"
    for config in sorted(configs - named):
        folder, _, name = config.partition("/")
        if folder in METHODS and re.match(r"(?:\w+/)?(?:table|figure)", name):
            yield f"docs/results/papers.md: there is no row for configs/{config}"


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    folder = source / "configs"
    configs = {str(path.relative_to(folder)) for path in folder.rglob("*.ini")}
    text = (source / "docs/results/papers.md").read_text(encoding="utf-8")
    wrong = list(faults(text, configs))
    count = sum(1 for _ in rows_of(text))
    if not count:
        wrong.append("docs/results/papers.md has no rows")
    print("\n".join(wrong) if wrong else f"{count} items")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
