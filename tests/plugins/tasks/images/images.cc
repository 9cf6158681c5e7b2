#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/npy.h"
#include "core/config/plugin.h"
#include "core/metrics/image_metrics.h"
#include "plugins/builtin.h"
#include "plugins/tasks/images/digits.h"
#include "plugins/tasks/images/image_classifier.h"

namespace draftlab {
namespace {

const std::string kShipped =
    std::string(DRAFTLAB_SOURCE_DIR) + "/data/checkpoints/images-classifier";

std::unique_ptr<Task> images_of(const std::string& options) {
  Registries registries;
  register_task_images(registries);
  Diagnostics diagnostics;
  const auto bound = registries.tasks.find("images")->bind(
      Config::parse("[task.images]\n" + options, "test.ini", diagnostics), "task.images",
      diagnostics);
  diagnostics.raise();
  return bound.make();
}

double value_of(const std::vector<Score>& scores, std::string_view name) {
  const auto found = std::find_if(scores.begin(), scores.end(),
                                  [&](const Score& score) { return score.name == name; });
  REQUIRE(found != scores.end());
  return found->value;
}

Canvas canvas_of(const Prompt& prompt, const Eigen::MatrixXd& tokens) {
  Canvas canvas(prompt.length, prompt.given);
  for (int t = 0; t < tokens.rows(); ++t) canvas.commit(t + 1, 0, false, tokens.row(t).transpose());
  return canvas;
}

TEST_CASE(
    "task images: the class is given, the image decoded; scores are the parts of set statistics") {
  const auto task = images_of("classifier = " + kShipped + "\nheld_out = 20\n");
  task->load(nullptr);
  CHECK(task->size() == 1000);
  const Prompt prompt = task->prompt(7);
  CHECK(prompt.id == "digits-test-7");
  CHECK(prompt.length == 17);
  REQUIRE(prompt.given.size() == 1);
  CHECK(prompt.given[0] == std::pair<std::int32_t, Token>{0, 7});

  const Eigen::MatrixXd mine = make_digit(9, 7, ProblemSplit::test).pixels;
  const std::vector<Score> scores = task->score(prompt, canvas_of(prompt, tokens_of(mine, 4)));
  CHECK(value_of(scores, "class_accuracy") == 1);
  CHECK(value_of(scores, kImageLabel) == 7);
  double distance = 0, among = 0, probability = 0;
  for (int i = 0; i < 20; ++i) {
    const Eigen::MatrixXd other = make_digit(1, i, ProblemSplit::test).pixels;
    distance += (other - mine).norm() / 20;
    for (int j = 0; j < i; ++j)
      among += 2 * (other - make_digit(1, j, ProblemSplit::test).pixels).norm() / (20 * 19);
  }
  CHECK(value_of(scores, kImageDistance) == doctest::Approx(distance));
  CHECK(value_of(scores, kHeldOutDistance) == doctest::Approx(among));
  for (int c = 0; c < 10; ++c) probability += value_of(scores, "image_class_" + std::to_string(c));
  CHECK(probability == doctest::Approx(1));
  CHECK(value_of(scores, "image_class_7") > 0.5);
  for (const Score& score : scores)
    CHECK(is_image_part(score.name) == (score.name != "class_accuracy"));

  const Prompt another = task->prompt(8);
  CHECK(value_of(task->score(another, canvas_of(another, tokens_of(mine, 4))), "class_accuracy") ==
        0);
  CHECK_THROWS_AS(task->score(prompt, canvas_of(prompt, Eigen::MatrixXd::Zero(16, 4))),
                  ConfigError);
}

TEST_CASE(
    "the shipped classifier tells digits that it never saw apart; their features have zero mean "
    "and unit covariance") {
  const ImageClassifier classifier = ImageClassifier::open(kShipped);
  REQUIRE(classifier.inputs() == 256);
  REQUIRE(classifier.classes() == 10);
  const int kImages = 1000;
  int right = 0;
  std::vector<double> clean, mixed, noisy, classes;
  const auto add = [&](std::vector<double>& sums, const std::vector<double>& addends) {
    sums.resize(addends.size());
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += addends[i];
  };
  const auto features = [](const ImageClassifier::Reading& reading) {
    return frechet_addends(
        {reading.features.data(), static_cast<std::size_t>(reading.features.size())});
  };
  for (int i = 0; i < kImages; ++i) {
    const LabelledImage image = make_digit(2, i, ProblemSplit::test);
    const auto read = [&](const Eigen::MatrixXd& pixels) {
      return classifier.read(tokens_of(pixels, 4).transpose().reshaped());
    };
    const ImageClassifier::Reading reading = read(image.pixels);
    Eigen::Index best = 0;
    reading.probabilities.maxCoeff(&best);
    right += best == image.label;
    add(clean, features(reading));
    add(classes, class_score_addends({reading.probabilities.data(), 10}));
    Eigen::MatrixXd patched = image.pixels;
    patched.bottomRows(8) = make_digit(5, i + 3, ProblemSplit::test).pixels.bottomRows(8);
    add(mixed, features(read(patched)));
    add(noisy, features(read(image.pixels + make_digit(3, i, ProblemSplit::tune).pixels -
                             make_digit(4, i, ProblemSplit::tune).pixels)));
  }
  const std::vector<std::int64_t> widths{classifier.feature_mean.size()};
  const double floor =
      (static_cast<double>(widths[0]) + static_cast<double>(widths[0] * (widths[0] + 1)) / 4) /
      kImages;
  MESSAGE("accuracy " << right / static_cast<double>(kImages) << ", Frechet "
                      << frechet_distance(clean) << " (floor " << floor << "), of two halves "
                      << frechet_distance(mixed) << ", noisy " << frechet_distance(noisy)
                      << ", score " << class_score(classes));
  CHECK(right > 0.98 * kImages);
  CHECK(frechet_distance(clean) < 3 * floor);
  CHECK(frechet_distance(mixed) > 4 * frechet_distance(clean));
  CHECK(frechet_distance(noisy) > 4 * frechet_distance(clean));
  // The score is at most 10, and the network is seldom quite sure.
  CHECK(class_score(classes) > 8);
  CHECK(class_score(classes) <= 10);
}

TEST_CASE("a classifier goes to a folder and back; one of other images, or damaged, is refused") {
  const std::string folder = (std::filesystem::temp_directory_path() /
                              ("draftlab_classifier_" + std::to_string(::getpid())))
                                 .string();
  ImageClassifier classifier = ImageClassifier::open(kShipped);
  classifier.save(folder);
  const Eigen::VectorXd x =
      tokens_of(make_digit(1, 3, ProblemSplit::test).pixels, 4).transpose().reshaped();
  CHECK(ImageClassifier::open(folder).read(x).features == classifier.read(x).features);

  const auto refusal = [&](const std::string& options) -> std::string {
    try {
      images_of(options)->load(nullptr);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  std::vector<float> tokens(2 * 4 * 4, 0.5f);
  write_npy(folder + "/tokens.npy", {2, 4, 4}, tokens);
  write_npy(folder + "/labels.npy", {2}, std::vector<float>{0, 1});
  CHECK(refusal("source = npy\npath = " + folder + "/tokens.npy\nlabels = " + folder +
                "/labels.npy\nclassifier = " + folder + "\n") ==
        "task.images.classifier = " + folder +
            " reads images of 256 values in 10 classes, and those of the task have 16 in 10");
  write_npy(folder + "/hidden_bias.npy", {3}, std::vector<float>{0, 1, 2});
  CHECK(refusal("classifier = " + folder + "\n") ==
        "the arrays of '" + folder + "' do not fit each other: they are of no one classifier");
  std::filesystem::remove(folder + "/class_bias.npy");
  CHECK(refusal("classifier = " + folder + "\n") ==
        "there is no file '" + folder + "/class_bias.npy'");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace draftlab
