"""Finds what may be broken in a source file: reads the syntax tree of clang (version 14, as JSON).

A site is a piece of the file and what replaces it. What a macro expands to is left out, and so are
functions named `declare`, whose numbers are the limits and defaults of options.
"""
import hashlib
import json
import pathlib
import re
import shlex
import shutil
import subprocess
from dataclasses import astuple, dataclass

SWAPS = {
    "<": ("<=", ">"), "<=": ("<", ">"), ">": (">=", "<"), ">=": (">", "<"),
    "==": ("!=",), "!=": ("==",), "&&": ("||",), "||": ("&&",),
    "+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",), "%": ("*",),
    "+=": ("-=",), "-=": ("+=",), "*=": ("/=",), "/=": ("*=",),
}  # fmt: skip
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=", "&&", "||", "!")
COUNTS = re.compile(r"(?:const )?(?:unsigned|int|long|short|(?:std::)?u?int\d+_t|(?:std::)?size_t)")
# A statement of these kinds can be left out where it stands in a block.
DROPPED = (
    "CallExpr CXXMemberCallExpr CXXOperatorCallExpr BinaryOperator CompoundAssignOperator "
    "UnaryOperator ExprWithCleanups IfStmt ForStmt CXXForRangeStmt WhileStmt BreakStmt ContinueStmt"
).split()


@dataclass(frozen=True)
class Site:
    kind: str  # comparison, sign, index, constant or statement
    begin: int
    end: int
    replacements: tuple
    whole: tuple  # The first byte and the end of the expression or statement that this breaks.


def compiler():
    for name in ("clang-14", "clang"):
        if shutil.which(name):
            return name
    raise FileNotFoundError("mechanical mutants need clang (Debian's package clang-14)")


def compiles(entry, path):
    """Whether a command compiles this file, alone or as one of several (cmake/unity.cmake)."""
    unit = pathlib.Path(entry["file"])
    return entry["file"] == path or (
        unit.parent.name == "Unity" and f'#include "{path}"' in unit.read_text()
    )


def tree_of(file, checkout, build):
    """The declarations of namespace draftlab that stand in the file itself."""
    entries = json.loads((checkout / build / "compile_commands.json").read_text())
    path = str(checkout / file)
    words = shlex.split(next(one["command"] for one in entries if compiles(one, path)))
    flags = [w for w in words if re.match(r"-[DI]|-std=", w)]
    flags += [f"-isystem{words[i + 1]}" for i, w in enumerate(words) if w == "-isystem"]
    command = [compiler(), *flags, "-w", "-fsyntax-only", "-Xclang", "-ast-dump=json"]
    command += ["-Xclang", "-ast-dump-filter=draftlab", path]
    text = subprocess.run(command, capture_output=True, text=True).stdout
    decoder, at = json.JSONDecoder(), 0
    while (at := text.find("{", at)) >= 0:
        node, at = decoder.raw_decode(text, at)
        if node.get("loc", {}).get("file") == path:
            yield node


def extent(node):
    """The first byte of a node and the one behind it; None outside the file and in macros."""
    edges = node.get("range", {})
    begin, end = edges.get("begin", {}), edges.get("end", {})
    if "offset" not in begin or "offset" not in end or "includedFrom" in begin:
        return None
    return begin["offset"], end["offset"] + end["tokLen"]


class Reader:
    def __init__(self, text):
        self.text = text
        self.found = {}

    def add(self, kind, here, whole, *replacements):
        self.found.setdefault(here, Site(kind, *here, replacements, whole))

    def operator_between(self, sign, left, right, whole):
        """Where `sign` stands between two operands of an expression."""
        if not left or not right or left[1] > right[0]:
            return
        between = self.text[left[1] : right[0]].decode()
        if between.count(sign) == 1 and re.fullmatch(r"[\s()]*", between.replace(sign, "")):
            kind = "comparison" if sign in COMPARISONS else "sign"
            at = left[1] + between.index(sign)
            self.add(kind, (at, at + len(sign)), whole, *SWAPS[sign])

    def binary(self, node):
        sign, operands = node.get("opcode"), node.get("inner", [])
        if sign in SWAPS and len(operands) == 2:
            self.operator_between(sign, extent(operands[0]), extent(operands[1]), extent(node))

    def unary(self, node):
        sign, (begin, end) = node.get("opcode"), extent(node)
        if sign in ("!", "-") and self.text[begin : begin + 1].decode() == sign:
            kind = "comparison" if sign == "!" else "sign"
            self.add(kind, (begin, begin + 1), (begin, end), "")
        if sign in ("++", "--"):
            at = end - 2 if node.get("isPostfix") else begin
            if self.text[at : at + 2].decode() == sign:
                swapped = "--" if sign == "++" else "++"
                self.add("sign", (at, at + 2), (begin, end), swapped)

    def overloaded(self, node):
        inner = node.get("inner", [])
        if len(inner) != 3:
            return
        callee = inner[0].get("inner", [{}])[0].get("referencedDecl", {}).get("name", "")
        sign = callee.removeprefix("operator")
        if sign == "[]":
            self.index(inner[2])
        elif sign in SWAPS:
            self.operator_between(sign, extent(inner[1]), extent(inner[2]), extent(node))

    def index(self, node):
        types = node.get("type", {})
        here = extent(node)
        if here and COUNTS.match(types.get("desugaredQualType", types.get("qualType", ""))):
            text = self.text[here[0] : here[1]].decode()
            self.add("index", here, here, f"({text}) + 1", f"({text}) - 1")

    def constant(self, node):
        here = extent(node)
        text = self.text[here[0] : here[1]].decode()
        if node["kind"] == "CXXBoolLiteralExpr" and text in ("true", "false"):
            self.add("constant", here, here, "false" if text == "true" else "true")
        elif node["kind"] == "IntegerLiteral" and re.fullmatch(r"\d+", text):
            self.add("constant", here, here, str(int(text) + 1))
        elif node["kind"] == "FloatingLiteral" and re.fullmatch(r"[\d.e-]+", text):
            self.add("constant", here, here, f"({text} / 2)" if float(text) else "1.0")

    def block(self, node):
        for statement in node.get("inner", []):
            here = extent(statement)
            if here and statement["kind"] in DROPPED and not statement.get("hasElse"):
                self.add("statement", here, here, "")

    def read(self, node):
        if node.get("kind") in ("FunctionDecl", "CXXMethodDecl") and node.get("name") == "declare":
            return
        if extent(node):
            kind = node["kind"]
            if kind in ("BinaryOperator", "CompoundAssignOperator"):
                self.binary(node)
            elif kind == "UnaryOperator":
                self.unary(node)
            elif kind == "CXXOperatorCallExpr":
                self.overloaded(node)
            elif kind == "ArraySubscriptExpr" and len(node.get("inner", [])) == 2:
                self.index(node["inner"][1])
            elif kind in ("IntegerLiteral", "FloatingLiteral", "CXXBoolLiteralExpr"):
                self.constant(node)
            elif kind == "CompoundStmt":
                self.block(node)
        for child in node.get("inner", []):
            self.read(child)


def sites(file, checkout, build):
    """What may be broken in a file, in order. It is kept until the file or this reader changes."""
    text = (checkout / file).read_bytes()
    name = hashlib.sha256(text + pathlib.Path(__file__).read_bytes()).hexdigest()
    kept = checkout / f"build/sites/{name}.json"
    if not kept.exists():
        reader = Reader(text)
        for node in tree_of(file, checkout, build):
            reader.read(node)
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps([astuple(site) for site in reader.found.values()]))
    found = (Site(*fields) for fields in json.loads(kept.read_text()))
    return sorted(found, key=lambda site: (site.begin, site.end, site.kind))
