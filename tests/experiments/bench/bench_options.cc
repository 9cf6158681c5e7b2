#include <doctest/doctest.h>

#include "experiments/bench/bench.h"

namespace draftlab {
namespace {

struct Options {
  std::int64_t length = 7;
  std::string shape = "6x128";
  void declare(OptionSet& set) {
    set.add("length", &length).in(1, 100).help("Positions.");
    set.add("shape", &shape).help("Layers and width.");
  }
};

Options read(const std::vector<std::pair<std::string, std::string>>& overrides) {
  CommandLine line;
  line.overrides = overrides;
  return bench_options<Options>(line);
}

TEST_CASE("a benchmark reads its own options from --bench.KEY, and leaves the others alone") {
  const Options options = read({{"bench.length", "9"}, {"decode.length", "800"}});
  CHECK(options.length == 9);
  CHECK(options.shape == "6x128");
}

TEST_CASE("an option that a benchmark does not have, or a bad value, is refused with its flag") {
  CHECK_THROWS_WITH_AS(read({{"bench.lenght", "9"}}),
                       "--bench.lenght: [bench] unknown option 'lenght'; did you mean 'length'?",
                       ConfigError);
  CHECK_THROWS_WITH_AS(read({{"bench.length", "0"}}),
                       "--bench.length: [bench] length = 0 must be in [1, 100]", ConfigError);
}

}  // namespace
}  // namespace draftlab
