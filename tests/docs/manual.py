"""Compiles what docs/plugins/cpp.md says: every expression in the first column of its tables, every
method that it names as `Class::method`, and every C++ block.

    manual.py SOURCE COMPILER [FLAG...]
"""

import pathlib
import re
import subprocess
import sys
import tempfile

from markdown import Page
from pages import COPY

# What the names of the manual are.
NAMES = """const Step& step, const Canvas& canvas, const Window& window, const StepView& view,
    Question question, Answer answer, Proposal proposal, Route route, Verdict verdict,
    Judged judged, const Node& node, const Trial& trial, const Acceptance& rule, Pending& pending,
    ModelFacts facts, Prompt prompt, const Tokenizer& tokenizer, const Distribution& law,
    std::int32_t position, Token token, int index"""


def rows(page):
    """(line, first cell, head of its column) of every row of a table."""
    head = None
    for number, line in page.prose:
        if not line.startswith("|"):
            head = None
            continue
        first = line[1:].split(" | ")[0].strip()
        if head is None:
            head = first
        elif not first.startswith("---"):
            yield number, first, head


def statements(page):
    for number, cell, head in rows(page):
        if head == "expression":
            yield number, f"(void)({cell.strip('`')});"
        for method in re.findall(r"`(\w+::\w+)`", cell) if head == "method" else []:
            yield number, f"(void)&{method};"


def units(page):
    """The text of each file that is to compile."""
    lines = [f"#line {number} \"{page.path}\"\n  {text}" for number, text in statements(page)]
    bodies = ["\n".join(lines)]
    for block in page.blocks:
        if block.language != "cpp" or COPY.search(block.above):
            continue  # Files of the tree are built by the commands of the page.
        text = f"#line {block.line + 1} \"{page.path}\"\n{block.text}"
        if "#include" in block.text:
            yield text
        else:
            bodies.append(text)
    text = "#include \"core/config/plugin.h\"\nusing namespace draftlab;\n"
    for place, body in enumerate(bodies):
        head = NAMES if place == 0 else "const Step& step, const Window& window, Token token"
        text += f"Asking<Proposal> part_{place}({head}) {{\n{body}\n  co_return Proposal();\n}}\n"
    yield text


def main(source, compiler, *flags):
    page = Page(pathlib.Path(source) / "docs/plugins/cpp.md")
    found = list(units(page))
    if len(list(statements(page))) < 100 or len(found) < 2:
        print(f"{page.path} has too few expressions: was its form changed?")
        return 1
    wrong = 0
    for text in found:
        with tempfile.NamedTemporaryFile("w", suffix=".cc") as file:
            file.write(text)
            file.flush()
            words = [compiler, "-std=c++20", "-fsyntax-only", "-I", source, *flags, file.name]
            wrong |= subprocess.run(words, check=False).returncode
    return int(wrong != 0)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
