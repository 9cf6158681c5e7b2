// compare_traces A B [NAME...]: exit 0 when two traces hold the same columns, times and the columns
// and tables named apart; else 1 and the first column that differs. compare_traces --samples
// FILE...: reads all of each file and prints how many samples there are in all.
#include <cstring>
#include <iostream>

#include "core/base/error.h"
#include "tests/core/trace/trace_fixture.h"

int main(int argc, char** argv) {
  try {
    if (argc >= 2 && std::strcmp(argv[1], "--samples") == 0) {
      std::size_t samples = 0;
      for (int i = 2; i < argc; ++i) samples += draftlab::Trace(argv[i]).read().size();
      std::cout << samples << "\n";
      return 0;
    }
    if (argc < 3) return 64;
    const std::string found =
        draftlab::differs_in(argv[1], argv[2], std::set<std::string>(argv + 3, argv + argc));
    if (found.empty()) return 0;
    std::cout << argv[1] << " and " << argv[2] << " differ in " << found << "\n";
    return 1;
  } catch (const draftlab::Error& error) {
    std::cerr << error.what() << "\n";
    return error.status();
  }
}
