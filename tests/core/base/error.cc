#include "core/base/error.h"

#include <doctest/doctest.h>

namespace draftlab {
namespace {

std::string raised(const Diagnostics& diagnostics) {
  try {
    diagnostics.raise();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "(nothing)";
}

TEST_CASE("faults of a file stand in the order of its lines, and files in that of their first") {
  Diagnostics diagnostics;
  CHECK(raised(diagnostics) == "(nothing)");
  diagnostics.add("a.ini:12: last");
  diagnostics.add("b:7.ini:3: of another file");
  diagnostics.add("no place: at all");
  diagnostics.add("a.ini:2: first, a.ini:1: is no place");
  diagnostics.add("--run.seed: a flag");
  diagnostics.add("a.ini:12: the second of a line");
  CHECK(raised(diagnostics) ==
        "a.ini:2: first, a.ini:1: is no place\na.ini:12: last\na.ini:12: the second of a line\n"
        "b:7.ini:3: of another file\nno place: at all\n--run.seed: a flag");
}

}  // namespace
}  // namespace draftlab
