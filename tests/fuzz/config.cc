// Configs that were mangled, in a fixed order: whatever comes, faults or a composition, never a
// crash or a hang.
#include <doctest/doctest.h>

#include "core/config/composition.h"
#include "core/prob/chance.h"

namespace draftlab {
namespace {

const std::string kWhole =
    "# A question?\ninclude = base.ini\nmodel = table\ntask = positions\ndrafter = "
    "self\nmodel.draft = table\nestimator = none\n"
    "[decode]\ntemperature = 0.7\ntop_k = 3\n[router.hysteresis]\non = 1\n[run]\nseed = 1\ndtype = "
    "f32\n[certify]\nmerge = true\n"
    "[reference]\nlaw = denoising\n[sweep]\ndrafter = self, ngram\ndecode.draft_length = 2, "
    "3\nzip = drafter, decode.draft_length\n"
    "baseline = drafter=stepwise\n";

const std::vector<std::string> kPieces = {"=",
                                          "[",
                                          "]",
                                          ".",
                                          "..",
                                          "\n",
                                          "\r\n",
                                          "#",
                                          ";",
                                          ",",
                                          " ",
                                          "\t",
                                          "\0x",
                                          "\xff",
                                          "\xef\xbb\xbf",
                                          "-1",
                                          "nan",
                                          "1e999",
                                          "99999999999999999999",
                                          "sweep.",
                                          "reference.",
                                          "zip = ",
                                          "include = a.ini\n",
                                          "model",
                                          "estimator.x = y\n",
                                          "[sweep]\n",
                                          "baseline = ",
                                          "decode.",
                                          "true",
                                          "\xe2\x82"};

// One text a number: some bytes removed, some pieces put in.
std::string mangled(std::uint64_t number) {
  std::uint32_t clock = 0;
  const auto pick = [&](std::size_t size) {
    return static_cast<std::size_t>(SampledChance::uniform(number, {.clock = clock++}) *
                                    static_cast<double>(size));
  };
  std::string text = kWhole;
  for (std::size_t edits = 1 + pick(8); edits > 0; --edits) {
    const std::size_t at = pick(text.size() + 1);
    switch (pick(4)) {
      case 0: text.erase(at, pick(30)); break;
      case 1: text.insert(at, kPieces[pick(kPieces.size())]); break;
      case 2: text.insert(at, text.substr(pick(text.size() + 1), pick(60))); break;
      default:
        if (at < text.size()) text[at] = static_cast<char>(pick(256));
    }
  }
  return text;
}

TEST_CASE("mangled configs end in faults or in a composition") {
  const Registries none;
  int clean = 0;
  for (std::uint64_t number = 0; number < 3000; ++number) {
    CAPTURE(number);
    Diagnostics diagnostics;
    const Config config = Config::parse(mangled(number), "fuzz.ini", diagnostics);
    clean += diagnostics.empty();
    const std::vector<Cell> cells = expand(config, none, diagnostics);
    without_effect(cells, none);
    CHECK_FALSE(diagnostics.empty());  // There are no plugins at all.
    for (const std::string& sentence : diagnostics.sentences())
      CHECK(sentence.find('\n') == std::string::npos);
  }
  CHECK(clean < 3000);
}

TEST_CASE("options never crash, and what they print they read") {
  std::int64_t whole = 1;
  double real = 0.5;
  bool flag = false;
  std::vector<double> list = {1};
  OptionSet set;
  set.add("whole", &whole).in(-10, 10).help("x");
  set.add("real", &real).in(0, 1).help("x");
  set.add("flag", &flag).help("x");
  set.add("list", &list).in(0, 5).help("x");
  for (std::uint64_t number = 0; number < 3000; ++number) {
    const std::string text = mangled(number).substr(number % 200, number % 13);
    for (Option option : set.options()) {
      if (!option.read(text).empty()) continue;
      const std::string value = option.value();
      CHECK(option.read(value) == "");
      CHECK(option.value() == value);
    }
    CHECK(whole >= -10);
    CHECK(whole <= 10);
    CHECK(real >= 0);
    CHECK(real <= 1);
  }
}

}  // namespace
}  // namespace draftlab
