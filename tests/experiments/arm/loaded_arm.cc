// Batched decoding: the same samples whatever decodes beside them, in fewer forwards, and no place
// left empty.
#include "experiments/arm/loaded_arm.h"

#include <doctest/doctest.h>

#include <map>

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "experiments/sections.h"
#include "plugins/builtin.h"

namespace draftlab {

namespace {

// Samples of one prompt by their index, and how many rows each forward computed.
struct Decoded {
  std::map<int, SampleRow> rows;
  std::vector<int> order;
  std::vector<std::int64_t> forwards;
};

LoadedArm toy() {
  Registries registries;
  register_builtin_plugins(registries);
  register_sections(registries);
  Diagnostics diagnostics;
  const Config config = Config::parse(
      "model = table\ndrafter = self\nverifier = chain\ntask = positions\nrun.samples = "
      "40\n[model.table]\nkind = ordered\nlength = 7\n"
      "[task.positions]\nlength = 7\nprompt = 3:1\n[decode]\ndraft_length = 3\n",
      "toy", diagnostics);
  diagnostics.raise();
  std::vector<LoadedArm> arms = load_arms(config, registries);
  return arms.front();
}

Decoded decode(int batch) {
  LoadedArm arm = toy();
  arm.composition.run.batch = batch;
  std::vector<Job> jobs;
  for (int sample = 0; sample < 40; ++sample) jobs.push_back({0, sample});
  Decoded decoded;
  arm.models.target().watch(
      [&](std::int64_t positions, std::int64_t) { decoded.forwards.push_back(positions); });
  arm.decode(jobs, [&](SampleRow row) {
    decoded.order.push_back(row.sample_index);
    decoded.rows[row.sample_index] = std::move(row);
    return true;
  });
  return decoded;
}

std::string tokens(const SampleRow& row) {
  std::string text;
  for (const StepRow& step : row.steps) {
    for (const TokenRow& token : step.tokens)
      text += std::to_string(token.position) + ":" + std::to_string(token.token) + " ";
    text += "/ ";
  }
  return text;
}

}  // namespace

TEST_CASE("a sample is the same whatever is decoded beside it") {
  const Decoded alone = decode(1);
  REQUIRE(alone.rows.size() == 40);
  for (const int batch : {2, 7, 64}) {
    const Decoded together = decode(batch);
    REQUIRE(together.rows.size() == 40);
    for (const auto& [sample, row] : alone.rows) {
      CHECK(tokens(row) == tokens(together.rows.at(sample)));
      CHECK(row.counts.nfe() == together.rows.at(sample).counts.nfe());
    }
    CHECK(together.forwards.size() < alone.forwards.size());
    CHECK(std::isnan(together.rows.at(0).seconds));
  }
  CHECK(alone.rows.at(0).seconds > 0);
}

TEST_CASE("a sample that finishes is replaced at once") {
  const Decoded alone = decode(1), together = decode(4);
  // In groups of 4, each waiting for its slowest, it would take the sum of the groups' maxima.
  std::size_t grouped = 0;
  for (int first = 0; first < 40; first += 4) {
    std::int64_t slowest = 0;
    for (int sample = first; sample < first + 4; ++sample)
      slowest = std::max(slowest, alone.rows.at(sample).counts.nfe());
    grouped += static_cast<std::size_t>(slowest);
  }
  CHECK(together.forwards.size() < grouped);
  CHECK(together.order != alone.order);
}

TEST_CASE("a fixed shape refuses a model whose answers may depend on the batch") {
  class Unsure final : public Model {
   public:
    void load(const Machine&) override {}
    ModelFacts facts() const override {
      ModelFacts facts;
      facts.vocabulary = 2;
      return facts;
    }
    std::unique_ptr<Sequence> open(const Canvas& canvas, const Blocks&) override {
      return std::make_unique<Sequence>(canvas);
    }

   private:
    void evaluate(std::span<Pending>) override {}
  };
  Bound<Model> bound;
  bound.name = "unsure";
  bound.make = [] { return std::make_unique<Unsure>(); };
  Loaded loaded;
  CHECK(load(bound, Machine{}, loaded) != nullptr);
  Machine fixed;
  fixed.fixed_shape = true;
  CHECK_THROWS_WITH_AS(load(bound, fixed, loaded),
                       doctest::Contains("may depend on what shares their forward"), ConfigError);
}

TEST_CASE("a prompt of tokens that the model does not know is bad data, not a fault") {
  class Foreign final : public Task {
   public:
    void load(const Tokenizer*) override {}
    int size() const override { return 1; }
    Prompt prompt(int) const override {
      Prompt prompt;
      prompt.id = "foreign";
      prompt.length = 7;
      prompt.given = {{3, 9}};
      return prompt;
    }
    std::vector<Score> score(const Prompt&, const Canvas&) const override { return {}; }
    std::string text(const Prompt&, const Canvas&) const override { return {}; }
  };
  LoadedArm arm = toy();
  arm.task = std::make_shared<Foreign>();
  const Job job{0, 0};
  CHECK_THROWS_WITH_AS(arm.decode({&job, 1}, [](const SampleRow&) { return true; }),
                       doctest::Contains("holds token 9"), DataError);
}

TEST_CASE("when it is told to stop, nothing more is begun") {
  LoadedArm arm = toy();
  arm.composition.run.batch = 4;
  std::vector<Job> jobs;
  for (int sample = 0; sample < 40; ++sample) jobs.push_back({0, sample});
  int finished = 0;
  arm.decode(jobs, [&](const SampleRow&) { return ++finished < 3; });
  CHECK(finished >= 3);
  CHECK(finished < 8);
}

}  // namespace draftlab
