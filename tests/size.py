"""How large the C++ outside tests is: lines, files and long functions, a row a folder.

    python3 tests/size.py [--list] [FOLDER ...]

Without folders: core plugins experiments analysis. Columns: files, all lines, lines of code
(neither blank nor a comment alone), the mean length of a line of code, functions of more than 60
lines, and functions of more than four parameters (both are rules of CONTRIBUTING.md). A lambda
belongs to the function that holds it. A table of data may be long: a function whose statements
only declare options (`set.add(...)`), or hold and return constants. The `forward` of an autograd
function has one parameter a tensor because libtorch wants it so, and is exempt from the second
rule. --list names the functions that are over a rule, longest first.

Functions are found in the text, which clang-format has laid out: a definition's first line stands
at the column of its closing brace. No compiler is asked, so the count takes a second.
"""
import argparse
import collections
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ["core", "plugins", "experiments", "analysis"]
LONG, MANY = 60, 4
AUTOGRAD = re.compile(r"\bforward\((torch::autograd::)?AutogradContext\*")
NOT_FUNCTIONS = re.compile(
    r"^\s*(if|for|while|switch|do|else|try|catch|namespace|class|struct|union|enum|extern|return"
    r"|case|co_return|co_await|public|private|protected|default)\b|^\s*[}\])]")


def blank(text):
    """The text with comments, strings and characters blanked out; line ends stay."""
    pattern = re.compile(
        r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"'
        r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", re.S)
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found.group()), text)


def parameters(header):
    """How many parameters the first parenthesis of a definition's header holds."""
    opened = re.search(r"operator\(\)\(|(?<!operator)\(", header)
    depth, count, seen, angles = 0, 0, False, 0
    for c in header[opened.end() - 1:]:
        if c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
            if depth == 0:
                break
        elif c == "<":
            angles += 1
        elif c == ">":
            angles -= 1
        elif c == "," and depth == 1 and angles == 0:
            count += 1
        if depth >= 1 and not c.isspace() and c != "(":
            seen = True
    return count + seen


def is_table(body):
    """Whether every statement of a body declares an option, or holds or returns a constant."""
    entry = re.compile(r"\s*(set\.add\(|[\w:.]+declare\(set\)$|(static )?const(expr)? "
                       r"|return \w+$)")
    depth, statement, statements = 0, "", []
    for c in body:
        depth += (c in "([{") - (c in ")]}")
        if c == ";" and depth == 0:
            statements.append(statement)
            statement = ""
        else:
            statement += c
    return not statement.strip() and all(entry.match(s) and "[&" not in s for s in statements)


def functions(text):
    """Yields (first line, lines, parameters, header, whether it is a table) of each definition that
    stands at a scope of its own; a lambda inside a function belongs to it."""
    # A macro is no function: directives go, with the lines that continue them.
    plain = re.sub(r"^#(?:[^\n]*\\\n)*[^\n]*", lambda d: "\n" * d.group().count("\n"), blank(text),
                   flags=re.M)
    lines = plain.split("\n")
    i = 0
    while i < len(lines):
        line = lines[i]
        indent = len(line) - len(line.lstrip())
        if not line.strip() or NOT_FUNCTIONS.match(line) or indent > 8:
            i += 1
            continue
        # The header runs to the brace that opens the body, or to a semicolon.
        end, header = i, ""
        while end < len(lines):
            header += lines[end].rstrip() + "\n"
            ends = (";", "{", "}") if "(" in header else (";", "{", "}", ",")
            if lines[end].rstrip().endswith(ends):
                break
            end += 1
        head = header.rstrip()
        before = head.split("(", 1)[0]
        one_line = re.search(r"\)[^;()]*\{.*\}$|\)[^;]*:.*\{.*\}$", head, re.S)
        is_function = ("(" in head and "=" not in before.replace("operator=", "")
                       and not head.endswith(";") and re.search(r"[\w>&*~=+\-!<\]]\s*$", before)
                       and (head.endswith("{") or one_line)
                       and not re.search(r"\b(class|struct|enum|namespace)\s+\w+[^()]*$", before))
        if not is_function:
            i += 1
            continue
        if head.endswith("}"):
            last = end
        else:
            last = end + 1
            while last < len(lines) and not re.match(r" {%d}\}" % indent, lines[last]):
                last += 1
        table = is_table("\n".join(lines[end + 1:last]))
        yield i + 1, last - i + 1, parameters(header), " ".join(header.split()), table
        i = last + 1


def measure(file):
    text = file.read_text()
    lines = text.split("\n")[:-1]
    code = [line for line in lines if line.strip() and not line.lstrip().startswith("//")]
    return len(lines), len(code), sum(len(line) for line in code), list(functions(text))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folders", nargs="*", default=FOLDERS)
    parser.add_argument("--list", action="store_true", help="name functions that are over a rule")
    parser.add_argument("--depth", type=int, default=2, help="levels of folders that have a row")
    arguments = parser.parse_args()
    rows, over = collections.defaultdict(lambda: [0] * 6), []
    for folder in arguments.folders:
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix not in (".h", ".cc", ".inc"):
                continue
            path = file.relative_to(ROOT)
            lines, code, characters, found = measure(file)
            long = [f for f in found if f[1] > LONG and not f[4]]
            many = [f for f in found if f[2] > MANY and not AUTOGRAD.search(f[3])]
            over += [(f, path) for f in found if f in long or f in many]
            for name in ("/".join(path.parts[:-1][:arguments.depth]), "all"):
                for k, value in enumerate((1, lines, code, characters, len(long), len(many))):
                    rows[name][k] += value
    print(f"{'folder':32} {'files':>5} {'lines':>6} {'code':>6} {'width':>5} {'>60':>4} {'>4':>4}")
    for name in [name for name in rows if name != "all"] + ["all"]:
        files, lines, code, characters, long, many = rows[name]
        width = characters / max(code, 1)
        print(f"{name:32} {files:5} {lines:6} {code:6} {width:5.1f} {long:4} {many:4}")
    if arguments.list:
        for (first, length, count, header, _), path in sorted(over, key=lambda f: (-f[0][1], f[1])):
            print(f"{length:4} lines {count:2} parameters {path}:{first} {header[:90]}")


if __name__ == "__main__":
    main()
