// The loop that every trainer shares: the moving average of the weights, by hand and after a
// resume.
#include "plugins/models/nn/training/training_torch.h"

#include <ATen/ATen.h>

#include <filesystem>

#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#include <doctest/doctest.h>

#include "core/config/plugin.h"
#include "plugins/models/nn/training/adamw.h"
#include "tests/scratch.h"

namespace draftlab {
namespace {

constexpr float kBegin = 2;

// The gradient of x^2 / 2 + step x, so that each step's differs.
float slope(float x, std::int64_t step) { return x + static_cast<float>(step); }

struct Saved {
  double weight = 0, validated = 0;
};

// Trains one weight up to `steps` steps and returns what was saved and validated last.
Saved train(const testing::Folder& folder, std::int64_t steps, double average, bool resume) {
  at::Tensor weight = at::full({1}, kBegin);
  Saved saved;
  Training training;
  training.name = "slope";
  training.data = "nothing";
  training.parameters = {{"weight", weight}};
  training.gradient = [&](std::int64_t step) {
    weight.mutable_grad().fill_(slope(weight.item<float>(), step));
    return StepResult{};
  };
  training.save = [&](const std::string&) { saved.weight = weight.item<double>(); };
  training.validate = [&](ValidationRow&) {
    saved.validated = weight.item<double>();
    return std::string();
  };
  TrainingOptions options;
  options.steps = steps;
  options.warmup = 0;
  options.rate = 0.1;
  options.floor = 1;
  options.clip = 100;
  options.average = average;
  const Registries registries;
  Diagnostics diagnostics;
  const Config config = Config::parse("", "test.ini", diagnostics);
  Machine machine;
  machine.threads = 1;
  run_training(training, options, {registries, config, machine, 1, folder.path.string(), resume});
  return saved;
}

// What the loop must have saved, by the optimizer alone.
double by_hand(std::int64_t steps, double average) {
  AdamW optimizer;
  optimizer.first.resize(1);
  optimizer.second.resize(1);
  std::vector<float> x = {kBegin};
  double mean = kBegin;
  for (std::int64_t step = 0; step < steps; ++step) {
    const std::vector<float> gradient = {slope(x[0], step)};
    optimizer.step(x, gradient, 0.1);
    mean = average * mean + (1 - average) * x[0];
  }
  return average > 0 ? mean : x[0];
}

}  // namespace

DOCTEST_TEST_CASE("what is validated and saved is the moving average, also after a resume") {
  for (const double average : {0.0, 0.75}) {
    DOCTEST_CAPTURE(average);
    const double expected = by_hand(4, average);
    const testing::Folder whole;
    const Saved at_once = train(whole, 4, average, false);
    DOCTEST_CHECK(at_once.weight == doctest::Approx(expected).epsilon(1e-6));
    DOCTEST_CHECK(at_once.validated == at_once.weight);
    std::filesystem::remove_all(whole.path);
    std::filesystem::create_directories(whole.path);
    train(whole, 2, average, false);
    DOCTEST_CHECK(train(whole, 4, average, true).weight == at_once.weight);
  }
}

}  // namespace draftlab
