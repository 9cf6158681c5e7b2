"""Checks that the pages of the tree are true as far as that can be seen without decoding anything:

- every link leads to a file (and a heading) that exists, and every page of docs/ is linked to;
- every path in a code span that begins with a folder of the tree exists, patterns match something;
- a block behind a line that ends in `[PATH](TARGET):` is the text of that file;
- the tables of options in docs/CONFIGS.md are what `draftlab describe` prints, and the index in
  configs/README.md is what `draftlab list configs` prints;
- every page begins with its title, and the README has at most 150 lines.

    pages.py SOURCE PROGRAM            exits with 1 and says what is wrong
    pages.py SOURCE PROGRAM --write    writes blocks, tables and the index anew first
"""

import pathlib
import re
import subprocess
import sys

from markdown import Page, pages

LONGEST_README = 150
FOLDERS = "analysis configs core data docs examples experiments plugins python tests".split()
PLACEHOLDER = re.compile(r"(?:^|[/_.\-])[A-Z][A-Z_]+(?:$|[/_.\-])")
COPY = re.compile(r"\[[^\]]+\]\(([^()\s]+)\):$")
SECTION = re.compile(r"^### `\[(\w+)\]`$", re.M)
INDEX = "## The index\n\n"


def where(source, page, line):
    return f"{page.path.relative_to(source)}:{line}"


def untitled(source, page):
    if not page.path.read_text(encoding="utf-8").startswith("# "):
        yield f"{where(source, page, 1)}: the page does not begin with its title"


def broken_links(source, page):
    for line, target in page.links():
        if re.match(r"[a-z]+:", target):
            continue  # This link leads to another machine.
        path, _, anchor = target.partition("#")
        file = (page.path.parent / path) if path else page.path
        if not file.exists():
            yield f"{where(source, page, line)}: the link to '{target}' leads nowhere"
        elif anchor and file.suffix == ".md" and anchor not in Page(file).anchors():
            yield f"{where(source, page, line)}: '{path}' has no heading '#{anchor}'"


def is_there(source, word):
    return any(source.glob(word)) if re.search(r"[*?]", word) else (source / word).exists()


def missing_paths(source, page):
    if page.path.is_relative_to(source / "docs/results/census") or page.path.name == "census.md":
        return  # They name the files of other repositories.
    words = [(line, word) for line, text in page.spans() for word in text.split()]
    words += [(number, word) for block in page.blocks if block.language in ("", "sh", "text")
              for number, text in enumerate(block.lines, block.line + 1) for word in text.split()]
    for line, word in words:
        word = word.strip(",;:()\"'")
        if not re.match(rf"(?:{'|'.join(FOLDERS)})/[\w./*?-]+$", word):
            continue
        if not is_there(source, word) and not PLACEHOLDER.search(word.rsplit(".", 1)[0]):
            yield f"{where(source, page, line)}: there is no '{word}'"


def copies(page):
    """(block, file) of blocks that show a file."""
    for block in page.blocks:
        named = COPY.search(block.above)
        if named:
            yield block, page.path.parent / named.group(1)


def stale_copies(source, page):
    for block, file in copies(page):
        if not file.exists() or file.read_text(encoding="utf-8") != block.text:
            yield (f"{where(source, page, block.line)}: the block is not what '{file.name}' holds "
                   "(--write copies it)")


def options_table(program, section):
    """Returns what `describe` prints of a section, as a table; None where there is none."""
    told = subprocess.run([program, "describe", section], capture_output=True, text=True,
                          check=False)
    if told.returncode:
        return None
    rows = ["| key | default | values | meaning |", "|---|---|---|---|"]
    option = re.compile(r"^  (\w+) = (.*?)  \((.*)\)\n      (.*)$", re.M)
    for key, value, rule, text in option.findall(told.stdout):
        default = f"`{value}`" if value.strip() else "empty"
        rows.append(f"| `{key}` | {default} | {rule} | {text} |")
    return "\n".join(rows) + "\n"


def replace_tables(text, table_of):
    """The page with the table behind each section's heading replaced by table_of(section, old)."""
    out, at = [], 0
    for heading in SECTION.finditer(text):
        table = re.compile(r"(?:^\|.*\n)+", re.M).search(text, heading.end())
        following = re.compile(r"^#", re.M).search(text, heading.end())
        if not table or (following and following.start() < table.start()):
            continue
        out += [text[at:table.start()], table_of(heading.group(1), table.group(0))]
        at = table.end()
    return "".join(out) + text[at:]


def stale_tables(source, program):
    page = source / "docs" / "CONFIGS.md"
    wrong, seen = [], []

    def compare(section, old):
        table = options_table(program, section)
        if table is None:
            wrong.append(f"docs/CONFIGS.md: draftlab describe does not know section '{section}'")
        else:
            seen.append(section)
            if table != old:
                wrong.append(f"docs/CONFIGS.md: the table of [{section}] is not what `draftlab "
                             f"describe {section}` prints (--write mends it)")
        return old

    replace_tables(page.read_text(encoding="utf-8"), compare)
    if "decode" not in seen:
        wrong.append("docs/CONFIGS.md: there is no table of [decode]")
    return wrong


def config_index(program):
    """Returns what configs/README.md has behind its heading INDEX."""
    return subprocess.run([program, "list", "configs", "--format", "markdown"], check=True,
                          capture_output=True, text=True).stdout


def stale_index(source, program):
    _, heading, index = (source / "configs/README.md").read_text(encoding="utf-8").partition(INDEX)
    if not heading:
        return ["configs/README.md: there is no heading 'The index'"]
    told = config_index(program)
    folder = source / "configs"
    shipped = {str(path.relative_to(folder)) for path in folder.rglob("*.ini")}
    listed = re.findall(r"^\| \[[^\]]+\]\(([^)]+)\) \|", index, re.M)
    wrong = [f"configs/README.md: there is no row for '{path}'"
             for path in sorted(shipped - set(listed))]
    rows = [line.split(" | ") for line in told.splitlines() if line.startswith("| [")]
    wrong += [f"configs/README.md: the comment that opens {row[0][2:]} asks no question"
              for row in rows if row[2] == "-"]
    if index != told:
        wrong.append("configs/README.md: the index is not what `draftlab list configs --format "
                     "markdown` prints (--write mends it)")
    return wrong


def unreachable(source, all_pages):
    reached, waiting = set(), [source / "README.md", source / "docs" / "README.md"]
    while waiting:
        path = waiting.pop().resolve()
        if path in reached or not path.exists():
            continue
        reached.add(path)
        for _, target in Page(path).links():
            target = (path.parent / target.partition("#")[0])
            if target.is_dir():
                target = target / "README.md"
            if target.suffix == ".md":
                waiting.append(target)
    for page in all_pages:
        inside = page.path.relative_to(source)
        if inside.parts[0] == "docs" and page.path.resolve() not in reached:
            yield f"{inside}: no page leads here"


def write(source, program):
    for path in pages(source):
        page = Page(path)
        text = path.read_text(encoding="utf-8")
        lines = text.splitlines(keepends=True)
        for block, file in reversed(list(copies(page))):
            if file.exists():
                shown = file.read_text(encoding="utf-8").splitlines(keepends=True)
                lines[block.line:block.line + len(block.lines)] = shown
        text = "".join(lines)
        if path == source / "docs" / "CONFIGS.md":
            text = replace_tables(text, lambda section, old: options_table(program, section) or old)
        if path == source / "configs" / "README.md":
            text = "".join(text.partition(INDEX)[:2]) + config_index(program)
        path.write_text(text, encoding="utf-8")


def main():
    source, program = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    if "--write" in sys.argv:
        write(source, program)
    all_pages = [Page(path) for path in pages(source)]
    wrong = stale_tables(source, program) + stale_index(source, program)
    for page in all_pages:
        for check in (untitled, broken_links, missing_paths, stale_copies):
            wrong += check(source, page)
    wrong += unreachable(source, all_pages)
    lines = len((source / "README.md").read_text(encoding="utf-8").splitlines())
    if lines > LONGEST_README:
        wrong.append(f"README.md has {lines} lines, which must be at most {LONGEST_README}")
    print("\n".join(wrong) if wrong else f"{len(all_pages)} pages")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
