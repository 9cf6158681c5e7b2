#include "core/config/options.h"

#include <doctest/doctest.h>

#include <limits>

#include "core/base/error.h"
#include "core/config/config.h"

namespace draftlab {
namespace {

struct Fields {
  std::int64_t order = 3;
  int threads = 0;
  double tau = 0.1;
  bool merge = true;
  std::string view = "causal";
  std::vector<std::int64_t> sizes = {4, 8};
  std::vector<double> rates = {0.5};
  void declare(OptionSet& set) {
    set.add("order", &order).in(1, 8).help("Suffix length.");
    set.add("threads", &threads).in(0, 64).help("Threads.");
    set.add("tau", &tau).in(0, std::numeric_limits<double>::infinity()).help("Threshold.");
    set.add("merge", &merge).help("Merge.");
    set.add("view", &view).one_of({"causal", "bidirectional"}).help("View.");
    set.add("sizes", &sizes).in(1, 64).help("Sizes.");
    set.add("rates", &rates).help("Rates.");
  }
};

std::vector<std::string> faults_of(const std::string& text, Fields& fields) {
  Diagnostics diagnostics;
  const Config config = Config::parse(text, "a.ini", diagnostics);
  OptionSet set;
  fields.declare(set);
  set.read(config, "drafter.self", diagnostics);
  return diagnostics.sentences();
}

TEST_CASE("options are read into their fields") {
  Fields fields;
  CHECK(faults_of("[drafter.self]\norder = 8\nthreads = 2\ntau = 1e-3\nmerge = false\nview = "
                  "bidirectional\n"
                  "sizes = 1, 2,64\nrates =\n",
                  fields)
            .empty());
  CHECK(fields.order == 8);
  CHECK(fields.threads == 2);
  CHECK(fields.tau == 0.001);
  CHECK_FALSE(fields.merge);
  CHECK(fields.view == "bidirectional");
  CHECK(fields.sizes == std::vector<std::int64_t>{1, 2, 64});
  CHECK(fields.rates.empty());
}

TEST_CASE("what is wrong is said with file, line, key, value and rule, all of it at once") {
  Fields fields;
  const std::vector<std::string> diagnostics = faults_of(
      "[drafter.self]\nordr = 2\norder = 99\nthreads = two\ntau = nan\nmerge = yes\nview = "
      "casual\nsizes = 4, 65\nrates = 1,,2\n",
      fields);
  REQUIRE(diagnostics.size() == 8);
  CHECK(diagnostics[0] == "a.ini:2: [drafter.self] unknown option 'ordr'; did you mean 'order'?");
  CHECK(diagnostics[1] == "a.ini:3: [drafter.self] order = 99 must be in [1, 8]");
  CHECK(diagnostics[2] ==
        "a.ini:4: [drafter.self] threads = two must be a whole number in [0, 64]");
  CHECK(diagnostics[3] == "a.ini:5: [drafter.self] tau = nan must be a number at least 0");
  CHECK(diagnostics[4] == "a.ini:6: [drafter.self] merge = yes must be true or false");
  CHECK(diagnostics[5] ==
        "a.ini:7: [drafter.self] view = casual must be one of causal, bidirectional; did you mean "
        "'causal'?");
  CHECK(diagnostics[6] == "a.ini:8: [drafter.self] sizes = 4, 65 must be in [1, 64]");
  CHECK(diagnostics[7] ==
        "a.ini:9: [drafter.self] rates = 1,,2 must be a comma-separated list of floats");
  CHECK(fields.order == 3);  // A bad value changes nothing.
  CHECK(fields.sizes == std::vector<std::int64_t>{4, 8});
}

TEST_CASE("numbers that do not fit are refused, not wrapped") {
  Fields fields;
  CHECK(faults_of("[drafter.self]\norder = -1\n", fields).size() == 1);
  CHECK(faults_of("[drafter.self]\norder = 99999999999999999999\n", fields).size() == 1);
  CHECK(faults_of("[drafter.self]\nthreads = 4294967296\n", fields).size() == 1);
  CHECK(faults_of("[drafter.self]\norder = 2.5\n", fields).size() == 1);
  CHECK(faults_of("[drafter.self]\ntau = 1e999\n", fields).size() == 1);
  CHECK(faults_of("[drafter.self]\ntau = 0.5x\n", fields).size() == 1);
}

TEST_CASE("values are printed so that they read back as the same value") {
  Fields fields;
  OptionSet set;
  fields.declare(set);
  const auto option = [&](const std::string& name) {
    for (Option item : set.options())
      if (item.name() == name) return item;
    throw Fault(name);
  };
  for (double value : {0.1, 1.0 / 3, 1e-12, 5e-324, 1.7976931348623157e308}) {
    fields.tau = value;
    const std::string text = option("tau").value();
    fields.tau = 0;
    CHECK(option("tau").read(text) == "");
    CHECK(fields.tau == value);
  }
  fields.tau = 0.1;
  CHECK(option("tau").value() == "0.1");
  CHECK(option("sizes").value() == "4, 8");
  CHECK(option("order").rule() == "int, in [1, 8]");
  CHECK(option("view").rule() == "one of causal, bidirectional");
}

TEST_CASE("a range must include the default") {
  double value = 2;
  OptionSet set;
  CHECK_THROWS_WITH_AS(set.add("x", &value).in(0, 1),
                       "option 'x' has the default 2, which is not in [0, 1]", Fault);
  CHECK_THROWS_AS(set.add("x", &value), Fault);  // Declared twice.
  double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(set.add("y", &nan).in(0, 1), Fault);
  std::string text = "none";
  CHECK_THROWS_AS(set.add("z", &text).one_of({"a", "b"}), Fault);
}

TEST_CASE("the nearest word is suggested, and none when none is near") {
  CHECK(nearest("slef", {"ngram", "self", "stepwise"}) == "self");
  CHECK(nearest("draft_lenght", {"draft_length", "block_size"}) == "draft_length");
  CHECK(nearest("temp", {"temperature", "top_k"}) == "temperature");
  CHECK(nearest("zebra", {"self", "ngram"}) == "");
  CHECK(nearest("", {"a"}) == "");
}

}  // namespace
}  // namespace draftlab
