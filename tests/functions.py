#!/usr/bin/python3
"""Counts the functions of the tree that break CONTRIBUTING's rules for functions: more than 60
lines, or more than four parameters.

    functions.py SOURCE [--list]      --list names each of them, with its lines or parameters

The files are formatted by clang-format, so braces tell where a body begins and ends. What stands
before a brace in the scope of a namespace or a class is a function if it has a parameter list and
names no scope itself. Constructors count, lambdas and macros belong to the function that they are
in. Tests are counted apart.
"""

import pathlib
import re
import sys

LONGEST, MOST = 60, 4
SCOPE = re.compile(r"^(?:template\s*<.*>\s*(?:requires.*?\s)?)?(?:\[\[\w+\]\]\s*)?"
                   r"(?:inline\s+)?(?:namespace|class|struct|enum|union|extern)\b", re.S)


def blanked(text):
    """The text with comments, strings and preprocessor lines blanked, line by line as it was."""
    token = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"'
                       r"|'(?:\\.|[^'\\\n])'|^[ \t]*#(?:[^\n\\]|\\\n|\\.)*", re.S | re.M)
    return token.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)


def top_level(text, opening, closing):
    """The first bracket of a kind outside of template arguments, and what it encloses."""
    depth, angle = 0, 0
    for at, sign in enumerate(text):
        if sign == "<" and depth == 0:
            angle += 1
        elif sign == ">" and depth == 0 and text[at - 1] != "-":
            angle = max(0, angle - 1)
        elif sign == opening and angle == 0:
            start, depth = at, 1
            for end in range(at + 1, len(text)):
                depth += (text[end] == opening) - (text[end] == closing)
                if depth == 0:
                    return start, text[start + 1:end]
    return None


def parameters(inside):
    """How many parameters a list has."""
    depth, count = 0, 0 if not inside.strip() else 1
    for at, sign in enumerate(inside):
        if sign in "([{<":
            depth += 1
        elif sign in ")]}" or (sign == ">" and inside[at - 1] != "-"):
            depth -= 1
        elif sign == "," and depth == 0:
            count += 1
    return 0 if inside.strip() == "void" else count


def functions(text):
    """(line, name, lines, parameters) of each function that the text defines."""
    text = blanked(text)
    scopes, begin, at = [], 0, 0
    while at < len(text):
        sign = text[at]
        if sign in ";}":
            if sign == "}" and scopes:
                scopes.pop()
            begin = at + 1
        elif sign == "{":
            head = re.sub(r"^(?:\s*(?:public|private|protected)\s*:)*", "", text[begin:at]).strip()
            found = None if SCOPE.match(head) else top_level(head, "(", ")")
            if not SCOPE.match(head) and not found:  # An initialiser of a variable.
                at = closing(text, at)
                begin = at + 1
            elif found:
                # Member initialisers in braces come before the body.
                while re.search(r"(?:[:,]\s*[\w:<>]+|\bstep)$", head) and ") :" in head:
                    at = closing(text, at) + 1
                    at = text.index("{", at)
                    head = re.sub(r"\s+", " ", text[begin:at]).strip()
                end = closing(text, at)
                start = text.index(head.split(None, 1)[0], begin) if head else at
                name = re.search(r"([\w:~]+|operator\S+)\s*$", head[:found[0]])
                yield (text.count("\n", 0, start) + 1, name.group(1) if name else "?",
                       text.count("\n", start, end) + 1, parameters(found[1]))
                at, begin = end, end + 1
            else:
                scopes.append(head)
                begin = at + 1
        at += 1


def closing(text, at):
    depth = 0
    for end in range(at, len(text)):
        depth += (text[end] == "{") - (text[end] == "}")
        if depth == 0:
            return end
    return len(text)


def main():
    source, listed = pathlib.Path(sys.argv[1]), "--list" in sys.argv
    print(f"{'':12} functions  over {LONGEST} lines  over {MOST} parameters")
    for room in "core plugins experiments analysis tests examples".split():
        count = long = wide = 0
        for path in sorted(p for p in (source / room).rglob("*") if p.suffix in (".h", ".cc")):
            for line, name, lines, number in functions(path.read_text(encoding="utf-8")):
                count += 1
                long += lines > LONGEST
                wide += number > MOST
                if listed and (lines > LONGEST or number > MOST):
                    print(f"  {path.relative_to(source)}:{line} {name}: {lines} lines, {number} "
                          "parameters")
        print(f"{room:12} {count:9}  {long:13}  {wide:17}")


if __name__ == "__main__":
    main()
