// The task `images` gives a class, at position 0, and has an image decoded whose tokens are
// vectors. Images are scored by a classifier that the project trains, and by distances to images
// that the model never saw; `report` computes statistics of the set from what is recorded of each
// image.
#include <cmath>
#include <memory>
#include <optional>

#include "core/base/error.h"
#include "core/config/plugin.h"
#include "core/metrics/image_metrics.h"
#include "plugins/tasks/images/image_classifier.h"
#include "plugins/tasks/images/image_set.h"

namespace draftlab {
namespace {

class Images final : public Task {
 public:
  struct Options : ImageSetOptions {
    std::string classifier;
    std::int64_t held_out = 1000;
    void declare(OptionSet& set) {
      ImageSetOptions::declare(set);
      set.add("classifier", &classifier)
          .help(
              "Folder of the network that scores images (draftlab train "
              "configs/train/images-classifier.ini); empty: distances alone.");
      set.add("held_out", &held_out)
          .in(2, 20000)
          .help("Number of leading images of the set that decoded ones are compared with.");
    }
  };
  explicit Images(const Options& options) : options_(options) {}

  void load(const Tokenizer*) override {
    set_ = std::make_unique<ImageSet>(options_);
    held_out_.reset();
    if (options_.classifier.empty()) return;
    classifier_ = ImageClassifier::open(options_.classifier);
    if (classifier_->inputs() != values() || classifier_->classes() != set_->classes())
      throw DataError(
          "task.images.classifier = {} reads images of {} values in {} classes, and those of the "
          "task have {} in {}",
          options_.classifier, classifier_->inputs(), classifier_->classes(), values(),
          set_->classes());
  }
  int size() const override { return static_cast<int>(set_->size()); }
  Prompt prompt(int index) const override {
    Prompt prompt;
    prompt.id = set_->id(index);
    prompt.length = set_->positions() + 1;
    prompt.given = {{0, set_->item(index).label}};
    prompt.offset = 1;
    return prompt;
  }
  std::string digest() const override { return set_->digest(); }
  std::string text(const Prompt&, const Canvas&) const override { return {}; }

  std::vector<Score> score(const Prompt& prompt, const Canvas& canvas) const override {
    const Eigen::VectorXd image = values_of(canvas);
    const HeldOut& others = held_out();
    std::vector<Score> scores{
        {std::string(kImageDistance), (others.images.colwise() - image).colwise().norm().mean()},
        {std::string(kHeldOutDistance), others.distance},
        {std::string(kImageLabel), static_cast<double>(prompt.given.front().second)}};
    if (!classifier_) return scores;
    const ImageClassifier::Reading reading = classifier_->read(image);
    Eigen::Index best = 0;
    reading.probabilities.maxCoeff(&best);
    scores.push_back({"class_accuracy", best == prompt.given.front().second ? 1.0 : 0.0});
    for (Eigen::Index i = 0; i < reading.features.size(); ++i)
      scores.push_back({std::string(kImageFeature) + std::to_string(i), reading.features[i]});
    for (Eigen::Index i = 0; i < reading.probabilities.size(); ++i)
      scores.push_back({std::string(kImageClass) + std::to_string(i), reading.probabilities[i]});
    return scores;
  }

 private:
  struct HeldOut {
    // Each column is an image.
    Eigen::MatrixXd images;
    // The mean distance between two of them.
    double distance = 0;
  };

  // Returns the number of values of an image.
  Eigen::Index values() const { return Eigen::Index{set_->positions()} * set_->dimension(); }

  // Returns the images that decoded ones are compared with, which are read for the first of these.
  const HeldOut& held_out() const {
    if (held_out_) return *held_out_;
    held_out_.emplace();
    held_out_->images.resize(values(), std::min(options_.held_out, set_->size()));
    for (Eigen::Index i = 0; i < held_out_->images.cols(); ++i)
      held_out_->images.col(i) = set_->item(i).tokens.transpose().reshaped();
    held_out_->distance = mean_distances(held_out_->images).mean();
    return *held_out_;
  }

  Eigen::VectorXd values_of(const Canvas& canvas) const {
    const Eigen::Index dimension = set_->dimension();
    Eigen::VectorXd values(set_->positions() * dimension);
    for (int t = 0; t < set_->positions(); ++t) {
      const Eigen::VectorXd& value = canvas.value(t + 1);
      if (value.size() != dimension)
        throw ConfigError("the model decodes tokens of {} values, and those of task images have {}",
                          value.size(), dimension);
      values.segment(t * dimension, dimension) = value;
    }
    return values;
  }

  Options options_;
  std::unique_ptr<ImageSet> set_;
  mutable std::optional<HeldOut> held_out_;
  std::optional<ImageClassifier> classifier_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(task, images) {
  registries.tasks.add<draftlab::Images>("images",
                                         "a class is given, an image of vector tokens is decoded: "
                                         "the project's digits, MNIST, optdigits, or latents");
}
