// The trainer `image-classifier` trains the network whose classes and features score images
// (plugins/tasks/images/image_classifier.h). It is plain Eigen on one thread and takes seconds;
// equal machines write equal bytes.
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <numeric>

#include "core/base/error.h"
#include "core/base/progress.h"
#include "core/config/plugin.h"
#include "core/config/train.h"
#include "core/prob/chance.h"
#include "plugins/models/nn/training/adamw.h"
#include "plugins/tasks/images/image_classifier.h"
#include "plugins/tasks/images/image_set.h"

namespace draftlab {
namespace {

using Matrix = Eigen::MatrixXf;
using Weight = Eigen::Map<Matrix>;
using Bias = Eigen::Map<Eigen::VectorXf>;

// The parameters, or their gradient, as one array and as the matrices within it.
struct Layers {
  Layers(Eigen::Index inputs, Eigen::Index hidden, Eigen::Index narrow, Eigen::Index classes)
      : values(static_cast<std::size_t>(hidden * (inputs + 1) + narrow * (hidden + 1) +
                                        classes * (narrow + 1))),
        w1(values.data(), hidden, inputs),
        w2(w1.data() + w1.size(), narrow, hidden),
        w3(w2.data() + w2.size(), classes, narrow),
        b1(w3.data() + w3.size(), hidden),
        b2(b1.data() + b1.size(), narrow),
        b3(b2.data() + b2.size(), classes) {}
  std::vector<float> values;
  Weight w1, w2, w3;
  Bias b1, b2, b3;
};

// Computes the mean cross-entropy in nats over a batch (images are columns), and its gradient.
double loss_of(const Layers& layers, const Matrix& images, const std::vector<int>& labels,
               Layers& gradient) {
  const Matrix hidden = ((layers.w1 * images).colwise() + layers.b1).cwiseMax(0);
  const Matrix narrow = ((layers.w2 * hidden).colwise() + layers.b2).array().tanh();
  Matrix error = (layers.w3 * narrow).colwise() + layers.b3;
  double loss = 0;
  const auto n = static_cast<float>(images.cols());
  for (Eigen::Index i = 0; i < error.cols(); ++i) {
    const float most = error.col(i).maxCoeff();
    error.col(i) = (error.col(i).array() - most).exp();
    error.col(i) /= error.col(i).sum();
    float& right = error(labels[static_cast<std::size_t>(i)], i);
    loss -= std::log(std::max(right, 1e-30f)) / n;
    right -= 1;
  }
  error /= n;
  gradient.w3 = error * narrow.transpose();
  gradient.b3 = error.rowwise().sum();
  const Matrix back2 =
      (layers.w3.transpose() * error).cwiseProduct(Matrix(1 - narrow.array().square()));
  gradient.w2 = back2 * hidden.transpose();
  gradient.b2 = back2.rowwise().sum();
  const Matrix back1 =
      (layers.w2.transpose() * back2).cwiseProduct(Matrix((hidden.array() > 0).cast<float>()));
  gradient.w1 = back1 * images.transpose();
  gradient.b1 = back1.rowwise().sum();
  return loss;
}

class ImageClassifierTrainer final : public Trainer {
 public:
  struct Options : ImageSetOptions {
    std::int64_t held_out = 5000, hidden = 96, features = 8, epochs = 4, batch = 64;
    double rate = 2e-3, weight_decay = 0.01;
    Options() { split = ProblemSplit::train, count = 35000; }
    void declare(OptionSet& set) {
      ImageSetOptions::declare(set);
      set.add("held_out", &held_out)
          .in(10, 1 << 20)
          .help(
              "How many images, the last of the set, are not trained on: accuracy is theirs, and "
              "their features have zero mean and unit covariance.");
      set.add("hidden", &hidden).in(1, 4096).help("Width of the first layer.");
      set.add("features", &features)
          .in(1, 64)
          .help("Width of the second layer, of whose outputs statistics are taken.");
      set.add("epochs", &epochs).in(1, 10000).help("Passes over the images.");
      set.add("batch", &batch).in(1, 65536).help("Images a step.");
      set.add("rate", &rate).in(0, 1).help("Learning rate, which falls to zero as a cosine does.");
      set.add("weight_decay", &weight_decay).in(0, 1).help("Weight decay of AdamW.");
    }
  };
  explicit ImageClassifierTrainer(const Options& options) : options_(options) {}

  void run(const TrainContext& context) override {
    const ImageSet set(options_);
    const std::int64_t known = set.size() - options_.held_out;
    if (known < options_.batch)
      throw ConfigError(
          "trainer.image-classifier: {} images leave no batch of {} to train on once held_out = {} "
          "are set aside",
          set.size(), options_.batch, options_.held_out);
    read(set);
    Layers layers = fit(set, known, context.seed);
    ImageClassifier classifier;
    classifier.hidden_weight = layers.w1.cast<double>(),
    classifier.hidden_bias = layers.b1.cast<double>();
    classifier.narrow_weight = layers.w2.cast<double>(),
    classifier.narrow_bias = layers.b2.cast<double>();
    classifier.class_weight = layers.w3.cast<double>(),
    classifier.class_bias = layers.b3.cast<double>();
    const double spread = whiten(classifier, known);
    classifier.save(context.out);
    std::cout << "wrote " << context.out << ": " << layers.values.size() << " parameters; of "
              << options_.held_out << " held-out images " << accuracy(classifier, known)
              << " are told apart; deviations of the narrow layer's axes span a factor of "
              << spread << "\n";
  }

 private:
  void read(const ImageSet& set) {
    images_.resize(set.positions() * set.dimension(), set.size());
    for (std::int64_t i = 0; i < set.size(); ++i) {
      const ImageSet::Item item = set.item(i);
      images_.col(i) = item.tokens.transpose().reshaped().cast<float>();
      labels_.push_back(item.label);
    }
  }

  Layers fit(const ImageSet& set, std::int64_t known, std::uint64_t seed) const {
    Layers layers(images_.rows(), options_.hidden, options_.features, set.classes()),
        gradient = layers_like(layers);
    const auto draw = [&](std::int64_t stream, std::int64_t i) {
      return SampledChance::uniform(seed, {static_cast<std::uint64_t>(stream),
                                           static_cast<std::int32_t>(i), Purpose::train, 0, 0});
    };
    std::int64_t drawn = 0;
    for (Weight* const weight : {&layers.w1, &layers.w2, &layers.w3}) {
      // The bound is that of Glorot and Bengio, 2010.
      const auto bound =
          static_cast<float>(std::sqrt(6.0 / static_cast<double>(weight->rows() + weight->cols())));
      for (Eigen::Index i = 0; i < weight->size(); ++i)
        weight->data()[i] = bound * static_cast<float>(2 * draw(0, drawn++) - 1);
    }
    AdamW optimiser;
    optimiser.weight_decay = options_.weight_decay;
    const std::int64_t steps = known / options_.batch, all = steps * options_.epochs;
    Progress progress("training", "steps", all);
    std::vector<std::int64_t> order(static_cast<std::size_t>(known));
    std::iota(order.begin(), order.end(), 0);
    Matrix batch(images_.rows(), options_.batch);
    std::vector<int> labels(static_cast<std::size_t>(options_.batch));
    for (std::int64_t step = 0; step < all; ++step) {
      if (step % steps == 0) {  // The order is shuffled by the method of Fisher and Yates.
        for (std::size_t i = order.size() - 1; i > 0; --i)
          std::swap(
              order[i],
              order[static_cast<std::size_t>(draw(1 + step / steps, static_cast<std::int64_t>(i)) *
                                             static_cast<double>(i + 1))]);
      }
      for (std::int64_t i = 0; i < options_.batch; ++i) {
        const std::int64_t image =
            order[static_cast<std::size_t>(step % steps * options_.batch + i)];
        batch.col(i) = images_.col(image);
        labels[static_cast<std::size_t>(i)] = labels_[static_cast<std::size_t>(image)];
      }
      const double loss = loss_of(layers, batch, labels, gradient);
      const double rate =
          options_.rate * 0.5 *
          (1 + std::cos(3.141592653589793 * static_cast<double>(step) / static_cast<double>(all)));
      optimiser.step(layers.values, gradient.values, rate);
      progress.at(step + 1, "loss " + std::to_string(loss));
    }
    return layers;
  }
  static Layers layers_like(const Layers& layers) {
    return {layers.w1.cols(), layers.w1.rows(), layers.w2.rows(), layers.w3.rows()};
  }

  // Gives the held-out images' features zero mean and unit covariance. Returns how many times the
  // widest axis is as wide as the narrowest.
  double whiten(ImageClassifier& classifier, std::int64_t known) const {
    Eigen::MatrixXd values(options_.features, options_.held_out);
    for (std::int64_t i = 0; i < options_.held_out; ++i)
      values.col(i) = classifier.narrow(images_.col(known + i).cast<double>());
    classifier.feature_mean = values.rowwise().mean();
    values.colwise() -= classifier.feature_mean;
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> axes(
        values * values.transpose() / static_cast<double>(options_.held_out));
    const Eigen::VectorXd deviations = axes.eigenvalues().cwiseMax(0).cwiseSqrt();
    if (deviations.minCoeff() < 1e-4 * deviations.maxCoeff())
      throw DataError(
          "trainer.image-classifier: the features of the held-out images lie in fewer than "
          "features = {} dimensions",
          options_.features);
    classifier.feature_weight = axes.eigenvectors() * deviations.cwiseInverse().asDiagonal() *
                                axes.eigenvectors().transpose();
    return deviations.maxCoeff() / deviations.minCoeff();
  }

  double accuracy(const ImageClassifier& classifier, std::int64_t known) const {
    std::int64_t right = 0;
    for (std::int64_t i = known; i < images_.cols(); ++i) {
      Eigen::Index best = 0;
      classifier.read(images_.col(i).cast<double>()).probabilities.maxCoeff(&best);
      right += best == labels_[static_cast<std::size_t>(i)];
    }
    return static_cast<double>(right) / static_cast<double>(options_.held_out);
  }

  Options options_;
  // The shape is [values, images].
  Matrix images_;
  std::vector<int> labels_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(trainer, image_classifier) {
  registries.trainers.add<draftlab::ImageClassifierTrainer>(
      "image-classifier",
      "a classifier that scores images: classes, and features for Frechet distances");
}
