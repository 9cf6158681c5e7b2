"""tests/size.py finds functions as clang-format lays them out."""
import importlib.util
import pathlib

FILE = pathlib.Path(__file__).resolve().parent.parent / "size.py"
SPEC = importlib.util.spec_from_file_location("size", FILE)
size = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(size)

SOURCE = """#define MACRO(a, b, c, d, e, f) \\
  void name(a, b, c, d, e, f) {}
namespace draftlab {
namespace {

// A comment with a brace { and a call(a, b).
constexpr int words[] = {1, 2, 3};
struct Options {
  int level = 2, other = 3;
  void declare(OptionSet& set) {
    set.add("a, b {", &level);
    const auto lambda = [&](int x, int y, int z, int u, int v) {
      return x;
    };
  }
};

std::map<int, std::string> five(int a, const std::map<int, int>& b, int c,
                                std::function<void(int, int)> d, int e) {
  if (a) {
    return {};
  }
}

Part::Part(int a, int b)
    : a_(a), b_{b} {
  work();
}

double one_line(double x) { return x; }
}  // namespace
}  // namespace draftlab
"""


def test_functions_lines_and_parameters():
    found = [(first, lines, count) for first, lines, count, *_ in size.functions(SOURCE)]
    assert found == [(10, 6, 1), (18, 6, 5), (25, 4, 2), (30, 1, 1)]


def test_the_rules_of_the_tree_are_counted(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["size.py", "--list", "plugins/controls"])
    size.main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].split()[0] == "all"  # No control has a long function, so none is listed.
    assert int(lines[-1].split()[1]) == 6
