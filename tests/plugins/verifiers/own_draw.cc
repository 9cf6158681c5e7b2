#include <doctest/doctest.h>

#include "core/config/composition.h"
#include "core/loop/decoder.h"
#include "tests/plugins/scripted_step.h"

namespace draftlab {
namespace {

using testing::of;

struct OwnDraw : testing::ScriptedStep {
  Proposal proposal;
  OwnDraw() : testing::ScriptedStep(Canvas(3, {})) {
    window = {.positions = {0, 1, 2}, .span = 3, .boundary = Stop::block_end, .block = 0};
    proposal.nodes = {{kRoot, 0, 1}, {0, 1, 1}};
    proposal.drawn_from = {of({.2, .5, .3}), of({.2, .5, .3})};
  }
  Verdict judge(const Distribution& first, const Distribution& second,
                const std::string& options = "") {
    const auto verifier = testing::part(&Registries::verifiers, "own-draw", options);
    const auto rule = testing::part(&Registries::acceptance, "speculative");
    return run(verifier->judge(step(), proposal, *rule),
               {{0, first}, {1, second}, {2, of({1, 0, 0})}});
  }
};

TEST_CASE("own-draw: drafts are kept while they are the target's draws, which are committed") {
  OwnDraw right, wrong, whole;
  const Verdict first = right.judge(of({0, 1, 0}), of({1, 0, 0}));
  REQUIRE(first.commits.size() == 2);
  CHECK(first.commits[0].source == Source::accepted);
  CHECK(first.commits[1].token == 0);
  CHECK(first.commits[1].source == Source::resampled);
  CHECK(first.why == Stop::wrong_token);
  CHECK(first.judged[1].accept == 0);
  const Verdict none = wrong.judge(of({0, 0, 1}), of({0, 1, 0}));
  REQUIRE(none.commits.size() == 1);
  CHECK(none.commits[0].token == 2);
  CHECK(none.judged.size() == 1);
  const Verdict all = whole.judge(of({0, 1, 0}), of({0, 1, 0}), "bonus = true");
  REQUIRE(all.commits.size() == 3);
  CHECK(all.commits[2].source == Source::bonus);
}

TEST_CASE("own-draw: a draw behind the last draft is asked only as a bonus") {
  OwnDraw without;
  CHECK(without.judge(of({0, 1, 0}), of({0, 1, 0})).commits.size() == 2);
  CHECK(without.asked->asks.size() == 2);
}

// Decodes six tokens of the context-dependent table.
std::vector<Token> decoded(const std::string& lines, std::uint64_t seed, std::int64_t* steps = {}) {
  Registries registries;
  register_builtin_plugins(registries);
  Diagnostics diagnostics;
  const Composition composition = compose(
      Config::parse(
          "model = table\nmodel.draft = table\ntask = positions\nfrontier = left-to-right\n" +
              lines +
              "\n[model.table]\nkind = views\nlength = 6\n[model.draft]\nkind = views\n"
              "length = 6\nseed = 22\nconcentration = 1\n"
              "[task.positions]\nlength = 6\nprompt =\n",
          "test.ini", diagnostics),
      registries, diagnostics);
  diagnostics.raise();
  Loaded loaded;
  const Models models = load_models(composition, composition.run.machine, loaded);
  const auto task = composition.task.make();
  task->load(nullptr);
  SampledChance chance(seed);
  Decoder decoder(composition, models, task->prompt(0), {chance, 7});
  const SampleRow row = drive(models, decoder, decoder.decode());
  if (steps) *steps += row.iterations;
  return decoder.canvas().tokens();
}

TEST_CASE("own-draw: with shared noise the texts are those of stepwise decoding, in fewer steps") {
  for (const std::string noise : {"uniform", "gumbel"}) {
    const std::string stepwise = "drafter = stepwise\nverifier = chain\ndecode.noise = " + noise;
    for (const std::string drafter : {"model", "self", "model\ndrafter.model.children = 2",
                                      "dynamic-tree", "jacobi", "prompt-lookup"}) {
      CAPTURE(noise + " " + drafter);
      int equal = 0;
      std::int64_t steps = 0, sequential = 0;
      for (std::uint64_t seed = 0; seed < 40; ++seed) {
        equal += decoded("drafter = " + drafter +
                             "\nverifier = own-draw\nverifier.own-draw.bonus = true\n"
                             "decode.draft_length = 3\ndecode.noise = " +
                             noise,
                         seed, &steps) == decoded(stepwise, seed, &sequential);
      }
      CHECK(equal == 40);
      CHECK(steps < sequential);
    }
  }
}

TEST_CASE("own-draw: with numbers of their own the texts differ") {
  int equal = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    equal += decoded("drafter = model\nverifier = own-draw", seed) ==
             decoded("drafter = stepwise\nverifier = chain", seed);
  CHECK(equal < 10);
}

TEST_CASE("verifiers with a rule of their own take no other acceptance rule") {
  for (const std::string verifier : {"own-draw", "block", "k-seq"}) {
    for (const std::string rule :
         {"acceptance = typical", "acceptance.speculative.gamma = 0.5",
          "acceptance.speculative.epsilon = 0.1", "acceptance.speculative.resample = false"}) {
      CAPTURE(verifier + " " + rule);
      CHECK_THROWS_WITH_AS(decoded("drafter = model\nverifier = " + verifier + "\n" + rule, 1),
                           doctest::Contains("must be the exact ratio test"), ConfigError);
    }
  }
  CHECK_THROWS_WITH_AS(decoded("drafter = model\nverifier = block\ndecode.noise = uniform", 1),
                       doctest::Contains("decode.noise must be own"), ConfigError);
}

TEST_CASE("limits are recorded at the first draft of each node that was judged") {
  Registries registries;
  register_builtin_plugins(registries);
  Diagnostics diagnostics;
  const Composition composition = compose(
      Config::parse(
          "model = table\nmodel.draft = table\ntask = positions\nfrontier = left-to-right\n"
          "drafter = model\nverifier = chain\ndrafter.model.children = 2\ntrace.limits = true\n"
          "decode.draft_length = 1\n"
          "[model.table]\nkind = joint\nvocabulary = 4\nmarginal = 0.4, 0.3, 0.2, 0.1\nlength = 2\n"
          "[model.draft]\nkind = joint\nvocabulary = 4\nmarginal = 0.1, 0.2, 0.3, 0.4\nlength = 2\n"
          "[task.positions]\nlength = 2\nprompt =\n",
          "test.ini", diagnostics),
      registries, diagnostics);
  diagnostics.raise();
  Loaded loaded;
  const Models models = load_models(composition, composition.run.machine, loaded);
  const auto task = composition.task.make();
  task->load(nullptr);
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SampledChance chance(seed);
    Decoder decoder(composition, models, task->prompt(0), {chance, 7});
    const SampleRow row = drive(models, decoder, decoder.decode());
    REQUIRE(row.steps[0].drafts.size() == 2);
    CHECK(row.steps[0].drafts[0].limit == doctest::Approx(.79));
    CHECK(std::isnan(row.steps[0].drafts[1].limit));
  }
}

}  // namespace
}  // namespace draftlab
