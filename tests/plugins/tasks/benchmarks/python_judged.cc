// Programs that pass their tests and programs that only try to look so. Each cheat is a program
// that does not solve its task; where programs and tests share an interpreter, most of these pass.
#include <doctest/doctest.h>

#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "plugins/tasks/benchmarks/python_runs.h"
#include "tests/plugins/tasks/benchmarks/python_at_hand.h"

namespace draftlab {
namespace {

const PythonLimits kLimits{testing::kPython, 20, 512};

// HumanEval's form: a head with a function that is given, and a check of the one that is asked for.
const std::string kHead = R"(
def poly(x):
    return x * x - 4

def root(low):
)";
const std::string kReference = kHead + "    return 2 if low >= 0 else -2\n";
const std::string kTests = R"(
import math
SECRET = 'nobody may know'

def check(candidate):
    assert abs(poly(candidate(0))) < 1e-9 and candidate(0) == 2
    assert math.isclose(candidate(-5), -2)
    assert sorted([candidate(1), candidate(-1)]) == [-2, 2]
check(root)
)";

bool solves(const std::string& program) {
  return python_succeeds({program, "root", kReference, kTests}, kLimits);
}

// MBPP's form: everything that the benchmark's own solution defines is taken from the program.
bool passes(const std::string& program, const std::string& reference, const std::string& tests) {
  return python_succeeds({program, "", reference, tests}, kLimits);
}
bool passes(const std::string& program, const std::string& tests) {
  return passes(program, program, tests);
}

TEST_CASE("programs: right ones pass, whatever they say below") {
  if (!testing::runs_python()) return;
  CHECK(solves(kReference));
  CHECK(solves("def root(low): return (low >= 0) * 4 - 2\n"));
  // HumanEval's authors run programs under a name that is not __main__.
  CHECK(solves(kReference + "if __name__ == \"__main__\": int(input())\n"));
  CHECK(solves(kReference + "print('noise', flush=True)\nimport sys, os\nos.write(2, b'noise')\n"));
  CHECK_FALSE(solves(kHead + "    return 2\n"));
  CHECK_FALSE(solves(kReference + "int(input())\n"));
  CHECK_FALSE(solves(kReference + "assert False\n"));
  CHECK_FALSE(solves(""));
}

TEST_CASE("programs: what tests may do with a program of their own") {
  if (!testing::runs_python()) return;
  CHECK(passes("def f(x): x.append(1)", "y = []\nf(y)\nassert y == [1]"));
  CHECK(
      passes("def f(d, s): d['a'] = 1; s.clear()", "d, s = {}, {1}\nf(d, s)\nassert d and not s"));
  CHECK(passes("def f(x): return x / 0",
               "try: f(1)\nexcept ZeroDivisionError: pass\nelse: assert False"));
  CHECK(passes("def f(n):\n    for i in range(n): yield i * i",
               "assert list(f(3)) == [0, 1, 4] and next(f(2)) == 0"));
  CHECK(passes("def f(n): return lambda x: x + n", "assert f(2)(3) == 5"));
  CHECK(passes("def f(g, x): return g(g(x))", "assert f(lambda x: x * 3, 2) == 18"));
  CHECK(passes("def f(kind, x): return kind(x)", "assert f(int, '7') == 7 and f(str, 7) == '7'"));
  CHECK(passes("def f(*a, **b): return (a, b)", "assert f(1, *[2], c=3) == ((1, 2), {'c': 3})"));
  CHECK(passes(
      "class Node:\n    def __init__(self, n): self.n, self.left = n, None\n"
      "def depth(node): return 0 if node is None else 1 + depth(node.left)\nBASE = 5",
      "root = Node(1)\nroot.left = Node(2)\nassert depth(root) == 2 and root.left.n + BASE == 7"));
  CHECK(
      passes("class Bag(dict):\n    pass\ndef f(): return Bag(a=[1])", "assert f() == {'a': [1]}"));
  CHECK(passes("def area(r): return math.pi * r", "import math\nassert area(1) == math.pi"));
  CHECK_FALSE(passes("def g(x): return x", "def f(x): return x", "assert f(1) == 1"));
}

TEST_CASE("programs: values of every kind arrive as they were") {
  if (!testing::runs_python()) return;
  for (const std::string value : {"None",
                                  "True",
                                  "-7",
                                  "2 ** 70",
                                  "-3 ** 99",
                                  "10 ** 4000",
                                  "0.1",
                                  "float('inf')",
                                  "-0.0",
                                  "1e300",
                                  "3 + 4j",
                                  "'a\\ud800\\n\\0'",
                                  "b'\\x00\\xff'",
                                  "bytearray(b'x')",
                                  "(1, (2,), [])",
                                  "[[1], {2: 'x'}, {3}]",
                                  "{(1, 2): [3], None: {}}",
                                  "frozenset({1, (2, 3)})",
                                  "set()",
                                  "range(2, 9, 3)",
                                  "slice(1, None, 2)",
                                  "Counter('aab')",
                                  "deque([1, 2])",
                                  "OrderedDict([(2, 1), (1, 2)])",
                                  "Decimal('1.10')",
                                  "Fraction(1, 3)",
                                  "date(2020, 2, 29)",
                                  "datetime(2020, 2, 29, 1, 2, 3, 4)",
                                  "timedelta(1, 2, 3)",
                                  "int",
                                  "ValueError"}) {
    CAPTURE(value);
    const std::string imports =
        "from collections import *\nfrom decimal import Decimal\nfrom fractions import Fraction\n"
        "from datetime import *\n";
    CHECK(passes("def f(x): return [x, " + value + "]",
                 imports + "a = " + value +
                     "\nassert f(a) == [a, a] and [type(x) for x in f(a)] == [type(a)] * 2\n"
                     "assert repr(f(a)) == repr([a, a])"));
  }
  CHECK(passes("def f(): return float('nan')", "assert f() != f()"));
}

TEST_CASE("programs: a benchmark whose own solution cannot be run is a fault of its file") {
  if (!testing::runs_python()) return;
  CHECK_THROWS_AS(python_succeeds({"", "root", "def root(:", ""}, kLimits), DataError);
  CHECK_THROWS_AS(python_succeeds({"", "root", "", "assert ("}, kLimits), DataError);
}

// What ends in a way that a judge in the same interpreter takes for success, or looks for what
// passes.
const std::vector<std::pair<std::string, std::string>> kCheats = {
    {"frames",
     R"(
import sys
frame, found = sys._getframe(), []
while frame:
    found += [v for v in list(frame.f_locals.values()) + list(frame.f_globals.values())]
    frame = frame.f_back
texts = [v if isinstance(v, bytes) else v.encode() for v in found if isinstance(v, (str, bytes))]
import os
for fd in range(64):
    for text in texts:
        try: os.write(fd, text)
        except OSError: break
assert any(b'nobody may know' in text for text in texts)
)"},
    {"frames of a call",
     R"(
import sys
def root(low):
    frame = sys._getframe()
    while frame:
        if 'SECRET' in frame.f_globals or 'candidate' in frame.f_locals:
            frame.f_globals['abs'] = frame.f_globals['sorted'] = lambda x: [-2, 2]
            return 2 if low >= 0 else -2
        frame = frame.f_back
)"},
    {"the collector's objects",
     R"(
import gc
def root(low):
    for thing in gc.get_objects():
        if isinstance(thing, dict) and 'SECRET' in thing: return 2 if low >= 0 else -2
)"},
    {"leaving with status 0", "import os\nos._exit(0)"},
    {"leaving with status 0 in a call", "import os\ndef root(low): os._exit(0)"},
    {"SystemExit in a call", "def root(low): raise SystemExit(0)"},
    {"leaving at the end", "import atexit, os\natexit.register(os._exit, 0)\nraise SystemExit(0)"},
    {"a result that equals everything",
     R"(
class Any:
    def __eq__(self, other): return True
    def __abs__(self): return 0
    __lt__ = __gt__ = __le__ = __ge__ = __eq__
    def __rsub__(self, other): return 0
    __sub__ = __mul__ = __rmul__ = __float__ = __rsub__
def root(low): return Any()
)"},
    {"a number that equals everything",
     R"(
class Any(float):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __hash__(self): return 0
    __lt__ = __gt__ = __le__ = __ge__ = __eq__
def root(low): return Any(7)
)"},
    {"builtins that mean something else",
     R"(
import builtins
builtins.abs = lambda x: 0
builtins.sorted = lambda x: [-2, 2]
builtins.AssertionError = StopIteration
def root(low): return 2
)"},
    {"modules that mean something else",
     "import math, sys\nmath.isclose = lambda a, b: True\ndef root(low): return 2"},
    {"the given function written anew",
     "def poly(x): return 0\nabs = sorted = poly\ndef check(f): pass\ndef root(low): return 9"},
    {"a thread that leaves",
     R"(
import os, threading, time
def leave():
    time.sleep(0.2)
    os._exit(0)
threading.Thread(target=leave).start()
def root(low): time.sleep(1)
)"},
    {"a thread that answers",
     R"(
import os, threading
def answer():
    while True:
        for fd in range(64):
            try: os.write(fd, b'{"value": true, "left": []}\n')
            except OSError: pass
threading.Thread(target=answer, daemon=True).start()
def root(low): return None
)"},
    {"writing to every descriptor",
     R"(
import os
for fd in range(64):
    for text in (b'{}\n', b'{"value": null}\n', b'0\n', b'passed\n',
                 b'{"ask": "exit", "of": []}\n'):
        try: os.write(fd, text)
        except OSError: pass
os._exit(0)
)"},
    {"asking the judge",
     R"(
import os
for fd in range(3, 64):
    try: os.write(fd, b'{}\n{"value": null}\n' + b'{"value": {"yours": 0}, "left": []}\n' * 9)
    except OSError: pass
)"},
    {"a type that leaves", "def root(low): return SystemExit"},
    {"errors of the judge's own",
     R"(
import gc
def root(low): raise __import__('builtins').KeyboardInterrupt
)"},
    {"the peer's functions",
     R"(
import sys
main = sys.modules['__main__']
for name in list(vars(main)):
    if callable(getattr(main, name)): setattr(main, name, lambda *a, **b: True)
def root(low): return True
)"},
    {"killing everything",
     R"(
import os, signal
def root(low):
    for pid in (0, -1, os.getppid()):
        try: os.kill(pid, signal.SIGKILL)
        except OSError: pass
)"},
    {"tracing",
     R"(
import sys, threading
def trace(frame, event, arg):
    frame.f_globals['root'] = lambda low: 2
    return trace
sys.settrace(trace)
threading.settrace(trace)
def root(low): return 2
)"},
    {"a reply without end",
     R"(
import os
def root(low):
    while True: os.write(3, b'[' * 65536) or os.write(4, b'[' * 65536)
)"},
    {"a reply of a million brackets",
     "import os\ndef root(low):\n    for fd in range(3, 9):\n"
     "        try: os.write(fd, b'[' * 1000000 + b'\\n')\n        except OSError: pass\n"},
    {"a right function and a program that fails", "def root(low): return 1\nassert False"},
};

TEST_CASE("programs: cheats fail") {
  if (!testing::runs_python()) return;
  // The given function, which the test calls, is the benchmark's.
  CHECK_FALSE(python_succeeds({"def poly(x): return 0\ndef root(low): return 9\n", "root",
                               kReference, "assert poly(root(0)) == 0"},
                              kLimits));
  for (const auto& [cheat, program] : kCheats) {
    CAPTURE(cheat);
    CHECK_FALSE(python_succeeds({program, "root", kReference, kTests}, {testing::kPython, 5, 512}));
  }
}

}  // namespace
}  // namespace draftlab
