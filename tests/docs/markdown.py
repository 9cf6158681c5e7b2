"""What tests of the documentation read of a page: links, code spans, fenced blocks, headings."""

import pathlib
import re

SKIPPED_FOLDERS = {"build", "out", ".git"}


def pages(source):
    """Returns every page of the tree, the README first: commands of pages are run in this order."""
    found = [path for path in sorted(source.rglob("*.md"))
             if not SKIPPED_FOLDERS & set(path.relative_to(source).parts)]
    first = [source / "README.md", source / "docs" / "README.md"]
    return [path for path in first if path in found] + [path for path in found if path not in first]


class Block:
    """A fenced block: its language, its lines, the line of its fence, and the prose above it."""

    def __init__(self, language, line, above):
        self.language, self.line, self.above, self.lines = language, line, above, []

    @property
    def text(self):
        return "".join(line + "\n" for line in self.lines)


class Page:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.blocks = []
        self.prose = []  # (number, line) outside of blocks
        block, above = None, ""
        for number, line in enumerate(self.path.read_text(encoding="utf-8").split("\n"), 1):
            if line.startswith("```"):
                if block is None:
                    block = Block(line[3:].strip(), number, above)
                else:
                    self.blocks.append(block)
                    block, above = None, ""
            elif block is not None:
                block.lines.append(line)
            else:
                self.prose.append((number, line))
                above = line.strip() or above
        if block is not None:
            raise ValueError(f"{path}:{block.line}: the block that begins here has no end")

    def spans(self):
        """(line, text) of code spans; one may go on in the next line."""
        text = "\n".join(line for _, line in self.prose)
        numbers = [number for number, _ in self.prose]
        for found in re.finditer(r"(?<!`)`([^`]+)`(?!`)", text):
            yield numbers[text.count("\n", 0, found.start())], " ".join(found.group(1).split())

    def links(self):
        """(line, target) of links and images."""
        for number, line in self.prose:
            for found in re.finditer(r"\]\(([^()\s]+)\)", re.sub(r"`[^`]*`", "", line)):
                yield number, found.group(1)

    def anchors(self):
        """Returns what links name behind `#`: headings as web pages of repositories spell them."""
        found = set()
        for _, line in self.prose:
            heading = re.match(r"#+ +(.*)", line)
            if heading:
                plain = re.sub(r"[^\w\- ]", "", heading.group(1).lower())
                found.add(plain.replace(" ", "-"))
        return found
