#include <doctest/doctest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "plugins/builtin.h"
#include "plugins/tasks/images/digits.h"
#include "plugins/tokenizers/tokenizer.h"

namespace draftlab {
namespace {

std::unique_ptr<Task> enlarging(const std::string& options) {
  Registries registries;
  register_task_super_resolution(registries);
  Diagnostics diagnostics;
  const auto bound =
      registries.tasks.find("super-resolution")
          ->bind(Config::parse("[task.super-resolution]\n" + options, "test.ini", diagnostics),
                 "task.super-resolution", diagnostics);
  diagnostics.raise();
  return bound.make();
}

std::unique_ptr<Tokenizer> levels(int count) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("draftlab-grey-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "levels.json") << "{\"levels\": " << count << "}";
  auto tokenizer = open_tokenizer(folder);
  std::filesystem::remove_all(folder);
  return tokenizer;
}

TEST_CASE("super-resolution: the coarse picture is given and the fine one is the answer") {
  const auto tokenizer = levels(32);
  const auto task = enlarging("count = 3\nseed = 5\n");
  task->load(tokenizer.get());
  REQUIRE(task->size() == 3);
  const Prompt prompt = task->prompt(2);
  CHECK(prompt.offset == 1 + 4 * 4);
  CHECK(prompt.length == 1 + 4 * 4 + 8 * 8);
  CHECK(prompt.given.size() == 17);
  CHECK(prompt.reference.front() == tokenizer->begin());

  // Pixel (3, 6) of the fine picture is the mean of four pixels of the image, and pixel (1, 3) of
  // the coarse one the mean of sixteen.
  const Eigen::MatrixXd image =
      make_digit(5, 2, ProblemSplit::test).pixels.unaryExpr([](double value) {
        return kDigitScale.intensity(value);
      });
  const auto level = [](double intensity) {
    return std::lround(31 * std::min(std::max(intensity, 0.0), 1.0));
  };
  CHECK(prompt.reference[17 + 3 * 8 + 6] == level(image.block(6, 12, 2, 2).mean()));
  CHECK(prompt.reference[1 + 1 * 4 + 3] == level(image.block(4, 12, 4, 4).mean()));
}

TEST_CASE("super-resolution: the error is the mean distance in levels") {
  const auto tokenizer = levels(32);
  const auto task = enlarging("count = 1\n");
  task->load(tokenizer.get());
  const Prompt prompt = task->prompt(0);
  Canvas canvas(prompt.length, prompt.given);
  for (std::int32_t at = prompt.offset; at < prompt.length; ++at) {
    const Token right = prompt.reference[at];
    // Three pixels are wrong by 4 levels.
    canvas.commit(at, at >= prompt.length - 3 ? (right >= 16 ? right - 4 : right + 4) : right,
                  false);
  }
  const std::vector<Score> scores = task->score(prompt, canvas);
  CHECK(scores.at(0).value == doctest::Approx(61.0 / 64));
  CHECK(scores.at(2).name == "level_error");
  CHECK(scores.at(2).value == doctest::Approx(12.0 / 64));
}

TEST_CASE("super-resolution: a model of other levels, and images that do not divide, are refused") {
  CHECK_THROWS_WITH_AS(enlarging("")->load(nullptr),
                       doctest::Contains("its checkpoint needs a levels.json"), ConfigError);
  const auto few = levels(16);
  CHECK_THROWS_WITH_AS(enlarging("")->load(few.get()), doctest::Contains("32 levels of grey"),
                       ConfigError);
  CHECK_NOTHROW(enlarging("levels = 16\ncount = 1\n")->load(few.get()));
  const auto uneven = enlarging("levels = 16\nshrink = 3\n");
  uneven->load(few.get());
  CHECK_THROWS_WITH_AS(uneven->prompt(0),
                       doctest::Contains("an image of 16 x 16 is not cut evenly by shrink = 3"),
                       ConfigError);
  CHECK_THROWS_AS(enlarging("path = images\n"), ConfigError);
}

}  // namespace
}  // namespace draftlab
