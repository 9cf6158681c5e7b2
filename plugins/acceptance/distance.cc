// Accepts a draft near the target's most probable token, and keeps the draft. Token ids are taken
// as values on a line, such as the intensities of an image (blockwise parallel decoding, Sec. 5.2),
// or each token has a vector, such as its embedding, and the distance is Euclid's.
#include <Eigen/Core>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>

#include "core/base/error.h"
#include "core/base/npy.h"
#include "core/config/plugin.h"
#include "plugins/acceptance/greedy.h"

namespace draftlab {
namespace {

// A column for each token.
using Vectors = Eigen::MatrixXf;

// Reads a file once, whoever asks for it, because every decode has parts of its own.
std::shared_ptr<const Vectors> vectors_in(const std::string& path) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const Vectors>> read;
  const std::lock_guard lock(mutex);
  std::shared_ptr<const Vectors>& vectors = read[path];
  if (vectors) return vectors;
  const NpyArray array = read_npy(path);
  if (array.shape.size() != 2 || array.shape[1] < 1)
    throw DataError(
        "'{}' has no row of numbers for each token: acceptance.distance.vectors must name an array "
        "of shape [vocabulary, width]",
        path);
  vectors = std::make_shared<const Vectors>(
      Eigen::Map<const Vectors>(array.values.data(), array.shape[1], array.shape[0]));
  return vectors;
}

class Distance final : public GreedyAcceptance {
 public:
  struct Options : GreedyOptions {
    double epsilon = 2;
    std::string vectors;
    void declare(OptionSet& set) {
      set.add("epsilon", &epsilon)
          .in(0, 1e6)
          .help(
              "Largest difference of two tokens that counts as none; 0 is exact-match. The paper's "
              "images have 2.");
      set.add("vectors", &vectors)
          .help(
              "File of numpy with a row for each token, between which distances are; empty: "
              "between token ids.");
      GreedyOptions::declare(set);
    }
  };
  explicit Distance(const Options& options) : GreedyAcceptance(options), options_(options) {
    if (!options.vectors.empty()) vectors_ = vectors_in(options.vectors);
  }

 private:
  bool accepts(const Trial& trial) const override {
    const Token best = trial.raw.argmax();
    if (!vectors_) return std::abs(trial.token - best) <= options_.epsilon;
    if (vectors_->cols() != trial.raw.size())
      throw DataError(
          "'{}' has rows for {} tokens, and the model's vocabulary {} "
          "(acceptance.distance.vectors)",
          options_.vectors, vectors_->cols(), trial.raw.size());
    return (vectors_->col(trial.token) - vectors_->col(best)).norm() <= options_.epsilon;
  }
  Options options_;
  std::shared_ptr<const Vectors> vectors_;
};

}  // namespace
}  // namespace draftlab

DRAFTLAB_PLUGIN(acceptance, distance) {
  registries.acceptance.add<draftlab::Distance>("distance",
                                                "accept a token within epsilon of the target's "
                                                "best, by id or by a vector each (BPD, images); "
                                                "not lossless");
}
