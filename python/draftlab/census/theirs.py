"""Takes named functions out of somebody else's file, without importing what the file imports.

Engines import kernels and models that an audit needs not. Their functions are found in the file's
syntax tree and compiled by themselves; names that they look up are torch, numpy and so on, and
what an adapter puts there. This file needs nothing of draftlab, because the scripts that confirm a
finding contain it.
"""

from __future__ import annotations

import __future__
import ast
import ctypes
import math
import os
import random
import re
import subprocess
import tempfile
import types
from dataclasses import dataclass
from typing import Any, List, Sequence, Tuple


@dataclass(frozen=True)
class Piece:
    """Statements out of the middle of a function, as a function of its own.

    They are the statements of one block of `within` from the first that sets `begins` to the last
    that sets `ends`. `takes` are the names that they read, `gives` those that are returned. In C++
    it is lines: from the one that contains `begins` up to the one that contains `ends`.
    """

    name: str
    within: str
    begins: str
    ends: str
    takes: Tuple[str, ...] = ()
    gives: Tuple[str, ...] = ()


@dataclass(frozen=True)
class Code:
    """What is taken out of one file: functions, classes and methods ("Class.method") by name.

    `without` are words that are cut out before, such as a keyword that needs a GPU. `needs` are
    names that a default value calls and nothing else.
    """

    path: str
    names: Tuple[str, ...] = ()
    pieces: Tuple[Piece, ...] = ()
    without: Tuple[str, ...] = ()
    needs: Tuple[str, ...] = ()


def parts(text: str, code: Code) -> List[ast.stmt]:
    """The definitions that `code` names, without their decorators (which choose devices).

    Of a file in C++ they are texts, which `compiled` makes a library of.
    """
    for word in code.without:
        text = text.replace(word, "")
    if not code.path.endswith(".py"):
        return [_text(name, _functions(text, name, code.path)) for name in code.names] + \
            [_text(piece.name, _lines(text, piece, code.path)) for piece in code.pieces]
    tree = ast.parse(text)
    found = [_named(tree, name, code.path) for name in code.names]
    found += [_piece(tree, piece, code.path) for piece in code.pieces]
    for definition in found:
        for node in ast.walk(definition):
            if isinstance(node, ast.FunctionDef):
                node.decorator_list = []
    return found


def loaded(definitions: List[ast.stmt], needs: Sequence[str] = ()) -> types.ModuleType:
    """A module in which they are defined, beside the libraries that samplers use."""
    import numpy
    import torch

    module = types.ModuleType("their")
    vars(module).update(torch=torch, np=numpy, numpy=numpy, math=math, random=random,
                        F=torch.nn.functional, nn=torch.nn, Tensor=torch.Tensor,
                        compiled=compiled)
    vars(module).update({name: lambda *_, **__: None for name in needs})
    tree = ast.fix_missing_locations(ast.Module(definitions, []))
    flags = __future__.annotations.compiler_flag
    exec(compile(tree, "their code", "exec", flags, True), vars(module))
    return module


def compiled(text: str) -> ctypes.CDLL:
    """A library made of a text in C++."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "their.so")
        made = subprocess.run(["g++", "-std=c++17", "-shared", "-fPIC", "-w", "-x", "c++", "-",
                               "-o", path], input=text, capture_output=True, text=True,
                              check=False)
        if made.returncode:
            raise SyntaxError("g++: " + next((line for line in made.stderr.splitlines()
                                              if "error" in line), made.stderr))
        return ctypes.CDLL(path)


def _text(name: str, text: str) -> ast.stmt:
    """Sets a name to a text, whose operators are constants of their own: a control breaks one."""
    tokens = [ast.Constant(token) for token in re.split(r"( [<>!=]=? | [-/] )", text)]
    joined = ast.Call(ast.Attribute(ast.Constant(""), "join", ast.Load()),
                      [ast.List(tokens, ast.Load())], [])
    return ast.Assign([ast.Name(name, ast.Store())], joined)


def _functions(text: str, name: str, path: str) -> str:
    """All definitions of a function in C++, one for each list of arguments."""
    found = []
    for match in re.finditer(rf"^[A-Za-z_][\w:<>&* ]*\b{name}\([^;{{]*{{", text, re.MULTILINE):
        depth, end = 1, match.end()
        while depth:
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        found.append(text[match.start() : end])
    if not found:
        raise LookupError(f"{path} has no '{name}'")
    return "\n".join(found)


def _lines(text: str, piece: Piece, path: str) -> str:
    """The lines from the one with the words `begins` up to the one with `ends`, which is not one
    of them."""
    start = text.find(piece.begins)
    end = text.find(piece.ends, start)
    if min(start, end) < 0:
        raise LookupError(f"{path}: no lines from '{piece.begins}' to '{piece.ends}'")
    return text[text.rfind("\n", 0, start) + 1 : text.rfind("\n", 0, end) + 1]


def _named(tree: Any, name: str, path: str) -> ast.stmt:
    for part in name.split("."):
        tree = next((node for node in ast.walk(tree) if node is not tree and
                     isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == part), None)
        if tree is None:
            raise LookupError(f"{path} has no '{name}'")
    return tree


def _piece(tree: ast.AST, piece: Piece, path: str) -> ast.stmt:
    function = _named(tree, piece.within, path)
    for node in ast.walk(function):
        for block in ("body", "orelse", "finalbody"):
            body = getattr(node, block, None)
            if not isinstance(body, list) or not any(piece.begins in _set(s) for s in body):
                continue
            first = next(i for i, s in enumerate(body) if piece.begins in _set(s))
            last = [i for i, s in enumerate(body) if i >= first and
                    any(piece.ends in _set(inner) for inner in ast.walk(s))]
            if last:
                return _function(piece, body[first : last[-1] + 1])
    raise LookupError(f"{path}: no block of '{piece.within}' sets '{piece.begins}', then "
                      f"'{piece.ends}'")


def _function(piece: Piece, body: List[ast.stmt]) -> ast.FunctionDef:
    names = [ast.arg(name) for name in piece.takes]
    arguments = ast.arguments([], names, None, [], [], None, [])
    if piece.gives:
        given = [ast.Name(name, ast.Load()) for name in piece.gives]
        body = body + [ast.Return(ast.Tuple(given, ast.Load()))]
    return ast.FunctionDef(piece.name, arguments, body, [])


def _set(statement: ast.AST) -> List[str]:
    """The names that a statement itself sets, whole or in part."""
    targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
    inner = [node for target in targets if target is not None for node in ast.walk(target)]
    return [node.id for node in inner if isinstance(node, ast.Name)]
