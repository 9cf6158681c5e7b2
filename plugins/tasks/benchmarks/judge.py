# The judge, which follows peers.py in its interpreter. It reads a case from its standard input and
# runs the tests here; what they ask of the program is asked over the socket at its standard output.
# It ends with status 0 where all tests passed, so nobody has to believe what the program says of
# itself.
import ast
import sys
import traceback

FAILED = 1
WRONG_CASE = 3  # The benchmark's own solution or its tests cannot be read.


def imports(tree):
    nodes = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    return ast.unparse(ast.Module(nodes, []))


def names_made(tree):
    """The names that statements define at the top, but for what they import."""
    made = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            made.add(node.name)
        else:
            parts = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
            made |= {part.id for part in parts if isinstance(part.ctx, ast.Store)}
    return made


def prepared(case):
    """What the judge has of its own, and the names that tests take from the program: one function,
    where the benchmark names one, and else whatever its own solution defines."""
    reference, space = ast.parse(case["reference"]), {}
    if case["entry"]:
        exec(case["reference"], space)
        return space, {case["entry"]}
    exec(imports(reference), space)
    return space, names_made(reference)


def judge(tests, space, asked, peer):
    peer.receive()  # The program has come to its end.
    # In one interpreter the program would see what its tests import.
    peer.ask("run", imports(tests))
    used = {node.id for node in ast.walk(tests) if isinstance(node, ast.Name)}
    for name in sorted(used & asked):
        space[name] = peer.ask("name", name)
    exec(compile(tests, "<tests>", "exec"), space)


def end(status):
    traceback.print_exc(limit=0)
    sys.stderr.flush()
    os._exit(status)


def main():
    case = json.loads(sys.stdin.buffer.read())
    try:
        space, asked = prepared(case)
        tests = ast.parse(case["tests"])
    except BaseException:
        end(WRONG_CASE)
    try:
        judge(tests, space, asked, Peer(1, {"call": ACTIONS["call"]}))
    except BaseException:
        end(FAILED)
    os._exit(0)


main()
