// The task `super-resolution` gives a coarse picture of grey levels and has the fine one decoded,
// level by level in raster order: tokens that are ordinal, so that a distance between two of them
// means something (blockwise parallel decoding, its experiment on images). The levels are those of
// the model's levels.json.
#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/words.h"
#include "core/config/plugin.h"
#include "plugins/tasks/answers.h"
#include "plugins/tasks/images/digits.h"
#include "plugins/tasks/images/image_files.h"
#include "plugins/tasks/listed_task.h"
#include "plugins/tasks/prompts.h"

namespace draftlab {
namespace {

// Returns the means of squares of `factor` by `factor` pixels.
Eigen::MatrixXd shrunk(const Eigen::MatrixXd& pixels, int factor) {
  const Eigen::MatrixXd squares = tokens_of(pixels, factor);
  const int columns = static_cast<int>(pixels.cols()) / factor;
  return pixels_of(squares.rowwise().mean(), static_cast<int>(pixels.rows()) / factor, columns, 1);
}

class SuperResolution final : public ListedTask {
 public:
  struct Options {
    ProblemSplit split = ProblemSplit::test;
    std::string path, labels;
    std::int64_t count = 500, seed = 1, levels = 32, shrink = 2, factor = 2;
    void declare(OptionSet& set) {
      set.add("split", &split).help("Split of the generated digits; splits share no draws.");
      set.add("path", &path)
          .help("File of images in the format of MNIST; empty: generated digits of 16 x 16.");
      set.add("labels", &labels).help("File of their classes, beside the images.");
      set.add("count", &count)
          .in(1, 1 << 24)
          .help("How many images; at most as many as the files hold.");
      set.add("seed", &seed).help("Seed of the generated digits.");
      set.add("levels", &levels)
          .in(2, 65536)
          .help("Levels of grey between black and white; those of the model's levels.json.");
      set.add("shrink", &shrink)
          .in(1, 64)
          .help("The fine picture has a pixel for each square of so many by so many of the image.");
      set.add("factor", &factor)
          .in(2, 64)
          .help(
              "The coarse picture has a pixel for each square of so many by so many of the fine.");
    }
  };
  explicit SuperResolution(const Options& options)
      : ListedTask("super-resolution"), options_(options) {
    if (options_.path.empty() != options_.labels.empty())
      throw ConfigError(
          "task.super-resolution.path and task.super-resolution.labels must both name a file, or "
          "neither");
  }

  void load(const Tokenizer* tokenizer) override {
    if (!tokenizer || tokenizer->vocabulary() != options_.levels + 2)
      throw ConfigError(
          "task 'super-resolution' has {} levels of grey (task.super-resolution.levels), and a "
          "model of another vocabulary cannot tell them: its checkpoint needs a levels.json with "
          "as many",
          options_.levels);
    start(tokenizer);
    if (options_.path.empty()) {
      make_when_asked(options_.count, [this](int i) {
        return asked("digits-" + std::string(word(options_.split)) + "-" + std::to_string(i),
                     intensities_of(i));
      });
      return;
    }
    std::int64_t number = 0;
    for (const LabelledImage& image : read_idx(options_.path, options_.labels, options_.count))
      add(asked("image-" + std::to_string(number++), image.pixels));
  }
  std::string text(const Prompt& prompt, const Canvas& canvas) const override {
    return decoded_text(tokenizer(), prompt, canvas);
  }
  // `level_error` is the mean distance of a pixel from that of the image, in levels.
  std::vector<Score> score(const Prompt& prompt, const Canvas& canvas) const override {
    double error = 0;
    for (std::int32_t position = prompt.offset; position < prompt.length; ++position)
      error += std::abs(canvas.token(position) - prompt.reference[position]);
    std::vector<Score> scores = token_scores(prompt, canvas);
    scores.push_back({"level_error", error / (prompt.length - prompt.offset)});
    return scores;
  }

 private:
  Eigen::MatrixXd intensities_of(std::int64_t index) const {
    Eigen::MatrixXd pixels =
        make_digit(static_cast<std::uint64_t>(options_.seed), index, options_.split).pixels;
    return pixels.unaryExpr([](double value) { return kDigitScale.intensity(value); });
  }
  std::string levels_of(const Eigen::MatrixXd& intensities) const {
    std::vector<std::string> levels;
    for (Eigen::Index r = 0; r < intensities.rows(); ++r)
      for (Eigen::Index c = 0; c < intensities.cols(); ++c) {
        const double intensity = std::clamp(intensities(r, c), 0.0, 1.0);
        levels.push_back(
            std::to_string(std::lround(intensity * static_cast<double>(options_.levels - 1))));
      }
    return joined(levels, " ");
  }
  Prompt asked(const std::string& id, const Eigen::MatrixXd& image) const {
    const int shrink = static_cast<int>(options_.shrink),
              factor = static_cast<int>(options_.factor);
    if (image.rows() % (shrink * factor) != 0 || image.cols() % (shrink * factor) != 0)
      throw ConfigError(
          "task.super-resolution: an image of {} x {} is not cut evenly by shrink = {} times "
          "factor = {}",
          image.rows(), image.cols(), shrink, factor);
    const Eigen::MatrixXd fine = shrunk(image, shrink);
    return question_prompt({id, levels_of(shrunk(fine, factor)), levels_of(fine)},
                           {fine.size(), true}, tokenizer());
  }

  Options options_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(task, super_resolution) {
  registries.tasks.add<draftlab::SuperResolution>(
      "super-resolution",
      "a coarse picture is given and the fine one decoded, grey level by grey level; the error in "
      "levels");
}
