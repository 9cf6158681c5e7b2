#include "analysis/surface/predicted.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "analysis/report/report.h"
#include "core/base/error.h"
#include "tests/analysis/traces.h"

namespace draftlab {
namespace {

constexpr const char* kHead = "[cost]\nsource = me, on a toy\n[engine]\nfixed = 0.5\n";
constexpr const char* kTarget = "[target]\ncached = 0.25\nrow = 2\nfixed = 16\n";

// A folder with a surface and with one prompt's trace: two tokens one after another, and two steps
// that draft two tokens and accept one.
struct SurfaceFolder : TraceFolder {
  explicit SurfaceFolder(const std::string& surface) : TraceFolder("surface") {
    std::ofstream(*this / "cost.ini") << surface;
    const MadeArm base{.id = "s",
                       .label = "drafter=stepwise",
                       .config = "drafter = stepwise\n",
                       .steps = 2,
                       .drafted = 1,
                       .verified = false};
    const MadeArm arm{.id = "f",
                      .label = "drafter=self",
                      .config = "drafter = self\n",
                      .steps = 2,
                      .drafted = 2,
                      .accepted = 1};
    write_arms(*this / "a.h5", {base, arm}, {.prompts = 1});
  }
  // The milliseconds a token of one arm.
  double value(std::size_t arm, std::int64_t copies) const {
    const Frame frame({*this / "a.h5"});
    const PredictedMetrics predicted =
        predicted_metrics({.file = *this / "cost.ini", .batches = {copies}}, builtin_metrics());
    const Metrics metrics(frame, predicted.known);
    const Measured& measured = metrics.of(metrics.find(predicted.names.at(0)));
    return measured.above().at(arm) / measured.below().at(arm);
  }
  std::string refusal() const {
    return message_of<DataError>([&] { (void)read_cost_surface(*this / "cost.ini"); });
  }
};

TEST_CASE("a step takes its forwards, its positions, what is cached and the engine") {
  const SurfaceFolder folder(std::string(kHead) + kTarget);
  // A prompt of one token, then one position a step: 16 + 2 + 0.25 and 16 + 2 + 0.5, 0.5 each.
  CHECK(folder.value(0, 1) == doctest::Approx(1e3 * (18.25 + 18.5 + 1) / 2));
  // Two forwards of 2 and 4 positions a step, with 1 and then 3 tokens cached.
  CHECK(folder.value(1, 1) == doctest::Approx(1e3 * (44.5 + 45.5 + 1) / 4));
  // Three copies share the forwards and the engine, not positions and caches.
  CHECK(folder.value(0, 3) == doctest::Approx(1e3 * (16 + 6 + 0.75 + 16 + 6 + 1.5 + 1) / (2 * 3)));
}

TEST_CASE("the section of a drafter replaces the forwards in which it drafts") {
  const SurfaceFolder folder(std::string(kHead) + kTarget +
                             "[self]\ncached = 0.125\nrow = 1\nfixed = 4\nshare = 0.5\n");
  // A verification of 4 positions takes 24.25 and 24.75; drafts of two tokens take 3 rows.
  const double drafts = (4 + 3 + 0.125) + (4 + 3 + 0.375) + 0.5 * (24.25 + 24.75);
  CHECK(folder.value(1, 1) == doctest::Approx(1e3 * (24.25 + 24.75 + drafts + 1) / 4));
  // Rows of drafts are those of one sequence; what is cached is that of all.
  const double shared = (4 + 3 + 0.25) + (4 + 3 + 0.75) + 0.5 * (32.5 + 33.5);
  CHECK(folder.value(1, 2) == doctest::Approx(1e3 * (32.5 + 33.5 + shared + 1) / (4 * 2)));
}

TEST_CASE("the table says whose surface it is") {
  const SurfaceFolder folder(std::string(kHead) + kTarget);
  const PredictedMetrics predicted =
      predicted_metrics({.file = folder / "cost.ini", .batches = {8, 1, 8}}, builtin_metrics());
  CHECK(predicted.names == std::vector<std::string>{"predicted_1", "predicted_8"});
  CHECK(predicted.note().find("whose source is: me, on a toy.") != std::string::npos);
  CHECK(predicted_metrics({}, builtin_metrics()).names.empty());
  CHECK_THROWS_AS((void)predicted_metrics({.batches = {2}}, builtin_metrics()), UsageError);
}

TEST_CASE("the shipped surface is read") {
  const CostSurface h100 =
      read_cost_surface(std::string(DRAFTLAB_SOURCE_DIR) + "/data/cost/h100-llama-3.1-8b.ini");
  CHECK(h100.target.fixed == doctest::Approx(5.88590713e-3));
  CHECK(h100.drafts.at("eagle3").forward.row == doctest::Approx(8.41429603e-07));
  CHECK(h100.drafts.at("ngram").share == doctest::Approx(0.005875));
  CHECK(h100.source.starts_with("arXiv 2601.11580"));
}

TEST_CASE("what a surface lacks is one sentence") {
  const auto says = [](const std::string& text, const std::string& part) {
    const std::string said = SurfaceFolder(text).refusal();
    CAPTURE(said);
    return said.find(part) != std::string::npos;
  };
  CHECK(says(kHead, "cost.ini: target.cached is missing"));
  CHECK(says(std::string(kHead) + "[target]\ncached = 0\nrow = 0\nfixed = 0\n",
             "target.fixed must be above 0"));
  CHECK(says(std::string(kHead) + kTarget + "[self]\nrow = -1\n", "row = -1 must be in [0,"));
  CHECK(says(std::string(kHead) + kTarget + "[self]\nrows = 1\n", "rows"));
  CHECK(says("engine = 1\n" + std::string(kHead) + kTarget, "engine stands in no section"));
}

TEST_CASE("a draft model without a section is refused") {
  const SurfaceFolder folder(std::string(kHead) + kTarget);
  MadeArm arm{.id = "m", .label = "drafter=model", .config = "drafter = model\n"};
  arm.own_forwards = 1;
  std::filesystem::remove(folder / "a.h5");
  write_arms(folder / "a.h5", {arm}, {.prompts = 1});
  const std::string said = message_of<DataError>([&] { (void)folder.value(0, 1); });
  CHECK(said ==
        "the drafter 'model' asks a model of its own, and the cost surface of me, on a toy has no "
        "section [model]");
}

TEST_CASE("forwards of which no positions are told are refused") {
  const SurfaceFolder folder(std::string(kHead) + kTarget);
  MadeArm arm{.id = "f", .label = "drafter=self", .config = "drafter = self\n"};
  arm.says_positions = false;
  std::filesystem::remove(folder / "a.h5");
  write_arms(folder / "a.h5", {arm}, {.prompts = 1});
  CHECK(message_of<DataError>([&] { (void)folder.value(0, 1); }) ==
        "'" + folder / "a.h5" +
            "' does not say how many positions its forwards computed (step_positions_verify), "
            "which a cost surface needs");
}

}  // namespace
}  // namespace draftlab
