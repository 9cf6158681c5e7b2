// Verification trees draw the very numbers that stepwise decoding draws: at equal seeds the texts
// are equal, token for token and in the same order. The table is the one whose answers depend on
// the visible set; it has six positions in blocks of three.
#include <doctest/doctest.h>

#include "analysis/replay/acceptance_limit.h"
#include "core/config/composition.h"
#include "core/loop/decoder.h"
#include "experiments/sections.h"
#include "plugins/builtin.h"

namespace draftlab {
namespace {

using Committed = std::vector<std::pair<std::int32_t, std::int32_t>>;

struct Arm {
  Composition composition;
  Loaded loaded;
  Models models;
  Prompt prompt;

  Arm(const std::string& unmasker, const std::string& lines, int table = 3) {
    static const Registries registries = [] {
      Registries made;
      register_builtin_plugins(made);
      register_sections(made);
      return made;
    }();
    Diagnostics diagnostics;
    composition = compose(
        Config::parse("model = table\ntask = positions\nfrontier = blocks\nunmasker = " + unmasker +
                          "\n" + lines +
                          "\n[model.table]\nkind = sets\nlength = 6\nnoise = 0.6\nseed = " +
                          std::to_string(table) + "\n[task.positions]\nlength = 6\nprompt =\n",
                      "test.ini", diagnostics),
        registries, diagnostics);
    diagnostics.raise();
    models = load_models(composition, composition.run.machine, loaded);
    const auto task = composition.task.make();
    task->load(nullptr);
    prompt = task->prompt(0);
  }
  explicit Arm(const std::string& lines) : Arm("static", lines) {}
  SampleRow decode(std::uint64_t seed) const {
    SampledChance chance(seed);
    Decoder decoder(composition, models, prompt, {chance, 7});
    return drive(models, decoder, decoder.decode());
  }
};

Committed committed(const SampleRow& row) {
  Committed all;
  for (const StepRow& step : row.steps)
    for (const TokenRow& token : step.tokens) all.emplace_back(token.position, token.token);
  return all;
}

const std::string kDecode = "\n[decode]\nblock_size = 3\n";
const std::string kStepwise =
    "drafter = denoise\nrouter = never\n[drafter.denoise]\nsites = state\n";

TEST_CASE("SSD at temperature 1 is stepwise sampling, token for token, in 200 of 200 samples") {
  for (const std::string order : {"confidence", "peak"}) {
    const std::string rule = "[unmasker.static]\norder = " + order + kDecode;
    const Arm stepwise(kStepwise + rule);
    for (const std::string tree : {"shape = chain", "shape = mix-order", "shape = top-k"}) {
      for (const std::string length : {"2", "3"}) {
        CAPTURE(order + ", " + tree + ", N = " + length);
        const Arm ssd("drafter = confidence\nverifier = tree\n[verifier.tree]\n" + tree + "\n" +
                      rule + "draft_length = " + length + "\n");
        int equal = 0;
        std::int64_t fewer = 0;
        for (std::uint64_t seed = 0; seed < 200; ++seed) {
          const SampleRow expected = stepwise.decode(seed), row = ssd.decode(seed);
          equal += committed(row) == committed(expected);
          CHECK(row.counts.nfe() <= expected.counts.nfe());
          fewer += expected.counts.nfe() - row.counts.nfe();
        }
        CHECK(equal == 200);
        CHECK(fewer > 0);
      }
    }
  }
}

TEST_CASE("the two definitions of stepwise sampling, and matching tokens alone, give other texts") {
  const Arm stepwise(kStepwise + kDecode),
      peak(kStepwise + "[unmasker.static]\norder = peak" + kDecode);
  const Arm token("drafter = confidence\nverifier = tree\n[verifier.tree]\nmatch = token\n" +
                  kDecode);
  int as_peak = 0, as_token = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    as_peak += committed(stepwise.decode(seed)) == committed(peak.decode(seed));
    as_token += committed(stepwise.decode(seed)) == committed(token.decode(seed));
  }
  CHECK(as_peak < 190);
  CHECK(as_token < 190);
}

TEST_CASE(
    "a round ends with one token at least: greedy decoding needs no more forwards than stepwise, "
    "and at most the rows of its trees") {
  const std::string greedy = kDecode + "temperature = 0\n";
  const SampleRow expected = Arm(kStepwise + greedy).decode(1);
  for (const auto& [tree, rows] : {std::pair("chain", 4), std::pair("mix-order", 6)}) {
    const SampleRow row =
        Arm("drafter = confidence\nverifier = tree\n[verifier.tree]\nshape = " + std::string(tree) +
            "\n" + greedy + "draft_length = 3\n")
            .decode(1);
    CHECK(committed(row) == committed(expected));
    CHECK(row.counts[Kind::draft].calls == 1);  // The first step, whose own choice is committed.
    for (const StepRow& step : row.steps) CHECK(step.counts[Kind::verify].rows <= rows);
  }
}

// `draftlab replay --limits` needs no tree to know what its forwards would be.
TEST_CASE(
    "the greedy chain and the complete top-k tree need the forwards that a stepwise trace says") {
  const std::string greedy = kDecode + "temperature = 0\n";
  std::int64_t saved = 0;
  for (int table = 0; table < 20; ++table) {
    const Arm traced("static",
                     "drafter = confidence\nrouter = never\n[drafter.confidence]\nsource = pass\n" +
                         greedy + "draft_length = 100\n[trace]\ntop_k = 2\n",
                     table);
    const SampleRow stepwise = traced.decode(1);
    CHECK(committed(stepwise) == committed(Arm("static", kStepwise + greedy, table).decode(1)));
    for (const int length : {1, 2, 3, 5}) {
      CAPTURE(table);
      CAPTURE(length);
      const auto forwards = [&](const std::string& tree) {
        return Arm("static",
                   "drafter = confidence\nverifier = tree\n[verifier.tree]\n" + tree + greedy +
                       "draft_length = " + std::to_string(length) + "\n",
                   table)
            .decode(1)
            .counts.nfe();
      };
      const Forwards one = forwards_within(stepwise.steps, length, 1),
                     two = forwards_within(stepwise.steps, length, 2);
      CHECK(forwards("shape = chain\n") == one.in_order);
      CHECK(forwards("shape = top-k\nbudget = 4096\n") == two.in_order);
      saved += 6 - one.in_order;
    }
  }
  CHECK(saved > 20);
}

// Threshold decoding as the rule that trees follow: several tokens a step, the same numbers.
TEST_CASE("trees over threshold decoding are threshold decoding") {
  const std::string rule = "[decode]\nblock_size = 3\nthreshold = 0.5\n";
  const Arm threshold("threshold", kStepwise + rule),
      ssd("threshold", "drafter = confidence\nverifier = tree\n" + rule + "draft_length = 3\n");
  int several = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const SampleRow expected = threshold.decode(seed);
    CHECK(committed(ssd.decode(seed)) == committed(expected));
    several += expected.steps.size() < 6;
  }
  CHECK(several > 20);
}

}  // namespace
}  // namespace draftlab
