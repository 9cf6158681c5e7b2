// compare_traces A B: exit 0 when two traces hold the same columns, times apart; else 1 and the first column that differs.
#include <iostream>

#include "core/error.h"
#include "tests/core/trace_fixture.h"

int main(int argc, char** argv) {
  if (argc != 3) return 64;
  try {
    const std::string found = draftlab::difference(argv[1], argv[2]);
    if (found.empty()) return 0;
    std::cout << argv[1] << " and " << argv[2] << " differ in " << found << "\n";
    return 1;
  } catch (const draftlab::Error& error) {
    std::cerr << error.what() << "\n";
    return error.status();
  }
}
